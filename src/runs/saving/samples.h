/* SPDX-License-Identifier: ISC
 *
 * Room for samples of what the processes of a run execute, behind their rings.
 */
#ifndef WEFT_RUNS_SAMPLES_H
#define WEFT_RUNS_SAMPLES_H

#include <stdbool.h>

#include <weft/buffer.h>

/* Makes room in a ring, unless the ring has it or there is no memory: a ring without room gets no
 * samples while its program records. Call it before the ring is mapped. Any thread. False if the
 * ring is still being made. */
bool weft__runs_samples_make_room(int ring, const struct weft_buffer_sampling *sampling);

#endif

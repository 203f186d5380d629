/* SPDX-License-Identifier: ISC
 *
 * Room for samples of what the processes of a run execute, behind their rings.
 */
#ifndef WEFT_RUNS_SAMPLES_H
#define WEFT_RUNS_SAMPLES_H

#include <stdbool.h>

#include <weft/buffer.h>

/* Makes the room in a ring, unless it has that or there is no memory: a ring without room gets no
 * samples while it is recorded into. To be called before the ring is mapped. Any thread. False if
 * the ring is still being made. */
bool weft__runs_samples_make_room(int ring, const struct weft_buffer_sampling *sampling);

#endif

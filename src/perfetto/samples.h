/* SPDX-License-Identifier: ISC
 *
 * Samples of what threads ran, and the waits of tasks, with the functions that led there.
 */
#ifndef WEFT_PERFETTO_SAMPLES_H
#define WEFT_PERFETTO_SAMPLES_H

#include "perfetto/packet.h"

/* All samples and lists of calls of the model. */
void weft__perfetto_write_samples(struct weft__perfetto_writer *writer);

#endif

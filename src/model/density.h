/* SPDX-License-Identifier: ISC */
#ifndef WEFT_MODEL_DENSITY_H
#define WEFT_MODEL_DENSITY_H

#include <weft/density.h>

/* Adds bytes that lie evenly in [start_ns, end_ns), limited to the trace's time, which is set. */
void weft__model_density_add(
	struct weft_density *density, uint64_t start_ns, uint64_t end_ns, double bytes);

#endif

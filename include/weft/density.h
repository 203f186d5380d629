/* SPDX-License-Identifier: ISC
 *
 * Where in time the bytes of a trace are: enough to draw an overview of a trace that is too large
 * to be read, and to choose a part that is not. weft_decoder_weigh() finds it out.
 */
#ifndef WEFT_DENSITY_H
#define WEFT_DENSITY_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	WEFT_DENSITY_COLUMNS = 1024
};

struct weft_density {
	uint64_t start_ns, end_ns; /* of the first and the last event, on the trace's clock */
	/* In equal parts of that time. A packet counts evenly until its thread's next one begins. */
	double bytes[WEFT_DENSITY_COLUMNS];
};

/* The bytes of [start_ns, end_ns), approximately. */
double weft_density_weigh(const struct weft_density *density, uint64_t start_ns, uint64_t end_ns);

/* Widens [*start_ns, *end_ns), on both sides alike, until it has `most_bytes`, approximately, or is
 * the whole trace. False, with nothing changed, if it has more already. */
bool weft_density_widen(
	const struct weft_density *density, double most_bytes, uint64_t *start_ns, uint64_t *end_ns);

#ifdef __cplusplus
}
#endif
#endif

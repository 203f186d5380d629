/* SPDX-License-Identifier: ISC
 *
 * The clock of a trace in weft's format, as its file has it. A part of the trace keeps the ticks
 * and the readings of the clock: opened together with other files, it is converted by the readings
 * of all of them, as the whole trace would be.
 */
#ifndef WEFT_MODEL_CLOCK_TICKS_H
#define WEFT_MODEL_CLOCK_TICKS_H

#include <stdint.h>

struct weft__clock_ticks {
	const uint8_t *header; /* struct weft_abi_buffer, as the decoder uses it */
	/* The latest reading of the clock, not converted; 0 ticks: there is only that of the start. */
	uint64_t last_ticks, last_monotonic_ns;
	/* Converts ticks; monotone. `at` gives the first ticks whose time is not before `ns`. */
	uint64_t (*to_ns)(const void *clock, uint64_t ticks);
	uint64_t (*at)(const void *clock, uint64_t ns);
	const void *clock;
};

#endif

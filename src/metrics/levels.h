/* SPDX-License-Identifier: ISC
 *
 * Levels of labels without double counts: the total of a level ("pool") contains what the levels
 * below it ("customer") count, and a reader that adds up all series would count that twice.
 */
#ifndef WEFT_METRICS_LEVELS_H
#define WEFT_METRICS_LEVELS_H

#include "metrics/value.h"

struct weft__metrics_levels {
	struct weft__runs_counter *counters;
	struct weft__metrics_sample *samples;
	size_t count;
	uint64_t *cells; /* of histograms */
};

/* Makes copies of the counters that have at most `depth` labels. From each is taken what lies below
 * it; it is left out if that was all. False without memory. The caller calls finish in any case. */
bool weft__metrics_levels_init(struct weft__metrics_levels *levels,
	const struct weft__metrics_sample *samples, size_t count, size_t depth);
void weft__metrics_levels_finish(struct weft__metrics_levels *levels);

#endif

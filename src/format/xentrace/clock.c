/* SPDX-License-Identifier: ISC
 *
 * Estimates the rate of the TSC from switches in a row on a pCPU: each has its cycles, and the ns
 * for which the vCPU ran since the switch before. Xen reads its clock before it writes the record,
 * and the delay varies; where Xen is itself a guest, by many milliseconds. So the rate is taken
 * from points that are half a chain of switches apart: of these rates the median. Xen calibrates
 * the clock of each pCPU by itself, so the pCPU counts whose rates agree best.
 */
#include "format/xentrace/clock.h"

#include <stdlib.h>

static int compare_rates(const void *a, const void *b)
{
	const struct weft__xentrace_sample *first = a, *second = b;
	double left = first->cycles * second->ns, right = second->cycles * first->ns;
	return (left > right) - (left < right);
}

/* The rate in cycles per ns that a part of the time has at most. The samples are sorted by rate. */
static double quantile(const struct weft__xentrace_samples *s, double part)
{
	double all = 0, sum = 0;
	uint32_t i = 0;
	for (uint32_t k = 0; k < s->count; k++)
		all += s->list[k].ns;
	while (i + 1 < s->count && (sum += s->list[i].ns) < all * part)
		i++;
	return s->list[i].cycles / s->list[i].ns;
}

/* Replaces the points of each chain by the differences between them; returns their number. */
static uint32_t pair_points(struct weft__xentrace_samples *s)
{
	uint32_t pairs = 0;
	for (uint32_t first = 0, end; first < s->count; first = end) {
		for (end = first + 1; end < s->count && s->list[end].ns > 0;)
			end++;
		uint32_t half = (end - first) / 2;
		for (uint32_t i = first; half && i + half < end; i++) {
			const struct weft__xentrace_sample *a = &s->list[i], *b = &s->list[i + half];
			s->list[pairs++] = (struct weft__xentrace_sample){b->cycles - a->cycles, b->ns - a->ns};
		}
	}
	return pairs;
}

void weft__format_xentrace_estimate(
	struct weft__xentrace_samples *samples, struct weft__xentrace_rate *rate)
{
	samples->count = pair_points(samples);
	if (!samples->count)
		return;
	qsort(samples->list, samples->count, sizeof(*samples->list), compare_rates);
	double middle = quantile(samples, 0.5);
	/* Few samples agree by chance. */
	double spread = (quantile(samples, 0.75) - quantile(samples, 0.25)) / middle +
					1.0 / (1000.0 * samples->count);
	if (middle >= 1e-3 && middle <= 1e3 && (!rate->hz || spread < rate->spread))
		*rate = (struct weft__xentrace_rate){(uint64_t)(1e9 * middle + 0.5), spread};
}

/* SPDX-License-Identifier: ISC
 *
 * Counters in families: those that have one name, one type and one unit in the formats of
 * Prometheus. Each series in a family has labels of its own, and no family takes a name that
 * another one uses.
 */
#ifndef WEFT_METRICS_FAMILIES_H
#define WEFT_METRICS_FAMILIES_H

#include "metrics/exposition.h"

struct weft__metrics_series {
	const struct weft__metrics_sample *sample;
	struct weft__unit unit;
	bool has_unit;                       /* behind something else in the family's name */
	const char *family;                  /* without _total */
	const char *labels;                  /* without braces */
	size_t family_offset, labels_offset; /* of these in the texts, which move while they grow */
};

struct weft__metrics_families {
	/* In the order of families. Those that are left out are not among them. */
	struct weft__metrics_series *series;
	size_t count, left_out;
	struct weft_text texts;
};

/* The name of the metric with the number of series that are left out. */
#define WEFT__METRICS_LEFT_OUT "weft_metrics_left_out"

/* Calls `left_out`, or none, for each series that is left out. False without memory. The caller
 * calls finish in any case. */
bool weft__metrics_families_init(struct weft__metrics_families *families,
	const struct weft__metrics_sample *samples, size_t count, weft__metrics_left_out *left_out);
void weft__metrics_families_finish(struct weft__metrics_families *families);

/* True if two series are in one family. */
bool weft__metrics_is_one_family(
	const struct weft__metrics_series *left, const struct weft__metrics_series *right);

#endif

/* SPDX-License-Identifier: ISC
 *
 * Counters of programs, and their values in base units.
 */
#ifndef WEFT_METRICS_VALUE_H
#define WEFT_METRICS_VALUE_H

#include <sys/types.h>

#include <weft/text.h>

#include "base/unit.h"
#include "runs/attach/counters.h"

/* A counter of a program. */
struct weft__metrics_sample {
	const char *program;
	pid_t pid; /* 0: the sum of several processes */
	const struct weft__runs_counter *counter;
	const char *user; /* the number of its owner, or NULL: it does not matter */
	bool is_domain;   /* a domain of Xen instead of a program: `pid` is its number */
};

/* True if it has all of these labels, "KEY=VALUE". `program` and `uid` are among the keys. */
bool weft__metrics_has_labels(
	const struct weft__metrics_sample *sample, const char *const *labels, size_t count);

/* "counter", "gauge" …, or "unknown". */
const char *weft__metrics_type_name(enum weft__runs_type type);

/* Programs may also name a usual part of a base unit, such as "ms". */
struct weft__unit weft__metrics_base_unit(const struct weft__runs_counter *counter);

/* Adds a number times 10^scale with all of its digits. */
void weft__metrics_add_scaled(struct weft_text *text, uint64_t number, int scale);

/* Adds a counter's value in its base unit; of a histogram, the number of values. */
void weft__metrics_add_value(struct weft_text *text, const struct weft__runs_counter *counter);

/* A bound below which lies that part of a histogram's values: the upper bound of the cell in which
 * it lies, in the base unit. Infinity if it is beyond the last bound, NaN without values. */
double weft__metrics_quantile(const struct weft__runs_counter *counter, double part);

/* The upper bound of a histogram's cell, in the base unit; infinity for the last one. */
double weft__metrics_cell_bound(const struct weft__runs_counter *counter, uint32_t cell);

#endif

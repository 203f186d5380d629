/* SPDX-License-Identifier: ISC
 *
 * Rules about the values of counters and metrics, which an agent reads again and again.
 */
#ifndef WEFT_TRIGGER_METRIC_RULE_H
#define WEFT_TRIGGER_METRIC_RULE_H

#include <weft/trigger.h>

enum weft__metric_function {
	WEFT__METRIC_VALUE,    /* what it is */
	WEFT__METRIC_RATE,     /* by how much it grows in a second */
	WEFT__METRIC_RATIO,    /* by how much it grows, for each that another one grows by */
	WEFT__METRIC_QUANTILE, /* of a histogram's values */
};

#define WEFT__METRIC_FILTERS 4

/* The series of a metric: those whose labels have these values. */
struct weft__metric_selector {
	struct weft_slice name;
	struct {
		struct weft_slice key, value;
	} filters[WEFT__METRIC_FILTERS];
	unsigned filter_count;
};

struct weft__metric_rule {
	enum weft__metric_function function;
	double part;                        /* of a quantile: 0.99 */
	struct weft__metric_selector of[2]; /* a ratio has two */
	struct weft_slice by;               /* each value of this label alone; size 0: all in one */
	uint64_t over_ns, for_ns;           /* growth within this time; held for that time */
	bool is_above, or_equal, has_until;
	double limit, until;        /* in base units; it fires again after `until` */
	struct weft_slice category; /* whose level is set while it holds; size 0: none */
	unsigned level;
	char *text, *words; /* as in struct rule */
	size_t size;
};

/* True if the text begins like such a rule: with a function. */
bool weft__trigger_is_metric_rule(const char *text, size_t size);

/* As weft_triggers_add. */
int weft__trigger_metric_rule_parse(struct weft__metric_rule *rule, const char *text, size_t size,
	struct weft_trigger_error *ret_error);
void weft__trigger_metric_rule_finish(struct weft__metric_rule *rule);

/* True if a value is beyond the limit. Where the rule has fired, until it has come back far enough
 * to fire again. */
bool weft__trigger_metric_rule_holds(
	const struct weft__metric_rule *rule, double value, bool has_fired);

#endif

/* SPDX-License-Identifier: ISC
 *
 * One rule, parsed.
 */
#ifndef WEFT_TRIGGER_RULE_H
#define WEFT_TRIGGER_RULE_H

#include <weft/trigger.h>

enum rule_type {
	RULE_ABOVE, /* a counter: more than the limit */
	RULE_BELOW,
	RULE_TAG, /* contains the text */
	RULE_TAG_IS,
	RULE_RUNS, /* for longer than the limit, in ns */
	RULE_WAITS,
};

struct rule {
	enum rule_type type;
	int64_t limit; /* also of counters that are integers, where >= 5 is > 4, and > 2.5 is > 2 */
	double real;   /* of real counters, with or_equal */
	bool or_equal;
	struct weft_slice name;      /* a counter's name, or the text of a tag */
	struct weft_slice label;     /* part of it; NULL bytes: any */
	struct weft_slice kind_name; /* a kind that the program named; else of size 0 */
	uint32_t kind;
	bool has_kind;
	char *text;  /* the rule as it was given */
	char *words; /* the memory of the slices above */
	size_t size;
	uint32_t counter; /* its number; rules about one counter share it */
	bool holds;       /* the counter is beyond the limit already */
};

/* As weft_triggers_add. */
int weft__trigger_rule_parse(
	struct rule *rule, const char *text, size_t size, struct weft_trigger_error *ret_error);
void weft__trigger_rule_finish(struct rule *rule);

#endif

/* SPDX-License-Identifier: ISC
 *
 * Compares what a summary has with the whole model.
 */
#ifndef WEFT_TESTS_SAME_SUMMARY_H
#define WEFT_TESTS_SAME_SUMMARY_H

#include <string.h>

#include <weft/model.h>

static inline bool is_same_number(struct weft_number a, struct weft_number b)
{
	return a.is_real == b.is_real && memcmp(&a.real, &b.real, sizeof(a.real)) == 0 &&
		   a.integer == b.integer;
}

static inline bool has_same_counters(const struct weft_model *a, const struct weft_model *b)
{
	if (a->counter_count != b->counter_count || a->samples.count != b->samples.count)
		return false;
	for (uint32_t i = 0; i < a->counter_count; i++) {
		const struct weft_counter *c = &a->counters[i], *d = &b->counters[i];
		if (c->count != d->count || c->sets != d->sets || c->is_relative != d->is_relative ||
			!is_same_number(c->min, d->min) || !is_same_number(c->max, d->max) ||
			!is_same_number(c->start, d->start) || !is_same_number(c->end, d->end))
			return false;
	}
	return !a->samples.count || memcmp(a->samples.value, b->samples.value,
									a->samples.count * sizeof(*a->samples.value)) == 0;
}

static inline bool has_same_tasks(const struct weft_model *a, const struct weft_model *b)
{
	const struct weft_tasks *t = &a->tasks, *u = &b->tasks;
	if (t->count != u->count)
		return false;
	for (uint32_t i = 0; i < t->count; i++) {
		struct weft_slice x = weft_model_string(a, t->label[i]);
		struct weft_slice y = weft_model_string(b, u->label[i]);
		if (t->id[i] != u->id[i] || t->start[i] != u->start[i] || t->outcome[i] != u->outcome[i] ||
			t->parent[i] != u->parent[i] || t->becomes[i] != u->becomes[i] ||
			((t->flags[i] & WEFT_TASK_RESOLVED) && t->end[i] != u->end[i]) ||
			((t->flags[i] ^ u->flags[i]) & ~WEFT_TASK_NOTED) || x.size != y.size ||
			memcmp(x.bytes, y.bytes, x.size) != 0)
			return false;
	}
	return true;
}

static inline bool has_same_summary(const struct weft_model *a, const struct weft_model *b)
{
	const struct weft_model_summary *s = &a->summary, *t = &b->summary;
	return s->preexisting == t->preexisting && s->events == t->events &&
		   memcmp(s->by_event, t->by_event, sizeof(s->by_event)) == 0 &&
		   s->withdrawn == t->withdrawn && s->raised == t->raised && s->handled == t->handled &&
		   s->joined == t->joined && s->start == t->start && s->last == t->last &&
		   s->end == t->end && memcmp(s->by_outcome, t->by_outcome, sizeof(s->by_outcome)) == 0 &&
		   s->tracks == t->tracks && a->dark_count == b->dark_count &&
		   a->thread_count == b->thread_count && has_same_tasks(a, b) && has_same_counters(a, b);
}

#endif

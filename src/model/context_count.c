/* SPDX-License-Identifier: ISC */
#include "model/context_count.h"

#include <stdlib.h>
#include <string.h>

#include <weft/parse.h>

#include "base/array.h"
#include "model/contexts.h"

/* 24 hexadecimal bytes: a trace, then a span. */
#define TRACE_BYTES 16
#define SPAN_BYTES  8

struct weft__context_ids {
	uint8_t trace[TRACE_BYTES], span[SPAN_BYTES];
	bool has_parent;
};

static void read_id(const char *digits, size_t bytes, uint8_t *ret_id)
{
	for (size_t i = 0; i < bytes; i++) {
		uint64_t byte = 0;
		(void)weft_parse_hexadecimal(digits + 2 * i, 2, &byte);
		ret_id[i] = (uint8_t)byte;
	}
}

int weft__model_context_count_add(struct weft__context_count *c, const struct weft_event *event)
{
	struct weft_trace_context context = {0};
	if (!weft__model_read_context(event->text, event->fields, event->field_count, &context))
		return 0;
	if (c->count == c->capacity) {
		const size_t more = weft__array_next_capacity(c->capacity, c->count + 1);
		const int error = weft__array_resize(&c->list, more, sizeof(*c->list));
		if (error)
			return error;
		c->capacity = more;
	}
	struct weft__context_ids *ids = &c->list[c->count++];
	read_id(context.trace_id, TRACE_BYTES, ids->trace);
	read_id(context.span_id, SPAN_BYTES, ids->span);
	ids->has_parent = context.parent_span_id;
	return 0;
}

/* By trace, in it those without a parent first, then by span. */
static int compare(const void *left, const void *right)
{
	const struct weft__context_ids *l = left, *r = right;
	const int traces = memcmp(l->trace, r->trace, TRACE_BYTES);
	if (traces)
		return traces;
	if (l->has_parent != r->has_parent)
		return l->has_parent ? 1 : -1;
	return memcmp(l->span, r->span, SPAN_BYTES);
}

/* A context that was given twice is one span. */
void weft__model_context_count_finish(
	struct weft__context_count *c, struct weft_context_sums *ret_sums)
{
	*ret_sums = (struct weft_context_sums){0};
	if (c->count)
		qsort(c->list, c->count, sizeof(*c->list), compare);
	for (size_t i = 0; i < c->count; i++) {
		const struct weft__context_ids *ids = &c->list[i];
		const bool is_new = !i || memcmp(ids->trace, ids[-1].trace, TRACE_BYTES) != 0;
		ret_sums->spans += is_new || memcmp(ids->span, ids[-1].span, SPAN_BYTES) != 0;
		ret_sums->traces += is_new;
		ret_sums->begun += is_new && !ids->has_parent;
	}
	free(c->list);
	*c = (struct weft__context_count){0};
}

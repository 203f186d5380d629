/* SPDX-License-Identifier: ISC
 *
 * Compares the two ways from a trace to facts: the short one that plain events take, and that of
 * each event through struct weft_event.
 */
#ifndef WEFT_TESTS_SAME_FACTS_H
#define WEFT_TESTS_SAME_FACTS_H

#include <string.h>

#include <weft/decoder.h>
#include <weft/error.h>

#include "format/decoder.h"
#include "model/load.h"

struct fact_reader {
	struct weft_decoder *decoder;
	struct weft_model_builder *builder;
	int status;
	uint64_t ticks; /* of the last fact's event; 0: it took the short way */
	uint64_t plain; /* facts that took the short way */
};

static inline struct fact_reader fact_reader_open(const void *bytes, size_t size, bool is_summary)
{
	struct fact_reader r = {0};
	r.status = weft_decoder_create(&r.decoder);
	if (!r.status)
		r.status = weft_model_builder_create(&r.builder);
	if (!r.status && is_summary)
		weft__model_make_summary(r.builder);
	if (!r.status)
		r.status = weft_decoder_feed_borrowed(r.decoder, bytes, size);
	if (!r.status)
		r.status = weft_decoder_finish(r.decoder);
	return r;
}

static inline void fact_reader_close(struct fact_reader *r)
{
	weft_model_builder_destroy(r->builder);
	weft_decoder_destroy(r->decoder);
}

/* The next fact by the long way. False: there is none. */
static inline bool fact_of_event(struct fact_reader *r, struct weft__fact *ret_fact)
{
	struct weft_event event;
	r->status = weft_decoder_next(r->decoder, &event);
	if (r->status == WEFT_OK)
		r->status = weft__model_fact(r->builder, &event, ret_fact);
	r->ticks = r->status == WEFT_OK ? event.ticks : 0;
	return r->status == WEFT_OK;
}

/* The next facts by the short way if there is one; at most `most`. Returns their number. */
static inline uint32_t facts_of_plain(
	struct fact_reader *r, struct weft__fact *facts, uint32_t most)
{
	const struct weft__naming naming = weft__model_naming(r->builder);
	uint32_t count;
	r->status =
		weft__format_decoder_next_facts(r->decoder, &naming, UINT64_MAX, facts, most, &count);
	r->plain += count;
	r->ticks = 0;
	return count || r->status ? count : fact_of_event(r, facts);
}

static inline bool is_same_fact(const struct weft__fact *a, const struct weft__fact *b)
{
	return a->time_ns == b->time_ns && a->offset == b->offset && a->value == b->value &&
		   a->task == b->task && a->other == b->other && a->text == b->text &&
		   a->end_ns == b->end_ns && a->kind == b->kind && a->type == b->type &&
		   a->flag == b->flag && a->has_value == b->has_value && a->is_set == b->is_set &&
		   a->is_real == b->is_real && a->is_gc == b->is_gc && a->is_rundown == b->is_rundown &&
		   a->category == b->category;
}

/* The tasks and strings that the facts number. */
static inline bool has_same_names(struct weft_model_builder *a, struct weft_model_builder *b)
{
	const struct weft__naming x = weft__model_naming(a), y = weft__model_naming(b);
	const struct weft__strings *s = &x.texts->strings, *t = &y.texts->strings;
	const uint32_t tasks = x.identities->count;
	return tasks == y.identities->count && s->count == t->count && s->size == t->size &&
		   (!tasks || !memcmp(x.identities->id, y.identities->id, tasks * sizeof(weft_task_id))) &&
		   (!s->size || !memcmp(s->bytes, t->bytes, s->size));
}

static inline bool has_same_description(const struct weft_decoder *a, const struct weft_decoder *b)
{
	const struct weft_trace_description *x = weft_decoder_describe(a),
										*y = weft_decoder_describe(b);
	return x->thread_count == y->thread_count &&
		   memcmp(x->losses, y->losses, sizeof(x->losses)) == 0 &&
		   x->loss_period_count == y->loss_period_count;
}

/* True if both ways give the same facts, losses and number of reports. */
static inline bool has_same_facts(
	const void *bytes, size_t size, uint32_t most, bool is_summary, uint64_t *ret_plain)
{
	struct fact_reader a = fact_reader_open(bytes, size, is_summary);
	struct fact_reader b = fact_reader_open(bytes, size, is_summary);
	struct weft__fact expected, facts[64];
	bool is_same = a.status == b.status;
	while (is_same && a.status == WEFT_OK) {
		const uint32_t count = facts_of_plain(&b, facts, most);
		for (uint32_t i = 0; i < count && is_same; i++)
			is_same = fact_of_event(&a, &expected) && is_same_fact(&expected, &facts[i]);
		if (b.ticks && b.ticks != a.ticks)
			is_same = false;
		if (!count)
			is_same = is_same && !fact_of_event(&a, &expected) && a.status == b.status;
	}
	if (a.builder && b.builder && is_same)
		is_same = has_same_names(a.builder, b.builder) &&
				  has_same_description(a.decoder, b.decoder) &&
				  weft_decoder_diagnostics(a.decoder)->count ==
					  weft_decoder_diagnostics(b.decoder)->count;
	*ret_plain = b.plain;
	fact_reader_close(&a);
	fact_reader_close(&b);
	return is_same;
}

#endif

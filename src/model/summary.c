/* SPDX-License-Identifier: ISC
 *
 * A builder that makes a summary: tasks, counters and numbers, but not what tasks did. The state
 * and its rules are those of every builder, so these are the whole model's.
 *
 * Activations are kept until the end, because losses may shorten them, and with them the signs of
 * life of tasks that did not end.
 */
#include <stdlib.h>

#include "model/builder.h"

static int on_edge(void *builder, enum weft_edge_type type, uint32_t from, uint32_t to)
{
	weft__model_builder_count_edge(builder, type, from, to);
	return 0;
}

static int on_note(
	void *builder, enum weft_note_type type, uint32_t task, uint32_t text, int64_t value)
{
	(void)type, (void)text, (void)value;
	if (task != WEFT_NONE)
		weft__model_builder_touch(builder, task);
	return 0;
}

static int on_span(
	void *builder, uint32_t task, uint32_t thread, const struct weft__state_span *span)
{
	(void)thread, (void)span;
	weft__model_builder_touch(builder, task);
	return 0;
}

static int on_given(void *builder, uint32_t track, uint64_t begin, uint64_t end, uint32_t name)
{
	(void)begin, (void)end, (void)name;
	weft__model_builder_touch(builder, track);
	return 0;
}

static const struct weft__listener listener = {
	.mention = weft__model_builder_mention,
	.edge = on_edge,
	.total = weft__model_builder_total,
	.end = weft__model_builder_end,
	.alive = weft__model_builder_alive,
	.note = on_note,
	.sample = weft__model_builder_sample,
	.period = weft__model_builder_period,
	.gc = weft__model_builder_gc,
	.span = on_span,
	.given = on_given,
	.damage = weft__model_builder_damage,
};

void weft__model_make_summary(struct weft_model_builder *b)
{
	b->is_summary = true;
	b->state.listener = &listener;
}

void weft__model_builder_drop_activations(struct weft_model_builder *b)
{
	struct activation_columns *a = &b->activations;
	free(a->start);
	free(a->end);
	free(a->thread);
	free(a->task);
	*a = (struct activation_columns){0};
}

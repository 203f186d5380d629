/* SPDX-License-Identifier: ISC
 *
 * Folding as plan.c does it, while the program runs: a task without a span is in the span of its
 * nearest ancestor that has one, and a task that a server creates and does not wait for is a
 * request.
 *
 * A task that has no span yet may get one until it ends, by a label or a context. The trace of a
 * task is decided when the first span that needs it is written, and then stays.
 */
#include "otlp/kinds.h"
#include "otlp/stream.h"

/* How far above a task its span may be. Without the limit, a chain could be as long as there are
 * tasks. */
#define FOLDED_MAX 1024

static bool has_span(const struct weft_otlp_stream *s, const struct weft__otlp_who *who)
{
	if (who->has_ended || who->task == WEFT_NONE)
		return who->has_ended && !who->is_folded;
	return who->has_context ||
		   weft__otlp_kind_is_shown(s->state.tasks.kind[who->task], s->live[who->task].label.bytes);
}

struct weft__otlp_who *weft__otlp_who_shown(
	const struct weft_otlp_stream *s, struct weft__otlp_who *who)
{
	if (!s->writer.options.folds)
		return who;
	for (int i = 0; who && i < FOLDED_MAX; i++, who = who->parent)
		if (has_span(s, who))
			return who;
	return NULL;
}

uint32_t weft__otlp_stream_span_of(const struct weft_otlp_stream *s, uint32_t task)
{
	const struct weft__otlp_who *who;
	if (!s->writer.options.folds)
		return task;
	who = weft__otlp_who_shown(s, s->live[task].who);
	return who && !who->has_ended ? who->task : WEFT_NONE;
}

/* ---- Requests ---- */

static struct weft__otlp_who *shown_above(
	const struct weft_otlp_stream *s, const struct weft__otlp_who *who)
{
	return who->parent ? weft__otlp_who_shown(s, who->parent) : NULL;
}

static bool is_wait(enum weft_edge_type type)
{
	return type == WEFT_EDGE_READ || type == WEFT_EDGE_TRY_READ || type == WEFT_EDGE_WAIT_ANY;
}

void weft__otlp_stream_fold_edge(
	struct weft_otlp_stream *s, enum weft_edge_type type, uint32_t from, uint32_t to)
{
	struct weft__otlp_who *actor = weft__otlp_who_shown(s, s->live[from].who);
	struct weft__otlp_who *other = weft__otlp_who_shown(s, s->live[to].who);
	if (!actor || !other || actor == other)
		return;
	const struct weft__otlp_who *above = shown_above(s, other);
	if (is_wait(type) && (above == actor || above == shown_above(s, actor)))
		other->is_awaited = true;
	if (type == WEFT_EDGE_RESOLVE && s->live[to].who != other &&
		!weft__otlp_kind_is_thing(s->state.tasks.kind[to]) && shown_above(s, actor) == other)
		actor->is_awaited = true;
}

/* ---- Traces ---- */

/* The one above it is placed. */
static void place(const struct weft_otlp_stream *s, struct weft__otlp_who *who)
{
	const struct weft__otlp_who *parent = shown_above(s, who);
	who->is_placed = true;
	if (who->has_context)
		return;
	who->is_request = parent && parent->serves && !who->is_awaited;
	who->serves = !parent || (parent->serves && !who->is_request);
	if (parent && !who->is_request) {
		who->above = parent->span;
		who->trace = parent->trace;
		who->flags = parent->flags;
		return;
	}
	who->trace = weft__otlp_trace_of(who->span, weft__otlp_stream_seed(s, who->buffer));
	who->flags = weft__otlp_is_random(
					 weft_trace_buffer_at(s->trace->buffers, s->trace->buffer_count, who->buffer))
					 ? 3
					 : 1;
}

/* Without recursion: up to one that is placed, which leaves the way down. */
void weft__otlp_who_place(const struct weft_otlp_stream *s, struct weft__otlp_who *who)
{
	struct weft__otlp_who *below = NULL;
	while (who && !who->is_placed) {
		who->below = below;
		below = who;
		who = shown_above(s, who);
	}
	for (; below; below = below->below)
		place(s, below);
}

bool weft__otlp_who_is_kin(const struct weft__otlp_who *left, const struct weft__otlp_who *right)
{
	return left->above == right->span || right->above == left->span;
}

/* ---- Ends ---- */

int weft__otlp_stream_fold(struct weft_otlp_stream *s, uint32_t task)
{
	struct weft__otlp_who *who = s->live[task].who;
	struct weft__otlp_who *span = weft__otlp_who_shown(s, who);
	const uint32_t in = weft__otlp_stream_span_of(s, task);
	if (in != WEFT_NONE && s->state.tasks.outcome[task] == WEFT_OUTCOME_FAILED)
		weft__otlp_stream_note_failure(s, task, in);
	/* The tasks between are not needed any more. */
	if (span)
		weft__otlp_who_hold(span);
	weft__otlp_who_release(who->parent);
	who->parent = span;
	who->is_folded = true;
	s->writer.summary.folded += who->is_sure;
	return in == WEFT_NONE ? 0 : s->live[in].events.error;
}

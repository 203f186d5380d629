/* SPDX-License-Identifier: ISC */
#include "otlp/stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/export.h"
#include "model/contexts.h"

enum {
	TASKS_MAX = 1 << 20,     /* that live at one time */
	FORGET_EVENTS = 1 << 16, /* at least this many between two calls of forget() */
	EDGES_MAX = 128,         /* of a span, as in OpenTelemetry's SDKs */
	CATEGORIES_MAX = 254,
};

/* ---- Living tasks ---- */

static int on_mention(void *context, uint32_t task)
{
	struct weft_otlp_stream *s = context;
	const struct weft__column column = {&s->live, sizeof(*s->live)};
	int error = weft__columns_reserve(&column, 1, &s->room, task + (size_t)1);
	if (error)
		return error;
	const weft_task_id id = s->identities.id[task];
	const uint32_t buffer = s->identities.buffer[task];
	const uint64_t seed = weft__otlp_stream_seed(s, buffer);
	struct weft__otlp_who *who = weft__otlp_recent_find(s, buffer, id);
	const bool is_recent = who;
	who = is_recent ? weft__otlp_who_hold(who)
					: weft__otlp_who_create(weft__otlp_plain_id(id, seed), buffer);
	s->live[task] = (struct weft__otlp_live){.who = who,
		.is_written = is_recent,
		.start = s->state.now,
		.end = s->state.start,
		.thread = WEFT_NONE,
		.category = WEFT_NONE,
		.asked = WEFT_NONE};
	if (!who)
		return WEFT_ERROR_MEMORY;
	if (!is_recent) {
		who->is_sure = !s->has_forgotten;
		who->task = task;
	}
	return 0;
}

static void touch(struct weft_otlp_stream *s, uint32_t task)
{
	if (!(s->state.tasks.flags[task] & WEFT_TASK_RESOLVED))
		s->live[task].end = s->state.now;
}

static void release_inner(struct weft__otlp_live *live)
{
	for (uint32_t i = 0; i < live->depths; i++) {
		weft_text_finish(&live->inner[i].name);
		weft_text_finish(&live->inner[i].given.state);
	}
	free(live->inner);
	live->inner = NULL;
	live->depths = 0;
}

/* Frees all that only the span needs. */
static void release_remarks(struct weft__otlp_live *live)
{
	for (uint32_t i = 0; i < live->edge_count; i++)
		weft__otlp_who_release(live->edges[i].other);
	free(live->edges);
	live->edges = NULL;
	live->edge_count = 0;
	live->edge_room = 0;
	weft_text_finish(&live->events);
	weft_text_finish(&live->label);
	weft_text_finish(&live->message);
	weft_text_finish(&live->given.state);
	release_inner(live);
}

static void release_live(struct weft__otlp_live *live)
{
	release_remarks(live);
	weft__otlp_who_release(live->who);
}

/* ---- Edges ---- */

static int add_edge(struct weft_otlp_stream *s, uint32_t task, enum weft_edge_type type,
	uint32_t other, uint32_t *ret_edge)
{
	struct weft__otlp_live *live = &s->live[task];
	const struct weft__column column = {&live->edges, sizeof(*live->edges)};
	*ret_edge = WEFT_NONE;
	if (live->is_written || other == task)
		return 0;
	if (live->edge_count == EDGES_MAX || !s->live[other].who->is_sure) {
		live->edges_dropped++;
		return 0;
	}
	int error = weft__columns_reserve(&column, 1, &live->edge_room, live->edge_count + (size_t)1);
	if (error)
		return error;
	*ret_edge = live->edge_count;
	live->edges[live->edge_count++] = (struct weft__otlp_edge){
		weft__otlp_who_hold(s->live[other].who), s->state.now, (uint8_t)type};
	return 0;
}

/* A creator that was forgotten may have the trace of any root: the child is a root, then. */
static void set_parent(struct weft_otlp_stream *s, uint32_t parent, uint32_t child)
{
	struct weft__otlp_who *who = s->live[child].who;
	who->is_sure = true;
	if (parent == WEFT_NONE || who->parent || !s->live[parent].who->is_sure)
		return;
	who->parent = weft__otlp_who_hold(s->live[parent].who);
	if (who->epoch == s->epoch)
		s->epoch++;
}

static int set_category(struct weft_otlp_stream *s, uint32_t task)
{
	const struct weft_slice name = s->now->category;
	uint32_t *category = &s->live[task].category;
	if (!name.size)
		return 0;
	if (s->categories.count >= CATEGORIES_MAX) {
		*category = weft__strings_find(&s->categories, name.bytes, name.size);
		return 0;
	}
	return weft__strings_intern(&s->categories, name.bytes, name.size, category);
}

static void on_answer(void *context, uint32_t task)
{
	struct weft_otlp_stream *s = context;
	struct weft__otlp_live *live = &s->live[task];
	const uint32_t edge = live->asked;
	if (edge >= live->edge_count) {
		live->edges_dropped -= live->edges_dropped > 0;
		return;
	}
	weft__otlp_who_release(live->edges[edge].other);
	live->edge_count--;
	memmove(&live->edges[edge], &live->edges[edge + 1],
		(live->edge_count - edge) * sizeof(*live->edges));
	live->asked = WEFT_NONE;
}

/* The state does not know it of a source that was forgotten meanwhile. */
static bool is_answer(const struct weft_otlp_stream *s, uint32_t task, uint32_t source)
{
	const struct weft__otlp_live *live = &s->live[task];
	return live->asked < live->edge_count && live->asked + 1 == live->edge_count &&
		   live->edges[live->asked].other == s->live[source].who;
}

static int on_edge(void *context, enum weft_edge_type type, uint32_t from, uint32_t to)
{
	struct weft_otlp_stream *s = context;
	uint32_t edge = WEFT_NONE, span;
	int error = 0;
	if (type == WEFT_EDGE_TRY_READ || type == WEFT_EDGE_SIGNAL || type == WEFT_EDGE_WAIT_ANY ||
		type == WEFT_EDGE_RECEIVE)
		touch(s, to);
	if (type == WEFT_EDGE_CREATE) {
		set_parent(s, from, to);
		error = set_category(s, to);
	}
	if (type == WEFT_EDGE_RECEIVE) {
		span = weft__otlp_stream_span_of(s, to);
		return from == WEFT_NONE || span == WEFT_NONE ? 0 : add_edge(s, span, type, from, &edge);
	}
	if (from == WEFT_NONE)
		return error;
	touch(s, from);
	if (s->writer.options.folds)
		weft__otlp_stream_fold_edge(s, type, from, to);
	span = weft__otlp_stream_span_of(s, from);
	if (span == WEFT_NONE)
		return error;
	if (type == WEFT_EDGE_READ && is_answer(s, span, to))
		on_answer(s, span);
	if (!error && type != WEFT_EDGE_CREATE)
		error = add_edge(s, span, type, to, &edge);
	if (type == WEFT_EDGE_TRY_READ)
		s->live[span].asked = edge;
	return error;
}

/* ---- Lives ---- */

static void on_end(void *context, uint32_t task, uint32_t becomes)
{
	struct weft_otlp_stream *s = context;
	(void)becomes;
	s->live[task].end = s->state.now;
	s->ended = task;
	if (s->now->type == WEFT_EVENT_FAIL)
		weft_text_add(&s->live[task].message, s->now->text.bytes, s->now->text.size);
}

static int on_alive(void *context, uint32_t task, bool is_new, const struct weft__fact *fact)
{
	struct weft_otlp_stream *s = context;
	struct weft__otlp_live *live = &s->live[task];
	const uint64_t now = s->state.now, age = (uint64_t)fact->value;
	touch(s, task);
	if (!is_new)
		return 0;
	live->who->is_sure = true;
	if (fact->has_value) {
		const uint64_t time = age < now ? now - age : 0;
		if (time < live->start)
			live->start = time > s->state.start ? time : s->state.start;
		live->is_of_rundown = true;
	}
	return set_category(s, task);
}

/* ---- Contexts, labels and remarks ---- */

static void give(struct weft__otlp_given *given, const struct weft_event *mark,
	const struct weft_trace_context *context)
{
	given->is_given = true;
	given->context = weft__otlp_context_convert(0, context);
	given->state.size = 0;
	for (uint32_t i = 0; context->state && i < mark->field_count; i++)
		if (mark->fields[i].value.text.bytes == context->state) {
			weft_text_add(&given->state, context->state, mark->fields[i].value.text.size);
			weft_text_add(&given->state, "", 1);
		}
}

static void take_context(
	struct weft_otlp_stream *s, uint32_t task, const struct weft_trace_context *context)
{
	struct weft__otlp_live *live = &s->live[task];
	if (context->is_of_span) {
		const uint32_t span = weft__model_state_innermost(&s->state, task);
		if (span == WEFT_NONE || s->state.spans.list[span].depth >= live->depths)
			return;
		struct weft__otlp_inner *inner = &live->inner[s->state.spans.list[span].depth];
		if (!inner->given.is_given) /* the first one counts */
			give(&inner->given, s->now, context);
		return;
	}
	give(&live->given, s->now, context);
	live->who->has_context = true;
	live->who->span = live->given.context.span;
	live->who->trace = live->given.context.trace;
	live->who->flags = live->given.context.flags;
	live->who->serves = false;
	live->who->is_request = false;
	live->who->above = 0;
	s->epoch++;
}

/* The first label is the name, of a thread the last one. */
static bool take_label(struct weft_otlp_stream *s, uint32_t task)
{
	struct weft__otlp_live *live = &s->live[task];
	const bool is_first = !live->label.bytes;
	if (!is_first && s->state.tasks.kind[task] != WEFT_KIND_THREAD)
		return false;
	live->label.size = 0;
	weft_text_add(&live->label, s->now->text.bytes, s->now->text.size);
	weft_text_add(&live->label, "", 1);
	return is_first;
}

/* With folding, changes of counters are left out, as promises are. */
static int take_remark(struct weft_otlp_stream *s, uint32_t task, enum weft_note_type type)
{
	const uint32_t span = weft__otlp_stream_span_of(s, task);
	if (span == WEFT_NONE || (s->writer.options.folds && type >= WEFT_NOTE_CHANGE))
		return 0;
	weft__otlp_stream_note(s, span, type);
	return s->live[span].events.error;
}

static int on_note(
	void *context, enum weft_note_type type, uint32_t task, uint32_t text, int64_t value)
{
	struct weft_otlp_stream *s = context;
	struct weft_trace_context found = {0};
	(void)text;
	(void)value;
	if (task == WEFT_NONE)
		return 0;
	touch(s, task);
	if (s->live[task].is_written)
		return 0;
	if (type == WEFT_NOTE_MARK &&
		weft__model_read_context(s->now->text, s->now->fields, s->now->field_count, &found))
		take_context(s, task, &found);
	else if (type != WEFT_NOTE_LABEL || !take_label(s, task))
		return take_remark(s, task, type);
	return 0;
}

/* ---- Running ---- */

/* The running task may have become others meanwhile. What has ended is written already. */
static int on_period(void *context, uint32_t thread)
{
	struct weft_otlp_stream *s = context;
	const struct weft__state_thread *state = &s->state.threads[thread];
	uint64_t start = state->since;
	uint32_t task = state->running;
	while (task < s->state.tasks.count) {
		struct weft__otlp_live *live = &s->live[task];
		if (s->state.tasks.flags[task] & WEFT_TASK_RESOLVED) {
			start = live->end > start ? live->end : start;
		} else if (s->state.now > start) {
			live->running_ns += s->state.now - start;
			live->end = s->state.now;
			live->thread = live->thread == WEFT_NONE ? thread : live->thread;
		}
		task = s->state.tasks.becomes[task];
	}
	return 0;
}

static int on_off_cpu(void *context, uint32_t task, uint32_t thread, uint64_t start, uint64_t ns)
{
	struct weft_otlp_stream *s = context;
	(void)thread;
	if (!(s->state.tasks.flags[task] & WEFT_TASK_RESOLVED) && s->state.now > start)
		s->live[task].off_cpu_ns += ns < s->state.now - start ? ns : s->state.now - start;
	return 0;
}

/* ---- Spans in tasks ---- */

/* A span of the task has begun. */
static int begin_inner(struct weft_otlp_stream *s, uint32_t task, uint32_t depth, uint64_t start,
	struct weft_slice name)
{
	struct weft__otlp_live *live = &s->live[task];
	if (depth >= WEFT__OTLP_INNER_MAX || live->is_written)
		return 0;
	if (depth >= live->depths) {
		int error = weft__array_resize(&live->inner, depth + (size_t)1, sizeof(*live->inner));
		if (error)
			return error;
		memset(live->inner + live->depths, 0, (depth + 1 - live->depths) * sizeof(*live->inner));
		live->depths = depth + 1;
	}
	struct weft__otlp_inner *inner = &live->inner[depth];
	inner->number = inner->number && inner->start == start ? inner->number + 1 : 1;
	inner->start = start;
	inner->is_open = true;
	inner->given.is_given = false;
	inner->name.size = 0;
	weft_text_add(&inner->name, name.bytes, name.size);
	return inner->name.error;
}

static int on_span(
	void *context, uint32_t task, uint32_t thread, const struct weft__state_span *span)
{
	struct weft_otlp_stream *s = context;
	(void)thread;
	s->moved++;
	if (task == WEFT_NONE || s->live[task].is_written || span->depth >= s->live[task].depths)
		return 0;
	const struct weft_span found = {
		.start = span->since, .end = s->state.now, .depth = (uint8_t)span->depth};
	touch(s, task);
	int error = weft__otlp_stream_write_inner(s, task, &found, false);
	s->live[task].inner[span->depth].is_open = false;
	return error;
}

/* Keeps the track of a span, which no other event introduces. */
static void keep_track(struct weft_otlp_stream *s, uint32_t task)
{
	s->live[task].who->is_sure = true;
	s->state.tasks.label[task] = 0;
	s->state.tasks.kind[task] = WEFT_KIND_TRACK;
}

static int on_given(void *context, uint32_t track, uint64_t begin, uint64_t end, uint32_t name)
{
	struct weft_otlp_stream *s = context;
	const struct weft_span found = {.start = begin, .end = end};
	(void)name;
	keep_track(s, track);
	int error = begin_inner(s, track, 0, begin, s->now->text);
	if (!error)
		error = weft__otlp_stream_write_inner(s, track, &found, false);
	if (!error && s->live[track].depths)
		s->live[track].inner[0].is_open = false;
	return error;
}

static const struct weft__listener listener = {
	.mention = on_mention,
	.edge = on_edge,
	.answer = on_answer,
	.end = on_end,
	.alive = on_alive,
	.note = on_note,
	.period = on_period,
	.off_cpu = on_off_cpu,
	.span = on_span,
	.given = on_given,
};

/* The spans of a task that became another go on there. */
static int move_inner(struct weft_otlp_stream *s, uint32_t task, uint32_t target)
{
	int error = 0;
	const uint32_t span = weft__model_state_innermost(&s->state, target);
	const uint32_t innermost = span == WEFT_NONE ? 0 : s->state.spans.list[span].depth + 1;
	for (uint32_t depth = 0; !error && depth < s->live[task].depths && depth < s->moved; depth++) {
		const struct weft_text *name = &s->live[task].inner[depth].name;
		error = begin_inner(s, target, innermost - s->moved + depth, s->state.now,
			(struct weft_slice){name->bytes, name->size});
	}
	return error;
}

/* ---- Forgetting ---- */

static int forget(struct weft_otlp_stream *s)
{
	uint32_t *new_index;
	int error = weft__model_identities_cut(&s->identities, s->state.tasks.count);
	const uint32_t before = s->state.tasks.count;
	if (!error)
		error = weft__model_state_forget(&s->state, &new_index);
	if (error)
		return error;
	error = weft__otlp_recent_replace(s, new_index, before);
	for (uint32_t task = 0; task < before; task++) {
		if (!s->live[task].is_written)
			s->live[task].who->task = new_index[task];
		if (new_index[task] == WEFT_NONE)
			release_live(&s->live[task]);
		else
			s->live[new_index[task]] = s->live[task];
	}
	if (!error)
		error = weft__model_identities_move(&s->identities, new_index);
	if (!error)
		error = weft__model_tracks_move(&s->tracks, new_index);
	free(new_index);
	s->has_forgotten = true;
	const uint32_t count = s->state.tasks.count;
	s->until_forgetting = count < FORGET_EVENTS ? FORGET_EVENTS : count;
	return error;
}

/* ---- Events ---- */

static int make_fact(
	struct weft_otlp_stream *s, const struct weft_event *event, struct weft__fact *ret_fact)
{
	int error = weft__model_fact_of_event(&s->identities, NULL, event, ret_fact);
	/* Only whether there is a text matters, and only an alive event may lack one. */
	ret_fact->text = event->text.size || event->type != WEFT_EVENT_ALIVE ? 0 : WEFT_NONE;
	if (!error && event->type == WEFT_EVENT_SPAN)
		return weft__model_tracks_place(&s->tracks, &s->identities, &s->texts, event, ret_fact);
	if (!error && weft__model_is_of_thread(event))
		return weft__model_tracks_place_thread(&s->tracks, &s->identities, event, ret_fact);
	if (!error && event->kind_name.size)
		error = weft__model_number_kind(&s->kinds, event, &ret_fact->kind);
	return error;
}

static int after_event(
	struct weft_otlp_stream *s, const struct weft_event *event, const struct weft__fact *fact)
{
	int error = 0;
	if (event->type == WEFT_EVENT_SPAN && fact->other != WEFT_NONE)
		keep_track(s, fact->other);
	if (weft__model_is_of_thread(event) && fact->task != WEFT_NONE)
		keep_track(s, fact->task);
	if (event->type == WEFT_EVENT_BEGIN && fact->task != WEFT_NONE) {
		const uint32_t task = weft__model_state_forward(&s->state, fact->task);
		const uint32_t span = weft__model_state_innermost(&s->state, task);
		error = begin_inner(
			s, task, s->state.spans.list[span].depth, s->state.spans.list[span].since, event->text);
		touch(s, task);
	}
	if (s->ended == WEFT_NONE || error)
		return error;
	if (event->type == WEFT_EVENT_BECOME)
		error = move_inner(s, s->ended, s->state.tasks.becomes[s->ended]);
	if (!error)
		error = weft__otlp_stream_write(s, s->ended, false);
	release_remarks(&s->live[s->ended]);
	return error;
}

/* Lost events may have ended any task that lives. Those that are lost before the first one is taken
 * were lost at any time before it is said that all was taken that there is. */
static void note_losses(struct weft_otlp_stream *s)
{
	uint64_t lost = 0;
	for (int cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		if (s->state.has_begun || cause != WEFT_LOSS_OVERWRITTEN)
			lost += s->trace->losses[cause];
		else
			s->overwritten = s->trace->losses[cause];
	if (s->state.has_begun)
		lost -= s->overwritten;
	if (lost != s->lost)
		s->lost_at = s->state.has_begun ? s->state.now + 1 : UINT64_MAX;
	s->lost = lost;
}

/* With too many tasks, new ones are no tasks. */
static struct weft_event limit(const struct weft_otlp_stream *s, const struct weft_event *event)
{
	const struct weft__identities *i = &s->identities;
	struct weft_event known = *event;
	if (weft__model_ids_find(&i->by_id, i->id, i->buffer, event->buffer, event->task) == WEFT_NONE)
		known.task = WEFT_TASK_NONE;
	if (weft__model_ids_find(&i->by_id, i->id, i->buffer, event->buffer, event->other) == WEFT_NONE)
		known.other = WEFT_TASK_NONE;
	return known;
}

WEFT__EXPORT int weft_otlp_stream_add(struct weft_otlp_stream *s, const struct weft_event *event,
	const struct weft_trace_description *trace)
{
	struct weft_event known;
	struct weft__fact fact;
	int error = 0;
	s->trace = trace;
	s->writer.buffers = trace->buffers;
	s->writer.buffer_count = trace->buffer_count;
	if (event->type == WEFT_EVENT_TOTAL)
		return 0;
	note_losses(s);
	if (s->until_forgetting-- == 0)
		error = forget(s);
	if (s->identities.count + 2 > s->tasks_max) {
		known = limit(s, event);
		event = &known;
	}
	s->now = event;
	s->ended = WEFT_NONE;
	s->moved = 0;
	if (!error)
		error = make_fact(s, event, &fact);
	if (!error)
		error = weft__model_state_take(&s->state, &fact);
	return error ? error : after_event(s, event, &fact);
}

WEFT__EXPORT int weft_otlp_stream_flush(struct weft_otlp_stream *s)
{
	if (s->lost_at == UINT64_MAX)
		s->lost_at = s->state.now + 1;
	return weft__otlp_writer_flush(&s->writer);
}

WEFT__EXPORT int weft_otlp_stream_resume(struct weft_otlp_stream *s)
{
	if (s->lost || s->overwritten)
		s->doubted_until = s->state.now;
	return weft_otlp_stream_flush(s);
}

static uint64_t end_of(const struct weft_otlp_stream *s, uint32_t task)
{
	return weft_trace_buffer_at(
		s->trace->buffers, s->trace->buffer_count, s->identities.buffer[task])
		->end_ns;
}

/* As the model names it. */
static void name_track(struct weft_otlp_stream *s, const struct weft__track_line *line)
{
	struct weft_text *label = &s->live[line->task].label;
	label->size = 0;
	if (line->name != WEFT_NONE) {
		weft_text_add_string(label, weft__strings_bytes(&s->texts.strings, line->name));
	} else if (line->thread < s->trace->thread_count) {
		const struct weft_trace_thread *thread = &s->trace->threads[line->thread];
		weft_text_add_string(label, "thread ");
		if (thread->name && *thread->name)
			weft_text_add_string(label, thread->name);
		else
			weft_text_add_u64(label, thread->tid);
	}
	weft_text_add(label, "", 1);
}

/* A track lasts to the end of its program's record, and has ended well. */
static void end_tracks(struct weft_otlp_stream *s)
{
	for (uint32_t i = 0; i < s->tracks.count; i++) {
		const uint32_t task = s->tracks.lines[i].task;
		if (task >= s->state.tasks.count)
			continue;
		const uint64_t known = end_of(s, task), last = s->live[task].end;
		s->state.tasks.flags[task] |= WEFT_TASK_RESOLVED;
		s->state.tasks.outcome[task] = WEFT_OUTCOME_FULFILLED;
		s->live[task].end = !known ? s->state.now : known > last ? known : last;
		name_track(s, &s->tracks.lines[i]);
	}
}

/* Ends what runs, at the time at which its program ended, if that is known. */
static int close_state(struct weft_otlp_stream *s)
{
	const struct weft_trace_description *trace = s->trace;
	uint64_t *ends = calloc(trace->thread_count + (size_t)1, sizeof(*ends));
	if (!ends)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < trace->thread_count; i++)
		ends[i] =
			weft_trace_buffer_at(trace->buffers, trace->buffer_count, trace->threads[i].buffer)
				->end_ns;
	int error = weft__model_state_close(&s->state, ends, trace->thread_count);
	free(ends);
	return error;
}

static bool is_doubtful(const struct weft_otlp_stream *s, uint32_t task)
{
	return !(s->state.tasks.flags[task] & WEFT_TASK_RESOLVED) && s->doubted_until &&
		   s->live[task].end <= s->doubted_until;
}

WEFT__EXPORT int weft_otlp_stream_finish(struct weft_otlp_stream *s,
	const struct weft_trace_description *trace, struct weft_otlp_summary *ret_summary)
{
	s->trace = trace;
	s->writer.buffers = trace->buffers;
	s->writer.buffer_count = trace->buffer_count;
	note_losses(s);
	int error = close_state(s);
	if (!error)
		end_tracks(s);
	for (uint32_t task = 0; !error && task < s->state.tasks.count; task++)
		if (s->live[task].who->is_sure && !s->live[task].is_written && !is_doubtful(s, task))
			error = weft__otlp_stream_write(s, task, true);
	if (!error)
		error = weft__otlp_writer_flush(&s->writer);
	*ret_summary = s->writer.summary;
	return error;
}

/* ---- Beginning and end ---- */

WEFT__EXPORT int weft_otlp_stream_create(const struct weft_otlp_options *options,
	const struct weft_otlp_sink *sink, struct weft_otlp_stream **ret_stream)
{
	struct weft_otlp_stream *s = calloc(1, sizeof(*s));
	if (!s)
		return WEFT_ERROR_MEMORY;
	weft__model_state_init(&s->state, &listener, s);
	s->until_forgetting = FORGET_EVENTS;
	s->epoch = 1;
	int error = weft__otlp_writer_init(&s->writer, NULL, options, sink, WEFT_OTLP_TRACES);
	if (!error && s->writer.options.format == WEFT_OTLP_ZIPKIN)
		error = WEFT_ERROR_ARGUMENT;
	if (!error)
		error = weft__strings_init(&s->kinds);
	if (!error)
		error = weft__strings_init(&s->categories);
	if (!error)
		error = weft__model_texts_init(&s->texts);
	if (!error)
		error = weft__model_identities_init(&s->identities);
	const uint32_t most = s->writer.options.tasks_max;
	s->tasks_max = most && most < TASKS_MAX ? most : TASKS_MAX;
	s->event.fields = s->writer.encoder.fields;
	s->event.is_json = s->writer.encoder.is_json;
	if (error)
		weft_otlp_stream_destroy(s);
	else
		*ret_stream = s;
	return error;
}

WEFT__EXPORT void weft_otlp_stream_destroy(struct weft_otlp_stream *s)
{
	if (!s)
		return;
	for (uint32_t task = 0; task < s->state.tasks.count; task++)
		release_live(&s->live[task]);
	free(s->live);
	weft__otlp_recent_finish(s);
	weft__model_identities_finish(&s->identities);
	weft__model_texts_finish(&s->texts);
	weft__model_tracks_finish(&s->tracks);
	weft__strings_finish(&s->kinds);
	weft__strings_finish(&s->categories);
	weft__model_state_finish(&s->state);
	weft_text_finish(&s->event.text);
	weft__otlp_writer_finish(&s->writer);
	free(s);
}

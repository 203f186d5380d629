/* SPDX-License-Identifier: ISC
 *
 * Spans as rows: a span becomes a row when it ends, so rows are in the order of ends, and a span
 * comes after those in it. What its task does after its end is not part of the task's life: such a
 * span ends with the task, and one that begins later is left out.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"
#include "base/export.h"
#include "base/search.h"
#include "model/builder.h"
#include "model/live.h"

__attribute__((noinline)) static int reserve_span(struct span_columns *s)
{
	const struct weft__column columns[] = {
		{&s->start, sizeof(*s->start)},
		{&s->end, sizeof(*s->end)},
		{&s->task, sizeof(*s->task)},
		{&s->name, sizeof(*s->name)},
		{&s->depth, sizeof(*s->depth)},
	};
	return weft__columns_reserve(
		columns, sizeof(columns) / sizeof(*columns), &s->capacity, s->count + (size_t)1);
}

static int add_row(struct span_columns *s, uint32_t task, const struct weft_span *span)
{
	int error = s->count < s->capacity ? 0 : reserve_span(s);
	if (error)
		return error;
	s->start[s->count] = span->start;
	s->end[s->count] = span->end;
	s->task[s->count] = task;
	s->name[s->count] = span->name;
	s->depth[s->count] = (uint8_t)(span->depth | (span->is_at_most ? WEFT_SPAN_AT_MOST : 0));
	s->count++;
	return 0;
}

static struct weft_span span_until(const struct weft__state_span *open, uint64_t end)
{
	const uint32_t depth = open->depth < WEFT_SPAN_DEPTH_MAX ? open->depth : WEFT_SPAN_DEPTH_MAX;
	return (struct weft_span){
		open->since, end, open->name, (uint8_t)depth, false, open->is_at_most};
}

/* An open span of a task as of now; false if it began after the task's end. */
static bool find_open_span(const struct weft_model_builder *b, uint32_t task, uint64_t now,
	const struct weft__state_span *open, struct weft_span *ret_span)
{
	bool has_ended = b->state.tasks.flags[task] & WEFT_TASK_RESOLVED;
	uint64_t end = has_ended && b->tasks.end[task] < now ? b->tasks.end[task] : now;
	*ret_span = span_until(open, end);
	return open->since <= end;
}

int weft__model_builder_span(
	void *builder, uint32_t task, uint32_t thread, const struct weft__state_span *open)
{
	struct weft_model_builder *b = builder;
	struct weft_span span = span_until(open, b->state.now);
	(void)thread; /* its own spans are those of a track */
	weft__model_builder_touch(b, task);
	return find_open_span(b, task, b->state.now, open, &span) ? add_row(&b->spans, task, &span) : 0;
}

int weft__model_builder_given(
	void *builder, uint32_t track, uint64_t begin, uint64_t end, uint32_t name)
{
	struct weft_model_builder *b = builder;
	const struct weft_span span = {begin, end, name, 0, false, false};
	weft__model_builder_touch(b, track);
	return add_row(&b->spans, track, &span);
}

int weft__model_builder_name_threads(
	struct weft_model_builder *b, const struct weft_trace_description *description)
{
	char name[64];
	int error = 0;
	for (uint32_t i = 0; !error && i < b->tracks.count; i++) {
		struct weft__track_line *line = &b->tracks.lines[i];
		if (line->name != WEFT_NONE || line->thread >= description->thread_count)
			continue;
		const struct weft_trace_thread *thread = &description->threads[line->thread];
		bool is_named = thread->name && *thread->name;
		/* "pCPU 3" is enough. */
		bool is_pcpu = thread->buffer < description->buffer_count &&
					   description->buffers[thread->buffer].is_hypervisor;
		int size =
			is_named ? snprintf(name, sizeof(name), "%s%s", is_pcpu ? "" : "thread ", thread->name)
					 : snprintf(name, sizeof(name), "thread %" PRIu64, thread->tid);
		size_t kept = (size_t)size < sizeof(name) ? (size_t)size : sizeof(name) - 1;
		error = weft__strings_intern(&b->texts.strings, name, kept, &line->name);
	}
	return error;
}

/* Facts that were made but never taken may have named more lines. */
void weft__model_builder_name_tracks(
	const struct weft_model_builder *b, uint32_t tasks, uint16_t *kind, uint32_t *label)
{
	for (uint32_t i = 0; i < b->tracks.count; i++) {
		const struct weft__track_line *line = &b->tracks.lines[i];
		if (line->task >= tasks)
			continue;
		kind[line->task] = WEFT_KIND_TRACK;
		label[line->task] = line->name;
	}
}

void weft__model_builder_count_tracks(
	const struct weft_model_builder *b, const uint8_t *outcome, struct weft_model_summary *summary)
{
	const uint8_t others = WEFT_TASK_CREATED | WEFT_TASK_FROM_RUNDOWN;
	for (uint32_t i = 0; i < b->tracks.count; i++) {
		uint32_t task = b->tracks.lines[i].task;
		if (task >= b->state.tasks.count)
			continue;
		summary->tracks++;
		summary->by_outcome[outcome[task]]--;
		summary->preexisting -= !(b->state.tasks.flags[task] & others);
	}
}

void weft__model_builder_touch_spans(struct weft_model_builder *b)
{
	const struct weft__state *s = &b->state;
	for (uint32_t task = 0; task < s->spans.task_count; task++) {
		uint32_t i = weft__model_state_innermost(s, task);
		bool has_ended = s->tasks.flags[task] & WEFT_TASK_RESOLVED;
		if (i != WEFT_NONE && !has_ended && s->spans.list[i].since > b->tasks.end[task])
			b->tasks.end[task] = s->spans.list[i].since;
	}
}

static int end_spans_of_task(struct weft_model_builder *b, uint32_t task)
{
	const struct weft__state *s = &b->state;
	int error = 0;
	for (uint32_t i = weft__model_state_innermost(s, task); !error && i != WEFT_NONE;
		 i = s->spans.list[i].outer) {
		struct weft_span span = span_until(&s->spans.list[i], b->tasks.end[task]);
		if (span.start <= span.end)
			error = add_row(&b->spans, task, &span);
	}
	return error;
}

int weft__model_builder_end_spans(struct weft_model_builder *b)
{
	int error = 0;
	for (uint32_t task = 0; !error && task < b->state.spans.task_count; task++)
		error = end_spans_of_task(b, task);
	return error;
}

int weft__model_builder_freeze_spans(struct weft_model_builder *b, struct weft_model *m)
{
	struct span_columns *s = &b->spans;
	const struct weft__column columns[] = {{&s->start, sizeof(*s->start)},
		{&s->end, sizeof(*s->end)}, {&s->name, sizeof(*s->name)}, {&s->depth, sizeof(*s->depth)}};
	uint32_t *first;
	if (s->count == 0)
		return 0;
	int error =
		weft__model_group_columns(&s->task, s->count, b->state.tasks.count, columns, 4, &first);
	if (!first)
		return error;
	m->spans = (struct weft_spans){.count = s->count,
		.start = s->start,
		.end = s->end,
		.name = s->name,
		.depth = s->depth,
		.first = first,
		.last = first + 1};
	*s = (struct span_columns){0};
	return error;
}

/* ---- In a live model ---- */

static int show_ended(const struct weft_model_builder *b, struct weft_spans *to)
{
	const struct weft__pool *pool = &b->live->pools[WEFT__POOL_SPANS];
	if (pool->rows == 0)
		return 0;
	*to = (struct weft_spans){.count = pool->rows,
		.start = pool->column[0],
		.end = pool->column[1],
		.name = pool->column[2],
		.depth = pool->column[3]};
	return weft__model_pool_copy_ranges(pool, &to->first, &to->last);
}

static int add_open(const struct weft_model_builder *b, uint32_t task, struct weft_open_span **list,
	uint32_t *count, size_t *capacity)
{
	const struct weft__state *s = &b->state;
	const struct weft__column column = {list, sizeof(**list)};
	int error = 0;
	for (uint32_t i = weft__model_state_innermost(s, task); !error && i != WEFT_NONE;
		 i = s->spans.list[i].outer) {
		struct weft_span span;
		if (!find_open_span(b, task, b->live->now, &s->spans.list[i], &span))
			continue;
		span.is_open = true;
		error = weft__columns_reserve(&column, 1, capacity, *count + (size_t)1);
		if (!error)
			(*list)[(*count)++] = (struct weft_open_span){span, task};
	}
	return error;
}

static int show_open(const struct weft_model_builder *b, struct weft_spans *to)
{
	struct weft_open_span *list = NULL;
	size_t capacity = 0;
	int error = 0;
	for (uint32_t task = 0; !error && task < b->state.spans.task_count; task++)
		if (b->state.spans.innermost[task] != WEFT_NONE)
			error = add_open(b, task, &list, &to->open_count, &capacity);
	to->open = list;
	return error;
}

int weft__model_builder_show_spans(const struct weft_model_builder *b, struct weft_model *m)
{
	int error = show_ended(b, &m->spans);
	return error ? error : show_open(b, &m->spans);
}

/* ---- Looking them up ---- */

static bool is_before(const void *open, uint32_t row, uint64_t task)
{
	return ((const struct weft_open_span *)open)[row].task < task;
}

/* The open spans of a task are [result, *ret_end). */
static uint32_t find_open(const struct weft_spans *s, uint32_t task, uint32_t *ret_end)
{
	uint32_t first = weft__search(s->open, 0, s->open_count, is_before, task);
	*ret_end = weft__search(s->open, first, s->open_count, is_before, task + UINT64_C(1));
	return first;
}

WEFT__EXPORT uint32_t weft_model_span_count(const struct weft_model *m, uint32_t task)
{
	uint32_t end = 0, first = m->spans.open_count ? find_open(&m->spans, task, &end) : 0;
	uint32_t closed = m->spans.first ? m->spans.last[task] - m->spans.first[task] : 0;
	return closed + end - first;
}

WEFT__EXPORT struct weft_span weft_model_span(
	const struct weft_model *m, uint32_t task, uint32_t number)
{
	const struct weft_spans *s = &m->spans;
	uint32_t end, closed = s->first ? s->last[task] - s->first[task] : 0;
	if (number >= closed)
		return s->open[find_open(s, task, &end) + number - closed].span;
	uint32_t row = s->first[task] + number;
	return (struct weft_span){s->start[row], s->end[row], s->name[row],
		s->depth[row] & WEFT_SPAN_DEPTH_MAX, false, (s->depth[row] & WEFT_SPAN_AT_MOST) != 0};
}

WEFT__EXPORT uint32_t weft_model_track_thread(const struct weft_model *m, uint32_t task)
{
	uint64_t thread = m->tasks.id[task] - WEFT_TRACK_THREADS;
	bool is_one = m->tasks.kind[task] == WEFT_KIND_TRACK && thread < m->thread_count;
	return is_one ? (uint32_t)thread : WEFT_NONE;
}

struct task_spans {
	const struct weft_model *model;
	uint32_t task;
};

static bool ends_by(const void *context, uint32_t number, uint64_t time_ns)
{
	const struct task_spans *spans = context;
	return weft_model_span(spans->model, spans->task, number).end <= time_ns;
}

WEFT__EXPORT uint32_t weft_model_span_after(
	const struct weft_model *m, uint32_t task, uint64_t time_ns)
{
	const struct task_spans spans = {m, task};
	return weft__search(&spans, 0, weft_model_span_count(m, task), ends_by, time_ns);
}

/* The first span that ends later and has begun is the innermost. If an outermost one has not begun,
 * none after it has. */
WEFT__EXPORT bool weft_model_span_at(
	const struct weft_model *m, uint32_t task, uint64_t time_ns, struct weft_span *ret_span)
{
	uint32_t count = weft_model_span_count(m, task);
	for (uint32_t i = weft_model_span_after(m, task, time_ns); i < count; i++) {
		struct weft_span span = weft_model_span(m, task, i);
		if (span.start <= time_ns) {
			*ret_span = span;
			return true;
		}
		if (span.depth == 0)
			return false;
	}
	return false;
}

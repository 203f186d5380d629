/* SPDX-License-Identifier: ISC
 *
 * See blocking.h. An adapter records a call that blocks as a wait of the task that runs, whose
 * thread is idle meanwhile, and the task goes on at the end of it. What the wait is for was made by
 * the adapter. A wait of an event loop looks alike, but for descriptors.
 */
#include "story/blocking.h"

#include <string.h>

#include "base/search.h"
#include "story/index.h"

/* Bands or edges with one time that are examined, and pauses of a thread. */
#define SAME_TIME_MAX 64
#define PAUSES_MAX    64

/* A thread's locks, sleeps and children; or another call. */
static bool is_call(const struct weft_model *model, uint32_t source)
{
	return weft__story_is_of_category(model, source, "thread") ||
		   (weft__story_is_of_category(model, source, "io") &&
			   weft__story_is_kind(model, source, "call"));
}

bool weft__story_may_block(const struct weft_model *model)
{
	for (uint32_t category = 1; category <= model->category_count; category++) {
		const char *name = weft_model_category_name(model, category);
		if (name && (strcmp(name, "thread") == 0 || strcmp(name, "io") == 0))
			return true;
	}
	return false;
}

/* The task that another one begins to wait for, or has waited for, at a time; or WEFT_NONE. */
static uint32_t source_at(
	const struct weft_model *model, uint32_t task, enum weft_edge_type type, uint64_t time)
{
	const struct weft_edges *e = &model->edges;
	struct weft__edge_list by = weft__story_edges_by(model, task);
	uint32_t i = weft__story_edges_until(model, by, time);
	for (uint32_t looked = 0; i > 0 && looked < SAME_TIME_MAX; i--, looked++) {
		uint32_t edge = by.edges[i - 1];
		if (e->time[edge] != time)
			break;
		if (e->type[edge] == type && is_call(model, e->to[edge]))
			return e->to[edge];
	}
	return WEFT_NONE;
}

static bool is_band_before(const void *bands, uint32_t row, uint64_t time)
{
	return ((const struct weft_band_period *)bands)[row].start < time;
}

/* The first idle band of a thread from a time on, or NULL. At most so many bands are examined. */
static const struct weft_band_period *next_idle(
	const struct weft_model *model, uint32_t thread, uint64_t from, uint64_t to, uint32_t most)
{
	uint32_t row = weft__search(model->bands, 0, model->band_count, is_band_before, from);
	for (uint32_t looked = 0;
		 looked < most && row < model->band_count && model->bands[row].start < to; row++, looked++)
		if (model->bands[row].kind == WEFT_BAND_IDLE && model->bands[row].thread == thread)
			return &model->bands[row];
	return NULL;
}

bool weft__story_blocks_thread(
	const struct weft_model *model, uint32_t task, uint32_t activation, struct weft__blocking *ret)
{
	const struct weft_activations *a = &model->activations;
	uint64_t end = a->end[activation];
	uint32_t thread = a->thread[activation];
	bool is_last = activation + 1 == model->tasks.end_activation[task];
	if ((!is_last && a->thread[activation + 1] != thread) ||
		model->tasks.kind[task] == WEFT_KIND_THREAD)
		return false;
	uint32_t source = source_at(model, task, WEFT_EDGE_TRY_READ, end);
	if (source == WEFT_NONE && !is_last)
		source = source_at(model, task, WEFT_EDGE_READ, a->start[activation + 1]);
	if (source == WEFT_NONE)
		return false;
	const struct weft_band_period *band = next_idle(model, thread, end, end + 1, SAME_TIME_MAX);
	bool goes_on =
		band && (is_last ? band->end >= model->summary.end : a->start[activation + 1] == band->end);
	if (!goes_on)
		return false;
	*ret = (struct weft__blocking){source, band->end};
	return true;
}

/* ---- Spans ---- */

/* True for the track of the blocked calls of a thread. */
static bool is_track_of(const struct weft_model *model, uint32_t task, const char *name)
{
	static const char suffix[] = " blocked";
	size_t length = strlen(name), more = sizeof(suffix) - 1;
	struct weft_slice label = weft_model_string(model, model->tasks.label[task]);
	return label.size == length + more && memcmp(label.bytes, name, length) == 0 &&
		   memcmp(label.bytes + length, suffix, more) == 0;
}

static void find_longest(const struct weft_model *model, uint32_t track, uint64_t start,
	uint64_t end, struct weft_span *longest)
{
	uint32_t count = weft_model_span_count(model, track);
	for (uint32_t i = weft_model_span_after(model, track, start); i < count; i++) {
		struct weft_span span = weft_model_span(model, track, i);
		if (span.start >= end)
			break;
		if (span.start >= start && span.end <= end &&
			span.end - span.start > longest->end - longest->start)
			*longest = span;
	}
}

bool weft__story_blocked_span(const struct weft_model *model, uint32_t thread, uint64_t start,
	uint64_t end, uint32_t *ret_name, uint64_t *ret_ns)
{
	struct weft_span longest = {0};
	const char *name = thread < model->thread_count ? model->threads[thread].name : NULL;
	for (uint32_t task = 0; name && task < model->tasks.count; task++)
		if (model->tasks.kind[task] == WEFT_KIND_TRACK && is_track_of(model, task, name))
			find_longest(model, task, start, end, &longest);
	*ret_name = longest.name;
	*ret_ns = longest.end - longest.start;
	return *ret_ns > 0;
}

/* ---- Turns ---- */

/* The end of a stretch from an activation on in which the task has its thread, running or blocked.
 */
static uint64_t end_of_stretch(const struct weft_model *model, uint32_t task, uint32_t activation)
{
	struct weft__blocking blocking;
	for (uint32_t pauses = 0; pauses < PAUSES_MAX; pauses++) {
		if (!weft__story_blocks_thread(model, task, activation, &blocking))
			break;
		if (activation + 1 == model->tasks.end_activation[task])
			return blocking.until;
		activation++;
	}
	return model->activations.end[activation];
}

uint64_t weft__story_preempted_ns(
	const struct weft_model *model, uint32_t thread, uint64_t start, uint64_t end)
{
	uint64_t off_ns = weft_model_thread_off_cpu(model, thread, start, end), blocked_ns = 0;
	uint32_t name;
	if (off_ns)
		weft__story_blocked_span(model, thread, start, end, &name, &blocked_ns);
	return off_ns > blocked_ns ? off_ns - blocked_ns : 0;
}

uint64_t weft__story_most_preempted_ns(
	const struct weft_model *model, uint32_t buffer, uint64_t start, uint64_t end)
{
	uint64_t most = 0;
	for (uint32_t thread = 0; thread < model->thread_count; thread++) {
		if (model->threads[thread].buffer != buffer)
			continue;
		const uint64_t off_ns = weft__story_preempted_ns(model, thread, start, end);
		most = off_ns > most ? off_ns : most;
	}
	return most;
}

/* The start of that stretch. */
static uint32_t start_of_stretch(const struct weft_model *model, uint32_t task, uint32_t activation)
{
	struct weft__blocking blocking;
	uint32_t first = model->tasks.first_activation[task];
	for (uint32_t pauses = 0; activation > first && pauses < PAUSES_MAX; pauses++, activation--)
		if (!weft__story_blocks_thread(model, task, activation - 1, &blocking))
			break;
	return activation;
}

/* Finds the task that has the thread at a time. */
static bool find_turn(
	const struct weft_model *model, uint32_t thread, uint64_t at, struct weft__turn *ret)
{
	for (uint32_t task = 0; task < model->tasks.count; task++) {
		uint32_t runs = weft__story_activations_until(model, task, at);
		uint32_t activation = model->tasks.first_activation[task] + runs - 1;
		if (!runs || model->activations.thread[activation] != thread)
			continue;
		uint64_t end = end_of_stretch(model, task, activation);
		if (end <= at)
			continue;
		activation = start_of_stretch(model, task, activation);
		*ret = (struct weft__turn){task, model->activations.start[activation], end};
		return true;
	}
	return false;
}

/* True if the thread always runs something, or is blocked, from one time to another. */
static bool is_busy(const struct weft_model *model, uint32_t thread, uint64_t from, uint64_t to)
{
	struct weft__turn turn;
	for (uint32_t pauses = 0; pauses < PAUSES_MAX; pauses++) {
		const struct weft_band_period *band = next_idle(model, thread, from, to, UINT32_MAX);
		if (!band)
			return true;
		if (!find_turn(model, thread, band->start, &turn))
			return false;
		from = band->end > from ? band->end : from + 1;
	}
	return false;
}

bool weft__story_turn_at(
	const struct weft_model *model, uint32_t task, uint64_t at_ns, struct weft__turn *ret)
{
	const struct weft_activations *a = &model->activations;
	uint32_t next =
		model->tasks.first_activation[task] + weft__story_activations_until(model, task, at_ns);
	if (next == model->tasks.end_activation[task])
		return false;
	uint32_t thread = a->thread[next];
	bool is_first = next == model->tasks.first_activation[task];
	bool is_bound = weft__story_only_thread(model, task) != WEFT_NONE ||
					(!is_first && a->thread[next - 1] == thread);
	return is_bound && find_turn(model, thread, at_ns, ret) && ret->task != task &&
		   is_busy(model, thread, at_ns, a->start[next]);
}

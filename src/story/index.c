/* SPDX-License-Identifier: ISC
 *
 * The model groups edges by actor. Stories also need the edges to a task: two counting sorts
 * provide them. They run in steps, so that a window stays responsive.
 */
#include "story/index.h"

#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "base/search.h"
#include "model/slice.h"

#define STEP_EDGES  (1 << 20) /* some milliseconds */
#define THREADS_MAX 64        /* threads of a trace that are examined for those of a process */

enum phase {
	PHASE_COUNT, /* count the edges of each task */
	PHASE_DEAL,  /* distribute edges to their tasks */
	PHASES,
};

/* First groups all edges by target, then those that are no acts by the task they come from. */
struct weft_story_index_maker {
	const struct weft_model *model;
	struct weft_story_index *index;
	bool by_made;
	enum phase phase;
	uint32_t edge; /* the next edge */
};

static uint32_t key_of(const struct weft_edges *edges, bool by_made, uint32_t edge)
{
	if (!by_made)
		return edges->type[edge] == WEFT_EDGE_DROPPED ? WEFT_NONE : edges->to[edge];
	unsigned type = edges->type[edge];
	bool is_made =
		type == WEFT_EDGE_CREATE || type == WEFT_EDGE_BECOME || type == WEFT_EDGE_RECEIVE;
	return is_made ? edges->from[edge] : WEFT_NONE;
}

WEFT__EXPORT int weft_story_index_maker_create(
	const struct weft_model *model, struct weft_story_index_maker **ret_maker)
{
	struct weft_story_index_maker *maker = calloc(1, sizeof(*maker));
	if (!maker)
		return WEFT_ERROR_MEMORY;
	maker->model = model;
	maker->index = calloc(1, sizeof(*maker->index));
	if (!maker->index) {
		free(maker);
		return WEFT_ERROR_MEMORY;
	}
	*ret_maker = maker;
	return 0;
}

WEFT__EXPORT void weft_story_index_maker_destroy(struct weft_story_index_maker *maker)
{
	if (!maker)
		return;
	weft_story_index_destroy(maker->index);
	free(maker);
}

static uint32_t **first_of(struct weft_story_index_maker *maker)
{
	return maker->by_made ? &maker->index->first_made : &maker->index->first_to;
}

static uint32_t **edges_of(struct weft_story_index_maker *maker)
{
	return maker->by_made ? &maker->index->by_made : &maker->index->by_to;
}

/* Prepares a phase. */
static int begin_phase(struct weft_story_index_maker *maker)
{
	uint32_t tasks = maker->model->tasks.count, *first = *first_of(maker);
	if (maker->phase == PHASE_COUNT) {
		*first_of(maker) = calloc(tasks + (size_t)2, sizeof(**first_of(maker)));
		return *first_of(maker) ? 0 : WEFT_ERROR_MEMORY;
	}
	for (uint32_t task = 0; task < tasks; task++)
		first[task + 1] += first[task];
	*edges_of(maker) = malloc((first[tasks] + (size_t)1) * sizeof(**edges_of(maker)));
	return *edges_of(maker) ? 0 : WEFT_ERROR_MEMORY;
}

static void do_edges(struct weft_story_index_maker *maker, uint32_t last)
{
	const struct weft_edges *e = &maker->model->edges;
	uint32_t tasks = maker->model->tasks.count;
	uint32_t *first = *first_of(maker), *edges = *edges_of(maker);
	for (uint32_t i = maker->edge; i < last; i++) {
		uint32_t key = key_of(e, maker->by_made, i);
		if (key >= tasks)
			continue; /* no actor */
		if (maker->phase == PHASE_COUNT)
			first[key + 1]++;
		else
			edges[first[key]++] = i;
	}
}

static void end_phase(struct weft_story_index_maker *maker)
{
	uint32_t tasks = maker->model->tasks.count, *first = *first_of(maker);
	maker->edge = 0;
	if (++maker->phase < PHASES)
		return;
	memmove(first + 1, first, tasks * sizeof(*first));
	first[0] = 0;
	maker->phase = PHASE_COUNT;
	maker->by_made = !maker->by_made;
}

WEFT__EXPORT int weft_story_index_maker_step(
	struct weft_story_index_maker *maker, struct weft_story_index **ret_index)
{
	uint32_t count = maker->model->edges.count;
	uint32_t last = count - maker->edge > STEP_EDGES ? maker->edge + STEP_EDGES : count;
	int error = maker->edge == 0 ? begin_phase(maker) : 0;
	if (error)
		return error;
	do_edges(maker, last);
	maker->edge = last;
	if (last < count)
		return WEFT_AGAIN;
	bool was_made = maker->by_made;
	end_phase(maker);
	if (!was_made || maker->by_made)
		return WEFT_AGAIN;
	error = weft__story_end_list_init(&maker->index->ends, maker->model);
	if (error)
		return error;
	*ret_index = maker->index;
	maker->index = NULL;
	return WEFT_OK;
}

WEFT__EXPORT int weft_story_index_create(
	const struct weft_model *model, struct weft_story_index **ret_index)
{
	struct weft_story_index_maker *maker;
	int status = weft_story_index_maker_create(model, &maker);
	if (status)
		return status;
	do
		status = weft_story_index_maker_step(maker, ret_index);
	while (status == WEFT_AGAIN);
	weft_story_index_maker_destroy(maker);
	return status;
}

WEFT__EXPORT void weft_story_index_destroy(struct weft_story_index *index)
{
	if (!index)
		return;
	free(index->first_to);
	free(index->by_to);
	free(index->first_made);
	free(index->by_made);
	weft__story_end_list_finish(&index->ends);
	free(index);
}

static struct weft__edge_list slice(
	const uint32_t *first, const uint32_t *end, const uint32_t *edges, uint32_t task)
{
	uint32_t count = end[task] - first[task];
	return (struct weft__edge_list){count ? edges + first[task] : NULL, count};
}

struct weft__edge_list weft__story_edges_by(const struct weft_model *model, uint32_t task)
{
	return slice(model->tasks.first_edge, model->tasks.end_edge, model->edges.by_actor, task);
}

struct weft__edge_list weft__story_edges_to(const struct weft_story *story, uint32_t task)
{
	const struct weft_story_index *index = story->index;
	return index ? slice(index->first_to, index->first_to + 1, index->by_to, task)
				 : (struct weft__edge_list){NULL, 0};
}

struct weft__edge_list weft__story_edges_made(const struct weft_story *story, uint32_t task)
{
	const struct weft_story_index *index = story->index;
	return index ? slice(index->first_made, index->first_made + 1, index->by_made, task)
				 : (struct weft__edge_list){NULL, 0};
}

struct edge_times {
	const uint64_t *time;
	const uint32_t *edges;
};

static bool is_edge_until(const void *context, uint32_t row, uint64_t time)
{
	const struct edge_times *times = context;
	return times->time[times->edges[row]] <= time;
}

uint32_t weft__story_edges_until(
	const struct weft_model *model, struct weft__edge_list list, uint64_t time)
{
	const struct edge_times times = {model->edges.time, list.edges};
	return weft__search(&times, 0, list.count, is_edge_until, time);
}

uint32_t weft__story_activations_until(const struct weft_model *model, uint32_t task, uint64_t time)
{
	uint32_t begin = model->tasks.first_activation[task];
	uint32_t end = model->tasks.end_activation[task];
	return weft__search(model->activations.start, begin, end, weft__is_not_more_u64, time) - begin;
}

bool weft__story_is_kind(const struct weft_model *model, uint32_t task, const char *kind)
{
	const char *name = weft_model_kind_name(model, model->tasks.kind[task]);
	return name && strcmp(name, kind) == 0;
}

bool weft__story_label_begins(const struct weft_model *model, uint32_t task, const char *begin)
{
	const uint32_t label = model->tasks.label[task];
	return label != WEFT_NONE &&
		   strncmp(weft_model_string(model, label).bytes, begin, strlen(begin)) == 0;
}

bool weft__story_is_helper(const struct weft_model *model, uint32_t task)
{
	return model->tasks.kind[task] == WEFT_KIND_THREAD &&
		   weft__story_label_begins(model, task, "node::inspector::StartIoThread");
}

bool weft__story_is_of_category(const struct weft_model *model, uint32_t task, const char *category)
{
	const char *name = weft_model_category_name(model, weft_model_category(model, task));
	return name && strcmp(name, category) == 0;
}

bool weft__story_is_tag(const struct weft_model *model, uint32_t note, const char *tag)
{
	return model->notes.type[note] == WEFT_NOTE_VALUE &&
		   weft__slice_is(weft_model_string(model, model->notes.text[note]), tag);
}

uint32_t weft__story_only_thread(const struct weft_model *model, uint32_t task)
{
	uint32_t found = WEFT_NONE;
	if (model->thread_count > THREADS_MAX)
		return WEFT_NONE;
	for (uint32_t i = 0; i < model->thread_count; i++) {
		if (model->threads[i].buffer != model->tasks.buffer[task])
			continue;
		if (found != WEFT_NONE)
			return WEFT_NONE;
		found = i;
	}
	return found;
}

uint64_t weft__story_start_of(const struct weft_story *story, uint32_t task)
{
	return story->layout ? story->layout->start[task] : story->model->tasks.start[task];
}

bool weft__story_is_gone(const struct weft_model *model, uint32_t task, uint64_t time)
{
	return (model->tasks.flags[task] & WEFT_TASK_RESOLVED) && model->tasks.end[task] <= time;
}

uint32_t weft__story_become_at(const struct weft_model *model, uint32_t task, uint64_t time)
{
	while (model->tasks.becomes[task] != WEFT_NONE && model->tasks.end[task] <= time)
		task = model->tasks.becomes[task];
	return task;
}

/* Follows each chain of becomes once, whatever the order of its tasks. */
void weft__story_find_becomes(const struct weft_model *model, uint64_t time, uint32_t *ret_tasks)
{
	const struct weft_tasks *t = &model->tasks;
	for (uint32_t task = 0; task < t->count; task++) {
		bool became = t->becomes[task] != WEFT_NONE && t->end[task] <= time;
		ret_tasks[task] = became ? t->becomes[task] : task;
	}
	for (uint32_t task = 0; task < t->count; task++) {
		uint32_t end = task;
		while (ret_tasks[end] != end)
			end = ret_tasks[end];
		for (uint32_t step = task; ret_tasks[step] != end;) {
			uint32_t following = ret_tasks[step];
			ret_tasks[step] = end;
			step = following;
		}
	}
}

void weft__story_find_finals(const struct weft_model *model, uint32_t *ret_finals)
{
	weft__story_find_becomes(model, UINT64_MAX, ret_finals);
}

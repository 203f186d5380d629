/* SPDX-License-Identifier: ISC
 *
 * All tasks that wait at a time, by the ends of their chains. Each task's hop is found once; then
 * each chain is walked until it meets a task whose end is known, so that all takes linear time.
 */
#include <stdlib.h>

#include "base/export.h"
#include "story/alike.h"
#include "story/hop.h"
#include "story/index.h"

#define IN_WALK (WEFT_NONE - 1)

struct waits {
	struct weft_waiting public; /* the first member: destroy() frees it as such */
	const struct weft_story *story;
	const struct weft_model *model;
	/* Columns with an element for each task. */
	uint32_t *now;   /* the task that it is at that time */
	uint32_t *next;  /* the task to which its hop leads, or WEFT_NONE */
	uint32_t *end;   /* the end of its chain; WEFT_NONE: not known yet */
	uint32_t *group; /* of an end: its number in `list`, or WEFT_NONE */
	uint64_t *since; /* when it began to wait; UINT64_MAX: it does not itself */
	struct weft_waiters *list;
};

static int reserve(struct waits *w)
{
	size_t room = w->model->tasks.count + (size_t)1;
	w->now = malloc(4 * room * sizeof(*w->now));
	w->since = malloc(room * sizeof(*w->since));
	if (!w->now || !w->since)
		return WEFT_ERROR_MEMORY;
	weft__story_find_becomes(w->model, w->public.at, w->now);
	w->next = w->now + room;
	w->end = w->next + room;
	w->group = w->end + room;
	return 0;
}

static void find_hops(struct waits *w)
{
	const struct weft_tasks *t = &w->model->tasks;
	for (uint32_t task = 0; task < t->count; task++) {
		struct weft_chain_hop hop;
		w->next[task] = w->end[task] = w->group[task] = WEFT_NONE;
		w->since[task] = UINT64_MAX;
		bool is_alive =
			t->start[task] <= w->public.at && !weft__story_is_gone(w->model, task, w->public.at);
		if (!is_alive || weft__story_is_helper(w->model, task) ||
			!weft__story_hop_at(w->story, w->now, task, w->public.at, &hop))
			continue;
		w->next[task] = w->now[hop.wait.source];
		if (weft__story_is_wait(hop.step))
			w->since[task] = hop.wait.since;
		else if (hop.step == WEFT_CHAIN_HELD)
			w->end[task] = task; /* see end_at_resources() */
	}
}

/* Ends chains at a resource if its holder waits for nothing, so that two resources of one holder
 * make two groups. */
static void end_at_resources(struct waits *w)
{
	for (uint32_t task = 0; task < w->model->tasks.count; task++)
		if (w->end[task] != WEFT_NONE && w->next[w->next[task]] != WEFT_NONE)
			w->end[task] = WEFT_NONE;
	for (uint32_t task = 0; task < w->model->tasks.count; task++)
		if (w->end[task] != WEFT_NONE)
			w->next[task] = WEFT_NONE;
}

/* The lowest task of a circle. */
static uint32_t lowest_of(const struct waits *w, uint32_t task)
{
	uint32_t lowest = task;
	for (uint32_t step = w->next[task]; step != task; step = w->next[step])
		lowest = step < lowest ? step : lowest;
	return lowest;
}

/* Finds the end of the task's chain, and stores it for each task on the way. */
static void walk(struct waits *w, uint32_t task)
{
	uint32_t step = task, end;
	while (w->end[step] == WEFT_NONE && w->next[step] != WEFT_NONE) {
		w->end[step] = IN_WALK;
		step = w->next[step];
	}
	if (w->next[step] == WEFT_NONE)
		end = step;
	else
		end = w->end[step] == IN_WALK ? lowest_of(w, step) : w->end[step];
	for (step = task; w->end[step] == IN_WALK; step = w->next[step])
		w->end[step] = end;
}

static void add_waiter(struct waits *w, uint32_t task)
{
	uint32_t end = w->end[task], *group = &w->group[end];
	if (*group == WEFT_NONE) {
		*group = w->public.count++;
		w->list[*group] = (struct weft_waiters){
			.end = end, .ends = 1, .since = UINT64_MAX, .is_circle = w->next[end] != WEFT_NONE};
	}
	struct weft_waiters *waiters = &w->list[*group];
	waiters->count++;
	w->public.tasks++;
	if (w->since[task] < waiters->since) {
		waiters->first = task;
		waiters->since = w->since[task];
	}
}

/* ---- Alike ends ---- */

/* Up to this many alike ends have a group each. */
#define ALIKE_MAX 3

/* A group, by what its end is called. */
struct named {
	uint64_t name;
	uint32_t group;
};

static int by_name(const void *left, const void *right)
{
	const struct named *l = left, *r = right;
	if (l->name != r->name)
		return l->name < r->name ? -1 : 1;
	return l->group < r->group ? -1 : l->group > r->group;
}

/* True if the group's end may be one of many: not a circle, and not a resource that is held. */
static bool may_be_alike(const struct waits *w, const struct weft_waiters *waiters)
{
	struct weft_chain_hop hop;
	return !waiters->is_circle &&
		   !(weft__story_hop_at(w->story, w->now, waiters->end, w->public.at, &hop) &&
			   hop.step == WEFT_CHAIN_HELD);
}

static uint64_t name_of(const struct waits *w, uint32_t task)
{
	uint32_t label = w->model->tasks.label[task];
	uint64_t hash =
		label == WEFT_NONE ? 0 : weft__story_alike_hash(weft_model_string(w->model, label));
	return hash ^ w->model->tasks.kind[task];
}

static uint32_t find_named(const struct waits *w, struct named *ret_list)
{
	uint32_t count = 0;
	for (uint32_t group = 0; group < w->public.count; group++)
		if (may_be_alike(w, &w->list[group]))
			ret_list[count++] = (struct named){name_of(w, w->list[group].end), group};
	qsort(ret_list, count, sizeof(*ret_list), by_name);
	return count;
}

/* Adds the groups to the first of them, and leaves them without tasks. */
static void join(struct weft_waiters *list, const struct named *alike, uint32_t count)
{
	struct weft_waiters *sum = &list[alike[0].group];
	for (uint32_t i = 1; i < count; i++) {
		struct weft_waiters *waiters = &list[alike[i].group];
		if (waiters->since < sum->since) {
			sum->end = waiters->end;
			sum->first = waiters->first;
			sum->since = waiters->since;
		}
		sum->count += waiters->count;
		waiters->count = 0;
	}
	sum->ends = count;
}

static int join_alike(struct waits *w)
{
	struct named *list = malloc((w->public.count + (size_t)1) * sizeof(*list));
	if (!list)
		return WEFT_ERROR_MEMORY;
	uint32_t count = find_named(w, list), kept = 0;
	for (uint32_t first = 0, next; first < count; first = next) {
		for (next = first + 1; next < count && list[next].name == list[first].name;)
			next++;
		if (next - first > ALIKE_MAX)
			join(w->list, &list[first], next - first);
	}
	for (uint32_t group = 0; group < w->public.count; group++)
		if (w->list[group].count)
			w->list[kept++] = w->list[group];
	w->public.count = kept;
	free(list);
	return 0;
}

static int by_count(const void *left, const void *right)
{
	const struct weft_waiters *l = left, *r = right;
	if (l->count != r->count)
		return l->count > r->count ? -1 : 1;
	if (l->since != r->since)
		return l->since < r->since ? -1 : 1;
	return l->end < r->end ? -1 : l->end > r->end;
}

static int group_all(struct waits *w)
{
	uint32_t tasks = w->model->tasks.count, waiting = 0;
	for (uint32_t task = 0; task < tasks; task++)
		waiting += w->since[task] != UINT64_MAX;
	w->list = malloc((waiting + (size_t)1) * sizeof(*w->list));
	if (!w->list)
		return WEFT_ERROR_MEMORY;
	for (uint32_t task = 0; task < tasks; task++)
		walk(w, task);
	for (uint32_t task = 0; task < tasks; task++)
		if (w->since[task] != UINT64_MAX)
			add_waiter(w, task);
	int error = join_alike(w);
	qsort(w->list, w->public.count, sizeof(*w->list), by_count);
	return error;
}

WEFT__EXPORT int weft_waiting_create(
	const struct weft_story *story, uint64_t at_ns, struct weft_waiting **ret_waiting)
{
	const struct weft_model *model = story->model;
	struct waits *w = calloc(1, sizeof(*w));
	if (!w)
		return WEFT_ERROR_MEMORY;
	w->story = story;
	w->model = model;
	w->public.at = at_ns < model->summary.end ? at_ns : model->summary.end;
	int error = reserve(w);
	if (!error) {
		find_hops(w);
		end_at_resources(w);
		error = group_all(w);
	}
	free(w->now);
	free(w->since);
	w->public.list = w->list;
	if (error)
		weft_waiting_destroy(&w->public);
	else
		*ret_waiting = &w->public;
	return error;
}

WEFT__EXPORT void weft_waiting_destroy(struct weft_waiting *waiting)
{
	if (!waiting)
		return;
	free(((struct waits *)waiting)->list);
	free(waiting);
}

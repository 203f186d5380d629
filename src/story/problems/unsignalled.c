/* SPDX-License-Identifier: ISC
 *
 * An event, as of asyncio, for which tasks wait with a time-out, again and again, and that nobody
 * signals in all of the trace. A heartbeat loop waits in the same way for its stop event, and ends
 * by that or with its program. So the problem is a hint, unless a task gave up: it ended by itself
 * soon after its time was up.
 */
#include "story/problems/unsignalled.h"

#include <inttypes.h>

#include "story/unheard.h"

#define TIMES_MIN 3  /* waits of one task */
#define TASKS_MAX 64 /* tasks whose waits are counted */
#define HOPS_MAX  8  /* from the wait to what timed out */
#define READERS   64 /* of a task that are examined */
#define SOON_NS   (100 * WEFT__MS)

struct repeated_wait {
	uint32_t task, waits, first; /* `first`: the edge of its first wait */
	uint64_t up_ns, length_ns;   /* of its last wait: when its time was up, after how long */
};

struct unsignalled {
	const struct weft_story *story;
	const struct weft_model *model;
	struct repeated_wait list[TASKS_MAX];
	uint32_t count, waits;      /* tasks in the list, and their waits */
	uint32_t repeated, gave_up; /* of these tasks */
};

/* The task whose result another one wants, which timed out; or WEFT_NONE. */
static uint32_t timed_out_reader(const struct unsignalled *u, uint32_t task)
{
	const struct weft_edges *e = &u->model->edges;
	const struct weft__edge_list to = weft__story_edges_to(u->story, task);
	for (uint32_t i = 0; i < to.count && i < READERS; i++)
		if (e->type[to.edges[i]] == WEFT_EDGE_TRY_READ && e->from[to.edges[i]] != WEFT_NONE &&
			u->model->tasks.outcome[e->from[to.edges[i]]] == WEFT_OUTCOME_TIMED_OUT)
			return e->from[to.edges[i]];
	return WEFT_NONE;
}

/* The part of a wait that timed out: itself, a task above it, or one that wants one of these. */
static uint32_t find_timed_out(const struct unsignalled *u, uint32_t task)
{
	const struct weft_tasks *t = &u->model->tasks;
	for (unsigned hop = 0; hop < HOPS_MAX && task != WEFT_NONE; hop++, task = t->parent[task]) {
		if (!(t->flags[task] & WEFT_TASK_STOPPED))
			return WEFT_NONE;
		if (t->outcome[task] == WEFT_OUTCOME_TIMED_OUT)
			return task;
		const uint32_t reader = timed_out_reader(u, task);
		if (reader != WEFT_NONE)
			return reader;
	}
	return WEFT_NONE;
}

static void add_wait(struct unsignalled *u, uint32_t edge, uint32_t timed_out)
{
	const uint32_t task = u->model->tasks.parent[timed_out];
	uint32_t i = 0;
	while (i < u->count && u->list[i].task != task)
		i++;
	if (i == TASKS_MAX)
		return;
	if (i == u->count)
		u->list[u->count++] = (struct repeated_wait){.task = task, .first = edge};
	u->list[i].up_ns = u->model->tasks.end[timed_out];
	u->list[i].length_ns = u->list[i].up_ns - u->model->edges.time[edge];
	u->list[i].waits++;
	u->waits++;
}

/* True if the condition was signalled when nobody waited. */
static bool was_unheard(const struct weft_model *model, uint32_t condition)
{
	struct weft__unheard unheard;
	for (uint32_t i = model->tasks.first_note[condition]; i < model->tasks.end_note[condition]; i++)
		if (weft__story_unheard_by_note(model, condition, i, &unheard))
			return true;
	return false;
}

/* Counts the waits for a condition. False if it is signalled, or was read. */
static bool count_waits(struct unsignalled *u, uint32_t condition)
{
	const struct weft_edges *e = &u->model->edges;
	const struct weft__edge_list to = weft__story_edges_to(u->story, condition);
	u->count = u->waits = u->repeated = u->gave_up = 0;
	if (was_unheard(u->model, condition))
		return false;
	for (uint32_t i = 0; i < to.count; i++) {
		const uint32_t edge = to.edges[i], from = e->from[edge];
		if (e->type[edge] == WEFT_EDGE_SIGNAL || e->type[edge] == WEFT_EDGE_READ)
			return false;
		const uint32_t timed_out = e->type[edge] == WEFT_EDGE_TRY_READ && from != WEFT_NONE
									   ? find_timed_out(u, from)
									   : WEFT_NONE;
		if (timed_out != WEFT_NONE && u->model->tasks.parent[timed_out] != WEFT_NONE)
			add_wait(u, edge, timed_out);
	}
	return true;
}

/* It ended by itself before it could have waited as long again. */
static bool gave_up(const struct weft_tasks *t, const struct repeated_wait *it)
{
	const uint8_t flags = t->flags[it->task];
	return (flags & WEFT_TASK_RESOLVED) && !(flags & WEFT_TASK_STOPPED) &&
		   t->end[it->task] < it->up_ns + it->length_ns + SOON_NS;
}

/* The task that waited most often; and how many waited repeatedly, and gave up. */
static const struct repeated_wait *find_most(struct unsignalled *u)
{
	const struct repeated_wait *most = NULL;
	for (uint32_t i = 0; i < u->count; i++) {
		const struct repeated_wait *it = &u->list[i];
		if (it->waits < TIMES_MIN)
			continue;
		u->repeated++;
		u->gave_up += gave_up(&u->model->tasks, it);
		most = most && most->waits >= it->waits ? most : it;
	}
	return most;
}

static void report(struct weft__findings *findings, const struct unsignalled *u, uint32_t condition,
	const struct repeated_wait *most)
{
	const struct weft_model *model = u->model;
	const struct weft_edges *e = &model->edges;
	const uint32_t wait = e->from[most->first];
	const uint64_t start = e->time[most->first];
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_TIMED_OUT,
		u->gave_up ? WEFT_SEVERITY_WARNING : WEFT_SEVERITY_HINT, u->waits,
		(struct weft__case){most->task, start, weft__story_end_of(model, most->task)});
	problem.edge = most->first;
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, WEFT__WORTH_MOST);
	weft__story_words_add_subject(w, model, most->task, 28);
	weft__story_words_add(w, " waits in vain %" PRIu32 " times for ", most->waits);
	weft__story_words_add_task(w, model, condition, 28);
	w = weft__story_clause(&s, 7);
	weft__story_words_add(w, ", which nobody signals");
	w = weft__story_clause(&s, 5);
	weft__story_words_add(w, "; its time is up after ");
	weft__story_words_add_length(w, weft__story_end_of(model, wait) - start);
	if (u->repeated > 1)
		weft__story_words_add(weft__story_clause(&s, 5), "; %" PRIu32 "%s more task%s",
			u->repeated - 1, u->count == TASKS_MAX ? " or" : "",
			u->repeated > 2 ? "s do so" : " does so");
	weft__story_find(findings, &problem, u->waits, &s);
}

void weft__story_find_unsignalled(struct weft__findings *findings)
{
	struct unsignalled u = {.story = findings->story, .model = findings->story->model};
	for (uint32_t task = 0; task < u.model->tasks.count && !findings->error; task++) {
		if (u.model->tasks.kind[task] != WEFT_KIND_CONDITION || !count_waits(&u, task))
			continue;
		const struct repeated_wait *most = find_most(&u);
		if (most)
			report(findings, &u, task, most);
	}
}

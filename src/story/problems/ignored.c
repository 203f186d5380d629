/* SPDX-License-Identifier: ISC
 *
 * A task is cancelled by ending what it waits for: it reads that, and should end. Its canceller
 * waits until it does, as wait_for() of asyncio after its time is up. If the task goes on for long,
 * that is a hint, because it may have to tidy up; if it waits again where it did before, as a loop
 * that catches every error and tries again, a warning.
 */
#include "story/problems/findings.h"
#include "story/problems/ignored.h"

#define LONG_NS    (500 * WEFT__MS)
#define WAITS_MAX  64   /* waits that are compared, on each side */
#define JOINED_MAX 1000 /* tasks of a join that are examined */

struct ignored {
	uint32_t task, canceller, source; /* `source`: what the task waited for */
	uint32_t edge;                    /* the end of that */
	uint64_t time, until;
};

static bool is_wait(const struct weft_edges *e, uint32_t edge)
{
	return (e->type[edge] == WEFT_EDGE_READ || e->type[edge] == WEFT_EDGE_TRY_READ) &&
		   e->to[edge] != WEFT_NONE;
}

/* True if the task waits after that time for what has the name of something it waited for before.
 */
static bool waits_again(const struct weft_model *model, const struct ignored *it)
{
	const struct weft_edges *e = &model->edges;
	const uint32_t *label = model->tasks.label;
	const struct weft__edge_list by = weft__story_edges_by(model, it->task);
	const uint32_t middle = weft__story_edges_until(model, by, it->time);
	const uint32_t least = middle > WAITS_MAX ? middle - WAITS_MAX : 0;
	for (uint32_t i = middle; i < by.count && i < middle + WAITS_MAX; i++) {
		const uint32_t after = e->to[by.edges[i]];
		if (!is_wait(e, by.edges[i]) || after == it->source || label[after] == WEFT_NONE)
			continue;
		if (label[after] == label[it->source])
			return true;
		for (uint32_t k = middle; k > least; k--)
			if (is_wait(e, by.edges[k - 1]) && label[e->to[by.edges[k - 1]]] == label[after])
				return true;
	}
	return false;
}

/* The task that waits for `source` when that is cancelled, and is not the canceller; or WEFT_NONE.
 */
static uint32_t waiter_of(
	const struct weft_story *story, uint32_t source, uint32_t canceller, uint64_t time)
{
	const struct weft_edges *e = &story->model->edges;
	const struct weft__edge_list to = weft__story_edges_to(story, source);
	for (uint32_t i = to.count; i > 0; i--) {
		const uint32_t edge = to.edges[i - 1];
		if (e->type[edge] == WEFT_EDGE_READ && e->time[edge] >= time && e->from[edge] != canceller)
			return e->from[edge];
	}
	return WEFT_NONE;
}

/* True if a join waits for the task. */
static bool joins(const struct weft_model *model, uint32_t join, uint32_t task)
{
	const struct weft__edge_list by = weft__story_edges_by(model, join);
	for (uint32_t i = 0; i < by.count && i < JOINED_MAX; i++)
		if (is_wait(&model->edges, by.edges[i]) && model->edges.to[by.edges[i]] == task)
			return true;
	return false;
}

/* True if the canceller waits for the task next, by itself or by a join, and for long. A wait that
 * is over is known by what is read in the end. */
static bool waits_for(const struct weft_model *model, const struct ignored *it)
{
	const struct weft_edges *e = &model->edges;
	const struct weft__edge_list by = weft__story_edges_by(model, it->canceller);
	uint32_t i = weft__story_edges_until(model, by, it->time);
	while (i > 0 && by.edges[i - 1] > it->edge) /* at the same time */
		i--;
	while (i < by.count && !is_wait(e, by.edges[i]))
		i++;
	if (i == by.count)
		return false;
	const uint32_t edge = by.edges[i], source = e->to[edge];
	return (source == it->task || joins(model, source, it->task)) &&
		   (e->type[edge] == WEFT_EDGE_TRY_READ || e->time[edge] >= it->time + LONG_NS);
}

/* Looks at an edge that ends a task. True if it cancels what another task waits for, which goes on.
 */
static bool look_at(const struct weft_story *story, uint32_t edge, struct ignored *ret)
{
	const struct weft_model *m = story->model;
	const uint32_t canceller = m->edges.from[edge], source = m->edges.to[edge];
	if (m->edges.type[edge] != WEFT_EDGE_RESOLVE || canceller == WEFT_NONE || source == WEFT_NONE ||
		m->tasks.outcome[source] != WEFT_OUTCOME_CANCELLED)
		return false;
	const uint64_t time = m->edges.time[edge];
	const uint32_t task = waiter_of(story, source, canceller, time);
	if (task == WEFT_NONE || weft__story_end_of(m, task) < time + LONG_NS)
		return false;
	*ret = (struct ignored){task, canceller, source, edge, time, weft__story_end_of(m, task)};
	return waits_for(m, ret);
}

static void report(struct weft__findings *findings, const struct ignored *it)
{
	const struct weft_model *model = findings->story->model;
	const struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_ORPHAN,
		waits_again(model, it) ? WEFT_SEVERITY_WARNING : WEFT_SEVERITY_HINT, 1,
		(struct weft__case){it->task, it->time, it->until});
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 6);
	weft__story_words_add_subject(w, model, it->task, 32);
	weft__story_words_add(w, " goes on for ");
	weft__story_words_add_length(w, it->until - it->time);
	w = weft__story_clause(&s, 6);
	weft__story_words_add(w, " after ");
	weft__story_words_add_task(w, model, it->canceller, 28);
	weft__story_words_add(w, " cancelled it");
	w = weft__story_clause(&s, 4);
	weft__story_words_add(w, " at ");
	weft__story_words_add_time(w, model, it->time);
	weft__story_words_add(weft__story_clause(&s, 5), " and waits for its end");
	weft__story_find(findings, &problem, it->until - it->time, &s);
}

void weft__story_find_ignored(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	struct ignored worst = {0}, it;
	for (uint32_t edge = 0; edge < model->edges.count; edge++)
		if (look_at(findings->story, edge, &it) && it.until - it.time > worst.until - worst.time)
			worst = it;
	if (worst.until)
		report(findings, &worst);
}

/* SPDX-License-Identifier: ISC
 *
 * Circles of waits that a time-out broke: the task whose time was up waited for one of the circle.
 * The program went on, so that is a warning.
 */
#include "story/problems/broken.h"

#include <inttypes.h>
#include <weft/chain.h>

#include "story/index.h"

#define LOOKED_MAX 256 /* time-outs that are examined */
#define FOUND_MAX  3   /* that are reported */
#define HOPS_MAX   64  /* of a chain that are kept */

/* When the circle was closed: the last of its waits began. */
static uint64_t closed_at(const struct weft_chain *chain)
{
	uint64_t closed = 0;
	for (uint32_t i = chain->end.first; i < chain->kept; i++)
		closed = chain->hops[i].wait.since > closed ? chain->hops[i].wait.since : closed;
	return closed;
}

/* The tasks of the circle, without the resources that they hold. */
static uint32_t count_waits(const struct weft_chain *chain)
{
	uint32_t count = 0;
	for (uint32_t i = chain->end.first; i < chain->kept; i++)
		count += chain->hops[i].step == WEFT_CHAIN_WAITS;
	return count;
}

static void report(
	struct weft__findings *findings, const struct weft_chain *chain, uint32_t timed_out)
{
	const struct weft_model *model = findings->story->model;
	const struct weft_chain_hop *first = &chain->hops[chain->end.first];
	const uint32_t length = count_waits(chain);
	const uint64_t end = model->tasks.end[timed_out];
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_DEADLOCK, WEFT_SEVERITY_WARNING,
		length, (struct weft__case){chain->end.task, closed_at(chain), end});
	problem.show_start = weft__story_start_of(findings->story, chain->end.task);
	problem.show_end = end;
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 6);
	weft__story_words_add_subject(w, model, chain->end.task, 28);
	weft__story_words_add(w, " waits for ");
	weft__story_words_add_subject(w, model, first->wait.source, 28);
	weft__story_words_add(weft__story_clause(&s, 5), ", and so on in a circle of %" PRIu32, length);
	w = weft__story_clause(&s, 5);
	weft__story_words_add(w, ", until ");
	weft__story_words_add_task(w, model, timed_out, 24);
	weft__story_words_add(w, " timed out");
	w = weft__story_clause(&s, 3);
	weft__story_words_add(w, " at ");
	weft__story_words_add_time(w, model, end);
	weft__story_find(findings, &problem, length, &s);
}

/* True if the chain ends in a circle of waits alone: others lead to what happened later. */
static bool is_closed(const struct weft_chain *chain)
{
	if (chain->end.type != WEFT_CHAIN_CIRCLE || chain->count != chain->kept)
		return false;
	for (uint32_t i = chain->end.first; i < chain->kept; i++)
		if (chain->hops[i].step != WEFT_CHAIN_WAITS && chain->hops[i].step != WEFT_CHAIN_HELD)
			return false;
	return chain->end.first < chain->kept;
}

/* True if the task's time was up while it waited in or for a circle: then that is reported. */
static bool look_at(struct weft__findings *findings, uint32_t task)
{
	const uint64_t end = findings->story->model->tasks.end[task];
	struct weft_chain *chain;
	int error = end ? weft_chain_create(findings->story, task, end - 1, HOPS_MAX, &chain) : 0;
	if (error)
		findings->error = error;
	if (error || !end)
		return false;
	bool is_circle = is_closed(chain);
	if (is_circle)
		report(findings, chain, task);
	weft_chain_destroy(chain);
	return is_circle;
}

void weft__story_find_broken_circles(struct weft__findings *findings)
{
	const struct weft_tasks *t = &findings->story->model->tasks;
	uint32_t found = 0, looked = 0;
	for (uint32_t task = 0; task < t->count && found < FOUND_MAX && looked < LOOKED_MAX; task++) {
		if (t->outcome[task] != WEFT_OUTCOME_TIMED_OUT)
			continue;
		looked++;
		found += look_at(findings, task);
	}
}

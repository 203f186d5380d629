/* SPDX-License-Identifier: ISC
 *
 * Tasks that should have ended, by the program's own word (weft_expect), and whose time was up
 * instead: an answer that was lost, or never came. Without that word a time-out is no problem,
 * because many programs wait for a while and then do something else. Alike tasks are one problem,
 * described at the first.
 */
#include <inttypes.h>

#include "story/problems/findings.h"
#include "story/problems/unsignalled.h"

#define NAMES_MAX 8 /* groups of alike tasks that are reported */

struct timed_out {
	uint64_t name;
	uint32_t first, count;
};

static bool is_timed_out(const struct weft_tasks *t, uint32_t task)
{
	return t->outcome[task] == WEFT_OUTCOME_TIMED_OUT && (t->flags[task] & WEFT_TASK_EXPECTED);
}

static void report(struct weft__findings *findings, const struct timed_out *found)
{
	const struct weft_model *model = findings->story->model;
	const uint32_t task = found->first;
	const struct weft_problem problem =
		weft__story_problem(WEFT_PROBLEM_TIMED_OUT, WEFT_SEVERITY_WARNING, found->count,
			(struct weft__case){
				task, weft__story_start_of(findings->story, task), model->tasks.end[task]});
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 6);
	weft__story_words_add_subject(w, model, task, 40);
	weft__story_words_add(w, " timed out");
	w = weft__story_clause(&s, 5);
	weft__story_words_add(w, " after ");
	weft__story_words_add_length(w, problem.end - problem.start);
	weft__story_words_add(weft__story_clause(&s, 6), ", although it should have ended");
	if (found->count > 1)
		weft__story_words_add(
			weft__story_clause(&s, 6), ", as did %" PRIu32 " more like it", found->count - 1);
	weft__story_find(findings, &problem, found->count, &s);
}

void weft__find_timed_out(struct weft__findings *findings)
{
	const struct weft_tasks *t = &findings->story->model->tasks;
	struct timed_out found[NAMES_MAX];
	uint32_t names = 0, i;
	for (uint32_t task = 0; task < t->count; task++) {
		if (!is_timed_out(t, task))
			continue;
		uint64_t name = weft__story_alike_name(&findings->alike, task);
		for (i = 0; i < names && found[i].name != name; i++)
			;
		if (i == names && names < NAMES_MAX)
			found[names++] = (struct timed_out){name, task, 0};
		if (i < names)
			found[i].count++;
	}
	for (i = 0; i < names; i++)
		report(findings, &found[i]);
	weft__story_find_unsignalled(findings);
}

/* SPDX-License-Identifier: ISC
 *
 * Programs that hung until Ctrl-C: it ended the wait of their first thread, and then the program.
 * So no wait lasts until the end of the trace, for which unanswered.c looks. A wait for the end of
 * a thread is left out, because what that one waits for still lasts.
 */
#include "story/problems/interrupted.h"

#include "story/problems/asleep.h"

static void report(struct weft__findings *findings, const struct weft_story_wait *wait)
{
	const struct weft_model *model = findings->story->model;
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_UNANSWERED,
		WEFT_SEVERITY_WARNING, 1, (struct weft__case){wait->task, wait->since, wait->until});
	struct weft__sentence s;
	struct weft__words words = weft__story_problem_note(&problem.effect, wait->since, wait->task);
	weft__story_words_add(&words, "begins to wait");
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 9);
	weft__story_words_add_subject(w, model, wait->task, 32);
	weft__story_words_add(w, " waits for ");
	weft__story_words_add_subject(w, model, wait->source, 32);
	w = weft__story_clause(&s, 5);
	weft__story_words_add(w, " for ");
	weft__story_words_add_length(w, wait->until - wait->since);
	weft__story_words_add(weft__story_clause(&s, 8), ", until Ctrl-C");
	weft__story_words_add(weft__story_clause(&s, 7), "; nothing else could end it");
	weft__story_find(findings, &problem, wait->until - wait->since, &s);
}

void weft__story_find_interrupted(
	struct weft__findings *findings, const struct weft__blocked *blocked)
{
	const struct weft_model *model = findings->story->model;
	struct weft_story_wait wait;
	for (uint32_t buffer = 0; buffer < model->buffer_count; buffer++)
		if (weft__story_interrupted(findings, buffer, &wait) &&
			blocked->next[wait.task] == WEFT_NONE &&
			model->tasks.kind[wait.source] != WEFT_KIND_THREAD)
			report(findings, &wait);
}

/* SPDX-License-Identifier: ISC
 *
 * Finds what the adapters could not record: what the user searches may be there. Each is a hint
 * about the whole trace.
 */
#include <weft/unseen.h>

#include "story/problems/findings.h"

#define WHAT_LETTERS 60

static void describe(struct weft__words *w, const struct weft_unseen *fact)
{
	if (fact->kind == WEFT_UNSEEN_KINDS) {
		weft__story_words_add_text(w, fact->key, WHAT_LETTERS);
		weft__story_words_add(w, " is not recorded: ");
	}
	weft__story_words_add(w, "%s", fact->before);
	weft__story_words_add_text(w, fact->what, WHAT_LETTERS);
	weft__story_words_add(w, "%s", fact->after);
}

static void find_unseen(struct weft__findings *findings, const struct weft_unseen *fact)
{
	const struct weft_model *model = findings->story->model;
	const struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_UNSEEN, WEFT_SEVERITY_HINT,
		fact->buffers, (struct weft__case){WEFT_NONE, model->summary.start, model->summary.end});
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	describe(weft__story_clause(&s, 10), fact);
	if (model->buffer_count > 1) {
		struct weft__words *w = weft__story_clause(&s, 9);
		weft__story_words_add(w, ", in ");
		weft__story_words_add_process(w, model, fact->buffer);
		if (fact->buffers > 1)
			weft__story_words_add(w, " and others");
	}
	weft__story_find(findings, &problem, 0, &s);
}

void weft__find_unseen(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	struct weft_unseen_list list;
	weft_unseen_collect(&list, model->buffers, model->buffer_count);
	for (uint32_t i = 0; i < list.count; i++)
		find_unseen(findings, &list.list[i]);
}

/* SPDX-License-Identifier: ISC
 *
 * Makes the alert of a snapshot an error that comes first: the snapshot was taken because of it.
 */
#include <string.h>

#include "story/problems/findings.h"

#define RULE_LETTERS  60
#define NAME_LETTERS  40
#define VALUE_LETTERS 40
#define SHOWN_SHARE   8 /* 1 / share of the trace: shown before the alert */

static struct weft_slice slice(const char *text)
{
	return (struct weft_slice){text, strlen(text)};
}

static void describe(struct weft__sentence *s, const struct weft_model *model,
	const struct weft_trace_alert *alert, uint64_t time, uint32_t task)
{
	struct weft__words *w = weft__story_clause(s, WEFT__WORTH_MOST);
	weft__story_words_add(w, alert->name[0] ? "Alert " : "The rule ");
	weft__story_words_add_text(w, slice(alert->name[0] ? alert->name : alert->rule),
		alert->name[0] ? NAME_LETTERS : RULE_LETTERS);
	weft__story_words_add(w, " fired at ");
	weft__story_words_add_time(w, model, time);
	if (task != WEFT_NONE) {
		w = weft__story_clause(s, 8);
		weft__story_words_add(w, " because of ");
		weft__story_words_add_subject(w, model, task, VALUE_LETTERS);
	}
	if (alert->value[0]) {
		w = weft__story_clause(s, 9);
		weft__story_words_add(w, ": ");
		weft__story_words_add_text(w, slice(alert->value), VALUE_LETTERS);
	}
	if (alert->name[0] && alert->rule[0]) {
		w = weft__story_clause(s, 7);
		weft__story_words_add(w, ", ");
		weft__story_words_add_text(w, slice(alert->rule), RULE_LETTERS);
	}
}

/* The wait of the alert's task, or a part of the trace that ends soon after. */
static uint64_t show_from(
	const struct weft_story *story, uint32_t task, uint64_t time, uint64_t share_ns)
{
	struct weft_story_wait wait;
	const uint64_t start = story->model->summary.start;
	if (task != WEFT_NONE && weft_story_wait_at(story, task, time, &wait) && wait.since < time)
		return wait.since;
	return time - start > share_ns ? time - share_ns : start;
}

static void find(
	struct weft__findings *findings, const struct weft_trace_alert *alert, uint32_t buffer)
{
	const struct weft_story *story = findings->story;
	const struct weft_model *model = story->model;
	const struct weft_model_summary *summary = &model->summary;
	const uint64_t share_ns = (summary->end - summary->start) / SHOWN_SHARE;
	const uint64_t time = weft_model_alert_time(model, alert);
	const uint32_t task = weft_model_find_task(model, buffer, alert->task);
	struct weft_problem problem = weft__story_problem(
		WEFT_PROBLEM_ALERT, WEFT_SEVERITY_ERROR, 1, (struct weft__case){task, time, time});
	problem.show_start = show_from(story, task, time, share_ns);
	problem.show_end = summary->end - time > share_ns ? time + share_ns : summary->end;
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	describe(&s, model, alert, time, task);
	weft__story_find(findings, &problem, 0, &s);
}

void weft__find_alerts(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	for (uint32_t i = 0; i < model->buffer_count; i++)
		for (uint32_t n = 0; n < model->buffers[i].alert_count; n++)
			find(findings, &model->buffers[i].alerts[n], i);
}

/* SPDX-License-Identifier: ISC
 *
 * Locks of files that a process has lost, as it closed another descriptor of the file: notes that
 * the adapter `io` writes. Each file is one problem.
 */
#include <inttypes.h>
#include <string.h>

#include "story/problems/findings.h"

#define FOUND_MAX 8 /* files */

struct lost {
	uint32_t text, count, task; /* `task`: that of the first note */
	uint64_t first, last;       /* ns */
};

static const char prefix[] = "lost lock of ";

static bool is_lost(const struct weft_model *model, uint32_t note)
{
	if (model->notes.type[note] != WEFT_NOTE_TEXT)
		return false;
	const struct weft_slice text = weft_model_string(model, model->notes.text[note]);
	return text.size >= sizeof(prefix) && memcmp(text.bytes, prefix, sizeof(prefix) - 1) == 0;
}

static void add(struct lost list[FOUND_MAX], uint32_t text, uint32_t task, uint64_t time)
{
	struct lost *it = list;
	while (it < list + FOUND_MAX && it->count && it->text != text)
		it++;
	if (it == list + FOUND_MAX)
		return;
	if (!it->count++)
		*it = (struct lost){text, 1, task, time, time};
	if (time < it->first) {
		it->first = time;
		it->task = task;
	}
	it->last = time > it->last ? time : it->last;
}

static void report(struct weft__findings *findings, const struct lost *lost)
{
	const struct weft_model *model = findings->story->model;
	struct weft_slice file = weft_model_string(model, lost->text);
	file.bytes += sizeof(prefix) - 1;
	file.size -= sizeof(prefix) - 1;
	const struct weft_problem problem =
		weft__story_problem(WEFT_PROBLEM_LOST_LOCK, WEFT_SEVERITY_WARNING, lost->count,
			(struct weft__case){lost->task, lost->first, lost->last});
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 9);
	weft__story_words_add_subject(w, model, lost->task, 20);
	weft__story_words_add(w, " loses its lock of ");
	weft__story_words_add_text(w, file, 28);
	if (lost->count > 1)
		weft__story_words_add(weft__story_clause(&s, 6), " %" PRIu32 " times", lost->count);
	w = weft__story_clause(&s, 5);
	weft__story_words_add(w, lost->count > 1 ? ", first at " : " at ");
	weft__story_words_add_time(w, model, lost->first);
	weft__story_words_add(weft__story_clause(&s, 8), ": another descriptor of the file is closed");
	weft__story_find(findings, &problem, lost->count, &s);
}

void weft__find_lost_locks(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	const struct weft_tasks *t = &model->tasks;
	struct lost list[FOUND_MAX] = {0};
	for (uint32_t task = 0; task < t->count; task++)
		for (uint32_t note = t->first_note[task]; note < t->end_note[task]; note++)
			if (is_lost(model, note))
				add(list, model->notes.text[note], task, model->notes.time[note]);
	for (int i = 0; i < FOUND_MAX && list[i].count; i++)
		report(findings, &list[i]);
}

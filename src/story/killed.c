/* SPDX-License-Identifier: ISC
 *
 * See killed.h. Pools of processes wait for ever for the result of a worker that was killed.
 */
#include "story/killed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <weft/ends.h>

#include "story/index.h"

#define RIGHT_BEFORE_NS 1000000 /* 1 ms: the receive comes right before the note */

/* The text after the tag, "killed by SIGKILL"; WEFT_NONE: it is no such tag. */
static uint32_t note_of(const struct weft_model *model, uint32_t task, uint32_t tag)
{
	const bool is = weft__story_is_tag(model, tag, WEFT_TAG_KILLED) &&
					tag + 1 < model->tasks.end_note[task] &&
					model->notes.type[tag + 1] == WEFT_NOTE_TEXT;
	return is ? tag + 1 : WEFT_NONE;
}

/* False for signals that ask a program to end. */
static bool is_sudden(const struct weft_model *model, uint32_t note)
{
	static const char *const signals[] = {
		"SIGKILL", "SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "SIGFPE", "SIGSYS", "SIGTRAP"};
	static const char before[] = "killed by ";
	const size_t prefix = sizeof(before) - 1;
	const struct weft_slice text = weft_model_string(model, model->notes.text[note]);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (text.size == prefix + strlen(signals[i]) &&
			memcmp(text.bytes + prefix, signals[i], text.size - prefix) == 0)
			return true;
	return false;
}

/* True if the program has killed the child itself: right before the note, the task received the
 * message that kill() of this program sent. */
static bool is_own_deed(const struct weft_story *story, uint32_t task, uint32_t note)
{
	const struct weft_model *model = story->model;
	const struct weft_edges *e = &model->edges;
	const uint64_t time = model->notes.time[note];
	struct weft__edge_list to = weft__story_edges_to(story, task);
	for (uint32_t i = weft__story_edges_until(model, to, time); i > 0; i--) {
		const uint32_t edge = to.edges[i - 1];
		if (time - e->time[edge] > RIGHT_BEFORE_NS)
			return false;
		if (e->type[edge] == WEFT_EDGE_RECEIVE && e->from[edge] != WEFT_NONE &&
			model->tasks.buffer[e->from[edge]] == model->tasks.buffer[task])
			return true;
	}
	return false;
}

int weft__story_find_killed(const struct weft_story *story, struct weft__killed_child **ret)
{
	const struct weft_model *model = story->model;
	const struct weft_tasks *t = &model->tasks;
	struct weft__killed_child *by_buffer = NULL;
	*ret = NULL;
	if (!model->buffer_count || !model->summary.by_event[WEFT_EVENT_TAG])
		return 0;
	by_buffer = malloc(model->buffer_count * sizeof(*by_buffer));
	if (!by_buffer)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < model->buffer_count; i++)
		by_buffer[i].note = WEFT_NONE;
	for (uint32_t task = 0; task < t->count; task++)
		for (uint32_t i = t->first_note[task]; i < t->end_note[task]; i++) {
			const uint32_t note = note_of(model, task, i), buffer = t->buffer[task];
			if (note == WEFT_NONE || buffer >= model->buffer_count || !is_sudden(model, note) ||
				is_own_deed(story, task, note))
				continue;
			struct weft__killed_child *it = &by_buffer[buffer];
			if (it->note == WEFT_NONE || model->notes.time[it->note] <= model->notes.time[note])
				*it = (struct weft__killed_child){note, task};
		}
	*ret = by_buffer;
	return 0;
}

bool weft__story_add_killed(struct weft__sentence *sentence, const struct weft_model *model,
	const struct weft__killed_child *by_buffer, uint32_t task, unsigned worth)
{
	const uint32_t buffer = model->tasks.buffer[task];
	if (!by_buffer || buffer >= model->buffer_count || by_buffer[buffer].note == WEFT_NONE)
		return false;
	const uint32_t note = by_buffer[buffer].note;
	struct weft__words *w = weft__story_clause(sentence, worth);
	weft__story_words_add(w, "; child %" PRIu64 " was ", (uint64_t)model->notes.value[note - 1]);
	weft__story_words_add_text(w, weft_model_string(model, model->notes.text[note]), 24);
	w = weft__story_clause(sentence, 1);
	weft__story_words_add(w, " at ");
	weft__story_words_add_time(w, model, model->notes.time[note]);
	return true;
}

void weft__story_add_killed_by(struct weft__sentence *sentence, const struct weft_story *story,
	uint32_t task, uint64_t at_ns, unsigned worth)
{
	struct weft__killed_child *killed;
	const struct weft_model *model = story->model;
	const uint32_t buffer = model->tasks.buffer[task];
	if (weft__story_find_killed(story, &killed) || !killed)
		return; /* the sentence is true without it */
	if (buffer < model->buffer_count && killed[buffer].note != WEFT_NONE &&
		model->notes.time[killed[buffer].note] <= at_ns)
		weft__story_add_killed(sentence, model, killed, task, worth);
	free(killed);
}

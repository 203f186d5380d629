/* SPDX-License-Identifier: ISC
 *
 * See suspended.h.
 */
#include "story/suspended.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>
#include <weft/parse.h>

#include "story/index.h"

/* The number in a note "SIGSTOP to process 17", or with SIGCONT or "thread"; 0: another note. */
static uint64_t number_in(struct weft_slice text, bool *ret_stops, bool *ret_is_thread)
{
	static const char *const words[2][2] = {
		{"SIGCONT to process ", "SIGCONT to thread "},
		{"SIGSTOP to process ", "SIGSTOP to thread "},
	};
	if (text.size < 3 || memcmp(text.bytes, "SIG", 3) != 0)
		return 0; /* as most notes */
	for (int stops = 0; stops < 2; stops++)
		for (int is_thread = 0; is_thread < 2; is_thread++) {
			const char *word = words[stops][is_thread];
			const size_t size = strlen(word);
			uint64_t number;
			*ret_stops = stops;
			*ret_is_thread = is_thread;
			if (text.size > size && memcmp(text.bytes, word, size) == 0 &&
				weft_parse_number(text.bytes + size, text.size - size, &number) == WEFT_PARSE_OK)
				return number;
		}
	return 0;
}

/* The buffer of that process or thread, of the sender's host; WEFT_NONE: it is not in the trace. */
static uint32_t buffer_of(
	const struct weft_model *model, uint32_t sender, uint64_t number, bool is_thread)
{
	const struct weft_trace_buffer *b = model->buffers;
	const uint32_t host =
		weft_trace_first_of_host(b, model->buffer_count, model->tasks.buffer[sender]);
	uint32_t found = WEFT_NONE;
	for (uint32_t i = 0; i < model->thread_count && is_thread; i++)
		if (model->threads[i].tid == number && model->threads[i].buffer < model->buffer_count &&
			weft_trace_first_of_host(b, model->buffer_count, model->threads[i].buffer) == host)
			found = model->threads[i].buffer;
	for (uint32_t i = 0; i < model->buffer_count && !is_thread; i++)
		if (b[i].pid == number && weft_trace_first_of_host(b, model->buffer_count, i) == host)
			found = i; /* after exec the later program */
	return found;
}

/* True if the signal was not sent: a failed kill(2) has a second note, "kill: EPERM". */
static bool has_failed(const struct weft_model *model, uint32_t task, uint32_t note)
{
	static const char word[] = "kill: ";
	if (note + 1 >= model->tasks.end_note[task] || model->notes.type[note + 1] != WEFT_NOTE_TEXT)
		return false;
	const struct weft_slice text = weft_model_string(model, model->notes.text[note + 1]);
	return text.size >= sizeof(word) - 1 && memcmp(text.bytes, word, sizeof(word) - 1) == 0;
}

static void look_at_note(const struct weft_model *model, uint32_t task, uint32_t note,
	struct weft__suspension *by_buffer)
{
	bool stops, is_thread;
	const uint64_t time = model->notes.time[note];
	const uint64_t number =
		number_in(weft_model_string(model, model->notes.text[note]), &stops, &is_thread);
	const bool is_sent = number && !has_failed(model, task, note);
	const uint32_t buffer = is_sent ? buffer_of(model, task, number, is_thread) : WEFT_NONE;
	if (buffer != WEFT_NONE && time >= by_buffer[buffer].time)
		by_buffer[buffer] = (struct weft__suspension){time, stops ? task : WEFT_NONE};
}

/* True if an activation of the task began or ended from that time on until `at_ns`. One that ends
 * with its task may still have been open. */
static bool has_run_since(
	const struct weft_model *model, uint32_t task, uint64_t time, uint64_t at_ns)
{
	const struct weft_activations *a = &model->activations;
	const uint32_t runs = weft__story_activations_until(model, task, at_ns);
	const uint32_t last = model->tasks.first_activation[task] + runs - 1;
	return runs && (a->start[last] > time || (a->end[last] > time && a->end[last] <= at_ns &&
												 a->end[last] < model->tasks.end[task]));
}

static void leave_out_those_that_run(
	const struct weft_model *model, struct weft__suspension *by_buffer, uint64_t at_ns)
{
	const struct weft_tasks *t = &model->tasks;
	for (uint32_t task = 0; task < t->count; task++) {
		if (t->buffer[task] >= model->buffer_count)
			continue;
		struct weft__suspension *it = &by_buffer[t->buffer[task]];
		if (it->sender != WEFT_NONE && has_run_since(model, task, it->time, at_ns))
			it->sender = WEFT_NONE;
	}
}

int weft__story_find_suspended(
	const struct weft_model *model, uint64_t at_ns, struct weft__suspension **ret_by_buffer)
{
	const struct weft_tasks *t = &model->tasks;
	struct weft__suspension *by_buffer = NULL;
	*ret_by_buffer = NULL;
	if (!model->buffer_count || !model->notes.count)
		return 0;
	by_buffer = malloc(model->buffer_count * sizeof(*by_buffer));
	if (!by_buffer)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < model->buffer_count; i++)
		by_buffer[i] = (struct weft__suspension){0, WEFT_NONE};
	for (uint32_t task = 0; task < t->count; task++)
		for (uint32_t note = t->first_note[task]; note < t->end_note[task]; note++)
			if (model->notes.type[note] == WEFT_NOTE_TEXT && model->notes.time[note] <= at_ns)
				look_at_note(model, task, note, by_buffer);
	leave_out_those_that_run(model, by_buffer, at_ns);
	*ret_by_buffer = by_buffer;
	return 0;
}

bool weft__story_is_suspended(
	const struct weft_model *model, const struct weft__suspension *by_buffer, uint32_t task)
{
	const uint32_t buffer = model->tasks.buffer[task];
	return by_buffer && buffer < model->buffer_count && by_buffer[buffer].sender != WEFT_NONE;
}

void weft__story_add_suspended(struct weft__sentence *sentence, const struct weft_model *model,
	const struct weft__suspension *by_buffer, uint32_t task, unsigned worth)
{
	if (!weft__story_is_suspended(model, by_buffer, task))
		return;
	const struct weft__suspension *it = &by_buffer[model->tasks.buffer[task]];
	struct weft__words *w = weft__story_clause(sentence, worth);
	weft__story_words_add(w, "; suspended by SIGSTOP");
	w = weft__story_clause(sentence, worth - 1);
	weft__story_words_add(w, " at ");
	weft__story_words_add_time(w, model, it->time);
	w = weft__story_clause(sentence, worth - 1);
	weft__story_words_add(w, ", by ");
	weft__story_words_add_subject(w, model, it->sender, 24);
}

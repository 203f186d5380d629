/* SPDX-License-Identifier: ISC
 *
 * Calls that fail again and again: notes like "accept: EMFILE", which adapters write, and programs
 * may. They are counted by what failed and by alike tasks.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "story/problems/findings.h"

#define FEW       16   /* fewer are not reported */
#define MANY      1000 /* a warning */
#define WORD_MIN  4    /* letters of "EPIPE", at least */
#define WORD_MAX  16
#define FOUND_MAX 5
#define LETTERS   60 /* longer notes are texts of the program */

/* An error of alike tasks. */
struct failure {
	uint64_t key;
	uint32_t count;
};

struct failing {
	struct weft__findings *findings;
	const struct weft_model *model;
	uint64_t *keys; /* of each note: group << 32 | text, ascending */
	size_t count;
};

/* True for "accept: EMFILE": the note ends with the name of an error of errno(3). */
static bool names_error(struct weft_slice text)
{
	size_t at = text.size;
	if (text.size > LETTERS)
		return false;
	while (at > 0 && ((text.bytes[at - 1] >= 'A' && text.bytes[at - 1] <= 'Z') ||
						 (text.bytes[at - 1] >= '0' && text.bytes[at - 1] <= '9')))
		at--;
	const size_t size = text.size - at;
	return size >= WORD_MIN && size <= WORD_MAX && text.bytes[at] == 'E' && at >= 2 &&
		   text.bytes[at - 1] == ' ' && text.bytes[at - 2] == ':';
}

static bool is_error(const struct weft_model *model, uint32_t note)
{
	uint8_t type = model->notes.type[note];
	return (type == WEFT_NOTE_TEXT || type == WEFT_NOTE_MARK) &&
		   names_error(weft_model_string(model, model->notes.text[note]));
}

static uint64_t key_of(const struct failing *f, uint32_t task, uint32_t note)
{
	return (uint64_t)f->findings->alike.group_of[task] << 32 | f->model->notes.text[note];
}

static size_t count_errors(const struct weft_model *model)
{
	size_t count = 0;
	for (uint32_t note = 0; note < model->notes.count; note++)
		count += is_error(model, note);
	return count;
}

static int list_errors(struct failing *f)
{
	const struct weft_tasks *t = &f->model->tasks;
	const size_t count = count_errors(f->model);
	if (count < FEW)
		return 0;
	f->keys = malloc(2 * count * sizeof(*f->keys));
	if (!f->keys)
		return WEFT_ERROR_MEMORY;
	for (uint32_t task = 0; task < t->count; task++)
		for (uint32_t note = t->first_note[task]; note < t->end_note[task]; note++)
			if (f->count < count && is_error(f->model, note))
				f->keys[f->count++] = key_of(f, task, note);
	weft__sort_u64(f->keys, f->keys + f->count, f->count);
	return 0;
}

/* Errors for which a program lacks something that others use up. */
static bool is_exhaustion(struct weft_slice text)
{
	static const char *const names[] = {
		"EMFILE", "ENFILE", "ENOSPC", "EDQUOT", "ENOMEM", "ENOBUFS", "EIO"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t size = strlen(names[i]);
		if (text.size > size && memcmp(text.bytes + text.size - size, names[i], size) == 0)
			return true;
	}
	return false;
}

/* Finds the first task with such a note, and the times of the first and of the last one. Returns
 * the number of tasks that have such notes. */
static uint32_t find_notes(const struct failing *f, uint64_t key, struct weft_problem *problem)
{
	const struct weft_tasks *t = &f->model->tasks;
	uint32_t tasks = 0;
	for (uint32_t task = 0; task < t->count; task++) {
		if (f->findings->alike.group_of[task] != key >> 32)
			continue;
		bool has_one = false;
		for (uint32_t note = t->first_note[task]; note < t->end_note[task]; note++) {
			const uint64_t time = f->model->notes.time[note];
			if (f->model->notes.text[note] != (uint32_t)key || !is_error(f->model, note))
				continue;
			has_one = true;
			if (problem->task == WEFT_NONE || time < problem->start) {
				problem->task = task;
				problem->start = time;
			}
			problem->end = time > problem->end ? time : problem->end;
		}
		tasks += has_one;
	}
	return tasks;
}

static void report_failing(const struct failing *f, uint64_t key, uint32_t count)
{
	const struct weft_slice text = weft_model_string(f->model, (uint32_t)key);
	struct weft_problem problem = {
		.type = WEFT_PROBLEM_FAILING_CALL,
		.severity =
			count >= MANY || is_exhaustion(text) ? WEFT_SEVERITY_WARNING : WEFT_SEVERITY_HINT,
		.count = count,
		.task = WEFT_NONE,
		.thread = WEFT_NONE,
		.counter = WEFT_NONE,
		.edge = WEFT_NONE,
	};
	struct weft__sentence s;
	const uint32_t tasks = find_notes(f, key, &problem);
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 9);
	weft__story_words_add_text(w, text, LETTERS);
	weft__story_words_add(w, " × ");
	weft__story_words_add_number(w, count);
	w = weft__story_clause(&s, 8);
	weft__story_words_add(w, tasks > 1 ? ", first in " : ", in ");
	weft__story_words_add_subject(w, f->model, problem.task, 32);
	w = weft__story_clause(&s, 6);
	weft__story_words_add(w, " from ");
	weft__story_words_add_time(w, f->model, problem.start);
	weft__story_words_add(w, " to ");
	weft__story_words_add_time(w, f->model, problem.end);
	weft__story_find(f->findings, &problem, count, &s);
}

/* Keeps the most frequent ones, the most frequent first. */
static void keep(struct failure list[FOUND_MAX], const struct failure *failure)
{
	struct failure moved = *failure;
	for (int i = 0; i < FOUND_MAX; i++)
		if (moved.count > list[i].count) {
			struct failure less = list[i];
			list[i] = moved;
			moved = less;
		}
}

void weft__find_failing_calls(struct weft__findings *findings)
{
	struct failing f = {.findings = findings, .model = findings->story->model};
	struct failure most[FOUND_MAX] = {0};
	int error = list_errors(&f);
	for (size_t i = 0, next; i < f.count; i = next) {
		for (next = i + 1; next < f.count && f.keys[next] == f.keys[i];)
			next++;
		if (next - i >= FEW && f.keys[i] >> 32 != WEFT_NONE)
			keep(most, &(struct failure){f.keys[i], (uint32_t)(next - i)});
	}
	for (int i = 0; i < FOUND_MAX && most[i].count; i++)
		report_failing(&f, most[i].key, most[i].count);
	if (error)
		findings->error = error;
	free(f.keys);
}

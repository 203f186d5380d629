/* SPDX-License-Identifier: ISC
 *
 * See busy.h. The adapters write which call it is, how often and for how long a thread has made it,
 * each time that it has done next to nothing else for 100 ms (WEFT_NOTE_VAIN).
 */
#include "story/problems/busy.h"

#include <string.h>

#include <weft/ends.h>

#include "model/slice.h"

#define LONG_NS   (250 * WEFT__MS) /* a warning, if it is */
#define PART      4                /* 1 / PART of the time of its thread, at least */
#define FOUND_MAX 3
#define LETTERS   40

/* The busy loops of a thread. */
struct busy_loop {
	uint64_t calls, ns;
	uint64_t first, last; /* the begin of the first, and the time of the last note */
	uint32_t task, text;  /* `text`: that of the last note */
	bool is_mixed;        /* notes differ */
};

/* True if the notes from this one on are of a busy loop. */
static bool is_busy_loop(const struct weft_model *m, uint32_t note, uint32_t end)
{
	const struct weft_notes *n = &m->notes;
	const struct weft_slice text = weft_model_string(m, n->text[note]);
	const size_t size = strlen(WEFT_NOTE_VAIN);
	return end - note > 2 && n->type[note] == WEFT_NOTE_TEXT && text.size > size &&
		   memcmp(text.bytes, WEFT_NOTE_VAIN, size) == 0 &&
		   weft__story_is_tag(m, note + 1, WEFT_TAG_VAIN_CALLS) &&
		   weft__story_is_tag(m, note + 2, WEFT_TAG_VAIN_NS) && n->value[note + 1] > 0 &&
		   n->value[note + 2] > 0;
}

static void add(const struct weft_model *m, uint32_t note, struct busy_loop *loop)
{
	const uint64_t time = m->notes.time[note], ns = (uint64_t)m->notes.value[note + 2];
	if (loop->calls == 0)
		loop->first = time - m->summary.start > ns ? time - ns : m->summary.start;
	loop->is_mixed |= loop->calls && loop->text != m->notes.text[note];
	loop->text = m->notes.text[note];
	loop->calls += (uint64_t)m->notes.value[note + 1];
	loop->ns += ns;
	loop->last = time;
}

static struct busy_loop find_loop(const struct weft_model *m, uint32_t task)
{
	struct busy_loop loop = {.task = task};
	for (uint32_t note = m->tasks.first_note[task]; note < m->tasks.end_note[task]; note++)
		if (is_busy_loop(m, note, m->tasks.end_note[task]))
			add(m, note, &loop);
	return loop;
}

/* The longest ones; of equally long ones, the first. */
static void keep(struct busy_loop list[FOUND_MAX], struct busy_loop loop)
{
	for (unsigned i = 0; i < FOUND_MAX; i++)
		if (loop.ns > list[i].ns) {
			const struct busy_loop shorter = list[i];
			list[i] = loop;
			loop = shorter;
		}
}

static struct weft_problem problem_of(const struct weft_model *m, const struct busy_loop *loop)
{
	const uint32_t task = loop->task;
	const uint64_t life = weft__story_end_of(m, task) - m->tasks.start[task];
	const bool is_long = loop->ns >= LONG_NS && loop->ns >= life / PART;
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_POLLING,
		is_long ? WEFT_SEVERITY_WARNING : WEFT_SEVERITY_HINT, 1,
		(struct weft__case){task, loop->first, loop->last});
	struct weft__words words = weft__story_problem_note(&problem.cause, loop->first, task);
	weft__story_words_add(&words, "begins to wait in a busy loop");
	words = weft__story_problem_note(&problem.effect, loop->last, task);
	weft__story_words_add(&words, "still calls without a pause");
	return problem;
}

static void report(struct weft__findings *findings, const struct busy_loop *loop)
{
	const struct weft_model *m = findings->story->model;
	const struct weft_problem problem = problem_of(m, loop);
	struct weft_slice call = weft_model_string(m, loop->text);
	struct weft__sentence s;
	call.bytes += strlen(WEFT_NOTE_VAIN);
	call.size -= strlen(WEFT_NOTE_VAIN);
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 9);
	weft__story_words_add_subject(w, m, loop->task, 32);
	weft__story_words_add(w, " waits in a busy loop for ");
	weft__story_words_add_length(w, loop->ns);
	w = weft__story_clause(&s, 8);
	weft__story_words_add(w, ": ");
	weft__story_words_add_number(w, loop->calls);
	weft__story_words_add(w, " × ");
	weft__story_words_add_text(w, call, LETTERS);
	if (loop->is_mixed && !weft__slice_contains(call, WEFT_NOTE_VAIN_OTHERS))
		weft__story_words_add(w, WEFT_NOTE_VAIN_OTHERS);
	weft__story_find(findings, &problem, loop->ns, &s);
}

void weft__story_find_busy_loops(struct weft__findings *findings)
{
	const struct weft_model *m = findings->story->model;
	struct busy_loop list[FOUND_MAX] = {0};
	for (uint32_t task = 0; task < m->tasks.count; task++)
		if (m->tasks.kind[task] == WEFT_KIND_THREAD)
			keep(list, find_loop(m, task));
	for (unsigned i = 0; i < FOUND_MAX && list[i].calls; i++)
		report(findings, &list[i]);
}

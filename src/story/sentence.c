/* SPDX-License-Identifier: ISC
 *
 * Describes a task in one sentence: as a whole, or what it does at a time.
 */
#include <inttypes.h>

#include "base/export.h"
#include "story/any.h"
#include "story/holders.h"
#include "story/words.h"

/* Maximum characters of a name. */
#define SUBJECT_LETTERS 40
#define OTHER_LETTERS   28
#define MESSAGE_LETTERS 60

/* The clause with the highest worth is dropped last. */
enum worth {
	WORTH_EXTRA,
	WORTH_CREATOR,
	WORTH_WAKER,
	WORTH_RUNS,
	WORTH_SPAN,
	WORTH_OTHERS,
	WORTH_OUTCOME,
	WORTH_HEAD,
};

static const struct weft_tasks *tasks_of(const struct weft_story *story)
{
	return &story->model->tasks;
}

/* True if the task still exists when the trace ends. */
static bool is_open(const struct weft_story *story, uint32_t task)
{
	return !(tasks_of(story)->flags[task] & WEFT_TASK_RESOLVED);
}

static void write_length_of(struct weft__sentence *s, const struct weft_story *story, uint32_t task)
{
	uint64_t start = weft__story_start_of(story, task), end = tasks_of(story)->end[task];
	struct weft__words *w = weft__story_clause(s, WORTH_HEAD);
	weft__story_words_add_subject(w, story->model, task, SUBJECT_LETTERS);
	w = weft__story_clause(s, WORTH_OUTCOME);
	weft__story_words_add(w, ": ");
	if (is_open(story, task) && story->model->summary.end > end)
		end = story->model->summary.end;
	weft__story_words_add_length(w, end > start ? end - start : 0);
	w = weft__story_clause(s, WORTH_EXTRA);
	weft__story_words_add(w, " from ");
	weft__story_words_add_time(w, story->model, start);
}

static void write_runs(struct weft__sentence *s, const struct weft_story *story, uint32_t task)
{
	const struct weft_tasks *t = tasks_of(story);
	uint32_t runs = t->end_activation[task] - t->first_activation[task];
	if (!runs)
		return;
	struct weft__words *w = weft__story_clause(s, WORTH_RUNS);
	weft__story_words_add(w, ", ran %" PRIu32 " \xc3\x97 for ", runs);
	uint64_t runs_ns = weft_model_running_ns(story->model, task);
	weft__story_words_add_length(w, runs_ns);
	uint64_t off_ns = weft_model_off_cpu_ns(story->model, task);
	if (!off_ns)
		return;
	weft__story_words_add(w, " and had the processor for ");
	weft__story_words_add_length(w, runs_ns > off_ns ? runs_ns - off_ns : 0);
}

/* Appends "; in this run no processor for 8 ms of 12 ms". */
static void write_off_cpu(
	struct weft__sentence *s, const struct weft_story *story, uint32_t task, uint64_t at)
{
	const struct weft_activations *a = &story->model->activations;
	uint32_t runs = weft__story_activations_until(story->model, task, at);
	if (at == WEFT_STORY_WHOLE || !runs)
		return;
	uint32_t i = tasks_of(story)->first_activation[task] + runs - 1;
	uint64_t off_ns =
		weft_model_off_cpu_between(story->model, task, a->thread[i], a->start[i], a->end[i]);
	if (!off_ns || a->end[i] < at)
		return;
	struct weft__words *w = weft__story_clause(s, WORTH_SPAN);
	weft__story_words_add(w, "; in this run no processor for ");
	weft__story_words_add_length(w, off_ns);
	weft__story_words_add(w, " of ");
	weft__story_words_add_length(w, a->end[i] - a->start[i]);
}

static void write_creator(struct weft__sentence *s, const struct weft_story *story, uint32_t task)
{
	uint32_t parent = tasks_of(story)->parent[task];
	if (parent == WEFT_NONE)
		return;
	struct weft__words *w = weft__story_clause(s, WORTH_CREATOR);
	weft__story_words_add(w, "; made by ");
	weft__story_words_add_other(w, story->model, parent, task, OTHER_LETTERS);
}

static void write_waker(
	struct weft__sentence *s, const struct weft_story *story, uint32_t task, uint64_t at)
{
	struct weft_story_wake wake;
	if (!weft_story_woken_by(story, task, at, &wake))
		return;
	struct weft__words *w = weft__story_clause(s, WORTH_WAKER);
	weft__story_words_add(w, "; woken by ");
	weft__story_words_add_other(w, story->model, wake.task, task, OTHER_LETTERS);
	weft__story_words_add(w, " at ");
	weft__story_words_add_time(w, story->model, wake.time);
}

/* Appends "; in 'deflate' for 24 ms": the innermost span at that time. */
static void write_span(
	struct weft__sentence *s, const struct weft_story *story, uint32_t task, uint64_t at)
{
	struct weft_span span;
	if (at == WEFT_STORY_WHOLE || !weft_model_span_at(story->model, task, at, &span))
		return;
	struct weft__words *w = weft__story_clause(s, WORTH_SPAN);
	weft__story_words_add(w, "; in '");
	weft__story_words_add_text(w, weft_model_string(story->model, span.name), OTHER_LETTERS);
	weft__story_words_add(w, span.is_at_most ? "' for at most " : "' for ");
	weft__story_words_add_length(w, span.end - span.start);
}

/* Writes "track 'gpu 0': 120 spans; in 'draw' for 2 ms". */
static void write_track(
	struct weft__sentence *s, const struct weft_story *story, uint32_t task, uint64_t at)
{
	weft__story_words_add_subject(
		weft__story_clause(s, WORTH_HEAD), story->model, task, SUBJECT_LETTERS);
	struct weft__words *w = weft__story_clause(s, WORTH_OUTCOME);
	weft__story_words_add(w, ": ");
	weft__story_words_add_count(w, weft_model_span_count(story->model, task), "span");
	write_span(s, story, task, at);
}

/* Appends how the task ended; nothing for an unended one, because what it waits for is more
 * informative. */
static void write_outcome(struct weft__sentence *s, const struct weft_story *story, uint32_t task)
{
	const struct weft_tasks *t = tasks_of(story);
	const struct weft_model *model = story->model;
	if (t->becomes[task] != WEFT_NONE) {
		struct weft__words *w = weft__story_clause(s, WORTH_WAKER);
		weft__story_words_add(w, "; becomes ");
		weft__story_words_add_other(w, model, t->becomes[task], task, OTHER_LETTERS);
	} else if (t->flags[task] & WEFT_TASK_NEVER_RESOLVED) {
		weft__story_words_add(weft__story_clause(s, WORTH_OUTCOME), "; never resolved");
	} else if (t->flags[task] & WEFT_TASK_FAILED) {
		struct weft__words *w = weft__story_clause(s, WORTH_OUTCOME);
		weft__story_words_add(w, "; failed at ");
		weft__story_words_add_time(w, model, t->end[task]);
		struct weft_slice message = weft_model_string(model, t->message[task]);
		if (message.size) {
			weft__story_words_add(w, ": ");
			weft__story_words_add_text(w, message, MESSAGE_LETTERS);
		}
	} else if (t->flags[task] & WEFT_TASK_STOPPED) {
		struct weft__words *w = weft__story_clause(s, WORTH_OUTCOME);
		weft__story_words_add(
			w, "; %s at ", weft_outcome_name((enum weft_outcome)t->outcome[task]));
		weft__story_words_add_time(w, model, t->end[task]);
	} else if (t->outcome[task] == WEFT_OUTCOME_UNKNOWN) {
		struct weft__words *w = weft__story_clause(s, WORTH_OUTCOME);
		weft__story_words_add(w, "; not seen since events are missing, from ");
		weft__story_words_add_time(w, model, t->end[task]);
		weft__story_words_add(w, " on");
	} else if (is_open(story, task)) {
		weft__story_words_add(weft__story_clause(s, WORTH_OUTCOME), "; unfinished");
	}
}

/* True if the task was signalled or resolved since; unknown without an index. */
static bool is_touched_since(const struct weft_story *story, uint32_t task, uint64_t since)
{
	struct weft__edge_list to = weft__story_edges_to(story, task);
	for (uint32_t i = weft__story_edges_until(story->model, to, since); i < to.count; i++) {
		uint8_t type = story->model->edges.type[to.edges[i]];
		if (weft__story_wakes(type) || type == WEFT_EDGE_RESOLVE)
			return true;
	}
	return false;
}

/* Appends "; not signalled since". */
static void write_no_wake(
	struct weft__sentence *s, const struct weft_story *story, const struct weft_story_wait *wait)
{
	unsigned kind = tasks_of(story)->kind[wait->source];
	bool is_signalled =
		weft__story_is_condition(story->model, wait->source) || kind == WEFT_KIND_SEMAPHORE;
	const char *verb = is_signalled                    ? "signalled"
					   : weft__model_is_resource(kind) ? "released"
													   : "resolved";
	if (!story->index || is_touched_since(story, wait->source, wait->since))
		return;
	weft__story_words_add(weft__story_clause(s, WORTH_OTHERS), "; not %s since", verb);
}

/* Appends "; held by task 5 'worker' since 30 ms". */
static void write_holder(struct weft__sentence *s, const struct weft_story *story,
	const struct weft_story_wait *wait, uint64_t at)
{
	struct weft_story_hold hold;
	uint32_t count = wait->source == WEFT_NONE || wait->any
						 ? 0
						 : weft_story_holders(story, wait->source, at, &hold, 1);
	if (!count)
		return;
	struct weft__words *w = weft__story_clause(s, WORTH_OTHERS);
	weft__story_words_add(w, "; held by ");
	weft__story_words_add_holders(w, story->model, &hold, count, OTHER_LETTERS);
}

/* Writes "lock 7 'db lock' is held by task 5 'worker' since 30 ms". */
static void write_held(
	struct weft__sentence *s, const struct weft_story *story, const struct weft_story_wait *wait)
{
	const struct weft_story_hold hold = {wait->source, wait->since};
	weft__story_words_add_subject(
		weft__story_clause(s, WORTH_HEAD), story->model, wait->task, SUBJECT_LETTERS);
	struct weft__words *w = weft__story_clause(s, WORTH_OUTCOME);
	weft__story_words_add(w, " is held by ");
	weft__story_words_add_holders(w, story->model, &hold, wait->others + 1, OTHER_LETTERS);
	write_creator(s, story, wait->task);
}

/* Appends " for wait 5 'reply' and 2 more", or " for any of cancel, reply, timer". */
static void write_sources(
	struct weft__sentence *s, const struct weft_story *story, const struct weft_story_wait *wait)
{
	struct weft__words *w = weft__story_clause(s, WORTH_OUTCOME);
	if (wait->source == WEFT_NONE)
		return;
	weft__story_words_add(w, " for ");
	if (wait->any) {
		weft__story_words_add_any(
			w, story->model, (struct weft__edge_list){wait->any, wait->any_count});
		return;
	}
	weft__story_words_add_subject(w, story->model, wait->source, OTHER_LETTERS);
	if (wait->others)
		weft__story_words_add(
			weft__story_clause(s, WORTH_OTHERS), " and %" PRIu32 " more", wait->others);
}

static void write_wait(struct weft__sentence *s, const struct weft_story *story,
	const struct weft_story_wait *wait, uint64_t at)
{
	const struct weft_model *model = story->model;
	struct weft__words *w = weft__story_clause(s, WORTH_HEAD);
	weft__story_words_add_subject(w, model, wait->task, SUBJECT_LETTERS);
	weft__story_words_add(weft__story_clause(s, WORTH_OUTCOME), " waits");
	write_sources(s, story, wait);
	w = weft__story_clause(s, WORTH_OUTCOME);
	weft__story_words_add(w, " since ");
	weft__story_words_add_time(w, model, wait->since);
	if (wait->got != WEFT_NONE) {
		w = weft__story_clause(s, WORTH_OTHERS);
		weft__story_words_add(w, "; got ");
		weft__story_words_add_task(w, model, wait->got, OTHER_LETTERS);
		weft__story_words_add(w, " after ");
		weft__story_words_add_length(w, wait->until - wait->since);
	} else if (wait->until != UINT64_MAX) {
		w = weft__story_clause(s, WORTH_OTHERS);
		weft__story_words_add(w, ", until ");
		weft__story_words_add_time(w, model, wait->until);
	} else if (wait->source != WEFT_NONE && !wait->any) {
		write_no_wake(s, story, wait);
	}
	write_holder(s, story, wait, at);
	write_creator(s, story, wait->task);
}

/* Writes "wait 26 is pending since 5 ms; main resolves it at 7 ms". */
static void write_pending(struct weft__sentence *s, const struct weft_story *story, uint32_t task)
{
	const struct weft_tasks *t = tasks_of(story);
	write_length_of(s, story, task);
	write_runs(s, story, task);
	if (!(t->flags[task] & (WEFT_TASK_FAILED | WEFT_TASK_STOPPED)) &&
		t->becomes[task] == WEFT_NONE) {
		struct weft__edge_list to = weft__story_edges_to(story, task);
		for (uint32_t i = weft__story_edges_until(story->model, to, t->end[task]); i > 0; i--) {
			uint32_t edge = to.edges[i - 1], from = story->model->edges.from[edge];
			if (story->model->edges.time[edge] < t->end[task])
				break;
			if (story->model->edges.type[edge] != WEFT_EDGE_RESOLVE || from == WEFT_NONE)
				continue;
			struct weft__words *w = weft__story_clause(s, WORTH_WAKER);
			weft__story_words_add(w, "; resolved by ");
			weft__story_words_add_other(w, story->model, from, task, OTHER_LETTERS);
			break;
		}
	}
	write_creator(s, story, task);
	write_outcome(s, story, task);
}

/* Appends "; due at 40 ms, fired 3.1 ms late" to the sentence of a timer. */
static void write_due(struct weft__sentence *s, const struct weft_story *story, uint32_t task)
{
	struct weft_story_timer timer;
	if (!weft_story_timer(story->model, task, &timer))
		return;
	struct weft__words *w = weft__story_clause(s, WORTH_OTHERS);
	weft__story_words_add(w, "; ");
	weft__story_words_add_due(w, story->model, &timer);
}

/* True if the task waits at that time; for a task as a whole, at its end. */
static bool waits(
	const struct weft_story *story, uint32_t task, uint64_t at_ns, struct weft_story_wait *ret_wait)
{
	if (at_ns == WEFT_STORY_WHOLE && !is_open(story, task))
		return false;
	return weft_story_wait_at(story, task, at_ns, ret_wait) && ret_wait->task == task;
}

WEFT__EXPORT size_t weft_story_sentence(
	const struct weft_story *story, uint32_t task, uint64_t at_ns, char *buffer, size_t size)
{
	const struct weft_tasks *t = tasks_of(story);
	struct weft__sentence s;
	struct weft_story_wait wait;
	weft__story_sentence_init(&s);
	bool is_waiting = waits(story, task, at_ns, &wait);
	if (t->kind[task] == WEFT_KIND_TRACK) {
		write_track(&s, story, task, at_ns);
	} else if (is_waiting && wait.is_held) {
		write_held(&s, story, &wait);
	} else if (is_waiting) {
		write_wait(&s, story, &wait, at_ns);
		write_span(&s, story, task, at_ns);
	} else if (t->first_activation[task] == t->end_activation[task]) {
		write_pending(&s, story, task);
	} else {
		write_length_of(&s, story, task);
		write_runs(&s, story, task);
		write_span(&s, story, task, at_ns);
		write_off_cpu(&s, story, task, at_ns);
		write_creator(&s, story, task);
		write_waker(&s, story, task, at_ns);
		write_outcome(&s, story, task);
	}
	write_due(&s, story, task);
	return weft__story_sentence_write(&s, buffer, size);
}

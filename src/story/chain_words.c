/* SPDX-License-Identifier: ISC
 *
 * Wait chains in sentences.
 */
#include <stdlib.h>

#include "base/export.h"
#include "model/holds.h"
#include "story/any.h"
#include "story/blocking.h"
#include "story/elsewhere.h"
#include "story/epoll.h"
#include "story/holders.h"
#include "story/hop.h"
#include "story/index.h"
#include "story/killed.h"
#include "story/other_end.h"
#include "story/own_pipe.h"
#include "story/signallers.h"
#include "story/queue_end.h"
#include "story/suspended.h"
#include "story/unreported.h"
#include "story/words.h"

#define SUBJECT_LETTERS 32
#define OTHER_LETTERS   28

enum chain_worth {
	WORTH_EXTRA,
	WORTH_TIME,
	WORTH_OTHER,
	WORTH_HEAD,
};

static void add_subject(
	struct weft__sentence *s, const struct weft_story *story, uint32_t task, const char *verb)
{
	struct weft__words *w = weft__story_clause(s, WORTH_HEAD);
	weft__story_words_add_subject(w, story->model, task, SUBJECT_LETTERS);
	weft__story_words_add(w, "%s", verb);
}

/* Appends "3 ms"; at the edges of a range that was read alone, "3 ms or before". */
static void add_time_read(struct weft__words *w, const struct weft_story *story, uint64_t time)
{
	const struct weft_model_summary *read = &story->model->summary;
	weft__story_words_add_time(w, story->model, time);
	if (time <= read->read_start && read->read_start > read->start)
		weft__story_words_add(w, " or before");
	else if (read->read_end && time >= read->read_end && read->read_end <= read->end)
		weft__story_words_add(w, " or later");
}

/* Appends " since 3 ms". */
static void add_time(
	struct weft__sentence *s, const struct weft_story *story, const char *word, uint64_t time)
{
	struct weft__words *w = weft__story_clause(s, WORTH_TIME);
	weft__story_words_add(w, "%s", word);
	add_time_read(w, story, time);
}

/* Appends "; events are missing from 3 ms on" if that is so between two times: the missing ones may
 * have ended the wait. Or "; its record ends at 3 ms", as that of a program that has ended. */
static void add_dark(struct weft__sentence *s, const struct weft_story *story, uint32_t task,
	uint64_t from, uint64_t until)
{
	const struct weft_model *model = story->model;
	const uint64_t end = until < model->summary.end ? until : model->summary.end;
	const struct weft_dark *dark = weft_model_dark(model, model->tasks.buffer[task], from, end);
	if (!dark)
		return;
	const bool is_over = dark->reason == WEFT_DARK_AFTER;
	struct weft__words *w = weft__story_clause(s, WORTH_OTHER);
	const char *words = is_over                            ? "; its record ends at "
						: dark->reason == WEFT_DARK_UNREAD ? "; events were not read from "
														   : "; events are missing from ";
	weft__story_words_add(w, "%s", words);
	weft__story_words_add_time(w, model, dark->start > from ? dark->start : from);
	weft__story_words_add(w, is_over ? "" : " on");
}

/* ---- Hops ---- */

static void write_wait(
	struct weft__sentence *s, const struct weft_story *story, const struct weft_story_wait *wait)
{
	add_subject(s, story, wait->task, " waits for ");
	struct weft__words *w = weft__story_clause(s, WORTH_OTHER);
	if (wait->any)
		weft__story_words_add_any(
			w, story->model, (struct weft__edge_list){wait->any, wait->any_count});
	else
		weft__story_words_add_subject(w, story->model, wait->source, OTHER_LETTERS);
	if (wait->others && !wait->any)
		weft__story_words_add(
			weft__story_clause(s, WORTH_EXTRA), " and %u more", (unsigned)wait->others);
	add_time(s, story, " since ", wait->since);
	if (wait->until != UINT64_MAX)
		add_time(s, story, ", until ", wait->until);
}

static void write_held(
	struct weft__sentence *s, const struct weft_story *story, const struct weft_story_wait *wait)
{
	const struct weft_story_hold hold = {wait->source, wait->since};
	add_subject(s, story, wait->task, " is held by ");
	weft__story_words_add_holders(
		weft__story_clause(s, WORTH_OTHER), story->model, &hold, wait->others + 1, OTHER_LETTERS);
}

static void write_ended_by(struct weft__sentence *s, const struct weft_story *story,
	const struct weft_story_wait *wait, const char *verb)
{
	add_subject(s, story, wait->task, verb);
	weft__story_words_add_subject(
		weft__story_clause(s, WORTH_OTHER), story->model, wait->source, OTHER_LETTERS);
	add_time(s, story, " at ", wait->until);
}

/* "pipe 2 'pipe' is read by thread 1 'cat'", "call 3 'exit of process 17' is the end of thread 1
 * 'cat'" */
static void write_other_end(
	struct weft__sentence *s, const struct weft_story *story, const struct weft_chain_hop *hop)
{
	const struct weft_story_wait *wait = &hop->wait;
	bool is_exit = hop->is_written && (weft__story_is_kind(story->model, wait->task, "call") ||
										  weft__story_is_kind(story->model, wait->task, "pidfd"));
	const char *of_queue = weft__story_queue_words(story->model, wait->task);
	add_subject(s, story, wait->task,
		of_queue          ? of_queue
		: is_exit         ? " is the end of "
		: hop->is_kept    ? " is kept open by "
		: hop->is_written ? " is written by "
						  : " is read by ");
	struct weft__words *w = weft__story_clause(s, WORTH_OTHER);
	weft__story_words_add_subject(w, story->model, wait->source, OTHER_LETTERS);
	const uint32_t buffer = story->model->tasks.buffer[wait->source];
	if (hop->is_kept && !is_exit && buffer != story->model->tasks.buffer[wait->task]) {
		w = weft__story_clause(s, WORTH_EXTRA);
		weft__story_words_add(w, " in ");
		weft__story_words_add_process(w, story->model, buffer);
	}
	if (!wait->others)
		return;
	w = weft__story_clause(s, WORTH_EXTRA);
	if (is_exit)
		weft__story_words_add(
			w, wait->others > 1 ? " or of %u others" : " or of %u other", (unsigned)wait->others);
	else
		weft__story_words_add(w, " and %u more", (unsigned)wait->others);
}

/* "task 3 'event loop' does not run: its thread runs task 5 'report' since 3 ms, until 83 ms" */
static void write_turn(
	struct weft__sentence *s, const struct weft_story *story, const struct weft_story_wait *wait)
{
	add_subject(s, story, wait->task, " does not run: its thread runs ");
	weft__story_words_add_subject(
		weft__story_clause(s, WORTH_OTHER), story->model, wait->source, OTHER_LETTERS);
	add_time(s, story, " since ", wait->since);
	add_time(s, story, ", until ", wait->until);
}

/* "lock 4 'lock table' was held by thread 1 'writer' at 3 ms" */
static void write_elsewhere(
	struct weft__sentence *s, const struct weft_story *story, const struct weft_story_wait *wait)
{
	add_subject(s, story, wait->task, " was held by ");
	weft__story_words_add_subject(
		weft__story_clause(s, WORTH_OTHER), story->model, wait->source, OTHER_LETTERS);
	add_time(s, story, " at ", wait->since);
}

WEFT__EXPORT size_t weft_chain_hop_sentence(
	const struct weft_story *story, const struct weft_chain_hop *hop, char *buffer, size_t size)
{
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	switch (hop->step) {
	case WEFT_CHAIN_WAITS:
		write_wait(&s, story, &hop->wait);
		break;
	case WEFT_CHAIN_HELD:
		write_held(&s, story, &hop->wait);
		break;
	case WEFT_CHAIN_RESOLVED:
		write_ended_by(&s, story, &hop->wait, " is resolved by ");
		break;
	case WEFT_CHAIN_SIGNALLED:
		write_ended_by(&s, story, &hop->wait, " waits for a signal, by ");
		break;
	case WEFT_CHAIN_WOKEN:
		write_ended_by(&s, story, &hop->wait,
			story->model->edges.type[hop->edge] == WEFT_EDGE_READ ? " is reached last by "
																  : " is signalled by ");
		break;
	case WEFT_CHAIN_OTHER_END:
		write_other_end(&s, story, hop);
		break;
	case WEFT_CHAIN_THREAD:
		write_turn(&s, story, &hop->wait);
		break;
	case WEFT_CHAIN_RECEIVES:
		write_ended_by(&s, story, &hop->wait,
			story->model->tasks.kind[hop->wait.task] == WEFT_KIND_CONDITION
				? " is signalled by "
				: " waits for a message, from ");
		break;
	case WEFT_CHAIN_ELSEWHERE:
		write_elsewhere(&s, story, &hop->wait);
		break;
	}
	if (hop->wait.source != WEFT_NONE)
		weft__story_words_add_host(
			weft__story_clause(&s, WORTH_OTHER), story->model, hop->wait.task, hop->wait.source);
	if (hop->step != WEFT_CHAIN_ELSEWHERE) /* which is about one moment */
		add_dark(&s, story, hop->wait.task, hop->wait.since, hop->wait.until);
	return weft__story_sentence_write(&s, buffer, size);
}

/* ---- Ends ---- */

/* Appends "; condition 10 'answer' was signalled at 4 ms, 11 us before the wait began". */
static void add_early_signal(
	struct weft__sentence *s, const struct weft_story *story, const struct weft_chain *chain)
{
	const struct weft_edges *e = &story->model->edges;
	if (chain->end.edge == WEFT_NONE)
		return;
	uint64_t time = e->time[chain->end.edge];
	struct weft__words *w = weft__story_clause(s, WORTH_OTHER);
	weft__story_words_add(w, "; condition %llu was signalled at ",
		(unsigned long long)story->model->tasks.id[e->to[chain->end.edge]]);
	weft__story_words_add_time(w, story->model, time);
	w = weft__story_clause(s, WORTH_OTHER);
	weft__story_words_add(w, ", ");
	weft__story_words_add_length(w, chain->end.since > time ? chain->end.since - time : 0);
	weft__story_words_add(w, " before the wait began");
}

static void add_due(
	struct weft__sentence *s, const struct weft_model *model, const struct weft_story_timer *timer)
{
	struct weft__words *w = weft__story_clause(s, WORTH_TIME);
	weft__story_words_add(w, "; ");
	weft__story_words_add_due(w, model, timer);
}

/* Appends " 'Wait for ARP response'", which is left out if the sentence is too long. */
static void add_label(struct weft__sentence *s, const struct weft_model *model, uint32_t task)
{
	struct weft_slice label = weft_model_string(model, model->tasks.label[task]);
	struct weft__words *w = weft__story_clause(s, WORTH_EXTRA);
	if (!label.size)
		return;
	weft__story_words_add(w, " '");
	weft__story_words_add_text(w, label, SUBJECT_LETTERS);
	weft__story_words_add(w, "'");
}

/* Writes "condition 1 'ready' was signalled 12 times after the wait began, the last time at 4 s".
 */
static void write_ignored(
	struct weft__sentence *s, const struct weft_story *story, const struct weft_chain *chain)
{
	add_subject(s, story, chain->end.task, " was signalled ");
	struct weft__words *w = weft__story_clause(s, WORTH_HEAD);
	weft__story_words_add_count(w, chain->end.signals, "time");
	weft__story_words_add(w, " after the wait began");
	add_time(s, story, ", the last time at ", story->model->edges.time[chain->end.edge]);
}

/* Appends " after the wait began; the last signal was at 4 ms, 11 us before". */
static void add_last_signal(
	struct weft__sentence *s, const struct weft_story *story, const struct weft_chain *chain)
{
	bool is_remembered = chain->end.remembered != UINT64_MAX;
	if (chain->end.edge == WEFT_NONE && !is_remembered)
		return;
	uint64_t time =
		is_remembered ? chain->end.remembered : story->model->edges.time[chain->end.edge];
	uint32_t sender = chain->end.signaller;
	weft__story_words_add(weft__story_clause(s, WORTH_OTHER), " after the wait began");
	add_time(s, story, "; the last signal was at ", time);
	struct weft__words *w = weft__story_clause(s, WORTH_TIME);
	weft__story_words_add(w, ", ");
	weft__story_words_add_length(w, chain->end.since > time ? chain->end.since - time : 0);
	weft__story_words_add(w, " before");
	if (!is_remembered || sender == WEFT_NONE)
		return;
	w = weft__story_clause(s, WORTH_OTHER);
	weft__story_words_add(w, ", by ");
	weft__story_words_add_subject(w, story->model, sender, OTHER_LETTERS);
}

/* Appends "Nobody signalled condition 10 'answer'". */
static void add_nobody(
	struct weft__sentence *s, const struct weft_model *model, uint32_t task, const char *verb)
{
	struct weft__words *w = weft__story_clause(s, WORTH_HEAD);
	weft__story_words_add(w, model->summary.live ? "Nobody has %s " : "Nobody %s ", verb);
	weft__story_words_add_kind(w, model, model->tasks.kind[task]);
	weft__story_words_add(w, " %llu", (unsigned long long)model->tasks.id[task]);
	add_label(s, model, task);
}

static void write_condition(
	struct weft__sentence *s, const struct weft_story *story, const struct weft_chain *chain)
{
	if (chain->end.signals) {
		write_ignored(s, story, chain);
		return;
	}
	add_nobody(s, story->model, chain->end.task, "signalled");
	add_last_signal(s, story, chain);
	if (!weft__story_add_signaller(s, story, chain->end.task, chain->at, WORTH_HEAD))
		weft__story_add_killed_by(s, story, chain->end.task, chain->at, WORTH_OTHER);
}

/* Appends "server 17, which had ended, or by sleep 18". */
static void add_ended_holder(
	struct weft__sentence *s, const struct weft_story *story, const struct weft__elsewhere *it)
{
	struct weft__words *w = weft__story_clause(s, WORTH_OTHER);
	weft__story_words_add_process(w, story->model, it->buffer);
	weft__story_words_add(w, ", which had ended");
	if (it->heir == WEFT_NONE)
		return;
	weft__story_words_add(w, ", or by ");
	weft__story_words_add_process(w, story->model, it->heir);
}

/* Appends "process 17 at 3 ms, which is not in the trace", or "server, process 17, at 3 ms, by one
 * of its 4 threads". */
static void add_holder(
	struct weft__sentence *s, const struct weft_story *story, const struct weft__elsewhere *it)
{
	if (it->has_ended) {
		add_ended_holder(s, story, it);
		return;
	}
	struct weft__words *w = weft__story_clause(s, WORTH_OTHER);
	if (it->task != WEFT_NONE)
		weft__story_words_add_subject(w, story->model, it->task, OTHER_LETTERS);
	else if (it->buffer != WEFT_NONE)
		weft__story_words_add_process(w, story->model, it->buffer);
	else
		weft__story_words_add(
			w, it->is_process ? "process %llu" : "thread %llu", (unsigned long long)it->number);
	add_time(s, story, " at ", it->time);
	w = weft__story_clause(s, WORTH_OTHER);
	if (it->buffer == WEFT_NONE)
		weft__story_words_add(w, ", which is not in the trace");
	else if (it->task == WEFT_NONE)
		weft__story_words_add(w, ", by one of its %u threads", (unsigned)it->threads);
}

static bool write_holder(
	struct weft__sentence *s, const struct weft_story *story, const struct weft_chain *chain)
{
	struct weft__elsewhere it;
	if (!weft__story_held_elsewhere(story, chain->end.task, chain->at, &it))
		return false;
	if (it.is_copy) {
		add_subject(s, story, chain->end.task, " is a copy");
		weft__story_add_holder_at_fork(s, story->model, &it, WORTH_OTHER);
		return true;
	}
	add_subject(s, story, chain->end.task, " was held by ");
	add_holder(s, story, &it);
	return true;
}

static void write_unresolved(
	struct weft__sentence *s, const struct weft_story *story, const struct weft_chain *chain)
{
	uint32_t task = chain->end.task;
	struct weft_story_timer timer;
	if (write_holder(s, story, chain))
		return;
	add_nobody(s, story->model, task, "resolved");
	add_early_signal(s, story, chain);
	weft__story_add_signaller(s, story, task, chain->at, WORTH_HEAD);
	weft__story_add_queue_user(s, story, task, chain->at, WORTH_HEAD);
	if (weft__story_keeps_own_end(story, task, chain->at))
		weft__story_words_add(
			weft__story_clause(s, WORTH_OTHER), "; its own process keeps the writing end open");
	if (weft__story_is_own_pipe(story->model, task, chain->at)) {
		struct weft__words *w = weft__story_clause(s, WORTH_OTHER);
		weft__story_words_add(w, "; ");
		weft__story_words_add_own(w, story->model, task, chain->at);
	}
	if (weft_story_timer(story->model, task, &timer))
		add_due(s, story->model, &timer);
}

/* "Nobody resolved promise 3 'answer'; task 1 'main' cancelled it at 50 ms" */
static void write_stopped(
	struct weft__sentence *s, const struct weft_story *story, const struct weft_chain *chain)
{
	const struct weft_model *model = story->model;
	uint32_t task = chain->end.task, by = model->edges.from[chain->end.edge];
	bool is_timed_out = model->tasks.outcome[task] == WEFT_OUTCOME_TIMED_OUT;
	add_nobody(s, model, task, "resolved");
	struct weft__words *w = weft__story_clause(s, WORTH_OTHER);
	weft__story_words_add(w, "; ");
	if (is_timed_out || by == WEFT_NONE || by == task) {
		weft__story_words_add(w, is_timed_out ? "it timed out" : "it was cancelled");
	} else {
		weft__story_words_add_subject(w, model, by, OTHER_LETTERS);
		weft__story_words_add(w, " cancelled it");
	}
	add_time(s, story, " at ", chain->end.until);
}

/* Appends ", in 'getaddrinfo example.org'" and ", without a processor for 247 ms of it". */
static void add_hindrance(
	struct weft__sentence *s, const struct weft_model *model, const struct weft_chain *chain)
{
	uint32_t task = chain->end.task, name;
	uint64_t ns, since = chain->end.since, until = chain->end.until;
	uint32_t runs = weft__story_activations_until(model, task, chain->at);
	if (!runs)
		return;
	uint32_t thread = model->activations.thread[model->tasks.first_activation[task] + runs - 1];
	if (weft__story_blocked_span(model, thread, since, until, &name, &ns) &&
		ns >= (until - since) / 2) {
		struct weft__words *w = weft__story_clause(s, WORTH_OTHER);
		weft__story_words_add(w, ", in '");
		weft__story_words_add_text(w, weft_model_string(model, name), OTHER_LETTERS);
		weft__story_words_add(w, "'");
		return;
	}
	uint64_t off = weft_model_off_cpu_between(model, task, thread, since, until);
	if (off < (until - since) / 2 || !off)
		return;
	struct weft__words *w = weft__story_clause(s, WORTH_OTHER);
	weft__story_words_add(w, ", without a processor for ");
	weft__story_words_add_length(w, off);
	weft__story_words_add(w, " of it");
}

/* Adapters see of a program that nobody changed only the calls that have hooks. */
static bool is_of_adapters(const struct weft_model *model, uint32_t task)
{
	return weft__story_is_of_category(model, task, "thread") ||
		   weft__story_is_of_category(model, task, "io");
}

/* True if the task's program was found to have ended, some time after its last event. */
static bool has_vague_end(const struct weft_model *model, uint32_t task)
{
	const struct weft_trace_buffer *buffer =
		weft_trace_buffer_at(model->buffers, model->buffer_count, model->tasks.buffer[task]);
	return buffer->ending == WEFT_ENDING_GONE && !(buffer->wait_status & WEFT_WAIT_KNOWN);
}

/* Appends "; suspended by SIGSTOP at 3 ms" if the task's process is. */
static void add_suspended(
	struct weft__sentence *s, const struct weft_story *story, uint32_t task, uint64_t at_ns)
{
	struct weft__suspension *by_buffer;
	if (weft__story_find_suspended(story->model, at_ns, &by_buffer) == 0)
		weft__story_add_suspended(s, story->model, by_buffer, task, WORTH_OTHER);
	free(by_buffer);
}

static void add_doubt(struct weft__sentence *s, const struct weft_model *model, uint32_t task)
{
	if (is_of_adapters(model, task))
		weft__story_words_add(
			weft__story_clause(s, WORTH_OTHER), ", or is in a call that is not recorded");
}

/* A run that reaches the end of what is known is still going on. */
static void write_running(
	struct weft__sentence *s, const struct weft_story *story, const struct weft_chain *chain)
{
	const struct weft_model *model = story->model;
	const uint32_t task = chain->end.task;
	const bool goes_on =
		chain->end.until >= model->summary.end && !(model->tasks.flags[task] & WEFT_TASK_RESOLVED);
	if (goes_on && has_vague_end(model, task)) {
		add_subject(s, story, task, " runs");
		add_time(s, story, " since ", chain->end.since);
		add_doubt(s, model, task);
		weft__story_words_add(weft__story_clause(s, WORTH_HEAD), ", until its program ends");
		add_time(s, story, ", at the latest at ", chain->end.until);
		add_suspended(s, story, task, chain->at);
		return;
	}
	if (goes_on) {
		add_subject(s, story, task, " has run for ");
		struct weft__words *w = weft__story_clause(s, WORTH_HEAD);
		weft__story_words_add_length(w, chain->end.until - chain->end.since);
		weft__story_words_add(w, " without a pause");
		add_doubt(s, model, task);
		add_time(s, story, ", since ", chain->end.since);
		add_suspended(s, story, task, chain->at);
	} else {
		add_subject(s, story, task, " runs");
		add_time(s, story, " since ", chain->end.since);
		add_time(s, story, ", until ", chain->end.until);
	}
	add_hindrance(s, model, chain);
}

/* The idle band by which the program says why a task pauses at a time, on the thread on which it
 * ran last; or NULL. */
static const struct weft_band_period *find_pause(
	const struct weft_model *model, uint32_t task, uint64_t at)
{
	uint32_t runs = weft__story_activations_until(model, task, at);
	if (!runs)
		return NULL;
	uint32_t activation = model->tasks.first_activation[task] + runs - 1;
	for (uint32_t i = 0; i < model->band_count && model->bands[i].start <= at; i++) {
		const struct weft_band_period *band = &model->bands[i];
		if (band->kind == WEFT_BAND_IDLE && band->reason != WEFT_NONE &&
			band->thread == model->activations.thread[activation] &&
			band->start == model->activations.end[activation] && band->end >= at)
			return band;
	}
	return NULL;
}

/* "task 1 'main' is suspended: 'suspend to disk', since 3 ms, until 303 ms" */
static bool write_pause(
	struct weft__sentence *s, const struct weft_story *story, const struct weft_chain *chain)
{
	const struct weft_band_period *band = find_pause(story->model, chain->end.task, chain->at);
	if (!band)
		return false;
	add_subject(s, story, chain->end.task, " is suspended: '");
	struct weft__words *w = weft__story_clause(s, WORTH_HEAD);
	weft__story_words_add_text(w, weft_model_string(story->model, band->reason), SUBJECT_LETTERS);
	weft__story_words_add(w, "'");
	add_time(s, story, ", since ", band->start);
	add_time(s, story, ", until ", band->end);
	return true;
}

/* "thread 1 'main' waits in epoll for listener 2 'accept *:80', pipe 3 and 7 others" */
static bool write_epoll(
	struct weft__sentence *s, const struct weft_story *story, const struct weft_chain *chain)
{
	const struct weft_model *model = story->model;
	struct weft__epoll epoll;
	weft__story_epoll_at(model, chain->end.task, chain->at, &epoll);
	if (!epoll.count)
		return false;
	add_subject(s, story, chain->end.task, " waits in epoll for");
	uint32_t listed = epoll.count < WEFT__EPOLL_LISTED ? epoll.count : WEFT__EPOLL_LISTED;
	for (uint32_t i = 0; i < listed; i++) {
		bool is_last = i > 0 && i + 1 == epoll.count;
		struct weft__words *w = weft__story_clause(s, WORTH_OTHER);
		weft__story_words_add(w, is_last ? " and " : i ? ", " : " ");
		weft__story_words_add_subject(w, model, epoll.list[i], OTHER_LETTERS);
	}
	if (epoll.count > listed) {
		struct weft__words *w = weft__story_clause(s, WORTH_OTHER);
		weft__story_words_add(w, " and ");
		weft__story_words_add_count(w, epoll.count - listed, "other");
	}
	add_time(s, story, ", since ", chain->end.since);
	return true;
}

/* "tcp 4 'tcp :80 ← 10.0.0.7:9' is not armed again (EPOLLONESHOT)" */
static bool write_unreported(
	struct weft__sentence *s, const struct weft_story *story, const struct weft_chain *chain)
{
	struct weft__words words;
	char text[64];
	weft__story_words_init(&words, text, sizeof(text));
	const bool is =
		weft__story_words_add_unreported(&words, story->model, chain->end.task, chain->at);
	if (is)
		add_subject(s, story, chain->end.task, text);
	return is;
}

static void write_idle(
	struct weft__sentence *s, const struct weft_story *story, const struct weft_chain *chain)
{
	if (write_holder(s, story, chain))
		return;
	if (weft__model_is_resource(story->model->tasks.kind[chain->end.task])) {
		add_subject(s, story, chain->end.task, " is held by nobody that the trace shows");
		return;
	}
	if (write_pause(s, story, chain) || write_unreported(s, story, chain) ||
		write_epoll(s, story, chain))
		return;
	struct weft_story_timer timer;
	const bool is_timer = weft_story_timer(story->model, chain->end.task, &timer);
	add_subject(s, story, chain->end.task,
		is_timer ? " waits for its time" : " waits for nothing that the trace shows");
	add_time(s, story, ", since ", chain->end.since);
	if (chain->end.until != UINT64_MAX)
		add_time(s, story, " until ", chain->end.until);
	if (is_timer)
		add_due(s, story->model, &timer);
	add_early_signal(s, story, chain);
}

static void write_circle(
	struct weft__sentence *s, const struct weft_story *story, const struct weft_chain *chain)
{
	uint32_t hops = chain->count - chain->end.first;
	struct weft__words *w = weft__story_clause(s, WORTH_HEAD);
	if (hops == 1) {
		add_subject(s, story, chain->end.task, " waits for itself");
		return;
	}
	weft__story_words_add(w, "A circle: ");
	weft__story_words_add_subject(w, story->model, chain->end.task, SUBJECT_LETTERS);
	weft__story_words_add(weft__story_clause(s, WORTH_OTHER), " again");
	if (chain->end.first >= chain->kept)
		return;
	weft__story_words_add(weft__story_clause(s, WORTH_OTHER), ", after ");
	weft__story_words_add_count(weft__story_clause(s, WORTH_OTHER), hops, "hop");
}

static void write_sender(struct weft__sentence *s, const struct weft_story *story, uint32_t edge)
{
	const struct weft_model *model = story->model;
	const uint32_t from = model->edges.from[edge];
	struct weft__words *w = weft__story_clause(s, WORTH_OTHER);
	weft__story_words_add(w, " what ");
	weft__story_words_add_subject(w, model, from, OTHER_LETTERS);
	weft__story_words_add(w, " has sent already");
	weft__story_words_add_host(
		weft__story_clause(s, WORTH_OTHER), model, model->edges.to[edge], from);
}

/* True if the chain ends at a condition whose waiter needs a signal to go on. */
static bool is_at_condition(const struct weft_model *model, const struct weft_chain *chain)
{
	bool is_silent = chain->end.type == WEFT_CHAIN_UNRESOLVED || chain->end.type == WEFT_CHAIN_IDLE;
	return is_silent && chain->end.until == UINT64_MAX &&
		   weft__story_is_condition(model, chain->end.task);
}

/* Only for ends that say what did not happen. */
static void add_dark_of_end(
	struct weft__sentence *s, const struct weft_story *story, const struct weft_chain *chain)
{
	const bool is_absence = chain->end.type == WEFT_CHAIN_IDLE ||
							chain->end.type == WEFT_CHAIN_UNRESOLVED ||
							chain->end.type == WEFT_CHAIN_OVER;
	const uint64_t since = chain->end.since < chain->at ? chain->end.since : chain->at;
	if (is_absence)
		add_dark(s, story, chain->end.task, since, chain->end.until);
}

WEFT__EXPORT size_t weft_chain_end_sentence(
	const struct weft_story *story, const struct weft_chain *chain, char *buffer, size_t size)
{
	struct weft__sentence s;
	uint32_t task = chain->end.task;
	weft__story_sentence_init(&s);
	if (is_at_condition(story->model, chain)) {
		write_condition(&s, story, chain);
		add_dark_of_end(&s, story, chain);
		return weft__story_sentence_write(&s, buffer, size);
	}
	switch (chain->end.type) {
	case WEFT_CHAIN_RUNS:
		write_running(&s, story, chain);
		break;
	case WEFT_CHAIN_IDLE:
		write_idle(&s, story, chain);
		break;
	case WEFT_CHAIN_UNRESOLVED:
		write_unresolved(&s, story, chain);
		break;
	case WEFT_CHAIN_OUTSIDE:
		if (write_holder(&s, story, chain))
			break;
		add_subject(&s, story, task, " is woken or resolved from outside of the trace");
		add_time(&s, story, ", at ", chain->end.until);
		break;
	case WEFT_CHAIN_SENT:
		add_subject(&s, story, task, " gets");
		add_time(&s, story, " at ", chain->end.until);
		write_sender(&s, story, chain->end.edge);
		break;
	case WEFT_CHAIN_STOPPED:
		write_stopped(&s, story, chain);
		break;
	case WEFT_CHAIN_LATER:
		add_subject(&s, story, task, " begins only");
		add_time(&s, story, " at ", chain->end.since);
		break;
	case WEFT_CHAIN_OVER:
		add_subject(&s, story, task, " ended");
		add_time(&s, story, " at ", chain->end.since);
		if (chain->count && chain->hops[chain->kept - 1].step == WEFT_CHAIN_HELD)
			weft__story_words_add(weft__story_clause(&s, WORTH_OTHER), " without releasing it");
		break;
	case WEFT_CHAIN_CIRCLE:
		write_circle(&s, story, chain);
		break;
	}
	add_dark_of_end(&s, story, chain);
	return weft__story_sentence_write(&s, buffer, size);
}

/* ---- Groups ---- */

/* Appends " for lock 7 'db', held by task 5 'worker' since 30 ms". */
static void add_end(struct weft__sentence *s, const struct weft_story *story, uint64_t at_ns,
	const struct weft_waiters *waiters)
{
	struct weft_chain_hop hop;
	struct weft__words *w = weft__story_clause(s, WORTH_HEAD);
	weft__story_words_add(w, " for ");
	if (waiters->ends > 1)
		weft__story_words_add(w, "%u tasks like ", (unsigned)waiters->ends);
	weft__story_words_add_subject(w, story->model, waiters->end, SUBJECT_LETTERS);
	struct weft__elsewhere it;
	if (weft__story_held_elsewhere(story, waiters->end, at_ns, &it)) {
		if (it.is_copy) {
			weft__story_add_holder_at_fork(s, story->model, &it, WORTH_OTHER);
			return;
		}
		weft__story_words_add(weft__story_clause(s, WORTH_OTHER), ", held by ");
		add_holder(s, story, &it);
		return;
	}
	if (!weft__story_hop_at(story, NULL, waiters->end, at_ns, &hop) || hop.step != WEFT_CHAIN_HELD)
		return;
	const struct weft_story_hold hold = {hop.wait.source, hop.wait.since};
	w = weft__story_clause(s, WORTH_OTHER);
	weft__story_words_add(w, ", held by ");
	weft__story_words_add_holders(w, story->model, &hold, hop.wait.others + 1, OTHER_LETTERS);
}

/* The number of tasks in a circle that wait themselves: neither held nor to be resolved. */
static uint32_t count_circle(const struct weft_story *story, uint64_t at_ns, uint32_t first)
{
	const struct weft_model *model = story->model;
	uint32_t task = first, count = 0;
	struct weft_chain_hop hop;
	for (uint32_t steps = 0; steps < model->tasks.count; steps++) {
		if (!weft__story_hop_at(story, NULL, task, at_ns, &hop))
			break;
		count += weft__story_is_wait(hop.step);
		task = weft__story_become_at(model, hop.wait.source, at_ns);
		if (task == first)
			break;
	}
	return count;
}

/* Appends "3 tasks wait in a circle with semaphore 1 'account', and 1 behind it". */
static void add_circle(struct weft__sentence *s, const struct weft_story *story, uint64_t at_ns,
	const struct weft_waiters *waiters)
{
	uint32_t count = count_circle(story, at_ns, waiters->end);
	uint32_t more = waiters->count > count ? waiters->count - count : 0;
	struct weft__words *w = weft__story_clause(s, WORTH_HEAD);
	weft__story_words_add_count(w, count, "task");
	weft__story_words_add(w, count == 1 ? " waits for itself" : " wait in a circle");
	w = weft__story_clause(s, WORTH_HEAD);
	weft__story_words_add(w, " with ");
	weft__story_words_add_subject(w, story->model, waiters->end, SUBJECT_LETTERS);
	if (more)
		weft__story_words_add(
			weft__story_clause(s, WORTH_OTHER), ", and %u behind it", (unsigned)more);
}

WEFT__EXPORT size_t weft_waiters_sentence(const struct weft_story *story,
	const struct weft_waiting *waiting, const struct weft_waiters *waiters, char *buffer,
	size_t size)
{
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, WORTH_HEAD);
	if (waiters->is_circle) {
		add_circle(&s, story, waiting->at, waiters);
	} else {
		weft__story_words_add_count(w, waiters->count, "task");
		weft__story_words_add(w, waiters->count == 1 ? " waits" : " wait");
		add_end(&s, story, waiting->at, waiters);
		add_suspended(&s, story, waiters->end, waiting->at);
	}
	w = weft__story_clause(&s, WORTH_TIME);
	weft__story_words_add(w, "; first ");
	weft__story_words_add_subject(w, story->model, waiters->first, OTHER_LETTERS);
	weft__story_words_add(w, ", since ");
	add_time_read(w, story, waiters->since);
	return weft__story_sentence_write(&s, buffer, size);
}

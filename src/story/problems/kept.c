/* SPDX-License-Identifier: ISC
 *
 * See kept.h. Each long wait for the lock is divided among the holds in its time, and each hold's
 * part into what its task waited for and when it had no processor. The reason is what took more
 * than half of the wait.
 *
 * Threads that take turns to wait for the next request hold a lock in that time, as do processes
 * that accept connections in turns. Nobody is kept from anything then, so reads are no reason but
 * on a connection that was accepted, where one client would keep all others.
 */
#include "story/problems/kept.h"

#include <inttypes.h>
#include <string.h>

#include "base/search.h"
#include "story/blocking.h"
#include "story/problems/runner.h"

#define LEAST_NS   (100 * WEFT__MS) /* shorter waits do no harm */
#define OFF_NS     (250 * WEFT__MS) /* the operating system preempts for no longer */
#define FAR_MORE   8                /* times as much: threads of one rank get about the same */
#define SHARE      50               /* 1 / share of a trace: a wait that long is reported */
#define LOOKED_MAX 64               /* pauses of one hold that are examined */

/* The time of a wait, by reasons. */
struct reason {
	uint64_t slow_ns, off_ns; /* how much of it */
	uint64_t ran_ns;          /* for how long the holders ran; or were ready to */
	uint32_t holder, source;  /* of the longest part; */
	uint64_t since, length;   /* when that began */
	uint32_t unready;         /* the holder that had no processor for the longest part */
	uint64_t unready_ns;
};

struct kept {
	struct weft__findings *findings;
	const struct weft_model *model;
	const struct weft__resource_holds *holds;
	uint64_t least_ns;
};

static bool begins_with(const struct weft_model *model, uint32_t task, const char *word)
{
	const size_t size = strlen(word);
	if (model->tasks.label[task] == WEFT_NONE)
		return false;
	const struct weft_slice label = weft_model_string(model, model->tasks.label[task]);
	return label.size >= size && memcmp(label.bytes, word, size) == 0;
}

/* True for what others should not be kept from a lock by. */
static bool is_slow(const struct weft_story *story, uint32_t source, uint64_t at)
{
	static const char *const streams[] = {"tcp", "unix", "pipe"};
	static const char *const calls[] = {"connect", "getaddrinfo", "gethostbyname", "exit of"};
	const struct weft_model *model = story->model;
	bool is_stream = false, is_call = false;
	if (model->tasks.kind[source] == WEFT_KIND_TIMER)
		return weft__story_is_of_category(model, source, "thread");
	for (size_t i = 0; i < sizeof(streams) / sizeof(*streams); i++)
		is_stream = is_stream || weft__story_is_kind(model, source, streams[i]);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls) && !is_stream; i++)
		is_call = is_call || begins_with(model, source, calls[i]);
	return is_stream ? weft__story_waits_to_write(model, source, at) ||
						   weft__story_was_accepted(model, source)
					 : is_call && weft__story_is_kind(model, source, "call");
}

static uint64_t later(uint64_t one, uint64_t other)
{
	return one > other ? one : other;
}

static uint64_t earlier(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

static void add_pause(
	const struct kept *k, uint32_t task, uint64_t since, uint64_t until, struct reason *reason)
{
	struct weft_story_wait wait;
	if (since >= until ||
		!weft_story_wait_at(k->findings->story, task, since + (until - since) / 2, &wait) ||
		wait.source == WEFT_NONE || !is_slow(k->findings->story, wait.source, since))
		return;
	reason->slow_ns += until - since;
	if (until - since <= reason->length)
		return;
	reason->holder = task;
	reason->source = wait.source;
	reason->since = since;
	reason->length = until - since;
}

/* Adds what the task of a hold did in a time. */
static void add_part(
	const struct kept *k, uint32_t task, uint64_t from, uint64_t to, struct reason *reason)
{
	const struct weft_activations *a = &k->model->activations;
	const uint32_t first = k->model->tasks.first_activation[task];
	const uint32_t end = k->model->tasks.end_activation[task];
	uint32_t next = first + weft__story_activations_until(k->model, task, from);
	if (next == first)
		return;
	const uint64_t off_ns = weft__story_preempted_ns(k->model, a->thread[next - 1], from, to);
	reason->off_ns += off_ns;
	if (off_ns > reason->unready_ns) {
		reason->unready = task;
		reason->unready_ns = off_ns;
	}
	for (uint32_t looked = 0; looked < LOOKED_MAX; next++, looked++) {
		const bool goes_on = next < end && a->start[next] < to;
		const uint64_t since = later(a->start[next - 1], from),
					   until = earlier(a->end[next - 1], to);
		reason->ran_ns += until > since ? until - since : 0;
		add_pause(k, task, later(a->end[next - 1], from), goes_on ? a->start[next] : to, reason);
		if (!goes_on)
			break;
	}
}

static bool has_begun(const void *holds, uint32_t row, uint64_t time)
{
	return ((const struct weft__timed_hold *)holds)[row].start <= time;
}

static void find_reason(
	const struct kept *k, const struct weft__timed_wait *wait, struct reason *ret)
{
	const struct weft__resource_holds *h = k->holds;
	uint32_t i = weft__search(h->list, 0, h->count, has_begun, wait->start);
	*ret = (struct reason){.holder = WEFT_NONE, .source = WEFT_NONE, .unready = WEFT_NONE};
	for (i -= i > 0; i < h->count && h->list[i].start < wait->end; i++) {
		const struct weft__timed_hold *hold = &h->list[i];
		const uint64_t from = later(hold->start, wait->start), to = earlier(hold->end, wait->end);
		if (from < to && hold->task != wait->task &&
			k->model->tasks.kind[hold->task] == WEFT_KIND_THREAD)
			add_part(k, hold->task, from, to, ret);
	}
}

static uint64_t length_of(const struct weft__timed_wait *wait)
{
	return wait->end - wait->start;
}

/* True if the holder had no processor, and a thread of the same program had far more of one: the
 * system shares it fairly among those of equal rank, and others on the machine are no fault. */
static bool is_inversion(
	const struct kept *k, const struct weft__timed_wait *wait, const struct reason *reason)
{
	const uint64_t ran_ns = reason->ran_ns > reason->off_ns ? reason->ran_ns - reason->off_ns : 0;
	uint64_t other_ns;
	return reason->off_ns >= OFF_NS && reason->off_ns > length_of(wait) / 2 &&
		   weft__story_find_runner(k->findings, reason->unready, wait->start, wait->end, true,
			   &other_ns) != WEFT_NONE &&
		   other_ns / FAR_MORE > ran_ns && other_ns > length_of(wait) / FAR_MORE;
}

static uint32_t count_waiters(const struct kept *k, const struct weft__timed_wait *wait)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < k->holds->waits; i++) {
		const struct weft__timed_wait *other = &k->holds->wait_list[i];
		count += earlier(other->end, wait->end) > later(other->start, wait->start) &&
				 length_of(other) >= k->least_ns;
	}
	return count;
}

/* ": tcp … is not read by client", ": it is in sleep 1 s" */
static void write_slow(struct weft__sentence *s, const struct kept *k, const struct reason *reason)
{
	const struct weft_model *model = k->model;
	const bool writes = weft__story_waits_to_write(model, reason->source, reason->since);
	struct weft__other_end other;
	struct weft__words *w = weft__story_clause(s, 9);
	weft__story_words_add(w, writes ? ": " : ": it waits for ");
	weft__story_words_add_task(w, model, reason->source, 30);
	if (writes)
		weft__story_words_add(w, " is not read");
	if (!weft__story_other_end(k->findings->story, reason->source, reason->since, &other))
		return;
	w = weft__story_clause(s, 7);
	weft__story_words_add(w, writes ? " by " : " of ");
	weft__story_words_add_task(w, model, other.user, 16);
}

/* ": it has no processor for 1.98 s, while mid runs for 1.95 s" */
static void write_unready(struct weft__sentence *s, const struct kept *k,
	const struct weft__timed_wait *wait, const struct reason *reason)
{
	uint64_t ran_ns;
	const uint32_t runner = weft__story_find_runner(
		k->findings, reason->unready, wait->start, wait->end, true, &ran_ns);
	struct weft__words *w = weft__story_clause(s, 9);
	weft__story_words_add(w, ": it has no processor for ");
	weft__story_words_add_length(w, reason->off_ns);
	w = weft__story_clause(s, 8);
	weft__story_words_add(w, ", while ");
	weft__story_words_add_task(w, k->model, runner, 16);
	weft__story_words_add(w, " runs for ");
	weft__story_words_add_length(w, ran_ns);
}

static void report(const struct kept *k, const struct weft__timed_wait *wait, uint32_t lock,
	const struct reason *reason)
{
	const bool is_slow = reason->slow_ns > length_of(wait) / 2;
	const uint32_t holder = is_slow ? reason->holder : reason->unready;
	const uint32_t waiters = count_waiters(k, wait);
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_CONTENTION,
		WEFT_SEVERITY_WARNING, waiters, (struct weft__case){holder, wait->start, wait->end});
	struct weft__words note = weft__story_problem_note(&problem.effect, wait->start, wait->task);
	weft__story_words_add(&note, "begins to wait for the lock");
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, WEFT__WORTH_MOST);
	weft__story_words_add_subject(w, k->model, holder, 16);
	weft__story_words_add(w, " keeps ");
	weft__story_words_add_task(w, k->model, lock, 20);
	weft__story_words_add(w, " from ");
	weft__story_words_add_other(w, k->model, wait->task, holder, 16);
	w = weft__story_clause(&s, 8);
	weft__story_words_add(w, " for ");
	weft__story_words_add_length(w, length_of(wait));
	if (is_slow)
		write_slow(&s, k, reason);
	else
		write_unready(&s, k, wait, reason);
	if (waiters > 1)
		weft__story_words_add(weft__story_clause(&s, 4), "; %" PRIu32 " more %s", waiters - 1,
			waiters > 2 ? "wait" : "waits");
	weft__story_find(k->findings, &problem, length_of(wait), &s);
}

bool weft__story_look_for_kept(
	struct weft__findings *findings, const struct weft__resource_holds *holds, uint32_t lock)
{
	const struct kept k = {findings, findings->story->model, holds,
		later(LEAST_NS, weft__story_least_ns(findings, SHARE, UINT64_MAX))};
	const struct weft__timed_wait *longest = NULL;
	struct reason reason, found;
	if (holds->is_shared || k.model->tasks.kind[lock] != WEFT_KIND_LOCK)
		return false;
	for (uint32_t i = 0; i < holds->waits; i++) {
		const struct weft__timed_wait *wait = &holds->wait_list[i];
		if (length_of(wait) < k.least_ns || (longest && length_of(wait) <= length_of(longest)))
			continue;
		find_reason(&k, wait, &reason);
		if (reason.slow_ns <= length_of(wait) / 2 && !is_inversion(&k, wait, &reason))
			continue;
		longest = wait;
		found = reason;
	}
	if (longest)
		report(&k, longest, lock, &found);
	return longest;
}

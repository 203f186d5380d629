/* SPDX-License-Identifier: ISC
 *
 * A pool of threads serves requests in order, whatever they cost: a file is read in a moment, a key
 * takes seconds. So the short ones wait for as long as the long ones take, although nothing else
 * keeps them. Alike tasks that wait for each other are no fault: there is much to do.
 */
#include "story/problems/displaced.h"

#include <inttypes.h>

#include "story/blocking.h"

#define LEAST_NS    (250 * WEFT__MS) /* of a wait */
#define LEAST_SHARE 20               /* and 1 / share of a trace */
#define FAR_LONGER  8                /* the wait, and each hold, to the hold that follows */
#define LOOKED_MAX  64               /* waits that are examined */

struct displaced_wait {
	const struct weft__timed_wait *wait;
	const struct weft__timed_hold *by; /* the longest hold in its middle */
	uint32_t holders;
};

struct displaced {
	const struct weft__resource_holds *holds;
	const struct weft_model *model;
	struct displaced_wait longest;
	uint32_t waits;
};

static uint64_t length_of(const struct weft__timed_hold *hold)
{
	return hold->end - hold->start;
}

/* The hold that ended the wait, or NULL. */
static const struct weft__timed_hold *hold_after(
	const struct displaced *d, const struct weft__timed_wait *wait)
{
	const struct weft__resource_holds *h = d->holds;
	uint32_t i = wait->end ? weft__story_holds_until(h, wait->end - 1) : 0;
	for (; i < h->count && h->list[i].start <= wait->end; i++)
		if (h->list[i].task == wait->task && !h->list[i].is_left)
			return &h->list[i];
	return NULL;
}

/* True if all that hold the resource in the middle of the wait have another name, and hold it for
 * far longer than the one that waits. */
static bool is_displaced(const struct displaced *d, const struct weft__timed_wait *wait,
	struct displaced_wait *ret_displaced)
{
	const uint32_t *label = d->model->tasks.label;
	const struct weft__timed_hold *after = hold_after(d, wait);
	const uint64_t middle = wait->start + (wait->end - wait->start) / 2;
	struct displaced_wait found = {.wait = wait};
	if (!after || length_of(after) > (wait->end - wait->start) / FAR_LONGER)
		return false;
	for (uint32_t i = 0; i < d->holds->count && d->holds->list[i].start <= middle; i++) {
		const struct weft__timed_hold *hold = &d->holds->list[i];
		if (hold->end <= middle)
			continue;
		if (label[hold->task] == label[wait->task] ||
			length_of(hold) / FAR_LONGER < length_of(after))
			return false;
		if (!found.by || length_of(hold) > length_of(found.by))
			found.by = hold;
		found.holders++;
	}
	*ret_displaced = found;
	return found.by;
}

static void report(struct weft__findings *findings, const struct displaced *d, uint32_t resource)
{
	const struct weft_model *model = d->model;
	const uint64_t length = d->longest.wait->end - d->longest.wait->start;
	const uint64_t off_ns = weft__story_most_preempted_ns(model,
		model->tasks.buffer[d->longest.wait->task], d->longest.wait->start, d->longest.wait->end);
	const bool is_of_machine = length < off_ns + LEAST_NS;
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_CONTENTION,
		is_of_machine ? WEFT_SEVERITY_HINT : WEFT_SEVERITY_WARNING, d->waits,
		(struct weft__case){d->longest.by->task, d->longest.wait->start, d->longest.wait->end});
	struct weft__words note =
		weft__story_problem_note(&problem.effect, d->longest.wait->start, d->longest.wait->task);
	weft__story_words_add(&note, "begins to wait");
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, WEFT__WORTH_MOST);
	weft__story_words_add_subject(w, model, d->longest.by->task, 28);
	if (d->longest.holders > 1)
		weft__story_words_add(w, " and %" PRIu32 " more", d->longest.holders - 1);
	weft__story_words_add(w, " keep%s ", d->longest.holders > 1 ? "" : "s");
	weft__story_words_add_task(w, model, resource, 20);
	weft__story_words_add(w, " from ");
	weft__story_words_add_other(w, model, d->longest.wait->task, d->longest.by->task, 24);
	w = weft__story_clause(&s, 7);
	weft__story_words_add(w, " for ");
	weft__story_words_add_length(w, length);
	if (d->waits > 1)
		weft__story_words_add(weft__story_clause(&s, 6), "; %" PRIu32 " more such wait%s",
			d->waits - 1, d->waits > 2 ? "s" : "");
	weft__story_find(findings, &problem, length, &s);
}

bool weft__story_look_for_displaced(
	struct weft__findings *findings, const struct weft__resource_holds *holds, uint32_t resource)
{
	struct displaced d = {.holds = holds, .model = findings->story->model};
	const uint64_t share = weft__story_least_ns(findings, LEAST_SHARE, UINT64_MAX);
	const uint64_t least = share > LEAST_NS ? share : LEAST_NS;
	uint32_t looked = 0;
	for (uint32_t i = 0; i < holds->waits && looked < LOOKED_MAX; i++) {
		const struct weft__timed_wait *wait = &holds->wait_list[i];
		const uint64_t length = wait->end - wait->start;
		if (length < least)
			continue;
		looked++;
		struct displaced_wait found;
		if (!is_displaced(&d, wait, &found))
			continue;
		d.waits++;
		if (!d.longest.wait || length > d.longest.wait->end - d.longest.wait->start)
			d.longest = found;
	}
	if (d.waits)
		report(findings, &d, resource);
	return d.waits;
}

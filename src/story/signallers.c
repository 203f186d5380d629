/* SPDX-License-Identifier: ISC
 *
 * See signallers.h. A signal goes to an eventfd and a semaphore themselves, but for a condition to
 * the thread that waits for it. A barrier is signalled by nobody: the threads that came to it
 * before are those for which it waits.
 */
#include "story/signallers.h"

#include "story/hop.h"
#include "story/index.h"

#define EDGES_MAX 256 /* of the source that are examined */
#define HOPS_MAX  8

static bool is_signalled(const struct weft_model *model, uint32_t source)
{
	return model->tasks.kind[source] == WEFT_KIND_CONDITION ||
		   weft__story_is_kind(model, source, "eventfd");
}

/* The task for which another one waits at a time; WEFT_NONE: none, or any of several. */
static uint32_t awaited_by(const struct weft_story *story, uint32_t task, uint64_t at_ns)
{
	struct weft_story_wait wait;
	return weft__story_wait_at(story, NULL, task, at_ns, &wait) && !wait.any ? wait.source
																			 : WEFT_NONE;
}

/* The task that ended the wait which a read ends; WEFT_NONE: it is not known. */
static uint32_t waker_of(const struct weft_story *story, uint32_t read)
{
	const struct weft_edges *e = &story->model->edges;
	struct weft_story_wait wait;
	struct weft_chain_hop hop;
	const uint64_t time = e->time[read];
	if (e->from[read] == WEFT_NONE || time == 0 ||
		!weft__story_wait_at(story, NULL, e->from[read], time - 1, &wait) ||
		wait.source != e->to[read] || !weft__story_hop_to_signaller(story, &wait, &hop))
		return WEFT_NONE;
	return hop.wait.source;
}

/* The task that an edge shows to be one for which others wait; WEFT_NONE: it shows none. */
static uint32_t shown_by(
	const struct weft_story *story, uint32_t edge, bool is_barrier, uint64_t at_ns)
{
	const struct weft_edges *e = &story->model->edges;
	if (e->type[edge] == WEFT_EDGE_SIGNAL)
		return e->from[edge];
	if (e->type[edge] != WEFT_EDGE_READ)
		return WEFT_NONE;
	if (!is_barrier)
		return waker_of(story, edge);
	return awaited_by(story, e->from[edge], at_ns) == e->to[edge] ? WEFT_NONE : e->from[edge];
}

uint32_t weft__story_only_signaller(const struct weft_story *story, uint32_t source, uint64_t at_ns)
{
	const bool is_barrier = weft__story_is_barrier(story->model, source);
	struct weft__edge_list to = weft__story_edges_to(story, source);
	const uint32_t count = weft__story_edges_until(story->model, to, at_ns);
	uint32_t found = WEFT_NONE;
	if ((!is_barrier && !is_signalled(story->model, source)) || count > EDGES_MAX)
		return WEFT_NONE;
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t task = shown_by(story, to.edges[i], is_barrier, at_ns);
		if (task != WEFT_NONE && found != WEFT_NONE && task != found)
			return WEFT_NONE;
		found = task == WEFT_NONE ? found : task;
	}
	return found;
}

bool weft__story_signaller_waits_for(
	const struct weft_story *story, uint32_t signaller, uint32_t waiter, uint64_t at_ns)
{
	uint32_t task = signaller;
	for (unsigned hops = 0; hops < HOPS_MAX && task != WEFT_NONE; hops++) {
		struct weft_chain_hop hop;
		if (task == waiter)
			return true;
		if (weft__story_hop_at(story, NULL, task, at_ns, &hop))
			task = hop.wait.any ? WEFT_NONE : hop.wait.source;
		else
			task = weft__story_only_signaller(story, task, at_ns);
	}
	return false;
}

bool weft__story_add_signaller(struct weft__sentence *sentence, const struct weft_story *story,
	uint32_t source, uint64_t at_ns, unsigned worth)
{
	const struct weft_model *model = story->model;
	const uint32_t task = weft__story_only_signaller(story, source, at_ns);
	const uint32_t awaited = task == WEFT_NONE ? WEFT_NONE : awaited_by(story, task, at_ns);
	if (task == WEFT_NONE)
		return false;
	const bool is_over = weft__story_is_gone(model, task, at_ns);
	if (!is_over && awaited == WEFT_NONE)
		return false;
	const bool is_barrier = weft__story_is_barrier(model, source);
	struct weft__words *w = weft__story_clause(sentence, worth);
	weft__story_words_add(w, is_barrier ? "; " : "; only ");
	weft__story_words_add_task(w, model, task, 16);
	weft__story_words_add(w, is_barrier ? " came to it before" : " signalled it");
	w = weft__story_clause(sentence, worth - 1);
	if (is_over) {
		weft__story_words_add(w, ", and ended at ");
		weft__story_words_add_time(w, model, model->tasks.end[task]);
		return true;
	}
	struct weft_chain_hop held;
	weft__story_words_add(w, ", and waits for ");
	weft__story_words_add_other(w, model, awaited, source, 16);
	if (weft__story_hop_at(story, NULL, awaited, at_ns, &held) && held.step == WEFT_CHAIN_HELD) {
		w = weft__story_clause(sentence, worth - 2);
		weft__story_words_add(w, " of ");
		weft__story_words_add_task(w, model, held.wait.source, 16);
	}
	return true;
}

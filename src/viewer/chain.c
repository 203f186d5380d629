/* SPDX-License-Identifier: ISC
 *
 * Steps along a chain of waits. All steps ask about one time: that of the first task, which is
 * inside its longest wait if the user came to the task without choosing a time at which it waits.
 */
#include <weft/chain.h>

#include "viewer/state.h"

/* The time in which to look for the longest wait: that of the problem that led to the task. */
static void choose_range(const struct weft_viewer *viewer, uint64_t *ret_from, uint64_t *ret_to)
{
	const struct weft_problem *problem = weft__viewer_marked_problem(viewer);
	*ret_from = problem ? problem->start : 0;
	*ret_to = problem ? problem->end : UINT64_MAX;
}

/* Moves the selected time into the task's longest wait, unless it waits at that time, or the user
 * came to it along the chain. */
static void choose_time(struct weft_viewer *viewer)
{
	struct weft__selection *s = &viewer->selection;
	uint64_t from, to;
	if (s->is_of_chain || weft_chain_waits(&viewer->story, s->task, s->at))
		return;
	choose_range(viewer, &from, &to);
	if (!weft_chain_moment(&viewer->story, s->task, from, to, &s->at))
		(void)weft_chain_moment(&viewer->story, s->task, 0, UINT64_MAX, &s->at);
}

/* After a jump to an idle gap: selects the task that the gap waited for. */
static bool go_awaited(struct weft_viewer *viewer)
{
	const struct weft_problem *problem = weft__viewer_marked_problem(viewer);
	if (!problem || problem->type != WEFT_PROBLEM_IDLE_GAP || viewer->selection.task != WEFT_NONE)
		return false;
	uint64_t at = problem->start + (problem->end - problem->start) / 2;
	uint32_t task = weft_chain_awaited(&viewer->story, problem->start, problem->end);
	if (task == WEFT_NONE)
		return false;
	weft__viewer_go(viewer, task, at);
	viewer->selection.is_of_chain = true;
	return true;
}

static void say_end(struct weft_viewer *viewer, const struct weft_chain *chain)
{
	char sentence[WEFT_SENTENCE_BYTES];
	weft_chain_end_sentence(&viewer->story, chain, sentence, sizeof(sentence));
	weft__viewer_show_message(viewer, "%s Here the chain ends.", sentence);
}

void weft__viewer_follow_wait(struct weft_viewer *viewer)
{
	struct weft__selection *s = &viewer->selection;
	struct weft_chain *chain;
	if (go_awaited(viewer) || !weft__viewer_has_selection(viewer))
		return;
	choose_time(viewer);
	if (weft_chain_create(&viewer->story, s->task, s->at, 2, &chain))
		return;
	if (chain->count == 0) {
		say_end(viewer, chain);
	} else {
		weft__viewer_go(viewer, chain->hops[0].wait.source, s->at);
		s->is_of_chain = true;
	}
	weft_chain_destroy(chain);
}

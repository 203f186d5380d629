/* SPDX-License-Identifier: ISC
 *
 * Steps along a chain of waits, and the whole chain: its tasks stand out as related tasks do. All
 * steps ask about one time: that of the first task, which is inside its longest wait if the user
 * came to the task without choosing a time at which it waits.
 */
#include <stdlib.h>

#include <weft/chain.h>

#include "base/search.h"

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
	if (!weft_chain_time(&viewer->story, s->task, from, to, &s->at))
		(void)weft_chain_time(&viewer->story, s->task, 0, UINT64_MAX, &s->at);
}

/* The task from which steps along the chain led to the selected one, or that one itself. */
static uint32_t first_task(const struct weft__selection *s)
{
	return s->is_of_chain ? s->chain_from : s->task;
}

/* Goes to a task of the chain that begins at `from`. */
static void step(struct weft_viewer *viewer, uint32_t task, uint64_t at, uint32_t from)
{
	weft__viewer_go(viewer, task, at);
	viewer->selection.is_of_chain = true;
	viewer->selection.chain_from = from;
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
	step(viewer, task, at, task);
	return true;
}

static void show_end(struct weft_viewer *viewer, const struct weft_chain *chain)
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
		show_end(viewer, chain);
	} else {
		step(viewer, chain->hops[0].wait.source, s->at, first_task(s));
	}
	weft_chain_destroy(chain);
}

/* ---- The whole chain ---- */

static int by_number(const void *left, const void *right)
{
	const uint32_t *l = left, *r = right;
	return *l < *r ? -1 : *l > *r;
}

/* The tasks of the chain in ascending order, each once. */
static uint32_t list_tasks(const struct weft_chain *chain, uint32_t *tasks)
{
	uint32_t count = 0, kept = 0;
	for (uint32_t i = 0; i < chain->kept; i++)
		tasks[count++] = chain->hops[i].wait.task;
	tasks[count++] = chain->end.task;
	qsort(tasks, count, sizeof(*tasks), by_number);
	for (uint32_t i = 0; i < count; i++)
		if (kept == 0 || tasks[i] != tasks[kept - 1])
			tasks[kept++] = tasks[i];
	return kept;
}

/* Brings the beginnings of all waits of the chain into view, and their ends. */
static void reveal_chain(struct weft_viewer *viewer, const struct weft_chain *chain)
{
	uint64_t start = chain->at, end = 0;
	for (uint32_t i = 0; i < chain->kept; i++) {
		const struct weft_story_wait *wait = &chain->hops[i].wait;
		uint64_t until = wait->until == UINT64_MAX ? wait->since : wait->until;
		start = wait->since < start ? wait->since : start;
		end = until > end ? until : end;
	}
	weft__viewer_reveal(viewer, viewer->layout->row[viewer->selection.task], start,
		end > start ? end : start, true);
}

/* Follows the chain, and highlights its tasks. NULL if the task does not wait; then *ret_none has
 * the reason, unless memory is short. */
static const struct weft_chain *take_chain(
	struct weft_viewer *viewer, uint32_t task, uint64_t at, struct weft_chain **ret_none)
{
	struct weft__selection *s = &viewer->selection;
	struct weft_chain *chain;
	if (weft_chain_create(&viewer->story, task, at, WEFT_CHAIN_HOPS, &chain))
		return NULL;
	uint32_t *tasks = chain->count ? malloc((chain->kept + (size_t)1) * sizeof(*tasks)) : NULL;
	if (!tasks) {
		*ret_none = chain;
		return NULL;
	}
	weft__viewer_forget_related(viewer);
	s->chain = chain;
	s->related = tasks;
	s->related_count = list_tasks(chain, tasks);
	return chain;
}

void weft__viewer_show_chain(struct weft_viewer *viewer)
{
	struct weft__selection *s = &viewer->selection;
	struct weft_chain *none = NULL;
	char sentence[WEFT_SENTENCE_BYTES];
	if (s->task == WEFT_NONE)
		(void)go_awaited(viewer);
	if (!weft__viewer_has_selection(viewer))
		return;
	choose_time(viewer);
	const struct weft_chain *chain = take_chain(viewer, first_task(s), s->at, &none);
	if (!chain) {
		if (none)
			show_end(viewer, none);
		weft_chain_destroy(none);
		return;
	}
	weft__viewer_open_panel(viewer, WEFT__PANEL_CHAIN);
	reveal_chain(viewer, chain);
	weft_chain_end_sentence(&viewer->story, chain, sentence, sizeof(sentence));
	weft__viewer_show_message(viewer, "%u hop%s \xc2\xb7 %s Esc ends it.", (unsigned)chain->count,
		chain->count == 1 ? "" : "s", sentence);
}

void weft__viewer_renew_chain(struct weft_viewer *viewer, uint32_t task, uint64_t at)
{
	struct weft_chain *none = NULL;
	if (task == WEFT_NONE || !weft__viewer_know_story(viewer) ||
		!take_chain(viewer, task, at, &none))
		weft__viewer_forget_chain(viewer);
	weft_chain_destroy(none);
}

bool weft__viewer_is_in_chain(const struct weft_viewer *viewer, uint32_t task)
{
	const struct weft__selection *s = &viewer->selection;
	return s->chain && weft__contains_u32(s->related, s->related_count, task);
}

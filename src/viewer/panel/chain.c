/* SPDX-License-Identifier: ISC
 *
 * The panel of a chain of waits: each hop with its time, a link to its task, and why it ends.
 */
#include <stdio.h>

#include <weft/chain.h>

#include "viewer/state.h"

#define HOPS_SHOWN 300u

/* Adds a line that selects `task` at the chain's time. */
static void add_link(
	struct weft_viewer *viewer, const char *text, const char *detail, uint32_t task)
{
	const struct weft__selection *s = &viewer->selection;
	char name[64], time[32], command[256];
	weft__viewer_write_duration(s->chain->at - viewer->view.start, time);
	weft__viewer_write_task(viewer->model, task, name);
	weft__viewer_panel_add(viewer, WEFT_VIEWER_LINK, text, detail,
		weft__viewer_panel_format(command, "select %s %s", name, time));
	if (task != s->task)
		return;
	weft__viewer_panel_last(viewer)->is_selected = true;
	viewer->panel.shown.selected = viewer->panel.shown.item_count - 1;
}

static void add_hop(struct weft_viewer *viewer, uint32_t number)
{
	static const uint8_t roles[] = {[WEFT_CHAIN_WAITS] = WEFT_VIEWER_ROLE_TRY_READ,
		[WEFT_CHAIN_HELD] = WEFT_VIEWER_ROLE_READ,
		[WEFT_CHAIN_RESOLVED] = WEFT_VIEWER_ROLE_RESOLVE,
		[WEFT_CHAIN_SIGNALLED] = WEFT_VIEWER_ROLE_SIGNAL,
		[WEFT_CHAIN_WOKEN] = WEFT_VIEWER_ROLE_SIGNAL,
		[WEFT_CHAIN_OTHER_END] = WEFT_VIEWER_ROLE_READ,
		[WEFT_CHAIN_THREAD] = WEFT_VIEWER_ROLE_READ,
		[WEFT_CHAIN_RECEIVES] = WEFT_VIEWER_ROLE_SIGNAL,
		[WEFT_CHAIN_ELSEWHERE] = WEFT_VIEWER_ROLE_READ};
	const struct weft_chain *chain = viewer->selection.chain;
	const struct weft_chain_hop *hop = &chain->hops[number];
	uint64_t until = hop->wait.until, start = viewer->view.start;
	char sentence[WEFT_SENTENCE_BYTES], text[WEFT_SENTENCE_BYTES + 16];
	char since[32], length[32], detail[80];
	bool is_last = number + 1 == chain->kept;
	weft_chain_hop_sentence(&viewer->story, hop, sentence, sizeof(sentence));
	snprintf(
		text, sizeof(text), "%u. %s", (unsigned)(is_last ? chain->count : number + 1), sentence);
	weft_format_duration(hop->wait.since > start ? hop->wait.since - start : 0, 5, since);
	if (until == UINT64_MAX)
		until = viewer->model->summary.end;
	weft_format_duration(until > hop->wait.since ? until - hop->wait.since : 0, 3, length);
	snprintf(detail, sizeof(detail), "%s, %s", since, length);
	add_link(viewer, text, detail, hop->wait.task);
	weft__viewer_panel_last(viewer)->role = roles[hop->step];
}

static void add_left_out(struct weft_viewer *viewer, uint32_t hops)
{
	char text[256];
	if (hops)
		weft__viewer_panel_add(viewer, WEFT_VIEWER_TEXT,
			weft__viewer_panel_format(text, "%u further hops are not listed.", (unsigned)hops), "",
			"");
}

/* Adds the problems of that time to which the chain's tasks belong, if they are known. */
static void add_problems(struct weft_viewer *viewer)
{
	const struct weft_problems *found = viewer->problems.found;
	uint64_t at = viewer->selection.chain->at;
	char command[256];
	for (uint32_t i = 0; found && i < found->count; i++) {
		const struct weft_problem *problem = &found->list[found->by_gravity[i]];
		if (problem->task == WEFT_NONE || problem->counter != WEFT_NONE || at < problem->start ||
			at > problem->end || !weft__viewer_is_in_chain(viewer, problem->task))
			continue;
		weft__viewer_panel_add(viewer, WEFT_VIEWER_LINK, problem->sentence,
			weft_problem_name(problem->type),
			weft__viewer_panel_format(command, "problem %u", (unsigned)i + 1));
		weft__viewer_panel_last(viewer)->role = WEFT_VIEWER_ROLE_FAILED;
	}
}

void weft__viewer_fill_chain(struct weft_viewer *viewer)
{
	const struct weft_chain *chain = viewer->selection.chain;
	char text[256], time[32], sentence[WEFT_SENTENCE_BYTES];
	if (!chain) {
		weft__viewer_panel_add(viewer, WEFT_VIEWER_TEXT,
			"No chain is shown: select a task that waits, and press W.", "", "");
		return;
	}
	weft_format_duration(chain->at - viewer->view.start, 5, time);
	weft__viewer_panel_add(viewer, WEFT_VIEWER_HEADING,
		weft__viewer_panel_format(text, "Waiting at %s", time), "", "");
	uint32_t first = chain->kept < HOPS_SHOWN ? chain->kept : HOPS_SHOWN;
	for (uint32_t i = 0; i + 1 < first; i++)
		add_hop(viewer, i);
	add_left_out(viewer, chain->count - first);
	add_hop(viewer, chain->kept - 1);
	weft_chain_end_sentence(&viewer->story, chain, sentence, sizeof(sentence));
	add_link(viewer, sentence, "end", chain->end.task);
	add_problems(viewer);
	weft__viewer_panel_add(viewer, WEFT_VIEWER_HEADING, "Go on", "", "");
	weft__viewer_panel_add_command(viewer, "wait", "The next hop");
	weft__viewer_panel_add_command(viewer, "panel story", NULL);
}

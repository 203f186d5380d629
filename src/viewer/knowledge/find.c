/* SPDX-License-Identifier: ISC
 *
 * Search: matches are highlighted in picture and overview, and stepped through in the order of
 * time. A long search goes on between inputs, and ends when there is a newer one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/state.h"

#define FRAME_STEPS 16 /* of weft_search_maker_step(): a frame, or less */

static void give_up(struct weft_viewer *viewer)
{
	weft_search_maker_destroy(viewer->search.maker);
	viewer->search.maker = NULL;
	viewer->search.wanted_step = 0;
}

void weft__viewer_forget_search(struct weft_viewer *viewer)
{
	give_up(viewer);
	weft_search_destroy(viewer->search.found);
	viewer->search.found = NULL;
	viewer->search.match = WEFT_NONE;
	viewer->changes |= WEFT_VIEWER_CANVAS;
	viewer->panel.is_stale = viewer->panel.is_stale || viewer->panel.kind == WEFT__PANEL_SEARCH;
}

static void write_count(const struct weft_viewer *viewer, char *text, size_t size)
{
	const struct weft_search *search = viewer->search.found;
	if (search->found == 0)
		snprintf(text, size, "nothing found");
	else if (viewer->search.match == WEFT_NONE)
		snprintf(text, size, "%llu found, in %u task%s", (unsigned long long)search->found,
			(unsigned)search->task_count, search->task_count == 1 ? "" : "s");
	else
		snprintf(text, size, "%u of %llu", (unsigned)viewer->search.match + 1,
			(unsigned long long)search->found);
}

/* Unless the prompt asks for something else. */
static void show_search_message(struct weft_viewer *viewer, const char *message, bool is_error)
{
	if (viewer->prompt.asked != WEFT__ASK_SEARCH && viewer->prompt.asked != WEFT__ASK_NOTHING)
		return;
	snprintf(viewer->prompt.message, sizeof(viewer->prompt.message), "%s", message);
	viewer->prompt.shown.is_error = is_error;
	viewer->changes |= WEFT_VIEWER_PROMPT;
}

static void take_found(struct weft_viewer *viewer, struct weft_search *found)
{
	int step = viewer->search.wanted_step;
	char count[64] = "";
	weft__viewer_forget_search(viewer);
	viewer->search.found = found;
	if (viewer->search.text[viewer->search.text[0] == '/'])
		write_count(viewer, count, sizeof(count));
	show_search_message(viewer, count, false);
	if (step)
		weft__viewer_step_match(viewer, step);
}

bool weft__viewer_learn_search(struct weft_viewer *viewer)
{
	struct weft_search *found;
	int status = viewer->search.maker ? WEFT_AGAIN : WEFT_OK;
	for (unsigned i = 0; i < FRAME_STEPS && status == WEFT_AGAIN; i++) {
		status = weft_search_maker_step(viewer->search.maker, &found);
		if (status == WEFT_OK)
			take_found(viewer, found);
	}
	if (status != WEFT_OK && status != WEFT_AGAIN) {
		give_up(viewer);
		show_search_message(viewer, "out of memory", true);
	}
	return status == WEFT_AGAIN;
}

void weft__viewer_end_search(struct weft_viewer *viewer)
{
	weft__viewer_forget_search(viewer);
	if (viewer->search.has_before && weft__viewer_is_at(viewer, &viewer->search.shown)) {
		weft__viewer_remember(viewer, true);
		weft__viewer_return_to(viewer, &viewer->search.before);
	}
	viewer->search.has_before = false;
}

/* Begins a search for the current text, of which a small trace needs one frame. A leading "/" makes
 * the text a regular expression. */
static void begin_search(struct weft_viewer *viewer)
{
	struct weft_search_error error = {"", 0};
	const char *text = viewer->search.text;
	bool is_expression = viewer->search.is_expression || text[0] == '/';
	text += text[0] == '/';
	give_up(viewer);
	int result = weft_search_maker_create(
		viewer->model, text, strlen(text), is_expression, &error, &viewer->search.maker);
	/* Earlier matches stay highlighted while the user is still typing an invalid expression. */
	if (result)
		show_search_message(
			viewer, result == WEFT_ERROR_ARGUMENT ? error.message : "out of memory", true);
	else if (weft__viewer_learn_search(viewer))
		show_search_message(viewer, "searching \xe2\x80\xa6", false);
}

void weft__viewer_search(struct weft_viewer *viewer, const char *text)
{
	size_t size = strlen(text);
	char *copy = malloc(size + 1);
	if (!copy)
		return;
	memcpy(copy, text, size + 1);
	free(viewer->search.text);
	viewer->search.text = copy;
	begin_search(viewer);
}

void weft__viewer_search_again(struct weft_viewer *viewer)
{
	if (!(viewer->search.found || viewer->search.maker) || !viewer->search.text)
		return;
	int step = viewer->search.wanted_step;
	weft__viewer_forget_search(viewer);
	begin_search(viewer);
	viewer->search.wanted_step = viewer->search.maker ? step : 0;
}

void weft__viewer_go_match(struct weft_viewer *viewer, uint32_t number)
{
	if (!viewer->search.found || number >= viewer->search.found->match_count)
		return;
	const struct weft_search_match *match = &viewer->search.found->matches[number];
	if (!viewer->search.has_before)
		viewer->search.before = *weft__viewer_wanted(viewer);
	viewer->search.has_before = true;
	viewer->search.match = number;
	weft__viewer_pause(viewer);
	weft__viewer_select(viewer, match->task, match->time);
	if (match->field == WEFT_SEARCH_COUNTER)
		weft__viewer_see_counter(viewer, match->item);
	if (match->task != WEFT_NONE)
		weft__viewer_reveal_task(viewer, match->task, match->time);
	else
		weft__viewer_reveal(viewer, WEFT_NONE, match->time, match->time, false);
	viewer->search.shown = *weft__viewer_wanted(viewer);
	char count[64];
	const char *field = weft_search_field_name((enum weft_search_field)match->field);
	write_count(viewer, count, sizeof(count));
	show_search_message(viewer, count, viewer->prompt.shown.is_error);
	weft__viewer_show_message(
		viewer, "%s, %s %s", count, strchr("aeiou", field[0]) ? "an" : "a", field);
	viewer->panel.is_stale = true;
	viewer->changes |= WEFT_VIEWER_PROMPT;
}

void weft__viewer_step_match(struct weft_viewer *viewer, int step)
{
	if (viewer->search.maker) {
		viewer->search.wanted_step = step;
		weft__viewer_show_message(viewer, "Searching \xe2\x80\xa6 Escape ends it.");
		return;
	}
	if (!viewer->search.found || viewer->search.found->match_count == 0) {
		weft__viewer_show_message(viewer,
			viewer->search.found ? "Nothing was found." : "There is no search yet: press /.");
		return;
	}
	uint32_t count = viewer->search.found->match_count, number = viewer->search.match;
	if (number != WEFT_NONE) {
		number = (number + count + (uint32_t)step) % count;
	} else { /* from the start of the view */
		uint64_t from = weft__viewer_start(weft__viewer_wanted(viewer));
		number = step > 0 ? weft_search_after(viewer->search.found, from ? from - 1 : 0)
						  : weft_search_before(viewer->search.found, from);
		if (number == WEFT_NONE)
			number = step > 0 ? 0 : count - 1;
	}
	weft__viewer_go_match(viewer, number);
}

/* SPDX-License-Identifier: ISC
 *
 * Search: matches are highlighted in picture and overview, and stepped through in the order of
 * time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "viewer/state.h"

void weft__viewer_forget_search(struct weft_viewer *viewer)
{
	weft_search_destroy(viewer->search.found);
	viewer->search.found = NULL;
	viewer->search.match = WEFT_NONE;
	viewer->changes |= WEFT_VIEWER_CANVAS;
	viewer->panel.is_stale = viewer->panel.is_stale || viewer->panel.kind == WEFT__PANEL_SEARCH;
}

static void show_count(struct weft_viewer *viewer)
{
	const struct weft_search *search = viewer->search.found;
	size_t size = sizeof(viewer->prompt.message);
	if (search->found == 0)
		snprintf(viewer->prompt.message, size, "nothing found");
	else if (viewer->search.match == WEFT_NONE)
		snprintf(viewer->prompt.message, size, "%llu found, in %u task%s",
			(unsigned long long)search->found, (unsigned)search->task_count,
			search->task_count == 1 ? "" : "s");
	else
		snprintf(viewer->prompt.message, size, "%u of %llu", (unsigned)viewer->search.match + 1,
			(unsigned long long)search->found);
}

/* A leading "/" makes the text a regular expression. */
void weft__viewer_search(struct weft_viewer *viewer, const char *text)
{
	struct weft_search_error error = {"", 0};
	struct weft_search *search = NULL;
	size_t size = strlen(text);
	bool is_expression = viewer->search.is_expression || text[0] == '/';
	const char *sought = text[0] == '/' ? text + 1 : text;
	char *copy = malloc(size + 1);
	if (!copy)
		return;
	memcpy(copy, text, size + 1);
	free(viewer->search.text);
	viewer->search.text = copy;
	viewer->prompt.shown.is_error = false;
	viewer->changes |= WEFT_VIEWER_PROMPT;
	int result =
		weft_search_create(viewer->model, sought, strlen(sought), is_expression, &error, &search);
	if (result == 0) {
		weft__viewer_forget_search(viewer);
		viewer->search.found = search;
		viewer->prompt.message[0] = '\0';
		if (sought[0])
			show_count(viewer);
		return;
	}
	/* Earlier matches stay highlighted while the user is still typing an invalid expression. */
	viewer->prompt.shown.is_error = true;
	snprintf(viewer->prompt.message, sizeof(viewer->prompt.message), "%s",
		result == WEFT_ERROR_ARGUMENT ? error.message : "out of memory");
}

void weft__viewer_go_match(struct weft_viewer *viewer, uint32_t number)
{
	if (!viewer->search.found || number >= viewer->search.found->match_count)
		return;
	const struct weft_search_match *match = &viewer->search.found->matches[number];
	viewer->search.match = number;
	weft__viewer_select(viewer, match->task, match->time);
	if (match->field == WEFT_SEARCH_COUNTER)
		weft__viewer_see_counter(viewer, match->item);
	if (match->task != WEFT_NONE)
		weft__viewer_reveal_task(viewer, match->task, match->time);
	else
		weft__viewer_reveal(viewer, WEFT_NONE, match->time, match->time, false);
	show_count(viewer);
	const char *field = weft_search_field_name((enum weft_search_field)match->field);
	weft__viewer_show_message(
		viewer, "%s, %s %s", viewer->prompt.message, strchr("aeiou", field[0]) ? "an" : "a", field);
	viewer->panel.is_stale = true;
	viewer->changes |= WEFT_VIEWER_PROMPT;
}

void weft__viewer_step_match(struct weft_viewer *viewer, int step)
{
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

/* SPDX-License-Identifier: ISC
 *
 * Commands that move the view and change which rows there are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "viewer/commands/commands.h"
#include "viewer/drawing/ordinal.h"
#include "viewer/state.h"

#define PAN_STEP  0.15 /* of the view */
#define ROW_STEP  3.0
#define ZOOM_STEP 1.6

void weft__run_fit(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	weft__viewer_fit(viewer);
}

/* The selected time if it is in view, as keys have no pointer; else the middle. */
static double zoom_center(const struct weft_viewer *viewer)
{
	const struct weft_view *view = weft__viewer_wanted(viewer);
	if (viewer->selection.task != WEFT_NONE) {
		double x = weft_view_x(view, viewer->selection.at);
		if (x > 0 && x < view->width)
			return x;
	}
	return view->width / 2;
}

void weft__run_zoom(struct weft_viewer *viewer, const char *arguments)
{
	double factor = strcmp(arguments, "out") == 0 ? 1 / ZOOM_STEP : ZOOM_STEP;
	weft__viewer_zoom(viewer, zoom_center(viewer), factor);
}

void weft__run_zoom_selection(struct weft_viewer *viewer, const char *arguments)
{
	const struct weft__selection *s = &viewer->selection;
	uint64_t start, end;
	(void)arguments;
	if (viewer->range.is_set) {
		weft__viewer_order_range(viewer, &start, &end);
		weft__viewer_show_range(viewer, start, (double)(end - start));
	} else if (s->task != WEFT_NONE) {
		start = viewer->layout->start[s->task];
		end = viewer->model->tasks.end[s->task];
		weft__viewer_show_range(viewer, start, (double)(end > start ? end - start : 1));
	} else {
		weft__viewer_show_message(
			viewer, "Nothing is selected to zoom to: click a task, or Shift + drag.");
	}
}

void weft__run_pan(struct weft_viewer *viewer, const char *arguments)
{
	double step = weft__viewer_wanted(viewer)->width * PAN_STEP;
	double rows = weft__viewer_wanted(viewer)->rows.spacing * ROW_STEP;
	if (viewer->flame.is_shown && (arguments[0] == 'u' || arguments[0] == 'd')) {
		weft__viewer_scroll_flame(viewer, arguments[0] == 'u' ? -rows : rows);
		return;
	}
	switch (arguments[0]) {
	case 'l':
		weft__viewer_pan(viewer, step, 0);
		break;
	case 'r':
		weft__viewer_pan(viewer, -step, 0);
		break;
	case 'u':
		weft__viewer_pan(viewer, 0, rows);
		break;
	default:
		weft__viewer_pan(viewer, 0, -rows);
	}
}

void weft__run_page(struct weft_viewer *viewer, const char *arguments)
{
	weft__viewer_go_outside(viewer, arguments[0] == 'd');
}

void weft__run_stretch(struct weft_viewer *viewer, const char *arguments)
{
	bool is_end = strncmp(arguments, "end", 3) == 0;
	weft__viewer_stretch_view(viewer, is_end, strstr(arguments, " left") ? -1 : 1);
}

void weft__run_back(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	if (!weft__viewer_recall(viewer, -1))
		weft__viewer_show_message(viewer, "This was the first view.");
}

void weft__run_forward(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	if (!weft__viewer_recall(viewer, 1))
		weft__viewer_show_message(viewer, "This is the latest view.");
}

void weft__run_start(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	weft__viewer_ask(viewer, WEFT__ASK_START);
}

void weft__run_duration(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	weft__viewer_ask(viewer, WEFT__ASK_DURATION);
}

void weft__run_rows(struct weft_viewer *viewer, const char *arguments)
{
	struct weft_view view = *weft__viewer_wanted(viewer);
	bool is_plain = arguments[0] ? strcmp(arguments, "plain") == 0 : !view.is_plain;
	weft_view_set_plain(&view, is_plain);
	viewer->panel.is_stale = true;
	weft__viewer_glide(viewer, &view);
	weft__viewer_show_message(
		viewer, is_plain ? "Plain rows: those that do not fit are scrolled."
						 : "Rows through a lens: all are seen, near ones full size.");
}

void weft__run_fold(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	uint32_t task = viewer->hover.fold != WEFT_NONE ? viewer->hover.task : viewer->selection.task;
	weft__viewer_toggle_fold(viewer, task);
}

void weft__run_fold_all(struct weft_viewer *viewer, const char *arguments)
{
	const struct weft__rows *rows = weft__viewer_wanted_rows(viewer);
	bool is_folded =
		arguments[0] ? strcmp(arguments, "off") != 0 : rows->no_fold || rows->exceptions.count > 0;
	weft__viewer_fold_all(viewer, is_folded);
}

void weft__run_simplify(struct weft_viewer *viewer, const char *arguments)
{
	weft__viewer_simplify(viewer, arguments[0] ? strcmp(arguments, "off") != 0
											   : weft__viewer_wanted_rows(viewer)->no_simplify);
}

void weft__run_group(struct weft_viewer *viewer, const char *arguments)
{
	enum weft_group_by by =
		(enum weft_group_by)((weft__viewer_rows_group_by(viewer) + 1u) % WEFT_GROUP_BY_HOST);
	uint32_t number = weft__viewer_parse_ordinal(arguments);
	if (number > 0 && number <= viewer->layout->group_count) {
		weft__viewer_toggle_group(viewer, number - 1);
		return;
	}
	(void)weft_group_by_parse(arguments, &by);
	weft__viewer_group_by(viewer, by);
}

void weft__run_filter(struct weft_viewer *viewer, const char *arguments)
{
	if (strcmp(arguments, "off") == 0)
		weft__viewer_set_filter(viewer, "");
	else if (arguments[0])
		weft__viewer_set_filter(viewer, arguments);
	else
		weft__viewer_ask(viewer, WEFT__ASK_FILTER);
}

/* Copies a name with escapes, so that it is one word of a filter. False if there is no room, or if
 * the name has characters that cannot be shown. */
static bool escape(const char *name, char *to, size_t size)
{
	uint32_t character;
	bool is_valid = true;
	for (size_t left = strlen(name), bytes; left > 0; left -= bytes) {
		bytes = weft__utf8_decode(name, left, &character, &is_valid);
		if (!is_valid || !weft__utf8_is_showable(character) || bytes + 2 > size)
			return false;
		if (*name == ',' || *name == '\\' || *name == ' ')
			*to++ = '\\', size--;
		memcpy(to, name, bytes);
		name += bytes, to += bytes, size -= bytes;
	}
	*to = '\0';
	return true;
}

/* Tasks of the selected one's kind. */
void weft__run_hide(struct weft_viewer *viewer, const char *arguments)
{
	uint32_t task = viewer->selection.task;
	unsigned kind = task != WEFT_NONE ? viewer->model->tasks.kind[task] : 0;
	const char *name = weft_model_kind_name(viewer->model, kind);
	char filter[2 * WEFT__FILTER_BYTES + 16], word[WEFT__FILTER_BYTES];
	const char *old = weft__viewer_wanted_rows(viewer)->filter;
	(void)arguments;
	if (task == WEFT_NONE || !name) {
		weft__viewer_show_message(viewer, "Select a task of the kind to hide.");
		return;
	}
	if (!escape(name, word, sizeof(word))) {
		weft__viewer_show_message(viewer, "This kind's name cannot be part of a filter.");
		return;
	}
	snprintf(filter, sizeof(filter), "%s%s-kind:%s", old, old[0] ? ", " : "", word);
	if (weft__viewer_set_filter(viewer, filter) == WEFT__FILTER_DONE)
		weft__viewer_show_message(
			viewer, "Tasks of kind %s are hidden; the filter shows this.", name);
}

void weft__run_repack(struct weft_viewer *viewer, const char *arguments)
{
	(void)arguments;
	weft__viewer_relayout(viewer);
}

void weft__run_view(struct weft_viewer *viewer, const char *arguments)
{
	if (!weft__viewer_run_view(viewer, arguments))
		weft__viewer_show_message(viewer, "A part of this link is invalid here and was ignored.");
}

/* SPDX-License-Identifier: ISC
 *
 * Bookmarks: times with a note. They are saved beside the trace as lines of text, "@12345678 what
 * was seen here", with the time on the trace's clock, so that people can read them and keep them in
 * version control.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/export.h"
#include "viewer/state.h"

#define LONGEST   200 /* bytes of a note */
#define MARKS_MAX 10000
#define REACH     8.0  /* px around a bookmark's flag, for a mouse */
#define TOUCHED   20.0 /* the same for a finger */

/* The index of the first bookmark at or after a time. */
static size_t first_from(const struct weft_viewer *viewer, uint64_t time)
{
	size_t at = 0;
	while (at < viewer->marks.count && viewer->marks.list[at].time < time)
		at++;
	return at;
}

/* Copies a note, without line ends, because it is one line of the file. NULL without memory. */
static char *copy_line(const char *text, size_t size)
{
	char clean[LONGEST + 1];
	size_t length = weft_canvas_clean_text(text, size, clean, sizeof(clean));
	char *copy = malloc(length + 1);
	if (copy)
		memcpy(copy, clean, length + 1);
	return copy;
}

static bool insert(struct weft_viewer *viewer, uint64_t time, const char *text, size_t size)
{
	if (viewer->marks.count == MARKS_MAX)
		return false;
	if (viewer->marks.count == viewer->marks.capacity) {
		size_t capacity =
			weft__array_next_capacity(viewer->marks.capacity, viewer->marks.count + 1);
		if (weft__array_resize(&viewer->marks.list, capacity, sizeof(*viewer->marks.list)))
			return false;
		viewer->marks.capacity = capacity;
	}
	char *copy = copy_line(text, size);
	if (!copy)
		return false;
	size_t at = first_from(viewer, time);
	memmove(viewer->marks.list + at + 1, viewer->marks.list + at,
		(viewer->marks.count - at) * sizeof(*viewer->marks.list));
	viewer->marks.list[at] = (struct weft__bookmark){time, copy};
	viewer->marks.count++;
	viewer->marks.current = at;
	viewer->changes |= WEFT_VIEWER_CANVAS;
	viewer->panel.is_stale = viewer->panel.is_stale || viewer->panel.kind == WEFT__PANEL_MARKS;
	return true;
}

static void save(struct weft_viewer *viewer)
{
	struct weft_text text = {0};
	for (size_t i = 0; i < viewer->marks.count; i++) {
		weft_text_add_string(&text, "@");
		weft_text_add_u64(&text, viewer->marks.list[i].time);
		weft_text_add_string(&text, viewer->marks.list[i].text[0] ? " " : "");
		weft_text_add_string(&text, viewer->marks.list[i].text);
		weft_text_add_string(&text, "\n");
	}
	weft_text_add(&text, "", 1);
	if (!text.error)
		weft__viewer_request(viewer, WEFT_VIEWER_SAVE_NOTES, text.bytes, 0, 0);
	weft_text_finish(&text);
}

/* The time under the pointer, else the selected time, else the middle of the view. */
static uint64_t here(struct weft_viewer *viewer)
{
	const struct weft__pointer *p = &viewer->pointer;
	const struct weft_view *view = weft__viewer_wanted(viewer);
	if (p->is_inside && weft__viewer_inside(&viewer->frame.picture, p->x, p->y)) {
		uint64_t time = weft__viewer_snap(viewer, p->x, p->y, p->modifiers & WEFT_VIEWER_ALT);
		viewer->snap.is_set = false;
		return time;
	}
	if (viewer->selection.task != WEFT_NONE)
		return viewer->selection.at;
	return weft_view_time(view, view->width / 2);
}

size_t weft__viewer_mark_at(const struct weft_viewer *viewer, double x)
{
	double best = viewer->pointer.is_touch ? TOUCHED : REACH;
	size_t found = WEFT__NO_MARK;
	for (size_t i = 0; i < viewer->marks.count; i++) {
		double away = fabs(weft__viewer_canvas_x(viewer, viewer->marks.list[i].time) - x);
		if (away <= best) {
			best = away;
			found = i;
		}
	}
	return found;
}

size_t weft__viewer_meant_mark(const struct weft_viewer *viewer)
{
	const struct weft__pointer *p = &viewer->pointer;
	bool is_inside = p->is_inside && p->y >= viewer->frame.ruler.y;
	size_t at = is_inside ? weft__viewer_mark_at(viewer, p->x) : WEFT__NO_MARK;
	return at != WEFT__NO_MARK ? at : viewer->marks.current;
}

void weft__viewer_go_mark(struct weft_viewer *viewer, size_t number)
{
	uint64_t time;
	if (number >= viewer->marks.count)
		return;
	viewer->marks.current = number;
	viewer->panel.is_stale = true;
	time = viewer->marks.list[number].time;
	weft__viewer_reveal(viewer, WEFT_NONE, time, time, false);
}

void weft__viewer_edit_mark(struct weft_viewer *viewer, size_t number)
{
	if (number >= viewer->marks.count) {
		weft__viewer_show_message(
			viewer, "No bookmark is selected: point at one, or go to one ( M ).");
		return;
	}
	viewer->marks.current = number;
	weft__viewer_ask(viewer, WEFT__ASK_NOTE);
}

void weft__viewer_add_mark(struct weft_viewer *viewer)
{
	if (!viewer->model || !insert(viewer, here(viewer), "", 0))
		return;
	save(viewer);
	weft__viewer_ask(viewer, WEFT__ASK_NOTE);
}

void weft__viewer_remove_mark(struct weft_viewer *viewer, size_t number)
{
	if (number >= viewer->marks.count) {
		weft__viewer_show_message(
			viewer, "No bookmark is selected: point at one, or go to one ( M ).");
		return;
	}
	if (viewer->prompt.asked == WEFT__ASK_NOTE)
		weft__viewer_close_prompt(viewer);
	free(viewer->marks.list[number].text);
	memmove(viewer->marks.list + number, viewer->marks.list + number + 1,
		(viewer->marks.count - number - 1) * sizeof(*viewer->marks.list));
	viewer->marks.count--;
	viewer->marks.current = WEFT__NO_MARK;
	viewer->panel.is_stale = true;
	viewer->changes |= WEFT_VIEWER_CANVAS;
	save(viewer);
	weft__viewer_show_message(viewer, "The bookmark is removed.");
}

void weft__viewer_name_mark(struct weft_viewer *viewer, const char *text)
{
	char *copy = viewer->marks.current < viewer->marks.count ? copy_line(text, strlen(text)) : NULL;
	if (!copy)
		return;
	free(viewer->marks.list[viewer->marks.current].text);
	viewer->marks.list[viewer->marks.current].text = copy;
	viewer->panel.is_stale = true;
	viewer->changes |= WEFT_VIEWER_CANVAS;
	save(viewer);
}

void weft__viewer_forget_marks(struct weft_viewer *viewer)
{
	for (size_t i = 0; i < viewer->marks.count; i++)
		free(viewer->marks.list[i].text);
	free(viewer->marks.list);
	viewer->marks.list = NULL;
	viewer->marks.count = viewer->marks.capacity = 0;
	viewer->marks.current = WEFT__NO_MARK;
}

static bool read_line(struct weft_viewer *viewer, const char *line, size_t size)
{
	uint64_t time = 0;
	size_t at = 1;
	if (size < 2 || line[0] != '@')
		return false;
	for (; at < size && line[at] >= '0' && line[at] <= '9'; at++) {
		if (time > (UINT64_MAX - 9) / 10)
			return false;
		time = time * 10 + (uint64_t)(line[at] - '0');
	}
	if (at == 1 || (at < size && line[at] != ' '))
		return false;
	at += at < size;
	return insert(viewer, time, line + at, size - at);
}

WEFT__EXPORT uint32_t weft_viewer_load_notes(
	struct weft_viewer *viewer, const char *text, size_t size)
{
	uint32_t left_out = 0;
	if (viewer->prompt.asked == WEFT__ASK_NOTE)
		weft__viewer_close_prompt(viewer);
	weft__viewer_forget_marks(viewer);
	for (size_t at = 0; at < size;) {
		const char *end = memchr(text + at, '\n', size - at);
		size_t length = (end ? (size_t)(end - text) : size) - at;
		size_t shown = length > 0 && text[at + length - 1] == '\r' ? length - 1 : length;
		if (shown > 0 && !read_line(viewer, text + at, shown))
			left_out++;
		at += length + 1;
	}
	viewer->marks.current = WEFT__NO_MARK;
	weft__viewer_settle(viewer);
	return left_out;
}

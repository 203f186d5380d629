/* SPDX-License-Identifier: ISC
 *
 * Bookmarks and their notes.
 */
#ifndef WEFT_VIEWER_MARKS_H
#define WEFT_VIEWER_MARKS_H

#include <stddef.h>
#include <weft/viewer.h>

struct weft_viewer;

#define WEFT__NO_MARK SIZE_MAX

struct weft__bookmark {
	uint64_t time;
	char *text;
};

struct weft__marks {
	struct weft__bookmark *list; /* by time */
	size_t count, capacity;
	size_t current; /* index of the bookmark that was set or shown last, or WEFT__NO_MARK */
};

/* notes.c */
void weft__viewer_add_mark(struct weft_viewer *viewer);
/* The bookmark under the pointer, else the current one, else WEFT__NO_MARK. */
size_t weft__viewer_meant_mark(const struct weft_viewer *viewer);
size_t weft__viewer_mark_at(const struct weft_viewer *viewer, double x);
void weft__viewer_go_mark(struct weft_viewer *viewer, size_t number);
void weft__viewer_edit_mark(struct weft_viewer *viewer, size_t number);
void weft__viewer_remove_mark(struct weft_viewer *viewer, size_t number);
void weft__viewer_name_mark(struct weft_viewer *viewer, const char *text);
void weft__viewer_forget_marks(struct weft_viewer *viewer);

#endif

/* SPDX-License-Identifier: ISC
 *
 * The choices that decide which rows there are: folds, groups, filter.
 */
#ifndef WEFT_VIEWER_ROWS_H
#define WEFT_VIEWER_ROWS_H

#include <weft/layout.h>
#include <weft/story.h>
#include <weft/viewer.h>

struct weft_viewer;

#define WEFT__FILTER_BYTES 1024

struct weft__numbers {
	uint32_t *list, count;
	size_t capacity;
};

struct weft__rows {
	bool no_fold, no_simplify;
	bool is_grouping_chosen; /* by group_by; otherwise it depends on the trace */
	enum weft_group_by group_by;
	struct weft__numbers exceptions;    /* tasks whose folds do the opposite of no_fold */
	struct weft__numbers folded_groups; /* keys */
	char filter[WEFT__FILTER_BYTES];
};

struct weft_viewer_prepared {
	struct weft_model *model;
	struct weft_layout *layout;
	struct weft_scene *scene;
	struct weft_story story;
};

/* An earlier state of a growing trace, to be continued. */
struct weft__former {
	const struct weft_layout *layout;
	const struct weft_scene *scene;
};

/* next_rows.c: lays out the rows of another choice, whose memory it takes over. `anchor`, or if
 * that is WEFT_NONE the task in focus, keeps its height on the screen. True if that is done; if it
 * goes on between inputs, or memory ran out, a message says so. */
bool weft__viewer_lay_out(struct weft_viewer *viewer, struct weft__rows *rows, uint32_t anchor);
/* Goes on with it for one frame; true if there is more to do. */
bool weft__viewer_learn_rows(struct weft_viewer *viewer);
/* Gives it up for the user; false if there is nothing to give up. */
bool weft__viewer_end_rows(struct weft_viewer *viewer);
void weft__viewer_forget_next_rows(struct weft_viewer *viewer);
/* Tells the user that memory ran out and nothing has changed. */
void weft__viewer_no_memory_for_rows(struct weft_viewer *viewer);
/* The choice that is being laid out, if any, becomes the viewer's, before a new model is shown. */
void weft__viewer_settle_rows(struct weft_viewer *viewer);
/* The choice that is being laid out, else that of the rows that are shown. */
const struct weft__rows *weft__viewer_wanted_rows(const struct weft_viewer *viewer);
/* The row that is in focus when the rows that are being laid out are shown. */
void weft__viewer_focus_next_rows(struct weft_viewer *viewer, double focus);

/* rows.c: `hidden` is the filter's result, or NULL. */
struct weft_layout_options weft__viewer_rows_options(
	const struct weft__rows *rows, const uint8_t *hidden);
/* `former` may be NULL. */
int weft__viewer_rows_lay_out(const struct weft__rows *rows, const struct weft_model *model,
	const struct weft__former *former, const struct weft_progress *progress,
	struct weft_layout **ret_layout, struct weft_scene **ret_scene);
/* The grouping in force, also if nobody chose it. */
enum weft_group_by weft__viewer_rows_group_by(const struct weft_viewer *viewer);
bool weft__viewer_rows_are_as_at_first(const struct weft__rows *rows);
void weft__viewer_relayout(struct weft_viewer *viewer);
/* Folds or unfolds the fold of a task. The task keeps its height on the screen. */
void weft__viewer_toggle_fold(struct weft_viewer *viewer, uint32_t task);
void weft__viewer_fold_all(struct weft_viewer *viewer, bool is_folded);
void weft__viewer_simplify(struct weft_viewer *viewer, bool is_simplified);
void weft__viewer_group_by(struct weft_viewer *viewer, enum weft_group_by by);
uint32_t weft__viewer_group_at(const struct weft_viewer *viewer, double y);
void weft__viewer_toggle_group(struct weft_viewer *viewer, uint32_t group);
enum weft__filtered {
	WEFT__FILTER_DONE,
	WEFT__FILTER_LATER, /* a message says why */
	WEFT__FILTER_TOO_LONG,
};
enum weft__filtered weft__viewer_set_filter(struct weft_viewer *viewer, const char *filter);
/* Takes over the memory of `rows`. */
void weft__viewer_set_rows(struct weft_viewer *viewer, struct weft__rows *rows);
bool weft__viewer_numbers_add(struct weft__numbers *numbers, uint32_t number);
void weft__viewer_rows_finish(struct weft__rows *rows);

#endif

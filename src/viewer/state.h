/* SPDX-License-Identifier: ISC
 *
 * A viewer: the trace that it shows, and its state by subject. Input only changes state and marks
 * stale parts; weft__viewer_settle() then updates texts, lists and boxes, once for each input.
 */
#ifndef WEFT_VIEWER_STATE_H
#define WEFT_VIEWER_STATE_H

#include <weft/filter.h>
#include <weft/story.h>
#include <weft/text.h>
#include <weft/viewer.h>

#include "viewer/drawing/counters.h"
#include "viewer/drawing/pill.h"
#include "viewer/drawing/marks.h"
#include "viewer/input/motion.h"
#include "viewer/panel/panel.h"
#include "viewer/part.h"
#include "viewer/input/pointer.h"
#include "viewer/knowledge/flame.h"
#include "viewer/knowledge/problems.h"
#include "viewer/commands/prompt.h"
#include "viewer/input/range.h"
#include "viewer/commands/requests.h"
#include "viewer/drawing/rows.h"
#include "viewer/knowledge/search.h"
#include "viewer/input/selection.h"
#include "viewer/knowledge/statistics.h"
#include "viewer/drawing/status.h"
#include "viewer/times.h"
#include "viewer/drawing/toolbar.h"

struct weft__things;
struct weft__next_rows;

struct weft_viewer {
	/* The trace. */
	struct weft_model *model;
	struct weft_layout *layout;
	struct weft_scene *scene;
	struct weft_story story; /* its index is made when it is first needed */
	struct weft_story_index_maker *index_maker;
	struct weft__survey *survey; /* a search for problems; or NULL */
	bool is_live, is_following, was_drawn;
	/* How it is drawn. */
	enum weft_theme theme;
	const struct weft_font *font;
	char *title, *path, *notice;
	double progress;
	bool reduced_motion, is_touched, has_wasd, has_list, has_header, clock_times, is_clicking;
	/* The window. */
	double width, height, now_ms;
	struct weft_viewer_boxes boxes;
	struct weft_frame frame;     /* within the canvas */
	struct weft__things *things; /* what the last frame shows */
	size_t at_once; /* the tasks and edges of a trace for which all work is done at once */
	unsigned changes;
	enum weft_viewer_cursor cursor;
	/* State by subject: each has a header. */
	struct weft_view view;
	struct weft__squeezing squeezing;
	uint64_t last_ns; /* length of the window that stays at the newest events; 0: there is none */
	struct weft__part part;
	struct weft__heights heights;
	struct weft__motion motion;
	struct weft__slide slide;
	struct weft__history history;
	struct weft__pointer pointer;
	struct weft__range range;
	struct weft__snap snap;
	struct weft__selection selection;
	struct weft__hover hover;
	struct weft__measured_fold measured_fold;
	struct weft__fade fade;
	struct weft__standing standing;
	struct weft__rows rows;
	struct weft__next_rows *next_rows; /* that are being laid out; or NULL */
	struct weft__problem_list problems;
	struct weft__statistics statistics;
	struct weft__flame_view flame;
	struct weft__search_state search;
	struct weft__marks marks;
	struct weft__counter_choice counters;
	struct weft__panel panel;
	struct weft__prompt prompt;
	struct weft__status status;
	struct weft__requests requests;
	struct weft__toolbar toolbar;
	struct weft__pill pill;
	struct weft_text link;
	char facts[256]; /* for a header bar */
};

/* viewer.c: before and after any input. */
void weft__viewer_begin(struct weft_viewer *viewer, double now_ms);
void weft__viewer_settle(struct weft_viewer *viewer);

/* window.c */
void weft__viewer_arrange(struct weft_viewer *viewer);
bool weft__viewer_inside(const struct weft_box *box, double x, double y);

/* commands/window.c: `is_chosen` by hand, not by a link. */
bool weft__viewer_set_theme(struct weft_viewer *viewer, const char *name, bool is_chosen);

/* commands/live.c: stops to follow a trace that is being recorded, so that what the user wants to
 * see stays in view. */
void weft__viewer_pause(struct weft_viewer *viewer);

/* commands/live.c: true if the view keeps to its window at the newest events, as it has not been
 * zoomed since; and shows that window, or all of a trace that is shorter. */
bool weft__viewer_keeps_last(const struct weft_viewer *viewer);
void weft__viewer_show_last(const struct weft_viewer *viewer, struct weft_view *view);

/* viewer.c: true if a pass over the whole trace takes less than a frame. */
bool weft__viewer_is_small(const struct weft_viewer *viewer);

/* trace.c */
bool weft__viewer_shows_all(const struct weft_viewer *viewer);

/* draw.c */
double weft__viewer_canvas_x(const struct weft_viewer *viewer, uint64_t time);

#endif

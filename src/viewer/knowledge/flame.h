/* SPDX-License-Identifier: ISC
 *
 * The flame graph of the chosen range, or of the whole trace, which takes the picture's place while
 * it is shown. It is of the tasks that the filter lets through, or of the selected one alone.
 */
#ifndef WEFT_VIEWER_FLAME_H
#define WEFT_VIEWER_FLAME_H

#include "viewer/drawing/rows.h"

#define WEFT__FLAME_MARGIN 12.0 /* px left and right of the boxes */
#define WEFT__FLAME_HEAD   28.0 /* px above them, for a line of words */
#define WEFT__FLAME_GAP    8.0  /* px between them and the legend */

struct weft_viewer;
struct weft_profile;
struct weft__profile_graph;
struct weft__stats_maker;

/* The part of a trace that a flame graph is of. */
struct weft__flame_part {
	bool is_cpu;       /* what threads ran, instead of where they waited */
	uint32_t task;     /* the only one, or WEFT_NONE */
	uint64_t from, to; /* 0 and 0: the whole trace */
	char filter[WEFT__FILTER_BYTES];
};

struct weft__flame_view {
	bool is_shown, is_cpu, is_of_task; /* as the user wants it */
	struct weft__flame_part part;      /* of the graph, or of the one that is being made */
	struct weft_profile *profile;      /* these may be of a former part; NULL: none yet */
	struct weft__profile_graph *graph;
	struct weft__stats_maker *maker;
	uint8_t *hidden; /* the tasks that the maker leaves out */
	bool is_made;    /* the graph is of this part of this trace */
	bool is_making;  /* it is made between inputs */
	bool is_ended;   /* by the user, or memory ran out */
	double made_ms;
	uint32_t hovered; /* a node of the graph, or WEFT_NONE */
	double scroll;    /* px by which its rows are moved up */
};

/* flame.c: shows it, and opens its panel; or shows the tasks again. */
void weft__viewer_show_flame(struct weft_viewer *viewer, bool is_shown);
/* Makes it anew if another part is wanted, and places its boxes. */
void weft__viewer_settle_flame(struct weft_viewer *viewer);
/* When a trace that grows gets its next graph; -INFINITY: it does not wait for one. */
double weft__viewer_flame_due(const struct weft_viewer *viewer);
/* Goes on for one frame, if it is being made. */
void weft__viewer_learn_flame(struct weft_viewer *viewer);
/* Ends it for the user; false if it is not being made. */
bool weft__viewer_end_flame(struct weft_viewer *viewer);
/* The trace changes, or ends; the graph stays until there is another one. */
void weft__viewer_leave_flame(struct weft_viewer *viewer);
void weft__viewer_forget_flame(struct weft_viewer *viewer);

/* input/flame.c: where it is drawn; and true if it has this point. */
struct weft_box weft__viewer_flame_box(const struct weft_viewer *viewer);
bool weft__viewer_is_over_flame(const struct weft_viewer *viewer, double x, double y);
/* The upper end of its first row. */
double weft__viewer_flame_top(const struct weft_viewer *viewer);
void weft__viewer_hover_flame(struct weft_viewer *viewer, double x, double y);
void weft__viewer_scroll_flame(struct weft_viewer *viewer, double px);
bool weft__viewer_flame_is_zoomed(const struct weft_viewer *viewer);
void weft__viewer_zoom_flame(struct weft_viewer *viewer, uint32_t node);

/* drawing/flame.c */
int weft__viewer_draw_flame(const struct weft_viewer *viewer, struct weft_canvas *canvas);
/* Why there is nothing to draw. */
const char *weft__viewer_explain_no_flame(const struct weft_viewer *viewer);

#endif

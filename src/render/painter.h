/* SPDX-License-Identifier: ISC
 *
 * One frame while it is drawn. The files of this folder each draw one thing, in the order of
 * picture.c:
 *
 *     title.c strip.c ruler.c               around the picture
 *     periods.c losses.c                    bands; what is missing
 *     stripes.c                             idle time that is squeezed
 *     alerts.c                              why a snapshot was taken
 *     lanes.c pieces.c tasks.c cells.c      lines, ends; densities
 *     bars.c spans.c                        when a task ran, and what it did then
 *     off_cpu.c                             for how long of that it had no processor
 *     folds.c groups.c handles.c            what shares a row; headings of groups; to fold by
 *     links.c                               creation and becoming
 *     arrows.c arrow.c stubs.c heat.c       other edges: as arrows, or their ends, or their number
 *     names.c occupied.c lettering.c        labels, kinds, messages, without overlap
 *     waits.c                               what tasks wait for
 *     highlight.c                           what a person points at
 *     counters/                             in lanes of their own, or over the tasks
 */
#ifndef WEFT_RENDER_PAINTER_H
#define WEFT_RENDER_PAINTER_H

#include <weft/render.h>
#include <weft/story.h>

#include "render/tasks/bars.h"
#include "render/tasks/spans.h"
#include "render/edges/edge_columns.h"
#include "render/text/occupied.h"
#include "render/rows.h"
#include "render/strip.h"
#include "render/scene/scene.h"
#include "render/theme.h"
#include "render/things.h"
#include "view/time.h"

/* A row of the picture; or several rows, where they are closer than WEFT__LANE_HEIGHT. */
struct weft__lane {
	uint32_t first_row, row_count;
	double y, spacing;
	/* For a single row: [first, last). */
	uint32_t first_piece, last_piece;
	uint32_t first_thing, last_thing; /* folds that were recorded */
};

/* Tasks narrower than this, in px, are part of a density and have no line of their own. */
#define WEFT__NARROW 2.0

/* A task with a line of its own, or the tasks of one pixel column: see pieces.c. */
struct weft__lane_piece {
	uint32_t index, count; /* in by_row */
	uint32_t failed;       /* the first of them that failed: an index, or WEFT_NONE */
	bool is_line;
	double x, x2; /* the first task's, clipped to slightly more than the picture */
};

/* Rows closer than this have no names. */
#define WEFT__NAME_SPACING 9.0

struct weft__tally {
	uint32_t tasks;              /* tasks alive in the view */
	uint32_t drawn;              /* tasks with lines of their own */
	uint32_t folded, fold_spans; /* tasks in folds and folded groups; drawn spans of folds */
	bool edges[WEFT_EDGE_TYPES];
	bool off_cpu;                /* a bar is hollowed out */
	bool runnable;               /* a vCPU waits for a processor */
	bool uncertain;              /* a span may have ended earlier */
	bool stopped[WEFT_OUTCOMES]; /* tasks with lines of their own that were stopped, by outcome */
};

/* Where a counter's curve leaves the picture, and its label there. */
struct weft__curve {
	uint32_t counter;
	double last_value;
	double last_y, label_y, label_width;
	char label[64]; /* set if the label is inside the picture */
};

/* The red mark of a failure, always on top: a cross, or the cap of a density. */
struct weft__failure_mark {
	double x, y, x2, y2; /* for a cross: its middle in x and y, its half size in x2 */
	bool is_cross;
};

struct weft__cells;
struct weft__stub_name;

/* An arrow that is a part of the heat, and the pixel column where it ends. */
struct weft__heat_mark {
	uint32_t edge, column;
};

struct painter {
	/* Inputs. */
	const struct weft_scene *const scene;
	const struct weft_model *const model;
	const struct weft_layout *const layout;
	const struct weft_frame *const frame;
	const struct weft_view *const view;
	const struct weft_render_options *const options;
	const struct weft_font *const font;
	const struct weft__theme *const theme;
	const double x0, y0;        /* the picture's top left */
	const uint64_t left, right; /* the times at the picture's edges, rounded outwards */
	/* Outputs. */
	struct weft_canvas *canvas;
	struct weft__things *things; /* NULL: things are not recorded */
	int error;                   /* of the first step that failed; the rest is left out */
	/* Results that the steps pass on. */
	struct weft__lane *lanes;
	uint32_t lane_count;
	struct weft__lane_piece *pieces;
	uint32_t piece_count;
	size_t piece_capacity;
	struct weft__occupied *occupied;
	struct weft__bars *bars;
	struct weft__spans *spans;
	double arrow_alpha, arrow_width, arrow_dim;
	uint32_t columns_weighed;                /* columns of piles that were counted one by one */
	uint32_t first_edge, last_edge;          /* edges that may be in the picture */
	struct weft__edge_columns *edge_columns; /* NULL unless there are many */
	struct weft__curve *curves;              /* the counters that are drawn, the highest first */
	uint32_t *named;                         /* indices of these counters */
	uint32_t curve_count, label_count;  /* counters that are not hidden; counters that are drawn */
	struct weft__stub_name *stub_names; /* in the order of drawing */
	size_t stub_count, stub_capacity;
	struct weft__failure_mark *marks;
	size_t mark_count, mark_capacity;
	struct weft__tally tally;
};

/* The position of a time or a row on the canvas. */
double weft__render_x(const struct painter *p, uint64_t time);
double weft__render_y(const struct painter *p, uint32_t row);
/* True if an edge between two tasks is drawn: both are shown, and not as parts of one shape. */
bool weft__render_draws_edge(const struct painter *p, uint32_t a, uint32_t b);
/* True if the spans of a fold overlap so much that they are a density at any size. */
bool weft__render_is_dense(const struct weft_fold *fold);
/* The middle of the pixel that a hairline there fills. */
double weft__render_crisp(double at);

/* Draws text, shortened by an ellipsis to fit `room` px. Returns its width, or 0 if not even
 * `least` characters and the ellipsis fit; then nothing is drawn. */
double weft__render_put_text(struct painter *p, double x, double y, struct weft_slice text,
	double room, const struct weft_text_style *style);
/* The same without drawing: writes the text that would be drawn, an empty one if none. `size` is at
 * least 1. */
double weft__render_fit_text(const struct painter *p, struct weft_slice text, double room,
	const struct weft_text_style *style, char *fitted, size_t size);
/* The distance from a task's line up to the baseline of its name: descenders, with their halo, end
 * where bars begin, if there is room for that. */
double weft__render_lift(double spacing);
double weft__render_measure(
	const struct painter *p, const char *text, const struct weft_text_style *style);

/* things.c: records a thing, or an arrow or link; the number of those recorded so far; keeps lanes
 * and pieces, too. */
void weft__render_add_thing(struct painter *p, struct weft__thing thing);
void weft__render_add_drawn_edge(struct painter *p, const struct weft__drawn_edge *edge);
uint32_t weft__render_thing_count(const struct painter *p);
void weft__render_keep_things(struct painter *p);

void weft__render_draw_title(struct painter *p);
void weft__render_draw_strip(struct painter *p);
void weft__render_draw_ruler(struct painter *p);
void weft__render_draw_grid(struct painter *p, const struct weft_box *box);
void weft__render_draw_status(struct painter *p);
/* The status that the options give, alone. */
void weft__render_draw_status_text(struct painter *p);
void weft__render_draw_bands(struct painter *p);
void weft__render_name_bands(struct painter *p);
void weft__render_draw_losses(struct painter *p);
void weft__render_draw_unread(struct painter *p);
/* stripes.c: draws a torn stripe; those of a box; those of the picture, with their lengths. */
void weft__render_draw_torn(struct painter *p, const struct weft__rect *rect);
void weft__render_tear_box(struct painter *p, const struct weft_box *box);
void weft__render_draw_stripes(struct painter *p);
/* strip_columns.c: fills the overview's columns, one for each px, of a squeezed view. */
void weft__render_count_columns(const struct weft_scene *scene, const struct weft__strip *strip,
	unsigned count, struct weft__overview_column *ret_columns);
/* Draws the losses in the overview. */
void weft__render_draw_strip_losses(struct painter *p, const struct weft__strip *strip);
void weft__render_draw_alerts(struct painter *p);
void weft__render_draw_strip_alerts(struct painter *p, const struct weft__strip *strip);
void weft__render_make_lanes(struct painter *p);
uint32_t weft__render_lane_of_row(const struct painter *p, uint32_t row);
void weft__render_make_pieces(struct painter *p);
void weft__render_draw_tasks(struct painter *p);
/* Draws the piles of a single-row lane: as combs, or into its cells. */
void weft__render_draw_piles(
	struct painter *p, const struct weft__lane *lane, struct weft__cells *cells);
void weft__render_name_folds(struct painter *p);
void weft__render_draw_handles(struct painter *p);
void weft__render_rule_groups(struct painter *p);
void weft__render_name_groups(struct painter *p);
void weft__render_add_mark(struct painter *p, struct weft__failure_mark mark);
void weft__render_draw_marks(struct painter *p);
void weft__render_draw_links(struct painter *p);
void weft__render_draw_arrows(struct painter *p);
/* Draws the arrows of hot columns: those of a list, or, if the frame has `edge_columns`, all.
 */
void weft__render_draw_heat(struct painter *p, const struct weft__heat_mark *marks, uint32_t count);
void weft__render_find_edges(struct painter *p);
void weft__render_draw_names(struct painter *p);
/* Writes the texts on waits, and from where stubs come; called after all other text of the picture.
 */
void weft__render_label_waits(struct painter *p);
void weft__render_name_stubs(struct painter *p);
/* Draws a highlighted arrow. */
void weft__render_draw_arrow_of(struct painter *p, uint32_t edge);
/* highlight.c: draws what is below tasks and above them; whether a task is dimmed; the alpha of
 * arrows that are not highlighted. */
void weft__render_draw_grounds(struct painter *p);
void weft__render_draw_highlight(struct painter *p);
bool weft__render_is_dim(const struct painter *p, uint32_t task);
double weft__render_arrow_dim(const struct painter *p);
/* counters/lanes.c, counters/overlay.c */
void weft__render_draw_counter_lanes(struct painter *p);
/* True if a counter of that name (a string) has a lane. */
bool weft__render_has_lane(const struct painter *p, uint32_t name);
/* curve_hits.c: the nearest of some counters whose curve over the tasks is within `reach` px of a
 * point; WEFT_NONE if there is none. */
uint32_t weft__render_curve_at(const struct painter *p, const uint32_t *counters, uint32_t count,
	double x, double y, double reach);
void weft__render_arrange_counters(struct painter *p);
void weft__render_name_counters(struct painter *p);
void weft__render_draw_counters(struct painter *p);

#endif

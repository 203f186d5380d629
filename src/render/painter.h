/* SPDX-License-Identifier: ISC
 *
 * One frame while it is drawn. The files of this folder each draw one thing, in the order of
 * picture.c:
 *
 *     title.c strip.c ruler.c               around the picture
 *     periods.c losses.c                    bands; what is missing
 *     lanes.c pieces.c tasks.c cells.c      lines, ends; densities
 *     bars.c                                when a task ran
 *     folds.c groups.c handles.c            what shares a row; headings of groups; to fold by
 *     links.c arrows.c                      creation and becoming; other edges
 *     names.c places.c lettering.c          labels, kinds, messages, without overlap
 *     waits.c                               what tasks wait for
 *     highlight.c                           what a person points at
 *     counters.c
 */
#ifndef WEFT_RENDER_PAINTER_H
#define WEFT_RENDER_PAINTER_H

#include <weft/render.h>
#include <weft/story.h>

#include "render/bars.h"
#include "render/edge_columns.h"
#include "render/places.h"
#include "render/scene.h"
#include "render/theme.h"

/* One row of the picture; or, where rows are closer than WEFT__LANE_HEIGHT, several. */
struct weft__lane {
	uint32_t first_row, row_count;
	double y, spacing;
	uint32_t first_piece, last_piece; /* of a single row: up to, not with, the last */
};

/* Tasks narrower than this, in px, are part of a density and have no line of their own. */
#define WEFT__NARROW 2.0

/* One task with a line of its own, or those of one pixel column: see pieces.c. */
struct weft__piece {
	uint32_t place, count; /* in by_row */
	uint32_t failed;       /* the first of them that failed: a place, or WEFT_NONE */
	bool is_line;
	double x, x2; /* of the first task, clipped to a little around the picture */
};

#define WEFT__LANE_HEIGHT 3.0

/* Rows closer than this have no names. */
#define WEFT__NAME_SPACING 9.0

/* Spans of a fold that are narrower have no arrows of their own. */
#define WEFT__TOLD_APART 8.0

struct weft__tally {
	uint32_t tasks;          /* alive in the view */
	uint32_t drawn;          /* of them, as lines of their own */
	uint32_t names_left_out; /* for want of room */
	uint64_t arrows_merged;
	bool edges[WEFT_EDGE_TYPES];
};

/* Where a counter leaves the picture, and what is written there. */
struct weft__curve {
	uint32_t counter;
	double last_value;
	double last_y, label_y, label_width;
	char label[64]; /* if it is inside the picture */
};

/* Red, and never below anything: a cross, or the cap of a density. */
struct weft__mark {
	double x, y, x2, y2; /* of a cross: its middle in x and y, its half size in x2 */
	bool is_cross;
};

struct weft__cells;

struct painter {
	const struct weft_scene *scene;
	const struct weft_model *model;
	const struct weft_layout *layout;
	const struct weft_frame *frame;
	const struct weft_view *view;
	const struct weft_render_options *options;
	const struct weft_font *font;
	const struct weft__theme *theme;
	struct weft_canvas *canvas;
	double x0, y0;        /* of the picture */
	uint64_t left, right; /* the times at its edges, rounded outwards */
	struct weft__lane *lanes;
	uint32_t lane_count;
	struct weft__piece *pieces;
	uint32_t piece_count;
	size_t piece_capacity;
	struct weft__places *places;
	struct weft__bars *bars;
	double arrow_alpha, arrow_width, arrow_dim;
	uint32_t columns_weighed;                /* of piles */
	uint32_t first_edge, last_edge;          /* that may be in the picture */
	struct weft__edge_columns *edge_columns; /* NULL unless there are many */
	struct weft__curve *curves;              /* of each counter that is drawn, the highest first */
	uint32_t *named;                         /* these counters */
	uint32_t curve_count, label_count;       /* counters that are not hidden, and that are drawn */
	struct weft__mark *marks;
	size_t mark_count, mark_capacity;
	struct weft__tally tally;
	int error;
};

/* Where a time or a row is on the canvas. */
double weft__x(const struct painter *p, uint64_t time);
double weft__y(const struct painter *p, uint32_t row);
/* Whether an edge between two tasks has a place: both are shown, and not as part of one thing. */
bool weft__are_apart(const struct painter *p, uint32_t a, uint32_t b);
/* Whether the spans of a fold overlap so much that they are a density at any size. */
bool weft__is_crowded(const struct weft_fold *fold);
/* Whether a task is shown as no more than a part of a density, whatever its own width. */
bool weft__is_merged(const struct painter *p, uint32_t task);
/* The middle of the pixel that a hairline there fills. */
double weft__crisp(double at);

/* Text of any bytes, shortened by an ellipsis to fit `room` px; its width, or 0 if not even
 * `least` characters and the ellipsis fit, and then nothing is drawn. */
double weft__put_text(struct painter *p, double x, double y, struct weft_slice text, double room,
	const struct weft_text_style *style);
/* Like it, and draws nothing: writes what would be drawn. */
double weft__fit_text(const struct painter *p, struct weft_slice text, double room,
	const struct weft_text_style *style, char *fitted, size_t size);
/* How far over a line of tasks the baseline of its name is: letters that reach below it, with their
 * halo, end where bars begin, if there is room for that. */
double weft__lift(double spacing);
double weft__measure(
	const struct painter *p, const char *text, const struct weft_text_style *style);

void weft__draw_title(struct painter *p);
void weft__draw_strip(struct painter *p);
void weft__draw_ruler(struct painter *p);
/* ruler.c: a time as a clock has it. */
void weft__format_clock(const struct weft_model *model, uint64_t time, char text[48]);
void weft__draw_grid(struct painter *p);
void weft__draw_status(struct painter *p);
void weft__draw_bands(struct painter *p);
void weft__name_bands(struct painter *p);
void weft__draw_losses(struct painter *p);
/* In the overview, which is in `strip`. */
void weft__draw_strip_losses(struct painter *p, const struct weft_box *strip);
void weft__make_lanes(struct painter *p);
uint32_t weft__lane_of_row(const struct painter *p, uint32_t row);
void weft__make_pieces(struct painter *p);
void weft__draw_tasks(struct painter *p);
/* The piles of a lane that is one row: as combs, or into its cells. */
void weft__draw_piles(struct painter *p, const struct weft__lane *lane, struct weft__cells *cells);
void weft__name_folds(struct painter *p);
void weft__draw_handles(struct painter *p);
void weft__rule_groups(struct painter *p);
void weft__name_groups(struct painter *p);
void weft__add_mark(struct painter *p, struct weft__mark mark);
void weft__draw_marks(struct painter *p);
void weft__draw_links(struct painter *p);
void weft__draw_arrows(struct painter *p);
void weft__draw_heat(struct painter *p);
void weft__find_edges(struct painter *p);
void weft__draw_names(struct painter *p);
/* After all other text of the picture. */
void weft__tell_waits(struct painter *p);
/* An arrow that stands out. */
void weft__draw_arrow_of(struct painter *p, uint32_t edge);
/* highlight.c: below tasks and above them; whether a task is one of those that do not stand out;
 * the alpha of arrows that do not. */
void weft__draw_grounds(struct painter *p);
void weft__draw_highlight(struct painter *p);
bool weft__is_dim(const struct painter *p, uint32_t task);
double weft__arrow_dim(const struct painter *p);
void weft__place_counters(struct painter *p);
void weft__name_counters(struct painter *p);
void weft__draw_counters(struct painter *p);

#endif

/* SPDX-License-Identifier: ISC
 *
 * The boxes that a frame shows, with the things that they stand for, recorded while it is drawn.
 * The painter's own lanes and pieces are kept, so a record costs no time, and is in proportion to
 * the pixels. It borrows the scene.
 */
#ifndef WEFT_RENDER_THINGS_H
#define WEFT_RENDER_THINGS_H

#include <weft/render.h>

#include "render/edges/drawn_edges.h"

enum weft__thing_type {
	WEFT__THING_TASK,   /* a line, or one task of a density */
	WEFT__THING_FOLD,   /* a fold; `task` is the member that began last before the point */
	WEFT__THING_HANDLE, /* what folds and unfolds `fold`; `task` is one of its members */
	WEFT__THING_MAX,    /* the text with the longest span of `fold` */
	WEFT__THING_BAND,   /* the name of a band */
};

struct weft__thing {
	enum weft__thing_type type;
	uint32_t task, fold; /* or WEFT_NONE */
	struct weft_box box; /* on the canvas; lines have no height, a handle only has its middle */
};

struct weft__things;

/* NULL without memory. */
struct weft__things *weft__render_things_create(void);
void weft__render_things_destroy(struct weft__things *things);

/* Removes what was recorded: its scene may now be destroyed. */
void weft__render_things_clear(struct weft__things *things);

/* Draws like weft_render_frame(), and records what it draws. After an error nothing is recorded. */
int weft__render_things_render(struct weft__things *things, const struct weft_scene *scene,
	const struct weft_frame *frame, const struct weft_view *view,
	const struct weft_render_options *options, struct weft_canvas *canvas);

/* Draws the frame around the picture: title, overview, ruler, and the status of the options.
 * Nothing is recorded. */
int weft__render_around(const struct weft_scene *scene, const struct weft_frame *frame,
	const struct weft_view *view, const struct weft_render_options *options,
	struct weft_canvas *canvas);

/* True if the record is that of such a frame; of the options, `row_shift` moves things. */
bool weft__render_things_show(const struct weft__things *things, const struct weft_scene *scene,
	const struct weft_frame *frame, const struct weft_view *view, double row_shift);

/* Where things are looked for. */
struct weft__point {
	double x, y;         /* on the canvas */
	double reach;        /* px */
	double handle_reach; /* px, the same for handles */
};

/* Calls `found` for the things within reach: at most three tasks a row, and the topmost handle or
 * text. */
void weft__render_things_near(const struct weft__things *things, const struct weft__point *point,
	void (*found)(void *context, const struct weft__thing *thing), void *context);

/* The arrow or link nearest to the point, if any is within `reach` px of it; else NULL. */
const struct weft__drawn_edge *weft__render_things_edge(const struct weft__things *things,
	const struct weft__point *point, double reach, double *ret_away);

/* The counter whose curve over the tasks is within `reach` px of the point, or WEFT_NONE. */
uint32_t weft__render_things_curve(
	const struct weft__things *things, const struct weft__point *point, double reach);

/* The band drawn at x, the topmost one; NULL if there is none. It belongs to the scene. */
const struct weft_band_period *weft__render_things_band(
	const struct weft__things *things, double x);

/* The tasks of the cell at the point, at most `room`; 0 if there is no cell. */
uint32_t weft__render_things_cell(const struct weft__things *things,
	const struct weft__point *point, uint32_t *ret_tasks, uint32_t room);

#endif

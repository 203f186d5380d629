/* SPDX-License-Identifier: ISC
 *
 * What is drawn near a point of the picture, as boxes and the things that they stand for. It is
 * computed from the scene and the view by the same rules as the drawing, and costs as much as there
 * are rows near the point, however long they are.
 */
#ifndef WEFT_RENDER_THINGS_H
#define WEFT_RENDER_THINGS_H

#include <weft/render.h>

enum weft__thing_type {
	WEFT__THING_TASK,   /* a line */
	WEFT__THING_FOLD,   /* a fold; `task` is the member that began last before the point */
	WEFT__THING_HANDLE, /* what folds and unfolds `fold`; `task` is one of its members */
};

struct weft__thing {
	enum weft__thing_type type;
	uint32_t task, fold; /* or WEFT_NONE */
	struct weft_box box; /* on the canvas; lines have no height */
};

/* Where things are looked for. */
struct weft__point {
	const struct weft_scene *scene;
	const struct weft_frame *frame;
	const struct weft_view *view;
	double x, y;         /* on the canvas */
	double reach;        /* px */
	double handle_reach; /* px */
};

/* Calls `found` for the things within reach, at most two tasks a row. */
void weft__things_near(const struct weft__point *point,
	void (*found)(void *context, const struct weft__thing *thing), void *context);

/* The tasks of the cell at the point, at most `room`; 0 if there is no cell. */
uint32_t weft__cell_near(const struct weft__point *point, uint32_t *ret_tasks, uint32_t room);

#endif

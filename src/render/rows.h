/* SPDX-License-Identifier: ISC
 *
 * The tasks of a row in the order of time, for steps from one to another.
 */
#ifndef WEFT_RENDER_ROWS_H
#define WEFT_RENDER_ROWS_H

#include <weft/render.h>

/* Rows closer than this, in px, are drawn as one. */
#define WEFT__LANE_HEIGHT 3.0

/* The task of the row that is alive at a time, else the next one, else the last one; of a row that
 * is a fold its first member. WEFT_NONE if the row has no task. */
uint32_t weft__render_row_task_at(const struct weft_scene *scene, uint32_t row, uint64_t time);

/* The task before (-1) or after (1) one that has a line of its own, in its row; or WEFT_NONE. */
uint32_t weft__render_row_neighbour(const struct weft_scene *scene, uint32_t task, int step);

/* Does what weft_scene_row_edges() does. Also writes, for each row and for the end, the number of
 * rows before it that have tasks in the view. */
void weft__render_row_edges(const struct weft_scene *scene, const struct weft_view *view,
	double *ret_edges, uint32_t *ret_before);

/* At most `room` tasks of the row that are alive between two times, and the one before them; their
 * number. */
uint32_t weft__render_row_tasks(const struct weft_scene *scene, uint32_t row, uint64_t from,
	uint64_t to, uint32_t *ret_tasks, uint32_t room);

#endif

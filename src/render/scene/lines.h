/* SPDX-License-Identifier: ISC
 *
 * How a scene's columns of tasks by row are made: from nothing, or from those of the former scene.
 */
#ifndef WEFT_RENDER_LINES_H
#define WEFT_RENDER_LINES_H

#include "render/scene/scene.h"

/* Which tasks are in a list by row. */
typedef bool weft__render_wanted(const struct weft_scene *scene, uint32_t task);

/* True for a task with a line of its own. */
bool weft__render_is_line(const struct weft_scene *scene, uint32_t task);

/* A task's running time in units of 1 << running_shift ns. */
uint32_t weft__render_running_units(const struct weft_scene *scene, uint32_t task);

/* The value of gap_after at an index that is not the last. */
bool weft__render_ends_before_next(const struct weft_scene *scene, uint32_t index);

struct weft__row_ticks weft__render_row_ticks(const struct weft_scene *scene, uint32_t row);

/* line_growth.c: copies the columns of the former scene, with changed and new tasks in their
 * positions. 0 or WEFT_ERROR_MEMORY. */
int weft__render_scene_grow_lines(struct weft_scene *scene);

#endif

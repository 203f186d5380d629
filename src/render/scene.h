/* SPDX-License-Identifier: ISC
 *
 * What is known of a trace before any frame of it is drawn.
 */
#ifndef WEFT_RENDER_SCENE_H
#define WEFT_RENDER_SCENE_H

#include <weft/render.h>

/* The overview is kept in this many columns, however wide it is drawn. */
#define WEFT__OVERVIEW_COLUMNS 4096

struct weft__overview_column {
	double running; /* threads that ran a task, on average */
	double idle;    /* share of the time in which no thread ran any */
	uint32_t alive; /* tasks, at its begin */
	uint32_t failed, never_resolved;
};

/* Counters of one name, but for what follows the last '#', share a scale. */
struct weft__scale {
	double low, high;
};

struct weft_scene {
	const struct weft_model *model;
	const struct weft_layout *layout;
	uint64_t start, end;
	/* The tasks of row r that have lines of their own, in the order of time, are at row_first[r] up
	 * to row_first[r + 1]. As they do not overlap, their ends are in order too. */
	uint32_t *row_first;
	uint32_t *by_row;
	uint32_t place_count;     /* of by_row */
	uint64_t *running_before; /* sum over what is before a place in by_row */
	uint32_t *failed_before;  /* likewise, of tasks */
	struct weft__overview_column *overview;
	uint32_t alive_max;
	struct weft_band_period *bands; /* those to draw, in order of start */
	uint32_t band_count;
	struct weft__scale *scales; /* of counters */
	uint32_t *problems;         /* tasks that failed or never resolved, in the order of ends */
	uint32_t problem_count;
};

/* The start of the task at a place of by_row, and its end. */
uint64_t weft__scene_start(const struct weft_scene *scene, uint32_t place);
uint64_t weft__scene_end(const struct weft_scene *scene, uint32_t place);

/* The first of `problems` that ends at or after `time`. */
uint32_t weft__scene_problem_from(const struct weft_scene *scene, uint64_t time);

/* The first place from `first` on, below `last`, whose task starts at or after `time`. */
uint32_t weft__scene_first_from(
	const struct weft_scene *scene, uint32_t first, uint32_t last, uint64_t time);
/* Likewise, whose task ends after `time`. */
uint32_t weft__scene_first_alive(
	const struct weft_scene *scene, uint32_t first, uint32_t last, uint64_t time);

/* overview.c, bands.c, scales.c: parts of scene_create. 0 or WEFT_ERROR_MEMORY. */
int weft__scene_make_overview(struct weft_scene *scene);
int weft__scene_make_bands(struct weft_scene *scene);
int weft__scene_make_scales(struct weft_scene *scene);

#endif

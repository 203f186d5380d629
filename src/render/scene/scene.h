/* SPDX-License-Identifier: ISC
 *
 * Indices over a trace that are made once, before any frame is drawn.
 *
 *     lines.c     tasks by row and time
 *     news.c      what is new since the former scene of a growing trace
 *     blocks.c    rows in blocks
 *     census.c    where tasks start, end, fail and run: densities of rows that share a lane
 *     edges.c     how many edges of each type point where
 *     runs.c      how long tasks ran
 *     quickest.c  how long spans without a recorded end take at least
 *     spells.c    how long vCPUs waited, and what pCPUs did
 *     overview.c overview_growth.c whiskers.c bands.c scales.c samples.c
 */
#ifndef WEFT_RENDER_SCENE_H
#define WEFT_RENDER_SCENE_H

#include <weft/render.h>

#include "render/scene/point_sets.h"
#include "render/scene/piles.h"
#include "render/scene/quickest.h"
#include "render/scene/spells.h"

/* The overview is kept in this many columns, however wide it is drawn; that of a live trace in
 * between half as many and as many. */
#define WEFT__OVERVIEW_COLUMNS 4096

struct weft__overview_column {
	double running; /* mean number of threads that ran a task */
	double idle;    /* share of the time in which no thread ran any */
	uint32_t alive; /* tasks alive at its beginning */
	uint32_t failed, never_resolved;
	uint32_t longest;    /* the task that lived longest, of those that began here and have ended */
	uint64_t longest_ns; /* 0: there is none */
};

/* The longest task of a column of the overview, if it is unusually long. */
struct weft__whisker {
	uint64_t time; /* at which it begins */
	uint32_t task;
	float height;   /* from 0 to 1 */
	bool is_beyond; /* too long for the scale */
};

/* Counters whose names are equal up to the last '#' share a scale. */
struct weft__scale {
	double low, high;
};

/* Rows in blocks, from top to bottom: a block is one row, or several rows with few tasks. While a
 * trace grows, blocks are only added, so that the points of older scenes stay valid. */
struct weft__blocks {
	uint32_t count;
	unsigned levels;   /* count is less than 1 << levels */
	uint32_t *first;   /* first row of each block, and the end of the last */
	uint32_t *weights; /* of each block: the cost of examining its rows one by one */
};

struct weft__census {
	unsigned tick_shift; /* a tick is 1 << tick_shift ns, counted from the scene's start */
	struct weft__blocks blocks;
	/* Keys are ticks. A task that is simplified late has its old start in starts_gone, too. Tasks
	 * of a live model that have not ended have no last instant: see open_before. */
	struct weft__point_set starts, starts_gone;
	struct weft__point_set lasts; /* the last instant of each task */
	struct weft__point_set fails; /* the same for tasks that failed */
	struct weft__point_set runs;  /* one point for each run_ns of running */
	uint64_t run_ns;
	double ran_ns;     /* the time that all tasks ran */
	unsigned run_bits; /* low bits of ticks that running points ignore */
	/* The number of tasks before each block that reach the end of a live trace; NULL if it is not
	 * live. */
	uint32_t *open_before;
	uint32_t open_tick; /* their last instant */
	/* From these the next scene's is made: the unended tasks of each block, and those among them
	 * that begin at the end of the trace. */
	uint32_t *open, *newborn, newborn_count;
};

/* Each type, and WEFT_EDGE_DROPPED. */
#define WEFT__EDGE_COUNTS (WEFT_EDGE_TYPES + 1)

struct weft__edge_index {
	/* The number of edges of each type before every WEFT__EDGE_CHUNK-th edge. */
	uint32_t (*before)[WEFT__EDGE_COUNTS];
	uint64_t *times; /* time of every WEFT__EDGE_CHUNK-th edge */
	/* A point for each edge: in block b + 1 if its arrow points to block b, in block 0 if it has no
	 * arrow. Its key is its number among the edges of its type; dropped edges count as try_reads,
	 * so that keys stay as they are. */
	struct weft__point_set points[WEFT_EDGE_TYPES];
	struct weft__point_set gone; /* those of the points of try_reads that were dropped later */
};

#define WEFT__EDGE_CHUNK 128

/* Later than any tick of a task's end. */
#define WEFT__NO_TICK UINT32_MAX

/* The start of a row's first line, WEFT__NO_TICK for a row without lines; and the end of the last
 * one, WEFT__NO_TICK if that has not ended. Heights ask for them in each frame. */
struct weft__row_ticks {
	uint32_t start, end;
};

/* Bands of one kind, not overlapping, in the order of time. */
struct weft__bands {
	struct weft_band_period *list;
	uint32_t count;
};

/* The tasks and edges that a scene has to add to the former one, with which it shares its sets of
 * points. */
struct weft__news {
	const struct weft_scene *previous; /* NULL: everything is new */
	/* Tasks and edges from these on are new. */
	uint32_t first_task, first_edge;
	/* Older tasks, ascending, that have moved, ended, failed or run since. */
	uint32_t *changed, changed_count;
	/* Older edges, ascending, that have been dropped since. */
	uint32_t *dropped, dropped_count;
};

struct weft_scene {
	const struct weft_model *model;
	const struct weft_layout *layout;
	uint64_t start, end;
	/* The tasks of row r that have lines of their own, in the order of time, are at indices
	 * row_first[r] to row_first[r + 1] of by_row. As they do not overlap, their ends are in order,
	 * too. */
	uint32_t *row_first;
	uint32_t *by_row;
	uint32_t line_count; /* length of by_row */
	/* The same for all tasks that are shown; the same two columns if each has its own line. */
	uint32_t *shown_first, *shown;
	/* Running time of all tasks before an index of by_row, in 1 << running_shift ns. Only
	 * differences count: the sum may wrap. */
	uint32_t *running_before;
	unsigned running_shift;
	uint32_t *start_ticks;             /* start of the task at each index of by_row */
	struct weft__row_ticks *row_ticks; /* of each row */
	uint64_t *gap_after;    /* bit i: the task at i ends before the next one of its row starts */
	uint32_t *failed_lines; /* indices in by_row, ascending */
	uint32_t failed_line_count;
	uint64_t *ran_before;       /* running sums of activations, see runs.c */
	uint32_t ran_end;           /* the activations are before this one */
	struct weft__spells spells; /* before `quickest`, which needs to know whether there are any */
	struct weft__quickest quickest;
	struct weft__piles piles; /* tasks that share a row and are not in by_row */
	struct weft__census census;
	uint32_t *tracks; /* the lines of tracks that are shown: they are no tasks */
	uint32_t track_count;
	struct weft__edge_index edges;
	/* Only while the scene is made: tasks by start, the block of each row, and what is new. */
	uint32_t *order;
	uint16_t *block_of_row;
	struct weft__news news;
	struct weft__overview_column *overview;
	double overview_length;         /* the columns that the trace has */
	struct weft__whisker *whiskers; /* of the overview, from left to right */
	uint32_t whisker_count;
	struct weft__overview_sums *to_grow; /* of a live trace: see overview_growth.c */
	uint32_t alive_max;
	uint64_t *tails; /* for each row: when its last task last acted, if that has not ended; else
						UINT64_MAX. NULL: the trace grows, and that changes all the time */
	struct weft__bands idle, gc;
	struct weft__scale *scales;      /* for each counter */
	uint32_t *families;              /* for each counter, the first one that has the same scale */
	struct weft__extremes *extremes; /* extremes of samples; see samples.c */
	uint32_t *problems;     /* tasks that failed or never resolved, in the order of their ends */
	uint64_t *problem_ends; /* their ends */
	uint32_t *never_before; /* the number of never resolved tasks before each */
	uint32_t problem_count;
};

/* The number of tasks that are changed or new, and the i-th of them. */
static inline uint32_t weft__render_news_count(const struct weft_scene *scene)
{
	return scene->news.changed_count + scene->model->tasks.count - scene->news.first_task;
}

static inline uint32_t weft__render_news_task(const struct weft_scene *scene, uint32_t i)
{
	const struct weft__news *news = &scene->news;
	return i < news->changed_count ? news->changed[i] : news->first_task + i - news->changed_count;
}

/* False for a task that goes on beyond the end of a live model. */
static inline bool weft__render_census_has_ended(const struct weft_scene *scene, uint32_t task)
{
	return !scene->model->summary.live || scene->model->tasks.flags[task] & WEFT_TASK_RESOLVED;
}

/* True if a task's start, or its end, is not in the former scene. */
static inline bool weft__render_news_has_start(const struct weft_scene *scene, uint32_t task)
{
	const struct weft__news *news = &scene->news;
	return task >= news->first_task ||
		   scene->layout->start[task] != news->previous->layout->start[task];
}

static inline bool weft__render_news_has_end(const struct weft_scene *scene, uint32_t task)
{
	const struct weft__news *news = &scene->news;
	return weft__render_census_has_ended(scene, task) &&
		   (task >= news->first_task || !weft__render_census_has_ended(news->previous, task));
}

/* The first activation of a task that is new or may have become longer. */
static inline uint32_t weft__render_news_first_run(const struct weft_scene *scene, uint32_t task)
{
	uint32_t first = scene->model->tasks.first_activation[task];
	if (task >= scene->news.first_task)
		return first;
	const struct weft_tasks *old = &scene->news.previous->model->tasks;
	uint32_t count = old->end_activation[task] - old->first_activation[task];
	return count > 0 ? first + count - 1 : first;
}

/* True if a task is not hidden; true if an edge between two tasks is drawn: both are shown, and not
 * as parts of one shape. */
static inline bool weft__render_scene_shows(const struct weft_scene *scene, uint32_t task)
{
	return scene->layout->form[task] != WEFT_FORM_HIDDEN;
}

static inline bool weft__render_scene_draws_edge(
	const struct weft_scene *scene, uint32_t a, uint32_t b)
{
	const struct weft_layout *l = scene->layout;
	if (l->row[a] == WEFT_NONE || l->row[b] == WEFT_NONE)
		return false;
	if (!l->shows_kicks && (weft__render_is_xen_scheduler(scene->model, a) ||
							   weft__render_is_xen_scheduler(scene->model, b)))
		return false;
	return l->row[a] != l->row[b] || (l->form[a] == WEFT_FORM_LINE && l->form[b] == WEFT_FORM_LINE);
}

/* The start of the task at an index of by_row, and its end. */
uint64_t weft__render_scene_start(const struct weft_scene *scene, uint32_t index);
uint64_t weft__render_scene_end(const struct weft_scene *scene, uint32_t index);

/* True if the task at an index, which is not the last of its row, ends before the next starts. */
bool weft__render_scene_has_gap_after(const struct weft_scene *scene, uint32_t index);

/* The first of `problems`, from `first` on, that ends at or after `time`. */
uint32_t weft__render_scene_problem_from(
	const struct weft_scene *scene, uint32_t first, uint64_t time);

/* The first index in [first, last) whose task starts at or after `time`. */
uint32_t weft__render_scene_first_from(
	const struct weft_scene *scene, uint32_t first, uint32_t last, uint64_t time);
/* The first index in [first, last) whose task ends after `time`. */
uint32_t weft__render_scene_first_alive(
	const struct weft_scene *scene, uint32_t first, uint32_t last, uint64_t time);
/* The first index in [first, last) whose task failed. */
uint32_t weft__render_scene_first_failed(
	const struct weft_scene *scene, uint32_t first, uint32_t last);

/* news.c: finds what is new; `previous` may be NULL. If it is not the scene of an earlier state of
 * the same trace, or sharing with it would be of no use, everything is new. */
int weft__render_scene_find_news(struct weft_scene *scene, const struct weft_scene *previous);
/* From now on everything is new. */
void weft__render_scene_forget_news(struct weft_scene *scene);
/* The former end of an activation from weft__render_news_first_run() on: its start, if it is new.
 */
uint64_t weft__render_news_former_end(const struct weft_scene *scene, uint32_t task, uint32_t run);

/* blocks.c: the block of a row. */
uint32_t weft__render_census_block(const struct weft__blocks *blocks, uint32_t row);
/* The blocks of the former scene, and new ones for its new rows. Everything is new from then on
 * if the old blocks have become too heavy. */
int weft__render_scene_make_blocks(struct weft_scene *scene);

/* census.c: a time in ticks; the number of tasks alive in [start, end). */
uint32_t weft__render_census_tick(const struct weft_scene *scene, uint64_t time);
uint32_t weft__render_census_alive(const struct weft_scene *scene, uint64_t start, uint64_t end);
uint64_t weft__render_census_last(const struct weft_scene *scene, uint32_t task);

/* Galloping search: the first index from `low` on with values[index] >= value. Steps double,
 * because most results are near. */
uint32_t weft__render_gallop_u64(
	const uint64_t *values, uint32_t low, uint32_t count, uint64_t value);
/* The same, starting at a guess and searching both ways: a good guess costs one cache miss. */
uint32_t weft__render_gallop_u64_near(
	const uint64_t *values, uint32_t low, uint32_t count, uint64_t value, uint32_t guess);

/* True if edges of a type are drawn as arrows. A wait for any of several is a text, and an arrow
 * only from the task that was then read. */
static inline bool weft__render_is_arrow(unsigned type)
{
	return type != WEFT_EDGE_CREATE && type != WEFT_EDGE_BECOME && type != WEFT_EDGE_WAIT_ANY &&
		   type != WEFT_EDGE_DROPPED;
}

/* The task in whose row an edge's arrow ends; WEFT_NONE if the edge has no arrow. */
static inline uint32_t weft__render_edge_target(const struct weft_model *model, uint32_t edge)
{
	const struct weft_edges *edges = &model->edges;
	uint32_t from = edges->from[edge], to = edges->to[edge];
	if (!weft__render_is_arrow(edges->type[edge]) || from == WEFT_NONE || to == WEFT_NONE ||
		from == to)
		return WEFT_NONE;
	return edges->type[edge] == WEFT_EDGE_READ ? from : to;
}

/* edges.c: the number of edges of each type before `edge`. */
void weft__render_edges_before(
	const struct weft_scene *scene, uint32_t edge, uint32_t ret_counts[WEFT__EDGE_COUNTS]);
/* The number of points of a type with these counts before them: the key of the next. */
uint32_t weft__render_edge_key(const uint32_t counts[WEFT__EDGE_COUNTS], unsigned type);
/* The edge of a type's point, by its key. */
uint32_t weft__render_edge_of_key(const struct weft_scene *scene, unsigned type, uint32_t key);
/* The first edge from `edge` on that happens at or after `time`. */
uint32_t weft__render_edges_from(const struct weft_scene *scene, uint32_t edge, uint64_t time);
/* The next edge of `type` from `edge` on, below `last`; or `last`. */
uint32_t weft__render_edges_next(
	const struct weft_scene *scene, unsigned type, uint32_t edge, uint32_t last);

/* tails.c: when a task that has not ended last ran, said something, read, or began to wait; whether
 * its line is dashed from then on. */
uint64_t weft__render_last_act(const struct weft_model *model, uint32_t task);
bool weft__render_has_tail(const struct weft_model *model, uint32_t task);
int weft__render_scene_make_tails(struct weft_scene *scene);

/* samples.c: the samples [first, last) of a counter, which must not be empty. */
struct weft__mean {
	double low, high, mean;
};

struct weft__mean weft__render_scene_extremes(const struct weft_scene *scene,
	const struct weft_counter *counter, uint32_t first, uint32_t last);

/* runs.c: the total length of activations [first, last) of one task, ns. */
uint64_t weft__render_scene_ran(const struct weft_scene *scene, uint32_t first, uint32_t last);

/* Parts of scene_create. 0 or WEFT_ERROR_MEMORY. */
int weft__render_scene_order_tasks(struct weft_scene *scene);
int weft__render_scene_make_lines(struct weft_scene *scene);
int weft__render_scene_make_runs(struct weft_scene *scene);
int weft__render_scene_make_spells(struct weft_scene *scene);
int weft__render_scene_make_quickest(struct weft_scene *scene);
int weft__render_scene_make_starts(struct weft_scene *scene);
int weft__render_scene_make_lasts(struct weft_scene *scene);
int weft__render_scene_list_tracks(struct weft_scene *scene);
int weft__render_scene_make_fails(struct weft_scene *scene);
int weft__render_scene_choose_runs(struct weft_scene *scene);
int weft__render_scene_make_running(struct weft_scene *scene);
int weft__render_scene_make_open(struct weft_scene *scene);
int weft__render_scene_make_edges(struct weft_scene *scene);
int weft__render_scene_make_overview(struct weft_scene *scene);
/* whiskers.c: the whiskers of the overview. */
int weft__render_scene_make_whiskers(struct weft_scene *scene);
/* overview_growth.c: fills the overview of a live trace but for idleness, and overview_length;
 * returns the width of a column in `*ret_ns`. */
int weft__render_scene_grow_overview(struct weft_scene *scene, double *ret_ns);
int weft__render_scene_make_bands(struct weft_scene *scene);
int weft__render_scene_make_scales(struct weft_scene *scene);
int weft__render_scene_make_extremes(struct weft_scene *scene);

#endif

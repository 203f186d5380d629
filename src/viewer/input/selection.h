/* SPDX-License-Identifier: ISC
 *
 * Highlighted tasks: under the pointer, selected, or related to these.
 */
#ifndef WEFT_VIEWER_SELECTION_H
#define WEFT_VIEWER_SELECTION_H

#include <weft/chain.h>
#include <weft/viewer.h>

#include "viewer/drawing/signs.h"

struct weft_viewer;

#define WEFT__HOVER_MS 80.0
#define WEFT__FADE_MS  120.0
#define WEFT__PULSE_MS 900.0
#define WEFT__HITS_MAX 8

/* The things under a point. */
struct weft__hit {
	uint32_t tasks[WEFT__HITS_MAX]; /* the nearest first */
	uint32_t fold;                  /* the fold that the nearest task is a tooth of, or WEFT_NONE */
	uint32_t handle;                /* the fold whose handle is under the point, or WEFT_NONE */
	uint32_t handle_task;           /* a member of that fold, or WEFT_NONE */
	uint32_t max;                   /* the fold whose longest span is written there, or WEFT_NONE */
	uint32_t edge;                  /* the arrow or link under the point, or WEFT_NONE */
	bool is_near_head;              /* that point of it is nearer to its head than to its tail */
	uint32_t counter;               /* whose curve over the tasks is there, or WEFT_NONE */
	bool is_band_name;
	bool has_band; /* nothing but a band is under the point */
	struct weft_band_period band;
	unsigned count;
	bool is_cell; /* a density: too many tasks to distinguish */
	struct weft_story_group group;
};

struct weft__selection {
	uint32_t task, edge; /* or WEFT_NONE; the edge is the current one of Tab */
	uint64_t at;         /* the selected time, ns */
	bool is_of_chain;    /* a step along a chain of waits at that time led here … */
	uint32_t chain_from; /* … from this task */
	uint32_t *related;   /* ascending; only while `related_count` is not 0 */
	uint32_t related_count;
	struct weft_chain *chain; /* the chain of waits whose tasks are the related ones; or NULL */
};

struct weft__hover {
	uint32_t task, fold; /* or WEFT_NONE */
	uint32_t edge;       /* the arrow or link under the pointer, or WEFT_NONE */
	bool is_near_head;   /* the pointer is nearer to its head than to its tail */
	/* These become task, fold and edge once the pointer has rested. */
	uint32_t wanted, wanted_fold, wanted_edge;
	double due_ms;    /* when the pointer has rested */
	uint32_t counter; /* whose lane or curve is under the pointer, or WEFT_NONE */
	uint32_t handle;  /* the unfolded fold whose handle is under the pointer, or WEFT_NONE */
	uint32_t max;     /* the fold whose longest span is written under the pointer, or WEFT_NONE */
	struct weft__sign sign; /* in the ruler or the overview */
	bool is_cell, has_band;
	struct weft_band_period band;
	struct weft_story_group group;
};

struct weft__fade {
	bool is_shown;   /* the target: whether something is highlighted */
	double strength; /* 0 to 1 */
	double from, begin_ms;
};

/* The highlighted edges of a frame: gather.c. */
struct weft__standing {
	uint32_t *edges, count;
	size_t capacity;
};

/* A cache of one fold's figures, because computing them visits all its members. */
struct weft__measured_fold {
	uint32_t fold; /* or WEFT_NONE */
	struct weft_story_group group;
};

/* status.c: the figures of a fold; NULL without memory. Valid until those of another are asked for.
 */
const struct weft_story_group *weft__viewer_measure_fold(struct weft_viewer *viewer, uint32_t fold);

/* hit.c: finds the things within 16 px. */
void weft__viewer_hit(
	const struct weft_viewer *viewer, double x, double y, struct weft__hit *ret_hit);

/* select.c */
void weft__viewer_hover_at(struct weft_viewer *viewer, double x, double y, double after_ms);
void weft__viewer_hover_nothing(struct weft_viewer *viewer);
void weft__viewer_advance_hover(struct weft_viewer *viewer);
/* Forgets what was under the pointer, because that is about to be destroyed. */
void weft__viewer_forget_hover(struct weft_viewer *viewer);
void weft__viewer_click(
	struct weft_viewer *viewer, double x, double y, bool is_again, bool is_double);
/* `task`: WEFT_NONE clears the selection. `at`: the selected time. */
void weft__viewer_select(struct weft_viewer *viewer, uint32_t task, uint64_t at);
void weft__viewer_show_related(struct weft_viewer *viewer, uint32_t task);
void weft__viewer_forget_related(struct weft_viewer *viewer);
/* The same; instead of a chain, the panel shows the selected task's story. */
void weft__viewer_forget_chain(struct weft_viewer *viewer);

/* A click on an edge: to the end that is further from the pointer; if that one is selected, to the
 * other one. */
void weft__viewer_click_edge(struct weft_viewer *viewer, uint32_t edge, bool is_near_head);
/* Describes the edge under the pointer, and where a click leads. */
void weft__viewer_write_edge(struct weft_viewer *viewer, char *text, size_t size);

/* reveal.c: moves the view if the row or the times are outside of it. `is_close`: also zooms until
 * the times are large enough. */
void weft__viewer_reveal(
	struct weft_viewer *viewer, uint32_t row, uint64_t start, uint64_t end, bool is_close);
/* Gives the times about a third of the view, and shows two rows, each of which may be WEFT_NONE. */
void weft__viewer_frame(
	struct weft_viewer *viewer, uint32_t row, uint32_t other, uint64_t start, uint64_t end);
void weft__viewer_reveal_task(struct weft_viewer *viewer, uint32_t task, uint64_t at);
/* The task in words: "task:12", "task:3/12" in buffer 3. */
void weft__viewer_write_task(const struct weft_model *model, uint32_t task, char text[64]);
uint32_t weft__viewer_parse_task(const struct weft_model *model, const char *text);

/* chain.c: to the task for which the selected one waits. */
void weft__viewer_follow_wait(struct weft_viewer *viewer);
/* Highlights and lists the whole chain of waits of the selected task. */
void weft__viewer_show_chain(struct weft_viewer *viewer);
/* Shows it again in a later state of the trace, if the task still waits. */
void weft__viewer_renew_chain(struct weft_viewer *viewer, uint32_t task, uint64_t at);
/* True if the chain that is shown leads over the task. */
bool weft__viewer_is_in_chain(const struct weft_viewer *viewer, uint32_t task);

/* steps.c: keys that move the selection. The status line says so if there is no next task or edge.
 */
void weft__viewer_step_edge(struct weft_viewer *viewer, int step);
/* False after a message if no task is selected. */
bool weft__viewer_has_selection(struct weft_viewer *viewer);
/* Selects a task at a time, and moves the view there. */
void weft__viewer_go(struct weft_viewer *viewer, uint32_t task, uint64_t at);
/* True if there is no further edge in that direction; then no edge is current any more. */
bool weft__viewer_leaves_edges(struct weft_viewer *viewer, int step);
void weft__viewer_step_task(struct weft_viewer *viewer, int across, int down);
void weft__viewer_go_waker(struct weft_viewer *viewer);
void weft__viewer_go_creator(struct weft_viewer *viewer);

/* gather.c */
void weft__viewer_gather(struct weft_viewer *viewer, struct weft_highlight *ret_highlight);

#endif

/* SPDX-License-Identifier: ISC
 *
 * Tasks that stand out: under the pointer, selected, or related to these.
 */
#ifndef WEFT_VIEWER_SELECTION_H
#define WEFT_VIEWER_SELECTION_H

#include <weft/story.h>
#include <weft/viewer.h>

struct weft_viewer;

#define WEFT__HOVER_MS 80.0
#define WEFT__FADE_MS  120.0
#define WEFT__PULSE_MS 900.0
#define WEFT__HITS_MAX 8

/* What is under a point. */
struct weft__hit {
	uint32_t tasks[WEFT__HITS_MAX]; /* the nearest first */
	uint32_t fold;                  /* that the nearest is a tooth of, or WEFT_NONE */
	uint32_t handle;                /* the fold whose handle it is, or WEFT_NONE */
	uint32_t handle_task;           /* a member of that fold, or WEFT_NONE */
	unsigned count;
	bool is_cell; /* a density: more tasks than can be told apart */
	struct weft_story_group group;
};

struct weft__selection {
	uint32_t task, edge; /* or WEFT_NONE; the edge that Tab is at */
	uint64_t at;         /* the moment that is asked about, ns */
	uint32_t *related;   /* ascending; only while `related_count` is not 0 */
	uint32_t related_count;
};

struct weft__hover {
	uint32_t task, fold;          /* or WEFT_NONE */
	uint32_t wanted, wanted_fold; /* will be, once the pointer has rested */
	double due_ms;                /* when */
	uint32_t handle;              /* of a run that is not folded, or WEFT_NONE */
	bool is_cell;
	struct weft_story_group group;
};

struct weft__fade {
	bool is_shown;   /* where it goes: something stands out */
	double strength; /* 0 to 1 */
	double from, begin_ms;
};

/* The edges that stand out in a frame: gather.c. */
struct weft__standing {
	uint32_t *edges, count;
	size_t capacity;
};

/* The fold whose figures are known; they take a look at all its members. */
struct weft__measured_fold {
	uint32_t fold; /* or WEFT_NONE */
	struct weft_story_group group;
};

/* hit.c: what is within 16 px. */
void weft__viewer_hit(
	const struct weft_viewer *viewer, double x, double y, struct weft__hit *ret_hit);

/* select.c */
void weft__viewer_hover_at(struct weft_viewer *viewer, double x, double y, double after_ms);
void weft__viewer_hover_nothing(struct weft_viewer *viewer);
void weft__viewer_advance_hover(struct weft_viewer *viewer);
void weft__viewer_click(
	struct weft_viewer *viewer, double x, double y, bool is_again, bool is_double);
/* WEFT_NONE: nothing. `at`: the moment that is asked about. */
void weft__viewer_select(struct weft_viewer *viewer, uint32_t task, uint64_t at);
void weft__viewer_show_related(struct weft_viewer *viewer, uint32_t task);
void weft__viewer_forget_related(struct weft_viewer *viewer);

/* reveal.c: brings into view what is not; `is_close`: and large enough to be seen. */
void weft__viewer_reveal(
	struct weft_viewer *viewer, uint32_t row, uint64_t start, uint64_t end, bool is_close);
void weft__viewer_reveal_task(struct weft_viewer *viewer, uint32_t task, uint64_t at);
/* The task in words: "task:12", "task:3/12" in buffer 3. */
void weft__write_task(const struct weft_model *model, uint32_t task, char text[64]);
uint32_t weft__parse_task(const struct weft_model *model, const char *text);

/* steps.c: what keys do to the selection. They say it when there is nowhere to go. */
void weft__viewer_step_edge(struct weft_viewer *viewer, int step);
/* Whether there is no other edge that way; then none is spoken of any more. */
bool weft__viewer_leaves_edges(struct weft_viewer *viewer, int step);
void weft__viewer_step_task(struct weft_viewer *viewer, int across, int down);
void weft__viewer_follow_wait(struct weft_viewer *viewer);
void weft__viewer_go_waker(struct weft_viewer *viewer);
void weft__viewer_go_creator(struct weft_viewer *viewer);

/* gather.c */
void weft__viewer_gather(struct weft_viewer *viewer, struct weft_highlight *ret_highlight);

#endif

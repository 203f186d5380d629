/* SPDX-License-Identifier: ISC
 *
 * What is drawn: a frame of a trace, as operations on a canvas.
 *
 * A scene indexes a model and its layout once, so that a frame costs what its pixels cost, not what
 * its events cost: what is smaller than a pixel is merged into densities, never left out. A scene
 * borrows both, which must outlive it, and is read-only once created. Drawing a frame is a function
 * of its arguments alone.
 */
#ifndef WEFT_RENDER_H
#define WEFT_RENDER_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/canvas.h>
#include <weft/duration.h>
#include <weft/layout.h>
#include <weft/model.h>
#include <weft/view.h>

#ifdef __cplusplus
extern "C" {
#endif

enum weft_theme {
	WEFT_THEME_LIGHT,
	WEFT_THEME_DARK,
	WEFT_THEME_SAFE,      /* for colour-blind eyes */
	WEFT_THEME_SAFE_DARK, /* likewise */
	WEFT_THEMES
};

/* "light", "dark", "safe", "safe-dark". */
const char *weft_theme_name(enum weft_theme theme);

struct weft_scene;

int weft_scene_create(const struct weft_model *model, const struct weft_layout *layout,
	struct weft_scene **ret_scene);
/* Likewise, tells how far it is, and may be stopped. `progress` may be NULL. */
int weft_scene_create_watched(const struct weft_model *model, const struct weft_layout *layout,
	const struct weft_progress *progress, struct weft_scene **ret_scene);
void weft_scene_destroy(struct weft_scene *scene);

struct weft_box {
	double x, y, width, height; /* nothing is drawn where one is 0 */
};

/* Where the parts of a frame are. A small frame has fewer parts. */
struct weft_frame {
	double width, height;
	struct weft_box title;
	struct weft_box strip; /* the whole trace, small */
	struct weft_box ruler;
	struct weft_box picture; /* what a weft_view is the size of */
	struct weft_box groups;  /* names of groups of rows, left of the picture */
	struct weft_box gutter;  /* names of counters */
	struct weft_box status;
};

void weft_frame_place(
	const struct weft_layout *layout, double width, double height, struct weft_frame *ret_frame);

/* A view of everything in the frame's picture. */
void weft_frame_view(
	const struct weft_layout *layout, const struct weft_frame *frame, struct weft_view *ret_view);

/* What stands out in a frame. Its lists are borrowed while the frame is drawn. */
struct weft_highlight {
	uint32_t selected, hovered; /* tasks, or WEFT_NONE */
	double strength;            /* 0 to 1: how far the arrows of all others have faded */
	const uint32_t *edges;      /* those whose arrows stand out */
	uint32_t edge_count;
	uint32_t edge;           /* one of them, of which is spoken; or WEFT_NONE */
	const uint32_t *related; /* tasks in ascending order: if there are any, all others are dim */
	uint32_t related_count;
	const uint32_t *found; /* tasks in ascending order, on a ground */
	uint32_t found_count;
};

struct weft_render_options {
	enum weft_theme theme;
	const char *title;            /* the trace's name; NULL for none */
	const struct weft_font *font; /* NULL for the built-in one */
	bool hover;                   /* groups of the canvas say what a task is, in one sentence */
	/* Rows on their way: px by row, of which so much (0 to 1) is added to where rows of their own
	 * are. NULL: none. */
	const double *row_shifts;
	double row_shift;
	bool handles;       /* by which runs of alike tasks are folded and unfolded */
	const char *status; /* instead of what is in view; NULL or "" for that */
	const struct weft_highlight *highlight; /* NULL: nothing stands out */
	double taken_x, taken_x2; /* no label of the ruler is drawn between these; 0 and 0: nowhere */
	bool clock_times;         /* the ruler begins with the time of the day, if that is known */
	/* Counters: none at all; a byte each, not 0 for those that are not drawn (NULL: all are); how
	 * fast they change instead of their values; the time whose values are written, 0 for the last
	 * seen. */
	bool no_counters;
	const uint8_t *hidden_counters;
	bool counter_rates;
	uint64_t counters_at;
};

/* Draws into an empty canvas. 0 or WEFT_ERROR_MEMORY. */
int weft_render_frame(const struct weft_scene *scene, const struct weft_frame *frame,
	const struct weft_view *view, const struct weft_render_options *options,
	struct weft_canvas *canvas);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: ISC
 *
 * Drawing: a frame of a trace, as operations on a canvas.
 *
 * A scene indexes a model and its layout once, so that the cost of a frame depends on its pixels,
 * not on the number of events. Things smaller than a pixel are merged into densities, never left
 * out. A scene borrows both, which must outlive it, and is read-only once created. A frame is a
 * function of the arguments alone.
 */
#ifndef WEFT_RENDER_H
#define WEFT_RENDER_H

#include <stdbool.h>
#include <stddef.h>
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
	WEFT_THEME_SAFE_DARK, /* for colour-blind eyes */
	WEFT_THEMES
};

/* "light", "dark", "safe", "safe-dark". */
const char *weft_theme_name(enum weft_theme theme);

struct weft_scene;

int weft_scene_create(const struct weft_model *model, const struct weft_layout *layout,
	struct weft_scene **ret_scene);
/* The same, with progress reports, which may stop the work. `progress` may be NULL. */
int weft_scene_create_watched(const struct weft_model *model, const struct weft_layout *layout,
	const struct weft_progress *progress, struct weft_scene **ret_scene);
/* The same for a growing trace: shares what it can with `previous`, the scene of an earlier
 * snapshot of the same builder with a layout that is the `previous` one of `layout`, so that the
 * cost is in proportion to the new events. If `previous` is something else, or NULL, everything is
 * made anew. The two scenes are then independent: either may be destroyed first. `previous`, its
 * model and its layout are only read, while the new scene is made. */
int weft_scene_create_from(const struct weft_model *model, const struct weft_layout *layout,
	const struct weft_scene *previous, struct weft_scene **ret_scene);
void weft_scene_destroy(struct weft_scene *scene);

/* Writes row_count + 1 values for weft_view_set_edges(): rows without tasks in the view become a
 * hairline, rows whose tasks are narrow there become low. */
void weft_scene_row_edges(
	const struct weft_scene *scene, const struct weft_view *view, double *ret_edges);

/* Makes what weft_view_set_squeeze() takes from the times in which nothing runs. `*ret_squeeze` is
 * NULL if none of them is long, else the caller destroys it. It does not refer to the scene. 0 or
 * WEFT_ERROR_MEMORY. */
int weft_scene_create_squeeze(const struct weft_scene *scene, struct weft_squeeze **ret_squeeze);

struct weft_box {
	double x, y, width, height; /* absent if width or height is 0 */
};

/* How a frame shows counters. */
enum weft_counter_form {
	WEFT_COUNTERS_LANES,   /* each in a lane of its own, between the ruler and the picture */
	WEFT_COUNTERS_OVERLAY, /* over the tasks, with names and values in the gutter */
	WEFT_COUNTERS_NONE
};

/* "lanes", "overlay", "none". */
const char *weft_counter_form_name(enum weft_counter_form form);

/* The usual, least and largest height of a counter's lane, px. */
#define WEFT_LANE_HEIGHT       28.0
#define WEFT_LANE_HEIGHT_LEAST 18.0
#define WEFT_LANE_HEIGHT_MAX   80.0

/* Where the parts of a frame are. A small frame lacks some. */
struct weft_frame {
	double width, height;
	struct weft_box title;
	struct weft_box strip; /* the overview */
	struct weft_box ruler;
	struct weft_box picture; /* has the size of the weft_view */
	struct weft_box groups;  /* the groups' names, left of the picture */
	struct weft_box gutter;  /* the counters' names, if they are drawn over the tasks */
	struct weft_box status;
	struct weft_box lanes; /* of counters and histograms, above the picture and as wide */
	double lane_height;    /* px of each */
	enum weft_counter_form counters;
};

/* Places the parts; all counters and histograms have lanes as far as there is room. */
void weft_frame_place(
	const struct weft_layout *layout, double width, double height, struct weft_frame *ret_frame);

/* How many histograms of the model have a lane, below those of counters: metrics as a whole that
 * have values, but not more than a few. */
uint32_t weft_histogram_lanes(const struct weft_model *model);

/* Places `count` counters and histograms in another form. Lanes get `lane_height` px each; less, or
 * only some of them, where they would take more than two fifths of the picture. */
void weft_frame_place_counters(
	struct weft_frame *frame, enum weft_counter_form form, uint32_t count, double lane_height);

/* A view of everything in the frame's picture. */
void weft_frame_view(
	const struct weft_layout *layout, const struct weft_frame *frame, struct weft_view *ret_view);

/* The highlights of a frame. The lists are borrowed while the frame is drawn. */
struct weft_highlight {
	uint32_t selected, hovered; /* tasks, or WEFT_NONE */
	double strength;            /* 0 to 1: how far the arrows of all other tasks have faded */
	const uint32_t *edges;      /* edges whose arrows are highlighted */
	uint32_t edge_count;
	uint32_t edge; /* the current one of them; or WEFT_NONE */
	const uint32_t
		*related; /* tasks in ascending order: if there are any, all other tasks are dimmed */
	uint32_t related_count;
	const uint32_t *found; /* tasks in ascending order, drawn on a coloured ground */
	uint32_t found_count;
};

struct weft_render_options {
	size_t size; /* sizeof(struct weft_render_options), or 0; members that an older header lacks are
					0 */
	enum weft_theme theme;
	const char *title;            /* the trace's name; NULL for none */
	const struct weft_font *font; /* NULL for the built-in one */
	bool hover;                   /* describe each task in one sentence as a group of the canvas */
	/* Animated rows: for each row, the px to its old position, and the share of that (0 to 1) that
	 * is still to be added to its new one. NULL: no animation. */
	const double *row_shifts;
	double row_shift;
	bool handles;       /* draw the handles of folds */
	const char *status; /* instead of a description of the view; NULL or "" for that */
	const struct weft_highlight *highlight; /* NULL: nothing is highlighted */
	double taken_x,
		taken_x2;     /* no label of the ruler is drawn between these; both 0: no such range */
	bool clock_times; /* the ruler begins with the time of day, if that is known */
	/* Counters: draw none; a byte for each, not 0 if it is hidden (NULL: all are drawn); draw their
	 * rates of change instead of their values; the time whose values are written, 0 for the last
	 * visible one. */
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

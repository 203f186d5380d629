/* SPDX-License-Identifier: ISC
 *
 * The choice of counters that are drawn, and how they are drawn.
 */
#ifndef WEFT_VIEWER_COUNTERS_H
#define WEFT_VIEWER_COUNTERS_H

#include <weft/viewer.h>

struct weft_viewer;

struct weft__counter_choice {
	bool are_hidden, are_rates, are_over; /* over the tasks instead of in lanes */
	double lane_height;                   /* px that the user chose; 0: the usual */
	uint8_t *hidden;                      /* a byte for each counter; NULL: no counter is hidden */
	uint32_t hidden_count;
};

/* counters.c */
bool weft__viewer_hides_counter(const struct weft_viewer *viewer, uint32_t counter);
void weft__viewer_toggle_counter(struct weft_viewer *viewer, uint32_t counter);
/* Draws a counter even if it was hidden. */
void weft__viewer_see_counter(struct weft_viewer *viewer, uint32_t counter);
/* Adapts the choice to a new model; restores the default choice. */
void weft__viewer_use_counters(struct weft_viewer *viewer);
void weft__viewer_forget_counters(struct weft_viewer *viewer);
/* True if there are more counters than are drawn by default. */
bool weft__viewer_has_many_counters(const struct weft_viewer *viewer);
bool weft__viewer_has_all_counters(const struct weft_viewer *viewer);
void weft__viewer_take_all_counters(struct weft_viewer *viewer);
void weft__viewer_link_counters(const struct weft_viewer *viewer,
	void (*add)(void *context, const char *key, uint32_t counter), void *context);
/* The room in the frame of the counters that are drawn. */
void weft__viewer_place_counters(struct weft_viewer *viewer);
/* lanes.c: the counter whose lane is at a point, or WEFT_NONE; which lane's lower edge is there, 1
 * for the first, or 0. */
uint32_t weft__viewer_counter_at(const struct weft_viewer *viewer, double x, double y);
unsigned weft__viewer_lane_edge_at(const struct weft_viewer *viewer, double x, double y);
/* Gives all lanes the height with which the held edge is at y. */
void weft__viewer_drag_lane(struct weft_viewer *viewer, double y);
/* Goes to the last change at x; opens the list of counters if no task made it. */
void weft__viewer_click_counter(struct weft_viewer *viewer, uint32_t counter, double x);
/* True if any counter is drawn. */
bool weft__viewer_has_counters(const struct weft_viewer *viewer);

#endif

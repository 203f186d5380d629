/* SPDX-License-Identifier: ISC
 *
 * The choice of counters that are drawn. It is by their numbers, so it stays valid while a trace
 * grows. If there are many counters, only the first few are drawn until the user chooses others,
 * because all of them would hide the tasks.
 */
#include <stdlib.h>
#include <string.h>

#include "viewer/state.h"

#define USUAL 12u

static bool is_usual(uint32_t counter)
{
	return counter < USUAL;
}

static bool is_chosen(const struct weft_viewer *viewer, uint32_t counter)
{
	return counter < viewer->counters.hidden_count ? !viewer->counters.hidden[counter]
												   : is_usual(counter);
}

bool weft__viewer_hides_counter(const struct weft_viewer *viewer, uint32_t counter)
{
	return viewer->counters.are_hidden || !is_chosen(viewer, counter);
}

static uint32_t count_drawn(const struct weft_viewer *viewer)
{
	uint32_t count = 0;
	for (uint32_t i = 0; viewer->model && i < viewer->model->counter_count; i++)
		count += !weft__viewer_hides_counter(viewer, i);
	return count;
}

bool weft__viewer_has_counters(const struct weft_viewer *viewer)
{
	return count_drawn(viewer) > 0;
}

void weft__viewer_place_counters(struct weft_viewer *viewer)
{
	const struct weft__counter_choice *c = &viewer->counters;
	enum weft_counter_form form = c->are_hidden ? WEFT_COUNTERS_NONE
								  : c->are_over ? WEFT_COUNTERS_OVERLAY
												: WEFT_COUNTERS_LANES;
	const uint32_t histograms =
		viewer->model && form == WEFT_COUNTERS_LANES ? weft_histogram_lanes(viewer->model) : 0;
	weft_frame_place_counters(&viewer->frame, form, count_drawn(viewer) + histograms,
		c->lane_height > 0 ? c->lane_height : WEFT_LANE_HEIGHT);
}

/* Makes a byte for each counter of the model. */
static bool make_room(struct weft_viewer *viewer)
{
	uint32_t count = viewer->model->counter_count;
	if (viewer->counters.hidden_count >= count)
		return true;
	uint8_t *hidden = realloc(viewer->counters.hidden, count);
	if (!hidden)
		return false;
	for (uint32_t i = viewer->counters.hidden_count; i < count; i++)
		hidden[i] = !is_usual(i);
	viewer->counters.hidden = hidden;
	viewer->counters.hidden_count = count;
	return true;
}

void weft__viewer_use_counters(struct weft_viewer *viewer)
{
	if (viewer->model->counter_count > USUAL)
		make_room(viewer);
}

void weft__viewer_forget_counters(struct weft_viewer *viewer)
{
	viewer->counters.hidden_count = 0;
	if (viewer->model)
		weft__viewer_use_counters(viewer);
}

bool weft__viewer_has_all_counters(const struct weft_viewer *viewer)
{
	uint32_t count = viewer->model->counter_count, chosen = 0;
	for (uint32_t i = 0; i < count; i++)
		chosen += is_chosen(viewer, i);
	return chosen == count && !viewer->counters.are_hidden;
}

bool weft__viewer_has_many_counters(const struct weft_viewer *viewer)
{
	return viewer->model->counter_count > USUAL;
}

void weft__viewer_take_all_counters(struct weft_viewer *viewer)
{
	viewer->counters.are_hidden = false;
	if (make_room(viewer) && viewer->counters.hidden_count)
		memset(viewer->counters.hidden, 0, viewer->counters.hidden_count);
}

/* Adds the counters whose state differs from the default. */
void weft__viewer_link_counters(const struct weft_viewer *viewer,
	void (*add)(void *context, const char *key, uint32_t counter), void *context)
{
	for (uint32_t i = 0; i < viewer->model->counter_count; i++)
		if (is_chosen(viewer, i) != is_usual(i))
			add(context, is_usual(i) ? "without" : "with", i);
}

void weft__viewer_see_counter(struct weft_viewer *viewer, uint32_t counter)
{
	if (counter < viewer->model->counter_count && weft__viewer_hides_counter(viewer, counter))
		weft__viewer_toggle_counter(viewer, counter);
}

void weft__viewer_toggle_counter(struct weft_viewer *viewer, uint32_t counter)
{
	if (counter >= viewer->model->counter_count || !make_room(viewer))
		return;
	if (viewer->counters.are_hidden) { /* none is drawn yet, so draw only this one */
		viewer->counters.are_hidden = false;
		memset(viewer->counters.hidden, 1, viewer->counters.hidden_count);
	}
	viewer->counters.hidden[counter] = !viewer->counters.hidden[counter];
	viewer->panel.is_stale = true;
	weft__viewer_arrange(viewer); /* counters need room */
}

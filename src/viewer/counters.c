/* SPDX-License-Identifier: ISC
 *
 * Which counters are drawn. The choice is by their numbers, so it holds while a trace grows.
 */
#include <stdlib.h>
#include <string.h>

#include "viewer/state.h"

bool weft__viewer_hides_counter(const struct weft_viewer *viewer, uint32_t counter)
{
	return viewer->counters_hidden ||
		   (counter < viewer->hidden_count && viewer->hidden_counters[counter]);
}

bool weft__viewer_has_counters(const struct weft_viewer *viewer)
{
	for (uint32_t i = 0; viewer->model && i < viewer->model->counter_count; i++)
		if (!weft__viewer_hides_counter(viewer, i))
			return true;
	return false;
}

/* A byte for each counter of the model. */
static bool make_room(struct weft_viewer *viewer)
{
	uint32_t count = viewer->model->counter_count;
	if (viewer->hidden_count >= count)
		return true;
	uint8_t *hidden = realloc(viewer->hidden_counters, count);
	if (!hidden)
		return false;
	memset(hidden + viewer->hidden_count, 0, count - viewer->hidden_count);
	viewer->hidden_counters = hidden;
	viewer->hidden_count = count;
	return true;
}

void weft__viewer_toggle_counter(struct weft_viewer *viewer, uint32_t counter)
{
	if (counter >= viewer->model->counter_count || !make_room(viewer))
		return;
	if (viewer->counters_hidden) { /* one of none: it alone */
		viewer->counters_hidden = false;
		memset(viewer->hidden_counters, 1, viewer->hidden_count);
	}
	viewer->hidden_counters[counter] = !viewer->hidden_counters[counter];
	viewer->panel.is_stale = true;
	weft__viewer_place(viewer); /* without any there is no gutter */
}

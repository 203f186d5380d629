/* SPDX-License-Identifier: ISC
 *
 * The counters' lanes above the picture: their height, which a drag of a lane's lower edge changes,
 * and the counter under the pointer. A click goes to the task that made the last change.
 */
#include <math.h>

#include "base/search.h"
#include "viewer/state.h"

#define EDGE_REACH 4.0 /* px */

static unsigned lane_count(const struct weft_frame *frame)
{
	return frame->lane_height > 0 ? (unsigned)(frame->lanes.height / frame->lane_height + 0.01) : 0;
}

uint32_t weft__viewer_counter_at(const struct weft_viewer *viewer, double x, double y)
{
	const struct weft_frame *frame = &viewer->frame;
	if (!viewer->model || !weft__viewer_inside(&frame->lanes, x, y))
		return WEFT_NONE;
	unsigned lane = (unsigned)((y - frame->lanes.y) / frame->lane_height);
	for (uint32_t i = 0; i < viewer->model->counter_count && lane < lane_count(frame); i++)
		if (!weft__viewer_hides_counter(viewer, i) && lane-- == 0)
			return i;
	return WEFT_NONE;
}

unsigned weft__viewer_lane_edge_at(const struct weft_viewer *viewer, double x, double y)
{
	const struct weft_frame *frame = &viewer->frame;
	const struct weft_box reach = {frame->lanes.x, frame->lanes.y + frame->lane_height / 2,
		frame->lanes.width, frame->lanes.height};
	if (!viewer->model || frame->lanes.height == 0 || !weft__viewer_inside(&reach, x, y))
		return 0;
	unsigned lane = (unsigned)fmax((y - frame->lanes.y) / frame->lane_height + 0.5, 0);
	double away = fabs(y - frame->lanes.y - lane * frame->lane_height);
	return lane <= lane_count(frame) && away <= EDGE_REACH ? lane : 0;
}

void weft__viewer_drag_lane(struct weft_viewer *viewer, double y)
{
	double height = (y - viewer->frame.lanes.y) / viewer->pointer.lane;
	viewer->counters.lane_height =
		fmin(fmax(floor(height + 0.5), WEFT_LANE_HEIGHT_LEAST), WEFT_LANE_HEIGHT_MAX);
	weft__viewer_arrange(viewer);
}

void weft__viewer_click_counter(struct weft_viewer *viewer, uint32_t index, double x)
{
	if (index == WEFT_NONE)
		return;
	const struct weft_samples *samples = &viewer->model->samples;
	const struct weft_counter *counter = &viewer->model->counters[index];
	uint64_t at = weft_view_time(&viewer->view, x - viewer->frame.picture.x);
	size_t next = weft__upper_bound_u64(samples->time + counter->first, counter->count, at);
	uint32_t sample = counter->first + (uint32_t)next - 1;
	uint32_t task = next ? samples->task[sample] : WEFT_NONE;
	if (task == WEFT_NONE || viewer->layout->row[task] == WEFT_NONE) {
		weft__viewer_open_panel(viewer, WEFT__PANEL_COUNTERS);
		return;
	}
	weft__viewer_select(viewer, task, samples->time[sample]);
	weft__viewer_open_panel(viewer, WEFT__PANEL_STORY);
	weft__viewer_reveal_task(viewer, task, samples->time[sample]);
}

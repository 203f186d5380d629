/* SPDX-License-Identifier: ISC
 *
 * A snapshot opens at the alert because of which it was taken.
 */
#include "viewer/state.h"

#define SHARE 24 /* 1 / share of the trace: framed before the alert */

static const struct weft_trace_alert *find(const struct weft_model *model, uint32_t *ret_buffer)
{
	for (uint32_t i = 0; i < model->buffer_count; i++)
		if (model->buffers[i].alert_count) {
			*ret_buffer = i;
			return &model->buffers[i].alerts[0];
		}
	return NULL;
}

void weft__viewer_open_at_alert(struct weft_viewer *viewer)
{
	const struct weft_model *model = viewer->model;
	uint32_t buffer;
	const struct weft_trace_alert *alert = find(model, &buffer);
	viewer->problems.opens_at_alert = alert && !viewer->is_live;
	if (!viewer->problems.opens_at_alert)
		return;
	const uint64_t time = weft_model_alert_time(model, alert);
	const uint64_t before_ns = (model->summary.end - model->summary.start) / SHARE;
	const uint32_t task = weft_model_find_task(model, buffer, alert->task);
	weft__viewer_select(viewer, task, time);
	weft__viewer_frame(viewer, task != WEFT_NONE ? viewer->layout->row[task] : WEFT_NONE, WEFT_NONE,
		time - model->summary.start > before_ns ? time - before_ns : model->summary.start, time);
}

void weft__viewer_mark_alert(struct weft_viewer *viewer)
{
	const struct weft_problems *found = viewer->problems.found;
	if (!viewer->problems.opens_at_alert || !found->count ||
		found->list[found->by_gravity[0]].type != WEFT_PROBLEM_ALERT)
		return;
	viewer->problems.opens_at_alert = false;
	viewer->problems.current = 0;
	viewer->problems.is_marked = true;
	weft__viewer_show_message(viewer, "%s", found->list[found->by_gravity[0]].sentence);
}

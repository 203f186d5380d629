/* SPDX-License-Identifier: ISC
 *
 * Commands about the flame graph.
 */
#include <string.h>

#include <weft/parse.h>

#include "viewer/commands/commands.h"
#include "viewer/state.h"

/* Waits, unless the trace has only samples. */
static bool is_cpu_wanted(const struct weft_viewer *viewer)
{
	return !viewer->model->stacks.count && viewer->model->code_sample_count;
}

static void zoom_to(struct weft_viewer *viewer, const char *number)
{
	uint64_t node;
	if (weft_parse_number(number, strlen(number), &node) == WEFT_PARSE_OK && node < WEFT_NONE)
		weft__viewer_zoom_flame(viewer, (uint32_t)node);
}

static void toggle_task(struct weft_viewer *viewer)
{
	struct weft__flame_view *f = &viewer->flame;
	if (viewer->selection.task == WEFT_NONE) {
		f->is_of_task = false;
		weft__viewer_show_message(viewer, "No task is selected.");
		return;
	}
	f->is_of_task = !f->is_of_task;
	weft__viewer_show_flame(viewer, true);
}

void weft__run_flame(struct weft_viewer *viewer, const char *arguments)
{
	struct weft__flame_view *f = &viewer->flame;
	const char zoom[] = "zoom ";
	if (strncmp(arguments, zoom, sizeof(zoom) - 1) == 0) {
		zoom_to(viewer, arguments + sizeof(zoom) - 1);
	} else if (strcmp(arguments, "task") == 0) {
		toggle_task(viewer);
	} else if (strcmp(arguments, "off") == 0 || (!arguments[0] && f->is_shown)) {
		weft__viewer_show_flame(viewer, false);
	} else {
		f->is_cpu = arguments[0] ? strcmp(arguments, "cpu") == 0 : is_cpu_wanted(viewer);
		weft__viewer_show_flame(viewer, true);
	}
}

/* SPDX-License-Identifier: ISC
 *
 * A list of controls: the buttons, and two handles in the overview, at the start and the end of the
 * part that the view shows. The shell lays a focusable widget over each, for keyboards and screen
 * readers.
 */
#include <stdio.h>
#include <string.h>

#include "base/export.h"
#include "base/ns.h"
#include "viewer/state.h"

#define HANDLE_WIDTH 20.0
#define STEP         0.1 /* share of the view by which one step moves an edge */

static bool is_same(const struct weft_viewer_control *a, const struct weft_viewer_control *b)
{
	return a->type == b->type && a->is_on == b->is_on && a->is_off == b->is_off &&
		   a->position == b->position && a->icon == b->icon && a->color == b->color &&
		   memcmp(&a->box, &b->box, sizeof(a->box)) == 0 && a->name == b->name &&
		   a->command == b->command;
}

static void add_control(
	struct weft_viewer *viewer, uint32_t *at, const struct weft_viewer_control *control)
{
	struct weft_viewer_control *old = &viewer->toolbar.controls[*at];
	if (*at >= viewer->toolbar.control_count || !is_same(old, control))
		viewer->changes |= WEFT_VIEWER_CONTROLS;
	*old = *control;
	++*at;
}

/* Adds the handle at the start or the end of the view; its value is the time there. */
static void add_handle(struct weft_viewer *viewer, uint32_t *at, bool is_end)
{
	const struct weft_view *view = weft__viewer_wanted(viewer);
	const struct weft_box *strip = &viewer->frame.strip;
	const struct weft__strip axis = weft__viewer_strip(viewer);
	char *value = viewer->toolbar.handle_values[is_end], before[32];
	uint64_t time =
		is_end ? weft_view_time(view, view->width - WEFT_VIEW_MARGIN) : weft__viewer_start(view);
	double x = weft__render_strip_x(&axis, time);
	memcpy(before, value, sizeof(before));
	weft_format_duration(time - view->start, 5, value);
	if (strcmp(before, value) != 0)
		viewer->changes |= WEFT_VIEWER_CONTROLS;
	add_control(viewer, at,
		&(struct weft_viewer_control){
			.box = {x - HANDLE_WIDTH / 2, strip->y, HANDLE_WIDTH, strip->height},
			.name = is_end ? "End of the view" : "Start of the view",
			.value = value,
			.text = "",
			.command = is_end ? "stretch end" : "stretch begin",
			.type = WEFT_VIEWER_HANDLE,
		});
}

void weft__viewer_list_controls(struct weft_viewer *viewer)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < viewer->toolbar.count; i++) {
		const struct weft__button *button = &viewer->toolbar.buttons[i];
		char *text = viewer->toolbar.control_texts[i];
		if (strcmp(text, button->text) != 0)
			viewer->changes |= WEFT_VIEWER_CONTROLS;
		memcpy(text, button->text, sizeof(button->text));
		add_control(viewer, &count,
			&(struct weft_viewer_control){
				.box = button->box,
				.name = button->tip,
				.value = "",
				.command = button->command,
				.text = text,
				.color = weft__viewer_button_color(viewer, button),
				.position = button->position,
				.icon = button->icon,
				.type = WEFT_VIEWER_PUSH,
				.is_on = button->is_on,
				.is_off = button->is_faint,
			});
	}
	if (viewer->model && viewer->frame.strip.height > 0) {
		add_handle(viewer, &count, false);
		add_handle(viewer, &count, true);
	}
	if (count != viewer->toolbar.control_count)
		viewer->changes |= WEFT_VIEWER_CONTROLS;
	viewer->toolbar.control_count = count;
}

void weft__viewer_stretch_view(struct weft_viewer *viewer, bool is_end, int step)
{
	struct weft_view view = *weft__viewer_wanted(viewer);
	double length = weft__view_duration(&view), by = step * length * STEP;
	double most = (double)(view.end - view.start),
		   from = (double)(weft__viewer_start(&view) - view.start);
	double to = from + length;
	if (is_end)
		to += by;
	else
		from += by;
	from = from > 0 ? from : 0;
	to = to < most ? to : most;
	if (to - from < 1)
		return;
	weft__viewer_remember(viewer, false);
	weft_view_set_range(
		&view, view.start + weft__ns_between(from, view.end - view.start), to - from);
	weft__viewer_glide(viewer, &view);
}

WEFT__EXPORT const struct weft_viewer_control *weft_viewer_controls(
	const struct weft_viewer *viewer, uint32_t *ret_count)
{
	*ret_count = viewer->toolbar.control_count;
	return viewer->toolbar.controls;
}

/* SPDX-License-Identifier: ISC */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/export.h"
#include "render/strip.h"
#include "render/theme.h"
#include "viewer/state.h"

#define REST_MS   150.0 /* the view has not changed for that long */
#define SLACK     0.05  /* share of the view that need not be read */
#define BAR       0.25  /* share of a colour */
#define LEAST_BAR 1.0   /* px */

/* The times at the edges of a view, within the trace. */
static void edges_of(const struct weft_view *view, uint64_t *ret_start, uint64_t *ret_end)
{
	const uint64_t start = weft_view_time(view, 0), end = weft_view_time(view, view->width);
	*ret_start = start > view->start ? start : view->start;
	*ret_end = end < view->end ? end : view->end;
}

/* A file that was read again may have become small enough to be read as a whole. */
static bool has_parts(const struct weft_viewer *viewer)
{
	return viewer->part.density && viewer->model && viewer->model->summary.read_end;
}

static bool is_read(const struct weft_viewer *viewer, uint64_t start, uint64_t end)
{
	const struct weft_model_summary *s = &viewer->model->summary;
	const double slack = SLACK * (double)(end - start);
	return (start >= s->read_start || (double)(s->read_start - start) <= slack) &&
		   (end <= s->read_end || (double)(end - s->read_end) <= slack);
}

static bool was_asked(const struct weft__part *part, uint64_t start, uint64_t end)
{
	return start >= part->start && end <= part->end;
}

void weft__viewer_look_at_part(struct weft_viewer *viewer)
{
	struct weft__part *part = &viewer->part;
	uint64_t start, end;
	if (!has_parts(viewer))
		return;
	edges_of(weft__viewer_wanted(viewer), &start, &end);
	const bool has_moved = start != part->left || end != part->right;
	part->left = start;
	part->right = end;
	if (is_read(viewer, start, end) || was_asked(part, start, end))
		part->due_ms = INFINITY;
	else if (has_moved)
		part->due_ms = viewer->now_ms + REST_MS;
}

void weft__viewer_ask_for_part(struct weft_viewer *viewer)
{
	struct weft__part *part = &viewer->part;
	uint64_t start = part->left, end = part->right;
	if (!has_parts(viewer) || viewer->now_ms < part->due_ms)
		return;
	part->due_ms = INFINITY;
	if (!weft_density_widen(part->density, part->most_bytes, &start, &end)) {
		const double bytes = weft_density_weigh(part->density, start, end);
		weft__viewer_show_message(viewer,
			"This is too much to be read at once (%" PRIu64 " MB): zoom in to see it.",
			(uint64_t)(bytes / 1e6));
		return;
	}
	part->start = start;
	part->end = end;
	weft__viewer_request(viewer, WEFT_VIEWER_READ, "", start, end);
}

static void show_part(struct weft_viewer *viewer)
{
	const struct weft_model_summary *s = &viewer->model->summary;
	const uint64_t end = s->read_end < s->end ? s->read_end : s->end;
	struct weft_view view = viewer->view;
	weft__viewer_halt(viewer);
	weft_view_set_range(&view, s->read_start, (double)(end - s->read_start));
	viewer->view = view;
	viewer->changes |= WEFT_VIEWER_CANVAS | WEFT_VIEWER_STATUS;
}

WEFT__EXPORT int weft_viewer_set_density(
	struct weft_viewer *viewer, const struct weft_density *density, double most_bytes)
{
	struct weft__part *part = &viewer->part;
	struct weft_density *copy = malloc(sizeof(*copy));
	if (!copy)
		return WEFT_ERROR_MEMORY;
	free(part->density);
	*copy = *density;
	*part = (struct weft__part){.density = copy, .most_bytes = most_bytes, .due_ms = INFINITY};
	for (unsigned i = 0; i < WEFT_DENSITY_COLUMNS; i++)
		part->most_column = fmax(part->most_column, copy->bytes[i]);
	if (viewer->model && viewer->model->summary.read_end)
		show_part(viewer);
	weft__viewer_settle(viewer);
	return 0;
}

/* The height grows with the square root, as that of the overview's other bars. */
static void draw_bar(const struct weft__part *part, const struct weft__rect *area, double x,
	double x2, double bytes, uint32_t color, struct weft_canvas *canvas)
{
	const double height = (area->y2 - area->y) * sqrt(bytes / part->most_column);
	if (bytes > 0 && x2 > x)
		weft_canvas_rect(canvas, x, area->y2 - fmax(floor(height), LEAST_BAR), x2, area->y2, color);
}

void weft__viewer_draw_density(const struct weft_viewer *viewer, const struct weft__strip *strip,
	const struct weft__theme *theme, struct weft_canvas *canvas)
{
	const struct weft__part *part = &viewer->part;
	const struct weft_model_summary *s = &viewer->model->summary;
	const uint32_t color = weft__render_faded(theme->text, BAR);
	if (!has_parts(viewer) || part->most_column <= 0)
		return;
	const double from = weft__render_strip_x(strip, s->read_start),
				 to = weft__render_strip_x(strip, s->read_end);
	for (double x = strip->area.x; x + 1 <= strip->area.x2; x++) {
		const uint64_t start = weft__render_strip_time(strip, x),
					   end = weft__render_strip_time(strip, x + 1);
		const double length = (double)(end - start) * WEFT_DENSITY_COLUMNS /
							  fmax((double)(part->density->end_ns - part->density->start_ns), 1);
		if ((x + 1 <= from || x >= to) && length > 0)
			draw_bar(part, &strip->area, x, x + 1,
				weft_density_weigh(part->density, start, end) / length, color, canvas);
	}
}

/* SPDX-License-Identifier: ISC
 *
 * Groups of rows: a line where each begins, and in the gutter its name, how much it ran, and
 * whether it is folded. A narrow frame has no gutter; the names are then in the picture.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "render/painter.h"

#define LEAST_HEIGHT 13.0 /* px between names */
#define MARGIN       8.0
#define TRIANGLE     4.0

static bool is_own_lane(const struct painter *p, const struct weft_group *group)
{
	return p->lanes[weft__render_lane_of_row(p, group->first_row)].row_count == 1;
}

void weft__render_rule_groups(struct painter *p)
{
	const struct weft_box *box = &p->frame->picture;
	struct weft_pen pen = {p->theme->grid, 1, WEFT_DASH_SOLID};
	for (uint32_t i = 0; i < p->layout->group_count; i++) {
		const struct weft_group *group = &p->layout->groups[i];
		double y = weft__render_crisp(weft__render_y(p, group->first_row));
		if (!group->folded && is_own_lane(p, group))
			weft_canvas_line(p->canvas, box->x, y, box->x + box->width, y, &pen);
	}
}

/* Draws the triangle, which points down while the group's rows are shown. */
static void draw_triangle(struct painter *p, double x, double y, bool folded)
{
	const double down[] = {x - TRIANGLE, y - 2, x + TRIANGLE, y - 2, x, y + 3};
	const double right[] = {x - 2, y - TRIANGLE, x + 3, y, x - 2, y + TRIANGLE};
	weft_canvas_polygon(p->canvas, folded ? right : down, 3, p->theme->dim);
}

static struct weft_slice as_slice(const char *text)
{
	return (struct weft_slice){text, strlen(text)};
}

static void write_share(double share, char text[16])
{
	double percent = share * 100;
	if (percent > 0 && percent < 1)
		snprintf(text, 16, "<1 %%");
	else
		snprintf(text, 16, "%.0f %%", percent);
}

/* Writes the name at the left and the share at the right edge of a box. */
static void write_heading(
	struct painter *p, const struct weft_group *group, double left, double right, double y)
{
	struct weft_text_style name = {p->theme->text, 12, true, true, p->theme->background};
	struct weft_text_style share = {p->theme->dim, 10.5, false, true, p->theme->background};
	char text[16];
	draw_triangle(p, left + MARGIN + TRIANGLE, y, group->folded);
	left += 2 * MARGIN + 2 * TRIANGLE;
	write_share(group->running, text);
	double width = weft__render_measure(p, text, &share);
	double used = weft__render_put_text(
		p, left, y + 4, as_slice(group->name), right - width - 2 * MARGIN - left, &name);
	double at = p->frame->groups.width > 0 ? right - MARGIN - width : left + used + MARGIN;
	weft_canvas_text(p->canvas, at, y + 4, text, strlen(text), width, &share);
}

/* Draws a line beside the group's rows. */
static void draw_extent(struct painter *p, const struct weft_group *group, double y)
{
	const struct weft_box *box = &p->frame->groups;
	struct weft_pen pen = {p->theme->grid, 1, WEFT_DASH_SOLID};
	double x = weft__render_crisp(box->x + MARGIN + TRIANGLE);
	double y2 = weft__render_crisp(weft__render_y(p, group->first_row + group->row_count - 1));
	if (box->width > 0 && !group->folded && y2 > y + LEAST_HEIGHT)
		weft_canvas_polyline(
			p->canvas, (double[]){x, y + LEAST_HEIGHT / 2, x, y2, x + 6, y2}, 3, &pen);
}

void weft__render_name_groups(struct painter *p)
{
	const struct weft_box *gutter = &p->frame->groups, *box = &p->frame->picture;
	double next = box->y + LEAST_HEIGHT / 2;
	if (!p->layout->group_count)
		return;
	weft_canvas_clip(p->canvas, 0, box->y, box->x + box->width, box->y + box->height);
	for (uint32_t i = 0; i < p->layout->group_count; i++) {
		const struct weft_group *group = &p->layout->groups[i];
		double y = floor(weft__render_y(p, group->first_row));
		if (y < next)
			continue; /* too close to the one above */
		draw_extent(p, group, y);
		if (gutter->width > 0)
			write_heading(p, group, gutter->x, gutter->x + gutter->width, y);
		else
			write_heading(p, group, box->x, box->x + box->width, y);
		next = y + LEAST_HEIGHT;
	}
	weft_canvas_unclip(p->canvas);
}

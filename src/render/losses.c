/* SPDX-License-Identifier: ISC
 *
 * Losses: a hatch where events are missing, over the rows of their thread if threads have rows of
 * their own, with their number. Losses in the same pixel are one hatch, so that the cost of a frame
 * depends on its pixels.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/painter.h"

#define LEAST_WIDTH 3.0 /* px: width of the narrowest hatch */
#define JOINED      2.0 /* px: closer hatches are joined */
#define LINE        12.0
#define ALPHA       0.5

/* A hatch that may still be extended. */
struct hatch {
	double x, x2;
	uint64_t count, packets; /* lost events, missing packets; both 0: no hatch */
};

/* The rows in which the hatches of some threads are. */
struct region {
	double y, y2;
	struct hatch hatch;
};

struct regions {
	struct region *list;
	uint32_t *of_thread; /* region of each thread, or WEFT_NONE */
	uint32_t count;
};

/* Makes the hatch of a loss. Losses before the first event lie in the margin left of it. */
static struct hatch make_hatch(
	const struct weft_loss_period *period, double x, double x2, double left_edge)
{
	const bool is_of_packets = period->cause == WEFT_LOSS_MISSING_PACKETS;
	struct hatch hatch = {
		x, x2, is_of_packets ? 0 : period->count, is_of_packets ? period->count : 0};
	if (period->start == period->end)
		hatch.x = fmax(left_edge, x - WEFT_VIEW_MARGIN);
	if (hatch.x2 - hatch.x < LEAST_WIDTH)
		hatch.x2 = hatch.x + LEAST_WIDTH;
	return hatch;
}

static uint64_t add_saturated(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static bool is_hatch(const struct hatch *hatch)
{
	return hatch->count || hatch->packets;
}

/* Extends *hatch by `next`; true if `next` does not touch it, so that *hatch has to be drawn first.
 */
static bool begins_another(struct hatch *hatch, const struct hatch *next)
{
	if (is_hatch(hatch) && next->x > hatch->x2 + JOINED)
		return true;
	if (!is_hatch(hatch))
		*hatch = (struct hatch){next->x, next->x2, 0, 0};
	hatch->x2 = fmax(hatch->x2, next->x2);
	hatch->count = add_saturated(hatch->count, next->count);
	hatch->packets = add_saturated(hatch->packets, next->packets);
	return false;
}

/* ---- The picture ---- */

/* Writes "47,689 lost"; where only packets are known to be missing, "1 packet missing". */
static void write_number(const struct hatch *hatch, char text[48])
{
	const uint64_t count = hatch->count ? hatch->count : hatch->packets;
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, count), used = 0;
	for (int i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			text[used++] = ',';
		text[used++] = digits[i];
	}
	snprintf(text + used, 48 - (size_t)used, "%s",
		hatch->count ? " lost"
		: count == 1 ? " packet missing"
					 : " packets missing");
}

static void put_number(struct painter *p, const struct region *region)
{
	struct weft_text_style style = {p->theme->dim, 10.5, false, true, p->theme->background};
	const struct weft_box *box = &p->frame->picture;
	char text[48];
	write_number(&region->hatch, text);
	double width = weft__render_measure(p, text, &style);
	double x = fmax(region->hatch.x, box->x) + 3, y = fmax(region->y, box->y) + 2;
	for (int tries = 0; tries < 3 && y + LINE <= region->y2; tries++, y += LINE) {
		struct weft__rect rect = {x, y, x + width, y + LINE};
		if (x + width > box->x + box->width || !weft__render_occupied_take(p->occupied, rect))
			continue;
		weft_canvas_text(p->canvas, x, y + LINE - 2, text, strlen(text), width, &style);
		return;
	}
}

static void draw_region(struct painter *p, struct region *region)
{
	const struct weft_box *box = &p->frame->picture;
	struct hatch *hatch = &region->hatch;
	double x = fmax(hatch->x, box->x), x2 = fmin(hatch->x2, box->x + box->width);
	if (is_hatch(hatch) && x2 > x) {
		weft_canvas_hatch(
			p->canvas, x, region->y, x2, region->y2, weft__render_faded(p->theme->dim, ALPHA));
		put_number(p, region);
	}
	hatch->count = hatch->packets = 0;
}

/* A row's y. Computed here because losses lie below everything else, and are drawn before lanes
 * exist. */
static double row_y(const struct painter *p, uint32_t row)
{
	return p->y0 + weft_view_y(p->view, row);
}

static void group_region(struct painter *p, const struct weft_group *group, struct region *region)
{
	const struct weft_box *box = &p->frame->picture;
	uint32_t last = group->first_row + (group->row_count ? group->row_count - 1 : 0);
	double y = row_y(p, group->first_row), y2 = row_y(p, last);
	double half = weft_view_row_spacing(p->view, group->first_row) / 2;
	region->y = fmax(y - fmin(half, 14), box->y);
	region->y2 =
		fmin(y2 + fmin(weft_view_row_spacing(p->view, last) / 2, 14), box->y + box->height);
}

/* Finds a thread's group: groups are threads, or their buffers or hosts. */
static uint32_t find_group(const struct weft_layout *layout, uint32_t thread)
{
	const struct weft_model *model = layout->model;
	uint32_t key = thread;
	if (layout->group_by != WEFT_GROUP_BY_THREAD)
		key = model->threads[thread].buffer;
	if (layout->group_by == WEFT_GROUP_BY_HOST)
		key = weft_trace_first_of_host(model->buffers, model->buffer_count, key);
	for (uint32_t i = 0; i < layout->group_count; i++)
		if (layout->groups[i].key == key)
			return i;
	return WEFT_NONE;
}

static int make_regions(struct painter *p, struct regions *regions)
{
	const struct weft_layout *layout = p->layout;
	const struct weft_box *box = &p->frame->picture;
	uint32_t threads = p->model->thread_count;
	regions->count = layout->group_count ? layout->group_count : 1;
	regions->list = calloc(regions->count, sizeof(*regions->list));
	regions->of_thread = malloc((threads + (size_t)1) * sizeof(*regions->of_thread));
	if (!regions->list || !regions->of_thread)
		return WEFT_ERROR_MEMORY;
	regions->list[0].y = box->y;
	regions->list[0].y2 = box->y + box->height;
	for (uint32_t i = 0; i < layout->group_count; i++)
		group_region(p, &layout->groups[i], &regions->list[i]);
	for (uint32_t i = 0; i < threads; i++)
		regions->of_thread[i] = layout->group_count ? find_group(layout, i) : 0;
	return 0;
}

static void draw_periods(struct painter *p, struct regions *regions)
{
	const struct weft_model *model = p->model;
	for (uint32_t i = 0; i < model->loss_period_count; i++) {
		const struct weft_loss_period *period = &model->loss_periods[i];
		uint32_t number = regions->of_thread[period->thread];
		if (number == WEFT_NONE || period->end < p->left || period->start > p->right)
			continue;
		struct region *region = &regions->list[number];
		struct hatch next = make_hatch(period, weft__render_x(p, period->start),
			weft__render_x(p, period->end), p->frame->picture.x);
		if (!begins_another(&region->hatch, &next))
			continue;
		draw_region(p, region);
		region->hatch = next;
	}
	for (uint32_t i = 0; i < regions->count; i++)
		draw_region(p, &regions->list[i]);
}

void weft__render_draw_losses(struct painter *p)
{
	struct regions regions = {0};
	if (!p->model->loss_period_count)
		return;
	int error = make_regions(p, &regions);
	if (error)
		p->error = error;
	else
		draw_periods(p, &regions);
	free(regions.list);
	free(regions.of_thread);
}

/* ---- The overview ---- */

static void draw_strip_hatch(struct painter *p, const struct weft__rect *area, struct hatch *hatch)
{
	double x2 = fmin(hatch->x2, area->x2 + WEFT_VIEW_MARGIN);
	weft_canvas_hatch(p->canvas, fmax(hatch->x, 0), area->y, x2, area->y2,
		weft__render_faded(p->theme->dim, ALPHA));
}

void weft__render_draw_strip_losses(struct painter *p, const struct weft__strip *strip)
{
	const struct weft_model *model = p->model;
	struct hatch hatch = {0};
	for (uint32_t i = 0; i < model->loss_period_count; i++) {
		const struct weft_loss_period *period = &model->loss_periods[i];
		struct hatch next = make_hatch(period, weft__render_strip_x(strip, period->start),
			weft__render_strip_x(strip, period->end), 0);
		if (!begins_another(&hatch, &next))
			continue;
		draw_strip_hatch(p, &strip->area, &hatch);
		hatch = next;
	}
	if (is_hatch(&hatch))
		draw_strip_hatch(p, &strip->area, &hatch);
}

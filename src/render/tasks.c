/* SPDX-License-Identifier: ISC
 *
 * Tasks: a thin line while they wait, a bar while they run, and how they ended. What is narrower
 * than two pixels goes into a cell of density instead, with its neighbours in that pixel column;
 * stretches of such tasks cost one search a column, not one step a task.
 */
#include <math.h>
#include <string.h>

#include "render/cells.h"
#include "render/painter.h"

#define NARROW       2.0 /* px: below, a task is part of a density */
#define HOVER_FROM   4.0
#define CROSS_EVERY  8.0
#define WAITING_LINE 1.5
#define FAILED_LINE  2.0

struct span {
	double x, x2; /* in the picture, clipped to a little around it */
	double y;
};

static double bar_height(double spacing)
{
	if (spacing >= 20)
		return 7;
	return spacing >= 9 ? 5 : 3;
}

/* Activations that share a pixel are one bar. */
static void draw_bars(struct painter *p, uint32_t task, double y, double height)
{
	const struct weft_activations *a = &p->model->activations;
	uint32_t at = p->model->tasks.first_activation[task];
	uint32_t last = p->model->tasks.first_activation[task + 1];
	const struct weft_box *box = &p->frame->picture;
	double top = y - floor(height / 2), begin = -1, end = -1;
	/* A long-lived task has many: go to the first in view by halving. */
	for (uint32_t high = last; at < high;) {
		uint32_t middle = at + (high - at) / 2;
		if (a->end[middle] <= p->left)
			at = middle + 1;
		else
			high = middle;
	}
	for (; at < last && a->start[at] < p->right; at++) {
		double x = fmax(weft__x(p, a->start[at]), box->x);
		double x2 = fmin(fmax(weft__x(p, a->end[at]), x + 1), box->x + box->width);
		if (x <= end + 0.25) {
			end = fmax(end, x2);
			continue;
		}
		if (end > begin)
			weft_canvas_rect(p->canvas, begin, top, end, top + height, p->theme->running);
		begin = x;
		end = x2;
	}
	if (end > begin)
		weft_canvas_rect(p->canvas, begin, top, end, top + height, p->theme->running);
}

static void draw_triangle(struct painter *p, double x, double y, uint32_t color)
{
	struct weft_pen pen = {color, 1.25, WEFT_DASH_SOLID};
	const double points[] = {x, y - 3.5, x + 6, y, x, y + 3.5, x, y - 3.5};
	weft_canvas_polygon(p->canvas, points, 3, p->theme->background);
	weft_canvas_polyline(p->canvas, points, 4, &pen);
}

static bool is_in_picture(const struct painter *p, double x)
{
	const struct weft_box *box = &p->frame->picture;
	return x >= box->x && x <= box->x + box->width;
}

static void draw_end(struct painter *p, uint32_t task, const struct span *span, double spacing)
{
	unsigned flags = p->model->tasks.flags[task];
	if (!is_in_picture(p, span->x2))
		return;
	double y = weft__crisp(span->y);
	if (flags & WEFT_TASK_NEVER_RESOLVED)
		draw_triangle(p, span->x2, y, p->theme->failed);
	else if (flags & WEFT_TASK_FAILED)
		weft__add_mark(
			p, (struct weft__mark){
				   .x = span->x2, .y = y, .x2 = spacing >= 9 ? 4 : 2.5, .is_cross = true});
	else if (!(flags & WEFT_TASK_RESOLVED) && spacing >= 9)
		draw_triangle(p, span->x2, y, p->theme->waiting);
}

static void draw_line(struct painter *p, uint32_t task, const struct span *span, double from)
{
	unsigned flags = p->model->tasks.flags[task];
	bool failed = flags & WEFT_TASK_FAILED;
	struct weft_pen pen = {
		failed ? p->theme->failed : p->theme->waiting,
		failed ? FAILED_LINE : WAITING_LINE,
		flags & WEFT_TASK_NEVER_RESOLVED ? WEFT_DASH_LONG : WEFT_DASH_SOLID,
	};
	double y = failed ? span->y : weft__crisp(span->y);
	if (span->x2 > from)
		weft_canvas_line(p->canvas, fmax(span->x, from), y, span->x2, y, &pen);
}

/* Soft ground under what failed: it is found at a glance, and hides nothing. */
static void draw_ground(struct painter *p, uint32_t task, const struct span *span, double spacing)
{
	double half = fmin(9, spacing / 2);
	if (!(p->model->tasks.flags[task] & WEFT_TASK_FAILED))
		return;
	weft_canvas_rect(p->canvas, span->x - 2, span->y - half, span->x2 + 5, span->y + half,
		weft__faded(p->theme->failed, 0.13));
}

/* `from`: up to there the row shows another task. */
static void draw_task(struct painter *p, uint32_t task, const struct weft__lane *lane,
	const struct span *span, double from)
{
	const struct weft_story story = {.model = p->model, .layout = p->layout};
	char sentence[WEFT_SENTENCE_BYTES];
	bool hover = p->options->hover && span->x2 - span->x >= HOVER_FROM;
	draw_ground(p, task, span, lane->spacing);
	if (hover) {
		size_t size =
			weft_story_sentence(&story, task, WEFT_STORY_WHOLE, sentence, sizeof(sentence));
		double half = fmin(7, lane->spacing / 2);
		weft_canvas_group(
			p->canvas, span->x, span->y - half, span->x2, span->y + half, sentence, size);
	}
	draw_line(p, task, span, from);
	draw_bars(p, task, span->y, bar_height(lane->spacing));
	draw_end(p, task, span, lane->spacing);
	if (hover)
		weft_canvas_ungroup(p->canvas);
}

/* The tasks from `place` on that lie in one pixel column: how many they are. */
static uint32_t count_column(struct painter *p, uint32_t place, uint32_t last, double x)
{
	const struct weft_view *view = p->view;
	uint64_t next = weft_view_time(view, floor(x) + 1 - p->x0);
	uint64_t start = weft__scene_start(p->scene, place);
	uint32_t end =
		weft__scene_first_from(p->scene, place + 1, last, next > start ? next : start + 1);
	/* Only the last can be longer than the column. */
	if (end - place > 1) {
		double wide = weft__x(p, weft__scene_end(p->scene, end - 1)) -
					  weft__x(p, weft__scene_start(p->scene, end - 1));
		if (wide >= NARROW)
			end--;
	}
	return end - place;
}

static struct span span_of(const struct painter *p, uint32_t task, double y)
{
	const struct weft_box *box = &p->frame->picture;
	double x = weft__x(p, p->layout->start[task]), x2 = weft__x(p, p->model->tasks.end[task]);
	return (struct span){fmax(x, box->x - 20), fmin(fmax(x2, x + 1), box->x + box->width + 20), y};
}

/* The first failed task among merged ones has its cross all the same. */
static void mark_failed(struct painter *p, const struct weft__lane *lane, uint32_t place,
	uint32_t count, double *last_cross)
{
	const uint32_t *failed = p->scene->failed_before;
	uint32_t low = place, high = place + count;
	if (failed[high] == failed[place] || lane->spacing < WEFT__NAME_SPACING)
		return;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (failed[middle] == failed[place])
			low = middle;
		else
			high = middle;
	}
	struct span span = span_of(p, p->scene->by_row[low], lane->y);
	if (span.x2 - *last_cross < CROSS_EVERY)
		return;
	*last_cross = span.x2;
	draw_ground(p, p->scene->by_row[low], &span, lane->spacing);
	draw_end(p, p->scene->by_row[low], &span, lane->spacing);
}

static void draw_row(struct painter *p, const struct weft__lane *lane, uint32_t row,
	struct weft__cells *cells, bool merge_all)
{
	const struct weft_scene *scene = p->scene;
	uint32_t last = scene->row_first[row + 1];
	uint32_t place = weft__scene_first_alive(scene, scene->row_first[row], last, p->left);
	double last_cross = -INFINITY;
	double drawn = -INFINITY; /* what becomes another overlaps with it */
	while (place < last && weft__scene_start(scene, place) < p->right) {
		uint32_t task = scene->by_row[place], count = 1;
		struct span span = span_of(p, task, lane->y);
		if (span.x2 - span.x >= NARROW) {
			p->tally.tasks++;
			if (merge_all)
				weft__cells_add_line(cells, p, place, span.x, span.x2);
			else
				draw_task(p, task, lane, &span, drawn);
			drawn = span.x2;
		} else {
			count = count_column(p, place, last, span.x);
			mark_failed(p, lane, place, count, &last_cross);
			p->tally.merged += count;
			p->tally.tasks += count;
			weft__cells_add(cells, p, place, count, span.x);
		}
		place += count;
	}
}

void weft__draw_tasks(struct painter *p)
{
	struct weft__cells *cells = weft__cells_create(p);
	if (!cells) {
		p->error = WEFT_ERROR_MEMORY;
		return;
	}
	for (uint32_t i = 0; i < p->lane_count; i++) {
		const struct weft__lane *lane = &p->lanes[i];
		for (uint32_t row = 0; row < lane->row_count; row++)
			draw_row(p, lane, lane->first_row + row, cells, lane->row_count > 1);
		weft__cells_draw(cells, p, lane);
	}
	weft__cells_destroy(cells);
}

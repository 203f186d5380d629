/* SPDX-License-Identifier: ISC
 *
 * Tasks: a thin line while they wait, a bar while they run, and how they ended. Tasks narrower than
 * two pixels go into a density cell, together with the others of that pixel column.
 */
#include <math.h>
#include <string.h>

#include "render/tasks/cells.h"
#include "render/tasks/off_cpu.h"
#include "render/tasks/tracks.h"
#include "render/painter.h"

#define HOVER_FROM    4.0
#define CROSS_EVERY   8.0
#define TRIANGLE_FROM 5.0 /* px from row to row */
#define WAITING_LINE  1.5
#define FAILED_LINE   2.0
#define DASHED_FROM   6.0 /* px; shorter dashed lines are not recognized */

struct span {
	double x, x2; /* clipped to slightly more than the picture */
	double y;
};

static double bar_height(double spacing)
{
	if (spacing >= 20)
		return 7;
	return spacing >= 9 ? 5 : 3;
}

/* Draws when the task ran. */
static void draw_bars(struct painter *p, uint32_t task, const struct span *span, double spacing)
{
	const struct weft_box *box = &p->frame->picture;
	const struct weft__bar_box bar = {box->x, box->x + box->width, span->y, bar_height(spacing)};
	weft__render_bars_draw(p->bars, p, task, &bar);
	weft__render_draw_spans(p, task, &bar);
	weft__render_draw_off_cpu(p, task, &bar);
}

static void draw_triangle(struct painter *p, double x, double y, double half, uint32_t color)
{
	struct weft_pen pen = {color, 1.25, WEFT_DASH_SOLID};
	const double points[] = {x, y - half, x + half * 1.7, y, x, y + half, x, y - half};
	weft_canvas_polygon(p->canvas, points, 3, p->theme->background);
	weft_canvas_polyline(p->canvas, points, 4, &pen);
}

/* A grey cross: the task was cancelled, closed or timed out. */
static void draw_stop(struct painter *p, double x, double y, double half)
{
	struct weft_pen pen = {p->theme->dim, 1.5, WEFT_DASH_SOLID};
	weft_canvas_line(p->canvas, x - half, y - half, x + half, y + half, &pen);
	weft_canvas_line(p->canvas, x - half, y + half, x + half, y - half, &pen);
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
	double y = weft__render_crisp(span->y), half = spacing >= 9 ? 3.5 : 2;
	if (flags & WEFT_TASK_NEVER_RESOLVED)
		draw_triangle(p, span->x2, y, half, p->theme->failed);
	else if (flags & WEFT_TASK_FAILED)
		weft__render_add_mark(
			p, (struct weft__failure_mark){
				   .x = span->x2, .y = y, .x2 = spacing >= 9 ? 4 : 2.5, .is_cross = true});
	else if (flags & WEFT_TASK_STOPPED && spacing >= TRIANGLE_FROM)
		draw_stop(p, span->x2, y, half);
	else if (!(flags & WEFT_TASK_RESOLVED) && spacing >= TRIANGLE_FROM)
		draw_triangle(p, span->x2, y, half, p->theme->waiting);
}

/* From where on the line of an unfinished task is dashed: nothing more is known of it. While a
 * trace grows, that changes all the time. */
static double open_from(const struct painter *p, uint32_t task, const struct span *span)
{
	if (!weft__render_has_tail(p->model, task))
		return span->x2;
	double x = fmax(weft__render_x(p, weft__render_last_act(p->model, task)), span->x);
	return x + DASHED_FROM <= span->x2 ? x : span->x2;
}

static void draw_line(struct painter *p, uint32_t task, const struct span *span, double from)
{
	unsigned flags = p->model->tasks.flags[task];
	bool failed = flags & WEFT_TASK_FAILED;
	struct weft_pen pen = {
		failed ? p->theme->failed : p->theme->waiting,
		failed ? FAILED_LINE : WAITING_LINE,
		flags & (WEFT_TASK_NEVER_RESOLVED | WEFT_TASK_STOPPED) ? WEFT_DASH_LONG : WEFT_DASH_SOLID,
	};
	if (flags & WEFT_TASK_STOPPED)
		p->tally.stopped[p->model->tasks.outcome[task]] = true;
	double y = failed ? span->y : weft__render_crisp(span->y), open = open_from(p, task, span);
	if (open > fmax(span->x, from))
		weft_canvas_line(p->canvas, fmax(span->x, from), y, open, y, &pen);
	const struct weft_pen thin = {p->theme->waiting, 1, WEFT_DASH_SHORT};
	if (span->x2 > open)
		weft_canvas_line(p->canvas, fmax(open, from), y, span->x2, y, &thin);
}

/* Draws a soft ground under a failed task, which is easy to notice and hides nothing. */
static void draw_ground(struct painter *p, uint32_t task, const struct span *span, double spacing)
{
	double half = fmin(9, spacing / 2);
	if (!(p->model->tasks.flags[task] & WEFT_TASK_FAILED))
		return;
	weft_canvas_rect(p->canvas, span->x - 2, span->y - half, span->x2 + 5, span->y + half,
		weft__render_faded(p->theme->failed, 0.13));
}

/* `from`: up to this x the row shows another task. */
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
	draw_bars(p, task, span, lane->spacing);
	draw_end(p, task, span, lane->spacing);
	if (hover)
		weft_canvas_ungroup(p->canvas);
}

static struct span span_of(const struct painter *p, uint32_t task, double y)
{
	const struct weft_box *box = &p->frame->picture;
	double x = weft__render_x(p, p->layout->start[task]),
		   x2 = weft__render_x(p, p->model->tasks.end[task]);
	return (struct span){fmax(x, box->x - 20), fmin(fmax(x2, x + 1), box->x + box->width + 20), y};
}

/* Marks the first failed task among merged ones with a cross, too. */
static void mark_failed(
	struct painter *p, const struct weft__lane *lane, uint32_t task, double *last_cross)
{
	struct span span = span_of(p, task, lane->y);
	if (lane->spacing < WEFT__NAME_SPACING || span.x2 - *last_cross < CROSS_EVERY)
		return;
	*last_cross = span.x2;
	draw_ground(p, task, &span, lane->spacing);
	draw_end(p, task, &span, lane->spacing);
}

/* Marks an unfinished task, however small it is, if there is room behind it. */
static void mark_unfinished(struct painter *p, const struct weft__lane *lane, uint32_t piece)
{
	const struct weft__lane_piece *this = &p->pieces[piece];
	bool is_last = piece + 1 == lane->last_piece;
	if (this->count > 1 || (!is_last && this[1].x - this->x < CROSS_EVERY))
		return;
	uint32_t task = p->scene->by_row[this->index];
	unsigned flags = p->model->tasks.flags[task];
	bool is_over = flags & WEFT_TASK_RESOLVED;
	bool has_failed = (flags & WEFT_TASK_FAILED) && !(flags & WEFT_TASK_NEVER_RESOLVED);
	struct span span = span_of(p, task, lane->y);
	if (!is_over && !has_failed)
		draw_end(p, task, &span, lane->spacing);
}

static void draw_row(struct painter *p, const struct weft__lane *lane, struct weft__cells *cells)
{
	double last_cross = -INFINITY;
	double drawn = -INFINITY; /* a task that becomes another overlaps with it */
	for (uint32_t i = lane->first_piece; i < lane->last_piece; i++) {
		const struct weft__lane_piece *piece = &p->pieces[i];
		bool failed = piece->failed != WEFT_NONE;
		if (piece->is_line) {
			struct span span = {piece->x, piece->x2, lane->y};
			p->tally.drawn += !weft__render_is_track(p->model, p->scene->by_row[piece->index]);
			draw_task(p, p->scene->by_row[piece->index], lane, &span, drawn);
			drawn = piece->x2;
			continue;
		}
		if (failed)
			mark_failed(p, lane, p->scene->by_row[piece->failed], &last_cross);
		weft__render_cells_add(cells, p, piece->index, piece->count, piece->x, failed);
		mark_unfinished(p, lane, i);
	}
}

void weft__render_draw_tasks(struct painter *p)
{
	struct weft__cells *cells = weft__render_cells_create(p);
	struct weft__density *density = weft__render_density_create(p);
	for (uint32_t i = 0; cells && density && i < p->lane_count; i++) {
		struct weft__lane *lane = &p->lanes[i];
		lane->first_thing = weft__render_thing_count(p);
		if (lane->row_count > 1) {
			weft__render_cells_fill(cells, density, i);
		} else {
			draw_row(p, lane, cells);
			weft__render_draw_piles(p, lane, cells);
		}
		lane->last_thing = weft__render_thing_count(p);
		weft__render_cells_draw(cells, p, lane);
	}
	if (!cells || !density)
		p->error = WEFT_ERROR_MEMORY;
	p->tally.tasks = weft__render_census_alive(p->scene, p->left, p->right);
	p->tally.folded = weft__render_piles_alive(&p->scene->piles, p->left, p->right);
	weft__render_cells_destroy(cells);
	weft__render_density_destroy(density);
}

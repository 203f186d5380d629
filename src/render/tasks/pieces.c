/* SPDX-License-Identifier: ISC
 *
 * Divides the tasks of a row into pieces: a task that is wide enough for a line of its own, or all
 * tasks in one pixel column. Rows are walked once per frame, with one search per column instead of
 * one step per task; lines, links and names are drawn from the pieces.
 */
#include <math.h>

#include "base/array.h"
#include "render/painter.h"

#define TICK_MAX 0.05 /* px: ticks of at most this width are as exact as times */

/* The state of walking a row. */
struct row_walk {
	const struct weft_scene *scene;
	uint32_t last;   /* index behind the row */
	uint32_t failed; /* the first failed task from here on, or `last` */
	bool by_ticks;   /* starts are compared by ticks, without loading tasks */
};

static bool add_piece(struct painter *p, const struct weft__lane_piece *piece)
{
	if (p->piece_count == p->piece_capacity) {
		size_t capacity = weft__array_next_capacity(p->piece_capacity, p->piece_count + (size_t)1);
		if (weft__array_resize(&p->pieces, capacity, sizeof(*p->pieces))) {
			p->error = WEFT_ERROR_MEMORY;
			return false;
		}
		p->piece_capacity = capacity;
	}
	p->pieces[p->piece_count++] = *piece;
	return true;
}

static uint64_t start_of(const struct row_walk *w, uint32_t index)
{
	const struct weft_scene *scene = w->scene;
	if (!w->by_ticks)
		return weft__render_scene_start(scene, index);
	return scene->start + ((uint64_t)scene->start_ticks[index] << scene->census.tick_shift);
}

/* True if a task must be narrow because the next one, which begins after its end, is near; its end
 * need not be loaded. */
static bool has_near_next(const struct painter *p, const struct row_walk *w, uint32_t index)
{
	if (!w->by_ticks || index + 1 >= w->last || !weft__render_scene_has_gap_after(w->scene, index))
		return false;
	return (double)(start_of(w, index + 1) - start_of(w, index)) * p->view->scale <
		   WEFT__NARROW - TICK_MAX;
}

/* The number of tasks from index `index` on that lie in one pixel column. */
static uint32_t count_column(
	const struct painter *p, const struct row_walk *w, uint32_t index, double x)
{
	uint64_t next = weft_view_time(p->view, floor(x) + 1 - p->x0), start = start_of(w, index);
	uint32_t end = weft__render_scene_first_from(
		p->scene, index + 1, w->last, next > start ? next : start + 1);
	/* Only the last one can be wider than the column. */
	if (end - index > 1 && !has_near_next(p, w, end - 1)) {
		double wide = weft__render_x(p, weft__render_scene_end(p->scene, end - 1)) -
					  weft__render_x(p, weft__render_scene_start(p->scene, end - 1));
		if (wide >= WEFT__NARROW)
			end--;
	}
	return end - index;
}

/* The index of the first failed task of a piece, or WEFT_NONE. */
static uint32_t find_failed(struct row_walk *w, uint32_t index, uint32_t count)
{
	if (w->failed < index)
		w->failed = weft__render_scene_first_failed(w->scene, index, w->last);
	return w->failed < index + count ? w->failed : WEFT_NONE;
}

static struct weft__lane_piece make_piece(
	const struct painter *p, struct row_walk *w, uint32_t index)
{
	const struct weft_box *box = &p->frame->picture;
	double x = weft__render_x(p, start_of(w, index)), x2 = x;
	struct weft__lane_piece piece = {.index = index, .count = 1};
	if (!has_near_next(p, w, index))
		x2 = weft__render_x(p, weft__render_scene_end(p->scene, index));
	piece.x = fmax(x, box->x - 20);
	piece.x2 = fmin(fmax(x2, x + 1), box->x + box->width + 20);
	piece.is_line = piece.x2 - piece.x >= WEFT__NARROW;
	if (!piece.is_line)
		piece.count = count_column(p, w, index, piece.x);
	piece.failed = find_failed(w, index, piece.count);
	return piece;
}

static void cut_row(struct painter *p, uint32_t row)
{
	const struct weft_scene *scene = p->scene;
	struct row_walk w = {.scene = scene, .last = scene->row_first[row + 1]};
	uint32_t index = weft__render_scene_first_alive(scene, scene->row_first[row], w.last, p->left);
	w.failed = weft__render_scene_first_failed(scene, index, w.last);
	w.by_ticks = ldexp(p->view->scale, (int)scene->census.tick_shift) < TICK_MAX ||
				 scene->census.tick_shift == 0;
	while (index < w.last && start_of(&w, index) < p->right) {
		struct weft__lane_piece piece = make_piece(p, &w, index);
		if (!add_piece(p, &piece))
			return;
		index += piece.count;
	}
}

void weft__render_make_pieces(struct painter *p)
{
	for (uint32_t i = 0; i < p->lane_count; i++) {
		p->lanes[i].first_piece = p->piece_count;
		if (p->lanes[i].row_count == 1)
			cut_row(p, p->lanes[i].first_row);
		p->lanes[i].last_piece = p->piece_count;
	}
}

/* SPDX-License-Identifier: ISC
 *
 * Handles of folds, for users with a pointer: a triangle to the left of a fold's beginning, as in
 * tree views. It points right while the fold is one row, and down while each task has its own. Its
 * position depends only on the view, so that clicks are resolved by the same arithmetic.
 */
#include "render/tasks/handles.h"

#include <math.h>

#include "base/search.h"
#include "render/painter.h"

#define LEFT_OF 9.0 /* px from its middle to the fold's beginning */
#define SIDE    4.0
#define MANY    256u /* handles in one picture at most */

static bool starts_before(const void *context, uint32_t member, uint64_t time)
{
	const struct weft_layout *layout = context;
	return layout->start[layout->fold_members[member]] < time;
}

/* The first visible task, or WEFT_NONE. */
static uint32_t first_seen(
	const struct weft_layout *layout, const struct weft_fold *fold, uint64_t left, uint64_t right)
{
	uint64_t from = left > fold->max_ns ? left - fold->max_ns : 0;
	uint32_t end = fold->first + fold->count;
	uint32_t low = weft__search(layout, fold->first, end, starts_before, from);
	while (low < end && layout->fold_ends[low] < left)
		low++;
	if (low == end || layout->start[layout->fold_members[low]] > right)
		return WEFT_NONE;
	return layout->fold_members[low];
}

/* The task to the left of whose line the handle is, or WEFT_NONE. */
static uint32_t task_of_handle(const struct weft_layout *layout, const struct weft_box *picture,
	const struct weft_view *view, uint32_t fold)
{
	const struct weft_fold *f = &layout->folds[fold];
	uint64_t left = weft_view_time(view, 0), right = weft_view_time(view, picture->width);
	if (f->count == 0 || f->start > right || f->end < left)
		return WEFT_NONE;
	return f->folded ? layout->fold_members[f->first] : first_seen(layout, f, left, right);
}

bool weft__render_handle_point(const struct weft_layout *layout, const struct weft_box *picture,
	const struct weft_view *view, uint32_t fold, double *ret_x, double *ret_y)
{
	uint32_t task = task_of_handle(layout, picture, view, fold);
	uint32_t row = task == WEFT_NONE ? WEFT_NONE : layout->row[task];
	if (row == WEFT_NONE || weft_view_row_spacing(view, row) < WEFT__NAME_SPACING)
		return false;
	double x = picture->x + weft_view_x(view, layout->start[task]) - LEFT_OF;
	*ret_x = floor(fmax(x, picture->x + SIDE + 2));
	*ret_y = floor(picture->y + weft_view_y(view, row));
	return true;
}

static uint32_t row_of(const struct painter *p, uint32_t fold)
{
	return p->layout->row[task_of_handle(p->layout, &p->frame->picture, p->view, fold)];
}

static void draw(struct painter *p, uint32_t fold)
{
	double x, y;
	if (!weft__render_handle_point(p->layout, &p->frame->picture, p->view, fold, &x, &y))
		return;
	y = weft__render_y(p, row_of(p, fold)); /* the row may be moving */
	const double down[] = {x - SIDE, y - 2, x + SIDE, y - 2, x, y + 3};
	const double right[] = {x - 2, y - SIDE, x + 3, y, x - 2, y + SIDE};
	weft_canvas_rect(
		p->canvas, x - SIDE - 1, y - SIDE - 1, x + SIDE + 1, y + SIDE + 1, p->theme->background);
	weft_canvas_polygon(p->canvas, p->layout->folds[fold].folded ? right : down, 3, p->theme->dim);
	uint32_t task = task_of_handle(p->layout, &p->frame->picture, p->view, fold);
	weft__render_add_thing(p, (struct weft__thing){WEFT__THING_HANDLE, task, fold, {x, y, 0, 0}});
}

struct drawn_handles {
	uint32_t folds[MANY], count;
};

static void draw_once(struct painter *p, struct drawn_handles *drawn, uint32_t fold)
{
	for (uint32_t i = drawn->count; i-- > 0;)
		if (drawn->folds[i] == fold)
			return;
	if (drawn->count == MANY)
		return;
	drawn->folds[drawn->count++] = fold;
	draw(p, fold);
}

static void draw_folded(struct painter *p, struct drawn_handles *drawn, uint32_t row)
{
	const struct weft__piles *piles = &p->scene->piles;
	uint32_t i = weft__render_piles_from(piles, row, p->left);
	for (; i < piles->row_first[row + 1] && drawn->count < MANY; i++) {
		const struct weft__pile *pile = &piles->list[piles->by_row[i]];
		if (pile->start > p->right)
			break;
		if (pile->fold != WEFT_NONE)
			draw_once(p, drawn, pile->fold);
	}
}

static void draw_unfolded(
	struct painter *p, struct drawn_handles *drawn, const struct weft__lane *lane)
{
	uint32_t asked = WEFT_NONE;
	for (uint32_t i = lane->first_piece; i < lane->last_piece && drawn->count < MANY; i++) {
		uint32_t fold = p->layout->fold_of[p->scene->by_row[p->pieces[i].index]];
		if (fold != WEFT_NONE && fold != asked && !p->layout->folds[fold].folded)
			draw_once(p, drawn, fold);
		asked = fold;
	}
}

void weft__render_draw_handles(struct painter *p)
{
	struct drawn_handles drawn = {.count = 0};
	if (!p->options->handles || !p->layout->fold_of)
		return;
	for (uint32_t i = 0; i < p->lane_count; i++) {
		const struct weft__lane *lane = &p->lanes[i];
		if (lane->row_count > 1 || lane->spacing < WEFT__NAME_SPACING)
			continue;
		if (p->scene->piles.count)
			draw_folded(p, &drawn, lane->first_row);
		draw_unfolded(p, &drawn, lane);
	}
}

/* SPDX-License-Identifier: ISC
 *
 * Heights of rows that follow the view. A row whose tasks are wide enough in the view has its full
 * height, a row without any is a hairline, and between these the height grows with the width, so
 * that rows do not jump while the view moves. However many rows are narrow or empty, both groups
 * together leave room for the others. The tail of an unfinished task, which does nothing any more,
 * has a width only as far as the other tasks leave room.
 */
#include <math.h>

#include "base/export.h"
#include "render/rows.h"
#include "render/scene/scene.h"
#include "view/time.h"

#define FULL_PX     40.0 /* from this width on, a row has its full height, if there is room */
#define ROOM        2.0 /* heights of the picture that rows may take: the lens compresses the rest */
#define LEAST       0.3 /* the height of a row whose tasks have no width, in full rows … */
#define LEAST_SHARE 0.3 /* … unless all of these would take more of the picture */
#define EMPTY       0.06
#define EMPTY_SHARE 0.1
#define STEPS       12 /* of a bisection */

struct row_stretch {
	uint64_t start, end; /* nothing if start > end */
};

static void extend(struct row_stretch *s, uint64_t start, uint64_t end)
{
	s->start = start < s->start ? start : s->start;
	s->end = end > s->end ? end : s->end;
}

static void extend_by_lines(const struct weft_scene *scene, uint32_t row,
	const struct row_stretch *view, struct row_stretch *s)
{
	uint32_t first = scene->row_first[row], last = scene->row_first[row + 1];
	if (first == last)
		return;
	uint64_t start = weft__render_scene_start(scene, first);
	if (start < view->start) {
		first = weft__render_scene_first_alive(scene, first, last, view->start);
		if (first == last)
			return;
		start = weft__render_scene_start(scene, first);
	}
	if (start > view->end)
		return;
	uint64_t end = weft__render_scene_end(scene, last - 1);
	if (end > view->end) {
		last = weft__render_scene_first_from(scene, first + 1, last, view->end);
		end = weft__render_scene_end(scene, last - 1);
	}
	extend(s, start, end);
}

static void extend_by_piles(const struct weft_scene *scene, uint32_t row,
	const struct row_stretch *view, struct row_stretch *s)
{
	const struct weft__piles *piles = &scene->piles;
	if (piles->count == 0 || piles->row_first[row] == piles->row_first[row + 1])
		return;
	for (uint32_t i = weft__render_piles_from(piles, row, view->start);
		 i < piles->row_first[row + 1]; i++) {
		const struct weft__pile *pile = &piles->list[piles->by_row[i]];
		if (pile->start > view->end)
			break;
		extend(s, pile->start, pile->end);
	}
}

/* The row of a group's heading has no tasks. */
static bool is_heading(const struct weft_scene *scene, uint32_t row)
{
	const struct weft__piles *piles = &scene->piles;
	return scene->row_first[row] == scene->row_first[row + 1] &&
		   (piles->count == 0 || piles->row_first[row] == piles->row_first[row + 1]);
}

static uint64_t tail_of(const struct weft_scene *scene, uint32_t row)
{
	return scene->tails ? scene->tails[row] : UINT64_MAX;
}

/* The width of what a row has in the view without its tail, px; -1 for nothing, not even a tail. */
static double width_of(const struct weft_scene *scene, const struct weft_view *view,
	const struct row_stretch *shown, uint32_t row)
{
	struct row_stretch s = {UINT64_MAX, 0};
	uint64_t tail = tail_of(scene, row);
	if (is_heading(scene, row))
		return FULL_PX;
	if (tail > shown->start) /* else the row has nothing but its tail */
		extend_by_lines(scene, row, shown, &s);
	s.end = s.end < tail ? s.end : tail;
	extend_by_piles(scene, row, shown, &s);
	if (s.start > s.end)
		return tail <= shown->start ? 0 : -1;
	uint64_t from = s.start > shown->start ? s.start : shown->start;
	uint64_t to = s.end < shown->end ? s.end : shown->end;
	return to > from ? weft__view_px(view, from, to) : 0;
}

/* How widths become heights: with u = width / full, at most 1, a row is
 * `least` + (1 - least) (k u + (1 - k) u²) high. */
struct height_shape {
	double full, k, least, hairline;
};

struct width_sums {
	double shares, squares; /* of all u */
	uint32_t empty;         /* rows without anything */
};

static double share_of(double width, double full)
{
	return width >= full ? 1 : width > 0 ? width / full : 0;
}

static struct width_sums sum_up(const double *widths, uint32_t rows, double full)
{
	struct width_sums sums = {0, 0, 0};
	for (uint32_t row = 0; row < rows; row++) {
		double share = share_of(widths[row], full);
		sums.empty += widths[row] < 0;
		sums.shares += share;
		sums.squares += share * share;
	}
	return sums;
}

/* The least width that gets a full row so that the rows have room, and the sums with it. */
static double find_full(
	const double *widths, uint32_t rows, double room, double most, struct width_sums *ret_sums)
{
	double low = FULL_PX, high = fmax(most, FULL_PX);
	*ret_sums = sum_up(widths, rows, low);
	if (ret_sums->shares <= room)
		return low;
	*ret_sums = sum_up(widths, rows, high);
	if (ret_sums->shares > room)
		return high;
	for (int i = 0; i < STEPS; i++) {
		double middle = (low + high) / 2;
		struct width_sums sums = sum_up(widths, rows, middle);
		if (sums.shares > room) {
			low = middle;
		} else {
			high = middle;
			*ret_sums = sums;
		}
	}
	return high;
}

static double least_height(double height, double room, uint32_t count)
{
	return count > 0 ? fmin(height, room / count) : height;
}

static struct height_shape find_shape(
	const struct weft_view *view, const double *widths, uint32_t rows)
{
	double picture = view->height / WEFT_VIEW_ROW_HEIGHT, room = ROOM * picture;
	struct width_sums sums;
	double full = find_full(widths, rows, room, view->width, &sums);
	struct height_shape shape = {
		.full = full,
		.least = least_height(LEAST, LEAST_SHARE * picture, rows - sums.empty),
		.hairline = least_height(EMPTY, EMPTY_SHARE * picture, sums.empty),
	};
	double excess = sums.shares - sums.squares;
	shape.k = excess > 0 ? fmin(fmax((room - sums.squares) / excess, 0), 1) : 1;
	return shape;
}

static double height_of(const struct height_shape *shape, double width)
{
	double u = share_of(width, shape->full);
	if (width < 0)
		return shape->hairline;
	return shape->least + (1 - shape->least) * (shape->k * u + (1 - shape->k) * u * u);
}

/* ---- Tails ---- */

/* The part of a full height by which its tail makes a row higher, if the row has that width. */
static double gain_of(const struct weft_scene *scene, const struct weft_view *view,
	const struct row_stretch *shown, uint32_t row, double width)
{
	uint64_t tail = tail_of(scene, row);
	if (width < 0 || width >= FULL_PX || tail >= shown->end)
		return 0;
	double px = weft__view_px(view, tail > shown->start ? tail : shown->start, shown->end);
	return fmin(px, FULL_PX - width) / FULL_PX;
}

/* The room that the rows leave, in full rows; not more than 0 if they leave none. */
static double room_left(const struct weft_view *view, const double *widths, uint32_t rows)
{
	double room = ROOM * view->height / WEFT_VIEW_ROW_HEIGHT;
	for (uint32_t row = 0; row < rows && room > 0; row++)
		room -= widths[row] >= FULL_PX ? 1 : widths[row] > 0 ? widths[row] / FULL_PX : 0;
	return room;
}

/* Widens rows by their tails if the other tasks leave room, by equal shares. */
static void add_tails(const struct weft_scene *scene, const struct weft_view *view,
	const struct row_stretch *shown, double *widths)
{
	uint32_t rows = scene->layout->row_count;
	double room = scene->tails ? room_left(view, widths, rows) : 0, gains = 0;
	for (uint32_t row = 0; row < rows && room > 0; row++)
		gains += gain_of(scene, view, shown, row, widths[row]);
	double share = fmin(room / gains, 1);
	for (uint32_t row = 0; row < rows && room > 0 && gains > 0; row++)
		widths[row] += share * FULL_PX * gain_of(scene, view, shown, row, widths[row]);
}

WEFT__EXPORT void weft_scene_row_edges(
	const struct weft_scene *scene, const struct weft_view *view, double *ret_edges)
{
	weft__render_row_edges(scene, view, ret_edges, NULL);
}

static void count_rows(
	const struct weft_scene *scene, const double *widths, uint32_t rows, uint32_t *ret_before)
{
	ret_before[0] = 0;
	for (uint32_t row = 0; row < rows; row++)
		ret_before[row + 1] = ret_before[row] + (widths[row] >= 0 && !is_heading(scene, row));
}

void weft__render_row_edges(const struct weft_scene *scene, const struct weft_view *view,
	double *ret_edges, uint32_t *ret_before)
{
	uint32_t rows = scene->layout->row_count;
	const struct row_stretch shown = {weft_view_time(view, 0), weft_view_time(view, view->width)};
	double *widths = ret_edges + 1; /* each becomes the edge below its row */
	for (uint32_t row = 0; row < rows; row++)
		widths[row] = width_of(scene, view, &shown, row);
	if (ret_before)
		count_rows(scene, widths, rows, ret_before);
	add_tails(scene, view, &shown, widths);
	struct height_shape shape = find_shape(view, widths, rows);
	ret_edges[0] = rows ? -height_of(&shape, widths[0]) / 2 : 0; /* the first row is at 0 */
	for (uint32_t row = 0; row < rows; row++)
		ret_edges[row + 1] = ret_edges[row] + height_of(&shape, widths[row]);
}

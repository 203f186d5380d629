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
#define BINS        1024 /* of widths */
#define FINE_PX     0.01 /* a tick of the scene that is not wider is exact enough */

struct row_stretch {
	uint64_t start, end; /* nothing if start > end */
};

/* The times in view. */
struct rows_shown {
	struct row_stretch times;
	/* In ticks: what begins at `first` or later and ends at `last` or earlier is wholly in view,
	 * and what ends before `before` or begins after `after` is not in view. */
	uint32_t first, last, before, after;
	bool has_fine_ticks;
	bool has_only_lines; /* no row has piles or a tail */
};

static void extend(struct row_stretch *s, uint64_t start, uint64_t end)
{
	s->start = start < s->start ? start : s->start;
	s->end = end > s->end ? end : s->end;
}

static uint64_t time_of(const struct weft_scene *scene, uint32_t tick)
{
	return tick == WEFT__NO_TICK ? scene->end
								 : scene->start + ((uint64_t)tick << scene->census.tick_shift);
}

static struct rows_shown find_shown(const struct weft_scene *scene, const struct weft_view *view)
{
	struct rows_shown shown = {
		.times = {weft_view_time(view, 0), weft_view_time(view, view->width)}};
	uint64_t tick_ns = UINT64_C(1) << scene->census.tick_shift;
	shown.before = weft__render_census_tick(scene, shown.times.start);
	shown.after = weft__render_census_tick(scene, shown.times.end);
	shown.first = shown.before + (time_of(scene, shown.before) < shown.times.start);
	shown.last = scene->end <= shown.times.end ? WEFT__NO_TICK : shown.after - (shown.after > 0);
	shown.has_fine_ticks =
		tick_ns == 1 || weft__view_px(view, scene->start, scene->start + tick_ns) < FINE_PX;
	shown.has_only_lines = scene->piles.count == 0 && !scene->tails;
	return shown;
}

/* Most rows of a large trace are wholly in view, or wholly not. Neither their tasks nor the times
 * of these are looked at. False if the row is neither. */
static inline bool extend_by_ticks(const struct weft_scene *scene, uint32_t row,
	const struct rows_shown *shown, struct row_stretch *s)
{
	const struct weft__row_ticks *ticks = &scene->row_ticks[row];
	if (ticks->start == WEFT__NO_TICK || ticks->end < shown->before || ticks->start > shown->after)
		return true;
	if (!shown->has_fine_ticks || ticks->start < shown->first || ticks->end > shown->last)
		return false;
	extend(s, time_of(scene, ticks->start), time_of(scene, ticks->end));
	return true;
}

static void extend_by_lines(const struct weft_scene *scene, uint32_t row,
	const struct row_stretch *view, struct row_stretch *s)
{
	uint32_t first = scene->row_first[row], last = scene->row_first[row + 1];
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
	return scene->row_ticks[row].start == WEFT__NO_TICK &&
		   (piles->count == 0 || piles->row_first[row] == piles->row_first[row + 1]);
}

static uint64_t tail_of(const struct weft_scene *scene, uint32_t row)
{
	return scene->tails ? scene->tails[row] : UINT64_MAX;
}

/* The width of what a row has in the view without its tail, px; -1 for nothing, not even a tail. */
static double width_of(const struct weft_scene *scene, const struct weft_view *view,
	const struct rows_shown *rows, uint32_t row)
{
	const struct row_stretch *shown = &rows->times;
	struct row_stretch s = {UINT64_MAX, 0};
	uint64_t tail = tail_of(scene, row);
	if (is_heading(scene, row))
		return FULL_PX;
	/* Else the row has nothing but its tail. */
	if (tail > shown->start && !extend_by_ticks(scene, row, rows, &s))
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
	double one_by_full, k, least, hairline;
};

static double share_of(double width, double one_by_full)
{
	double share = width * one_by_full;
	share = share < 1 ? share : 1; /* no branches: widths are in no order */
	return share > 0 ? share : 0;
}

/* Widths in bins of equal size, so that a million rows are counted once for all heights. */
struct width_bins {
	double bin_px, sums[BINS], squares; /* of widths that are in bins */
	uint32_t counts[BINS], wider;       /* rows in bins, and beyond the last */
	uint32_t empty;                     /* rows without anything */
};

/* Bins from 0 to at least `most`, one of which ends at FULL_PX. */
static void sort_into_bins(
	const double *widths, uint32_t rows, double most, struct width_bins *ret_bins)
{
	double in_full = fmax(floor(BINS * FULL_PX / most), 1);
	*ret_bins = (struct width_bins){.bin_px = FULL_PX / in_full};
	double bins_per_px = in_full / FULL_PX;
	for (uint32_t row = 0; row < rows; row++) {
		double width = widths[row], bin = width * bins_per_px;
		if (width <= 0) {
			ret_bins->empty += width < 0;
		} else if (bin < BINS) {
			ret_bins->sums[(unsigned)bin] += width;
			ret_bins->squares += width * width;
			ret_bins->counts[(unsigned)bin]++;
		} else {
			ret_bins->wider++;
		}
	}
}

/* The least width that gets a full row so that the rows have room, from FULL_PX up to the end of
 * the bins. Between the ends of a bin it is interpolated, so that it changes smoothly with the
 * view. */
static double find_full(const struct width_bins *bins, double room)
{
	double narrower = 0, before = 0;
	uint32_t wider = bins->wider;
	for (unsigned bin = 0; bin < BINS; bin++)
		wider += bins->counts[bin];
	for (unsigned bin = 0; bin < BINS; bin++) {
		double end = bins->bin_px * (bin + 1);
		narrower += bins->sums[bin];
		wider -= bins->counts[bin];
		double shares = narrower / end + wider;
		if (shares <= room && end >= FULL_PX)
			return fmax(end - bins->bin_px * (room - shares) / (before - shares), FULL_PX);
		before = shares;
	}
	return bins->bin_px * BINS;
}

static double least_height(double height, double room, uint32_t count)
{
	return count > 0 ? fmin(height, room / count) : height;
}

/* The sum of all heights is between those of the squares and of the shares. It is more than the
 * room only if the rows are too many for any width. */
static double find_k(const struct width_bins *bins, double full, double room)
{
	double last = bins->bin_px * BINS, shares = bins->wider, squares = bins->squares / last / last;
	for (unsigned bin = 0; bin < BINS; bin++)
		shares += bins->sums[bin] / last;
	squares += bins->wider;
	bool fits = full < last || shares <= room;
	return fits ? 1 : fmin(fmax((room - squares) / (shares - squares), 0), 1);
}

static struct height_shape find_shape(
	const struct weft_view *view, const double *widths, uint32_t rows)
{
	double picture = view->height / WEFT_VIEW_ROW_HEIGHT, room = ROOM * picture;
	struct width_bins bins;
	sort_into_bins(widths, rows, fmax(view->width, FULL_PX), &bins);
	double full = find_full(&bins, room);
	return (struct height_shape){
		.one_by_full = 1 / full,
		.k = find_k(&bins, full, room),
		.least = least_height(LEAST, LEAST_SHARE * picture, rows - bins.empty),
		.hairline = least_height(EMPTY, EMPTY_SHARE * picture, bins.empty),
	};
}

static double height_of(const struct height_shape *shape, double width)
{
	double u = share_of(width, shape->one_by_full);
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

/* Measures rows from `row` on that are wholly in view and have nothing but lines, as most rows of a
 * large trace, and returns the first that is not. As width_of(), but it loads only a row's ticks.
 */
static uint32_t measure_plain(const struct weft_scene *scene, const struct weft_view *view,
	const struct rows_shown *shown, uint32_t row, double *widths)
{
	const struct weft__row_ticks *ticks = scene->row_ticks;
	const uint64_t start = scene->start, end = scene->end;
	const unsigned shift = scene->census.tick_shift;
	const uint32_t first = shown->first, last = shown->last, rows = scene->layout->row_count;
	const double scale = view->scale;
	if (!shown->has_only_lines || !shown->has_fine_ticks || view->squeeze)
		return row;
	for (; row < rows; row++) {
		uint32_t from = ticks[row].start, to = ticks[row].end;
		if (from < first || from > to || to > last || from == WEFT__NO_TICK)
			break;
		uint64_t begins = start + ((uint64_t)from << shift);
		uint64_t ends = to == WEFT__NO_TICK ? end : start + ((uint64_t)to << shift);
		widths[row] = ends > begins ? (double)(ends - begins) * scale : 0;
	}
	return row;
}

/* The widths of all rows, and how many have something in the view before each. */
static void measure_rows(const struct weft_scene *scene, const struct weft_view *view,
	const struct rows_shown *shown, double *widths, uint32_t *ret_before)
{
	uint32_t count = 0, row = 0, rows = scene->layout->row_count;
	while (row < rows) {
		uint32_t end = measure_plain(scene, view, shown, row, widths);
		for (; ret_before && row < end; row++)
			ret_before[row] = count++;
		row = end;
		if (row == rows)
			break;
		if (ret_before)
			ret_before[row] = count;
		widths[row] = width_of(scene, view, shown, row);
		count += widths[row] >= 0 && !is_heading(scene, row);
		row++;
	}
	if (ret_before)
		ret_before[rows] = count;
}

void weft__render_row_edges(const struct weft_scene *scene, const struct weft_view *view,
	double *ret_edges, uint32_t *ret_before)
{
	uint32_t rows = scene->layout->row_count;
	const struct rows_shown shown = find_shown(scene, view);
	double *widths = ret_edges + 1; /* each becomes the edge below its row */
	measure_rows(scene, view, &shown, widths, ret_before);
	add_tails(scene, view, &shown.times, widths);
	struct height_shape shape = find_shape(view, widths, rows);
	ret_edges[0] = rows ? -height_of(&shape, widths[0]) / 2 : 0; /* the first row is at 0 */
	for (uint32_t row = 0; row < rows; row++)
		ret_edges[row + 1] = ret_edges[row] + height_of(&shape, widths[row]);
}

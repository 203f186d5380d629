/* SPDX-License-Identifier: ISC
 *
 * See things.h. A lane has its pieces in the order of x, so a point costs one search in each lane
 * near it. Only where many rows share a lane, the rows' tasks are looked up in the scene.
 */
#include "render/things.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/search.h"
#include "render/painter.h"

#define ROWS_MAX 512u /* of a lane, around the point */

struct weft__things {
	const struct weft_scene *scene; /* NULL: nothing is recorded */
	struct weft_frame frame;
	struct weft_view view;
	double row_shift;
	struct weft__lane *lanes;
	uint32_t lane_count;
	struct weft__lane_piece *pieces;
	struct weft__thing *list; /* folds, lane after lane; then handles and texts */
	size_t count, capacity;
	struct weft__drawn_edges edges;
	uint32_t *curves; /* counters that are drawn over the tasks */
	uint32_t curve_count;
	bool are_rates;
};

/* ---- Recording ---- */

struct weft__things *weft__render_things_create(void)
{
	return calloc(1, sizeof(struct weft__things));
}

void weft__render_things_clear(struct weft__things *things)
{
	if (!things)
		return;
	free(things->lanes);
	free(things->pieces);
	free(things->list);
	weft__render_drawn_edges_finish(&things->edges);
	free(things->curves);
	*things = (struct weft__things){0};
}

void weft__render_things_destroy(struct weft__things *things)
{
	weft__render_things_clear(things);
	free(things);
}

void weft__render_add_thing(struct painter *p, struct weft__thing thing)
{
	struct weft__things *things = p->things;
	if (!things)
		return;
	if (things->count == things->capacity) {
		size_t capacity = weft__array_next_capacity(things->capacity, things->count + 1);
		if (weft__array_resize(&things->list, capacity, sizeof(*things->list))) {
			p->error = WEFT_ERROR_MEMORY;
			return;
		}
		things->capacity = capacity;
	}
	things->list[things->count++] = thing;
}

void weft__render_add_drawn_edge(struct painter *p, const struct weft__drawn_edge *edge)
{
	if (p->things && weft__render_drawn_edges_add(&p->things->edges, edge))
		p->error = WEFT_ERROR_MEMORY;
}

uint32_t weft__render_thing_count(const struct painter *p)
{
	return p->things ? (uint32_t)p->things->count : 0;
}

void weft__render_keep_things(struct painter *p)
{
	struct weft__things *things = p->things;
	things->scene = p->scene;
	things->frame = *p->frame;
	things->view = *p->view;
	things->row_shift = p->options->row_shifts ? p->options->row_shift : 0;
	things->lanes = p->lanes;
	things->lane_count = p->lane_count;
	things->pieces = p->pieces;
	things->curves = p->named;
	things->curve_count = p->label_count;
	things->are_rates = p->options->counter_rates;
	p->lanes = NULL;
	p->pieces = NULL;
	p->named = NULL;
}

bool weft__render_things_show(const struct weft__things *things, const struct weft_scene *scene,
	const struct weft_frame *frame, const struct weft_view *view, double row_shift)
{
	return things->scene == scene && memcmp(&things->frame, frame, sizeof(*frame)) == 0 &&
		   memcmp(&things->view, view, sizeof(*view)) == 0 &&
		   fabs(things->row_shift - row_shift) <= 0;
}

/* ---- Finding ---- */

struct looking {
	const struct weft__things *things;
	const struct weft__point *point;
	uint64_t time; /* at the point */
	void (*found)(void *context, const struct weft__thing *thing);
	void *context;
};

static double x_of(const struct weft__things *things, uint64_t time)
{
	return things->frame.picture.x + weft_view_x(&things->view, time);
}

static uint64_t time_at(const struct weft__things *things, double x)
{
	return weft_view_time(&things->view, x - things->frame.picture.x);
}

static void report_thing(const struct looking *l, const struct weft__thing *thing)
{
	const struct weft__point *point = l->point;
	double right = thing->box.x + thing->box.width;
	if (thing->box.x - point->x <= point->reach && point->x - right <= point->reach)
		l->found(l->context, thing);
}

/* For weft__search, which passes integers: the point's x comes from `context` instead. */
static bool begins_by_point(const void *context, uint32_t piece, uint64_t unused)
{
	const struct looking *l = context;
	(void)unused;
	return l->things->pieces[piece].x <= l->point->x;
}

/* The one of several tasks in a pixel column that lives at the point's time. */
static uint32_t task_of(const struct looking *l, const struct weft__lane_piece *piece)
{
	const struct weft_scene *scene = l->things->scene;
	uint32_t last = piece->index + piece->count - 1;
	uint32_t index = weft__render_scene_first_alive(scene, piece->index, last, l->time);
	return scene->by_row[index];
}

/* A line ends where a line before it still covers it: see draw_row() in tasks.c. */
static void find_piece(const struct looking *l, const struct weft__lane *lane, uint32_t i)
{
	const struct weft__lane_piece *piece = &l->things->pieces[i];
	double x = piece->is_line ? piece->x : floor(piece->x), x2 = x + 1;
	if (piece->is_line) {
		if (i > lane->first_piece && piece[-1].is_line)
			x = fmin(fmax(x, piece[-1].x2), piece->x2);
		x2 = piece->x2;
	}
	report_thing(l, &(struct weft__thing){
						WEFT__THING_TASK, task_of(l, piece), WEFT_NONE, {x, lane->y, x2 - x, 0}});
}

static bool starts_by(const void *context, uint32_t member, uint64_t time)
{
	const struct weft_layout *layout = context;
	return layout->start[layout->fold_members[member]] <= time;
}

/* The member of a fold that began last before a time. */
static uint32_t member_at(
	const struct weft_layout *layout, const struct weft_fold *fold, uint64_t time)
{
	uint32_t end = fold->first + fold->count;
	uint32_t next = weft__search(layout, fold->first + 1, end, starts_by, time);
	return layout->fold_members[next - 1];
}

static void look_in_lane(const struct looking *l, const struct weft__lane *lane)
{
	const struct weft_layout *layout = l->things->scene->layout;
	uint32_t next = weft__search(l, lane->first_piece, lane->last_piece, begins_by_point, 0);
	uint32_t first = next - lane->first_piece < 2 ? lane->first_piece : next - 2;
	for (uint32_t i = first; i <= next && i < lane->last_piece; i++)
		find_piece(l, lane, i);
	for (uint32_t i = lane->first_thing; i < lane->last_thing; i++) {
		struct weft__thing thing = l->things->list[i];
		thing.task = member_at(layout, &layout->folds[thing.fold], l->time);
		report_thing(l, &thing);
	}
}

/* ---- Lanes of several rows ---- */

/* Nothing is narrower than a pixel. */
static struct weft_box line_box(
	const struct weft__things *things, uint64_t start, uint64_t end, double y)
{
	double x = x_of(things, start), x2 = x_of(things, end);
	return (struct weft_box){x, y, fmax(x2 - x, 1), 0};
}

static void find_task(const struct looking *l, uint32_t index, double y)
{
	const struct weft_scene *scene = l->things->scene;
	struct weft_box box = line_box(
		l->things, weft__render_scene_start(scene, index), weft__render_scene_end(scene, index), y);
	report_thing(l, &(struct weft__thing){WEFT__THING_TASK, scene->by_row[index], WEFT_NONE, box});
}

static void find_folds(const struct looking *l, uint32_t row, double y)
{
	const struct weft_layout *layout = l->things->scene->layout;
	const struct weft__piles *piles = &l->things->scene->piles;
	for (uint32_t i = piles->row_first[row]; i < piles->row_first[row + 1]; i++) {
		uint32_t number = piles->list[piles->by_row[i]].fold;
		if (number == WEFT_NONE || layout->folds[number].count == 0)
			continue;
		const struct weft_fold *fold = &layout->folds[number];
		struct weft_box box = line_box(l->things, fold->start, fold->end, y);
		report_thing(l,
			&(struct weft__thing){WEFT__THING_FOLD, member_at(layout, fold, l->time), number, box});
	}
}

/* At most two tasks can be near: the one that is alive at the point's time, and the one before. */
static void look_in_row(const struct looking *l, uint32_t row, double y)
{
	const struct weft_scene *scene = l->things->scene;
	uint32_t first = scene->row_first[row], last = scene->row_first[row + 1];
	uint32_t index = weft__render_scene_first_alive(scene, first, last, l->time);
	if (index < last)
		find_task(l, index, y);
	if (index > first)
		find_task(l, index - 1, y);
	if (scene->piles.count)
		find_folds(l, row, y);
}

static void look_in_rows(const struct looking *l, const struct weft__lane *lane)
{
	const struct weft_view *view = &l->things->view;
	double top = l->things->frame.picture.y, middle = weft_view_row(view, l->point->y - top);
	double first = fmax(middle - ROWS_MAX / 2, lane->first_row);
	double end = fmin(middle + ROWS_MAX / 2, lane->first_row + (double)lane->row_count);
	for (uint32_t row = (uint32_t)first; row < end; row++) {
		double y = weft_view_y(view, row) + top;
		if (fabs(y - l->point->y) <= l->point->reach)
			look_in_row(l, row, y);
	}
}

/* ---- What is near ---- */

static double handle_distance(const struct weft__point *point, const struct weft__thing *handle)
{
	return fmax(fabs(handle->box.x - point->x), fabs(handle->box.y - point->y));
}

static bool is_in_text(const struct weft__point *point, const struct weft__thing *text)
{
	const struct weft_box *box = &text->box;
	return point->x >= box->x && point->x <= box->x + box->width && point->y >= box->y &&
		   point->y <= box->y + box->height;
}

/* The one that was drawn last is on top. */
static void find_handle(const struct looking *l)
{
	const struct weft__things *things = l->things;
	for (size_t i = things->count; i-- > 0 && things->list[i].type != WEFT__THING_FOLD;) {
		const struct weft__thing *thing = &things->list[i];
		bool is_there = thing->type == WEFT__THING_HANDLE
							? handle_distance(l->point, thing) <= l->point->handle_reach
							: is_in_text(l->point, thing);
		if (is_there) {
			l->found(l->context, thing);
			return;
		}
	}
}

void weft__render_things_near(const struct weft__things *things, const struct weft__point *point,
	void (*found)(void *context, const struct weft__thing *thing), void *context)
{
	struct looking looking = {things, point, time_at(things, point->x), found, context};
	find_handle(&looking);
	for (uint32_t i = 0; i < things->lane_count; i++) {
		const struct weft__lane *lane = &things->lanes[i];
		double away = fabs(lane->y - point->y);
		if (lane->row_count > 1 && away <= point->reach + lane->spacing)
			look_in_rows(&looking, lane);
		else if (lane->row_count == 1 && away <= point->reach)
			look_in_lane(&looking, lane);
	}
}

const struct weft__drawn_edge *weft__render_things_edge(const struct weft__things *things,
	const struct weft__point *point, double reach, double *ret_away)
{
	return weft__render_drawn_edges_at(&things->edges, point->x, point->y, reach, ret_away);
}

uint32_t weft__render_things_curve(
	const struct weft__things *things, const struct weft__point *point, double reach)
{
	const struct weft_render_options options = {.counter_rates = things->are_rates};
	const struct painter painter = {
		.scene = things->scene,
		.model = things->scene->model,
		.layout = things->scene->layout,
		.frame = &things->frame,
		.view = &things->view,
		.options = &options,
		.theme = weft__render_theme(WEFT_THEME_LIGHT), /* the colour does not matter */
	};
	return weft__render_curve_at(
		&painter, things->curves, things->curve_count, point->x, point->y, reach);
}

/* ---- Bands ---- */

static bool ends_by(const void *context, uint32_t band, uint64_t time)
{
	return ((const struct weft_band_period *)context)[band].end <= time;
}

/* A band is at least as wide as the pixel that it is drawn in. */
static const struct weft_band_period *band_of(
	const struct weft__things *things, const struct weft__bands *bands, double x)
{
	uint32_t i = weft__search(bands->list, 0, bands->count, ends_by, time_at(things, floor(x)));
	return i < bands->count && bands->list[i].start <= time_at(things, x) ? &bands->list[i] : NULL;
}

const struct weft_band_period *weft__render_things_band(const struct weft__things *things, double x)
{
	const struct weft_band_period *gc = band_of(things, &things->scene->gc, x);
	return gc ? gc : band_of(things, &things->scene->idle, x);
}

/* ---- Cells ---- */

/* The tasks of a pixel column of one row, from `list[count]` on. */
static uint32_t collect_column(
	const struct looking *l, uint32_t row, uint32_t *list, uint32_t count, uint32_t room)
{
	const struct weft_scene *scene = l->things->scene;
	uint32_t last = scene->row_first[row + 1];
	uint64_t to = time_at(l->things, floor(l->point->x) + 1);
	uint32_t index = weft__render_scene_first_alive(
		scene, scene->row_first[row], last, time_at(l->things, floor(l->point->x)));
	for (; index < last && count < room && weft__render_scene_start(scene, index) <= to; index++)
		list[count++] = scene->by_row[index];
	return count;
}

/* The tasks of a density in one row; 0 if it has another thing in this pixel column. Where times
 * are rounded, a column can have two pieces. */
static uint32_t collect_pieces(
	const struct looking *l, const struct weft__lane *lane, uint32_t *list, uint32_t room)
{
	const struct weft__lane_piece *pieces = l->things->pieces;
	double column = floor(l->point->x);
	uint32_t last = weft__search(l, lane->first_piece, lane->last_piece, begins_by_point, 0);
	uint32_t first = last, count = 0;
	while (first > lane->first_piece && floor(pieces[first - 1].x) >= column)
		first--;
	while (last < lane->last_piece && floor(pieces[last].x) <= column)
		last++;
	for (uint32_t i = first; i < last; i++) {
		if (pieces[i].is_line)
			return 0;
		count += pieces[i].count;
	}
	count = count < room ? count : room;
	if (count)
		memcpy(list, l->things->scene->by_row + pieces[first].index, count * sizeof(*list));
	return count;
}

static const struct weft__lane *nearest_lane(
	const struct weft__things *things, const struct weft__point *point)
{
	const struct weft__lane *nearest = NULL;
	for (uint32_t i = 0; i < things->lane_count; i++)
		if (!nearest || fabs(things->lanes[i].y - point->y) < fabs(nearest->y - point->y))
			nearest = &things->lanes[i];
	return nearest && fabs(nearest->y - point->y) <= point->reach / 2 ? nearest : NULL;
}

uint32_t weft__render_things_cell(const struct weft__things *things,
	const struct weft__point *point, uint32_t *ret_tasks, uint32_t room)
{
	const struct looking looking = {.things = things, .point = point};
	const struct weft__lane *lane = nearest_lane(things, point);
	uint32_t count = 0;
	if (!lane)
		return 0;
	for (uint32_t i = 0; lane->row_count > 1 && i < lane->row_count && count < room; i++)
		count = collect_column(&looking, lane->first_row + i, ret_tasks, count, room);
	if (lane->row_count == 1)
		count = collect_pieces(&looking, lane, ret_tasks, room);
	return count < 2 ? 0 : count;
}

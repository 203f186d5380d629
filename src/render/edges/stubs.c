/* SPDX-License-Identifier: ISC
 *
 * Stubs: the ends of arrows that are too long to be followed by the eye.
 *
 *          │ ring, where a task resolves or signals; not for reads, which happen later
 *
 *        ↘ from main
 *     ────●━━━━━      at the task that waited: the head, and the other task's name
 *
 * Names are written after all others, and one for a run of equal names.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/story.h>

#include "base/array.h"
#include "render/edges/arrow.h"
#include "render/painter.h"

#define LENGTH      16.0 /* px */
#define LEAST       7.0
#define ROW_SHARE   0.55  /* of the distance to the next row, at most */
#define TAIL_SHARE  0.6   /* the length of the other end */
#define STEEP       0.866 /* least slope, so that a stub does not lie on the task's line */
#define UPRIGHT     8.0   /* px across: up to this the other end is below or above, and drawn */
#define NAME_SIZE   10.5
#define LETTERS     24
#define NAMES_MAX   400   /* per frame */
#define AGAIN       400.0 /* px between two equal names */
#define GAP         3.0
#define ROW_SPACING 18.0 /* rows closer than this have no such names */

/* The name at a stub, while it waits for the room that others leave. */
struct weft__stub_name {
	double x, y; /* the free end of the stub, the line of the task */
	uint32_t lane, task;
	bool is_below; /* the stub is below the line */
};

struct direction {
	double x, y; /* of length 1, from the task that waits to the other one */
};

/* Towards the other task, but at least as steep as STEEP. On one row it leads upwards. */
static struct direction direction_of(const struct weft__arrow *a)
{
	double dx = a->is_wait ? a->x2 - a->x : a->x - a->x2;
	double dy = a->is_wait ? a->y2 - a->y : a->y - a->y2;
	double length = hypot(dx, dy), y = dy / length;
	if (fabs(y) < STEEP)
		y = dy > 0 ? STEEP : -STEEP;
	return (struct direction){copysign(sqrt(1 - y * y), dx), y};
}

static uint32_t waiting_task(const struct painter *p, const struct weft__arrow *a)
{
	const struct weft_edges *edges = &p->model->edges;
	bool is_actor = a->is_wait || edges->type[a->edge] == WEFT_EDGE_READ;
	return is_actor ? edges->from[a->edge] : edges->to[a->edge];
}

static uint32_t other_task(const struct painter *p, const struct weft__arrow *a)
{
	const struct weft_edges *edges = &p->model->edges;
	return edges->from[a->edge] == waiting_task(p, a) ? edges->to[a->edge] : edges->from[a->edge];
}

static void keep_name(struct painter *p, struct weft__stub_name name)
{
	if (p->stub_count == NAMES_MAX)
		return;
	if (p->stub_count == p->stub_capacity) {
		size_t capacity = weft__array_next_capacity(p->stub_capacity, p->stub_count + 1);
		if (weft__array_resize(&p->stub_names, capacity, sizeof(*p->stub_names))) {
			p->error = WEFT_ERROR_MEMORY;
			return;
		}
		p->stub_capacity = capacity;
	}
	p->stub_names[p->stub_count++] = name;
}

/* The end at the task that waits. */
static void draw_near_end(struct painter *p, const struct weft__arrow *a, uint32_t lane)
{
	const struct direction to = direction_of(a);
	double length = fmin(LENGTH, fmax(LEAST, p->lanes[lane].spacing * ROW_SHARE));
	struct weft__arrow stub = *a;
	stub.ringed = stub.crossed = false;
	stub.end = a->is_wait ? WEFT__EDGE_TAIL : WEFT__EDGE_HEAD;
	if (a->is_wait) {
		stub.x2 = a->x + to.x * length;
		stub.y2 = a->y + to.y * length;
	} else {
		stub.x = a->x2 + to.x * length;
		stub.y = a->y2 + to.y * length;
		keep_name(p,
			(struct weft__stub_name){stub.x, p->lanes[lane].y, lane, other_task(p, a), to.y > 0});
	}
	weft__render_arrow_draw(p, stub);
}

/* The end at the task that resolves or signals, if that is above or below. */
static void draw_far_end(struct painter *p, const struct weft__arrow *a)
{
	if (a->is_wait || fabs(a->x2 - a->x) > UPRIGHT)
		return;
	const struct direction to = direction_of(a);
	struct weft__arrow stub = *a;
	stub.x2 = a->x - to.x * LENGTH * TAIL_SHARE;
	stub.y2 = a->y - to.y * LENGTH * TAIL_SHARE;
	stub.is_headless = true;
	stub.end = WEFT__EDGE_TAIL;
	stub.crossed = false;
	weft__render_arrow_draw(p, stub);
}

void weft__render_draw_stub(struct painter *p, const struct weft__arrow *arrow)
{
	draw_near_end(p, arrow, weft__render_lane_of_row(p, p->layout->row[waiting_task(p, arrow)]));
	draw_far_end(p, arrow);
}

/* ---- Names ---- */

/* The name that was written last in a lane. */
struct written {
	double x;
	uint32_t task;
};

static bool is_again(
	const struct painter *p, const struct weft__stub_name *name, const struct written *last)
{
	const uint32_t *label = p->model->tasks.label;
	if (last->task == WEFT_NONE || fabs(name->x - last->x) >= AGAIN)
		return false;
	return name->task == last->task ||
		   (label[name->task] != WEFT_NONE && label[name->task] == label[last->task]);
}

/* Right of the stub, else left of it. */
static bool place_name(struct painter *p, const struct weft__stub_name *name)
{
	const struct weft_box *box = &p->frame->picture;
	struct weft_text_style style = {p->theme->dim, NAME_SIZE, false, true, p->theme->background};
	char text[160] = "from ", fitted[160];
	size_t size = 5 + weft_story_name(p->model, name->task, LETTERS, text + 5, sizeof(text) - 5);
	double lift = weft__render_lift(p->lanes[name->lane].spacing);
	double y = name->is_below ? name->y + 4 + NAME_SIZE : name->y - lift, x = name->x + GAP;
	double top = y - NAME_SIZE * 0.8, bottom = y + NAME_SIZE * 0.2;
	double width = weft__render_fit_text(
		p, (struct weft_slice){text, size}, box->width, &style, fitted, sizeof(fitted));
	if (top < box->y || bottom > box->y + box->height - 2)
		return false;
	for (int side = 0; side < 2; side++, x = name->x - GAP - width) {
		struct weft__rect rect = {x - 2, top, x + width + 2, bottom};
		if (rect.x < box->x || rect.x2 > box->x + box->width ||
			!weft__render_occupied_take(p->occupied, rect))
			continue;
		weft_canvas_text(p->canvas, x, y, fitted, strlen(fitted), width, &style);
		return true;
	}
	return false;
}

void weft__render_name_stubs(struct painter *p)
{
	struct written *written = p->stub_count ? malloc(p->lane_count * sizeof(*written)) : NULL;
	for (uint32_t i = 0; written && i < p->lane_count; i++)
		written[i] = (struct written){0, WEFT_NONE};
	if (p->stub_count && !written)
		p->error = WEFT_ERROR_MEMORY;
	for (size_t i = 0; written && i < p->stub_count; i++) {
		const struct weft__stub_name *name = &p->stub_names[i];
		struct written *last = &written[name->lane];
		bool has_room =
			p->lanes[name->lane].row_count == 1 && p->lanes[name->lane].spacing >= ROW_SPACING;
		if (has_room && !weft__render_is_dim(p, name->task) && !is_again(p, name, last) &&
			place_name(p, name))
			*last = (struct written){name->x, name->task};
	}
	free(written);
}

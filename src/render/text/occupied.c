/* SPDX-License-Identifier: ISC
 *
 * Boxes in horizontal strips, each strip a list: a picture has a few dozen texts in a strip, for
 * which a linear search is the fastest.
 */
#include "render/text/occupied.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"

#define STRIP 16.0

struct occupied_strip {
	struct weft__rect *rects;
	size_t count, capacity;
};

struct weft__occupied {
	double top;
	unsigned count;
	bool failed;
	struct occupied_strip strips[];
};

struct weft__occupied *weft__render_occupied_create(double top, double bottom)
{
	unsigned count = 1 + (unsigned)(fmax(bottom - top, 0) / STRIP);
	struct weft__occupied *occupied =
		calloc(1, sizeof(*occupied) + count * sizeof(struct occupied_strip));
	if (!occupied)
		return NULL;
	occupied->top = top;
	occupied->count = count;
	return occupied;
}

void weft__render_occupied_destroy(struct weft__occupied *occupied)
{
	if (!occupied)
		return;
	for (unsigned i = 0; i < occupied->count; i++)
		free(occupied->strips[i].rects);
	free(occupied);
}

static unsigned strip_at(const struct weft__occupied *occupied, double y)
{
	double index = (y - occupied->top) / STRIP;
	if (!(index > 0))
		return 0;
	return index < occupied->count ? (unsigned)index : occupied->count - 1;
}

double weft__render_occupied_room(
	const struct weft__occupied *occupied, double x, double y, double y2, double limit)
{
	for (unsigned i = strip_at(occupied, y); i <= strip_at(occupied, y2); i++)
		for (size_t j = 0; j < occupied->strips[i].count; j++) {
			const struct weft__rect *other = &occupied->strips[i].rects[j];
			if (other->y < y2 && y < other->y2 && other->x2 > x && other->x < limit)
				limit = other->x;
		}
	return limit;
}

static bool add_rect(struct occupied_strip *strip, const struct weft__rect *rect)
{
	if (strip->count == strip->capacity) {
		size_t capacity = weft__array_next_capacity(strip->capacity, strip->count + 1);
		if (weft__array_resize(&strip->rects, capacity, sizeof(*strip->rects)))
			return false;
		strip->capacity = capacity;
	}
	strip->rects[strip->count++] = *rect;
	return true;
}

bool weft__render_occupied_take(struct weft__occupied *occupied, struct weft__rect rect)
{
	if (weft__render_occupied_room(occupied, rect.x, rect.y, rect.y2, rect.x2) < rect.x2)
		return false;
	for (unsigned i = strip_at(occupied, rect.y); i <= strip_at(occupied, rect.y2); i++)
		if (!add_rect(&occupied->strips[i], &rect)) {
			occupied->failed = true;
			return false;
		}
	return true;
}

bool weft__render_occupied_failed(const struct weft__occupied *occupied)
{
	return occupied->failed;
}

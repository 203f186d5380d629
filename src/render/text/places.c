/* SPDX-License-Identifier: ISC
 *
 * Boxes in horizontal strips, each strip a list: a picture has a few dozen texts in a strip, for
 * which a linear search is the fastest.
 */
#include "render/text/places.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"

#define STRIP 16.0

struct strip {
	struct weft__rect *rects;
	size_t count, capacity;
};

struct weft__places {
	double top;
	unsigned count;
	bool failed;
	struct strip strips[];
};

struct weft__places *weft__places_create(double top, double bottom)
{
	unsigned count = 1 + (unsigned)(fmax(bottom - top, 0) / STRIP);
	struct weft__places *places = calloc(1, sizeof(*places) + count * sizeof(struct strip));
	if (!places)
		return NULL;
	places->top = top;
	places->count = count;
	return places;
}

void weft__places_destroy(struct weft__places *places)
{
	if (!places)
		return;
	for (unsigned i = 0; i < places->count; i++)
		free(places->strips[i].rects);
	free(places);
}

static unsigned strip_at(const struct weft__places *places, double y)
{
	double index = (y - places->top) / STRIP;
	if (!(index > 0))
		return 0;
	return index < places->count ? (unsigned)index : places->count - 1;
}

double weft__places_room(
	const struct weft__places *places, double x, double y, double y2, double limit)
{
	for (unsigned i = strip_at(places, y); i <= strip_at(places, y2); i++)
		for (size_t j = 0; j < places->strips[i].count; j++) {
			const struct weft__rect *other = &places->strips[i].rects[j];
			if (other->y < y2 && y < other->y2 && other->x2 > x && other->x < limit)
				limit = other->x;
		}
	return limit;
}

static bool add(struct strip *strip, const struct weft__rect *rect)
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

bool weft__places_take(struct weft__places *places, struct weft__rect rect)
{
	if (weft__places_room(places, rect.x, rect.y, rect.y2, rect.x2) < rect.x2)
		return false;
	for (unsigned i = strip_at(places, rect.y); i <= strip_at(places, rect.y2); i++)
		if (!add(&places->strips[i], &rect)) {
			places->failed = true;
			return false;
		}
	return true;
}

bool weft__places_failed(const struct weft__places *places)
{
	return places->failed;
}

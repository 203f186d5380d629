/* SPDX-License-Identifier: ISC
 *
 * The boxes that text occupies. Boxes that were taken never overlap.
 */
#ifndef WEFT_RENDER_PLACES_H
#define WEFT_RENDER_PLACES_H

#include <stdbool.h>

#include "render/rect.h"

struct weft__places;

/* Creates an empty set for text between y = top and bottom. NULL without memory. */
struct weft__places *weft__places_create(double top, double bottom);
void weft__places_destroy(struct weft__places *places);

/* How far right a text from (x, y) down to y2 may reach, at most to `limit`; x or less if there is
 * no room. */
double weft__places_room(
	const struct weft__places *places, double x, double y, double y2, double limit);

/* Takes a box if it is free; false if not, or without memory. */
bool weft__places_take(struct weft__places *places, struct weft__rect rect);

/* True if a box was refused because memory ran out. */
bool weft__places_failed(const struct weft__places *places);

#endif

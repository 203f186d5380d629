/* SPDX-License-Identifier: ISC
 *
 * The boxes that text occupies. Boxes that were taken never overlap.
 */
#ifndef WEFT_RENDER_OCCUPIED_H
#define WEFT_RENDER_OCCUPIED_H

#include <stdbool.h>

#include "render/rect.h"

struct weft__occupied;

/* Creates an empty set for text between y = top and bottom. NULL without memory. */
struct weft__occupied *weft__render_occupied_create(double top, double bottom);
void weft__render_occupied_destroy(struct weft__occupied *occupied);

/* How far right a text from (x, y) down to y2 may reach, at most to `limit`; x or less if there is
 * no room. */
double weft__render_occupied_room(
	const struct weft__occupied *occupied, double x, double y, double y2, double limit);

/* Takes a box if it is free; false if not, or without memory. */
bool weft__render_occupied_take(struct weft__occupied *occupied, struct weft__rect rect);

/* True if a box was refused because memory ran out. */
bool weft__render_occupied_failed(const struct weft__occupied *occupied);

#endif

/* SPDX-License-Identifier: ISC
 *
 * A trace of which only a part is read, because it is too large.
 */
#ifndef WEFT_VIEWER_PART_H
#define WEFT_VIEWER_PART_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/density.h>

struct weft_canvas;
struct weft_viewer;
struct weft__strip;
struct weft__theme;

struct weft__part {
	struct weft_density *density; /* of the whole trace; NULL: all of it is read */
	double most_bytes;            /* of a part */
	double most_column;           /* the bytes of the largest column */
	uint64_t start, end;          /* the part that was asked for last */
	uint64_t left, right;         /* the edges of the view at the last look */
	double due_ms;                /* when to ask for what is shown; INFINITY: never */
};

/* Notices whether the view shows what is not read; after any input. */
void weft__viewer_look_at_part(struct weft_viewer *viewer);
/* Asks the shell for what is shown, once the view has come to rest. */
void weft__viewer_ask_for_part(struct weft_viewer *viewer);
/* Draws in the overview where the bytes are that are not read. */
void weft__viewer_draw_density(const struct weft_viewer *viewer, const struct weft__strip *strip,
	const struct weft__theme *theme, struct weft_canvas *canvas);

#endif

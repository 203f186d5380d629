/* SPDX-License-Identifier: ISC
 *
 * The pill of a trace that is still recorded: how far the picture is behind the program.
 */
#ifndef WEFT_VIEWER_PILL_H
#define WEFT_VIEWER_PILL_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/render.h>

struct weft_canvas;
struct weft_viewer;
struct weft__button;

struct weft__pill {
	bool has_ended; /* the trace was live, and is no longer recorded */
	bool has_text;  /* there is room for it */
	/* The trace's clock was at least `present_ns` at `present_ms`; 0: unknown. */
	uint64_t present_ns;
	double present_ms;
	uint64_t shown_ns;   /* the picture has all events before this time */
	double reported_ms;  /* when the shell last told how far the trace is complete */
	struct weft_box box; /* of the pill; no width: there is none */
	char text[40];       /* in the pill */
};

/* pill.c: the pill in the title line, or in the shell's header bar. */
bool weft__viewer_has_pill(const struct weft_viewer *viewer);
void weft__viewer_pill_place(struct weft_viewer *viewer);
/* Writes the pill's text and tip. */
void weft__viewer_pill_describe(struct weft_viewer *viewer, struct weft__button *pill);
void weft__viewer_pill_draw(
	const struct weft_viewer *viewer, const struct weft__button *pill, struct weft_canvas *canvas);
/* When the pill's text may change without input; INFINITY: never. */
double weft__viewer_pill_due(const struct weft_viewer *viewer);
/* A model takes the place of another: the next state of the same trace, or another trace. */
void weft__viewer_pill_take(struct weft_viewer *viewer, bool is_same, bool was_live);

#endif

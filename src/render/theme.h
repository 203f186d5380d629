/* SPDX-License-Identifier: ISC
 *
 * Colours by role. Their contrast was measured: text 14:1, dim text 5:1, lines of waiting
 * tasks 3.5:1, arrows 3:1, counters 4.5:1. The safe themes keep edge types, and failures and
 * counters, distinct for colour-blind users; tests/unit/render/test_theme.c measures the counters.
 */
#ifndef WEFT_RENDER_THEME_H
#define WEFT_RENDER_THEME_H

#include <stdint.h>

#include <weft/render.h>

/* Coprime with the number of marker shapes: colour and shape together repeat after 42. */
#define WEFT__COUNTER_COLORS 6
#define WEFT__COUNTER_SHAPES 7

struct weft__theme {
	uint32_t background, text, dim;
	uint32_t waiting, running;
	uint32_t runnable; /* a vCPU waits for a processor */
	uint32_t idle, gc, grid;
	uint32_t failed; /* a failed task, and the reading of one */
	uint32_t read, resolve, try_read, signal;
	uint32_t selection;
	uint32_t found; /* the ground of search results */
	uint32_t counters[WEFT__COUNTER_COLORS];
};

const struct weft__theme *weft__render_theme(enum weft_theme theme);

/* The colour with another alpha, 0 to 1. */
uint32_t weft__render_faded(uint32_t color, double alpha);

#endif

/* SPDX-License-Identifier: ISC
 *
 * The font: it lays out texts to measure and to draw them, and caches the layouts.
 */
#ifndef WEFT_CAIRO_FONT_H
#define WEFT_CAIRO_FONT_H

#include <weft/cairo.h>

#include "cairo/library.h"

#define WEFT__CAIRO_DESCRIPTIONS 32 /* cached sizes and weights of the font */
#define WEFT__CAIRO_HALO         4  /* px: width of the pen that draws halos */

/* A cached text that was measured or drawn recently. */
struct weft__cairo_words {
	/* The key. */
	char *text;
	size_t bytes;
	int units; /* the size in pango units */
	bool bold;
	/* The result. */
	PangoLayout *layout;
	double width;          /* px */
	cairo_surface_t *halo; /* a mask; NULL until it is needed */
	double halo_scale;     /* device pixels per pixel */
	double halo_x, halo_y; /* px: the mask's corner, from the left end of the baseline */
};

struct weft_cairo_font {
	PangoFontMap *map;
	PangoContext *context;
	GHashTable *words; /* a set of struct weft__cairo_words */
	unsigned description_count;
	struct {
		int units; /* pango units */
		bool bold;
		PangoFontDescription *description;
	} descriptions[WEFT__CAIRO_DESCRIPTIONS];
};

/* Finds a text in the cache, or lays it out; `size` in px. Valid until the next call. */
struct weft__cairo_words *weft__cairo_words(
	struct weft_cairo_font *font, const char *text, size_t bytes, double size, bool bold);

/* Makes an empty set of cached texts. */
GHashTable *weft__cairo_words_table(void);

/* words.c: draws the halo's mask, unless it exists at that scale. */
void weft__cairo_halo(struct weft__cairo_words *words, double scale);

#endif

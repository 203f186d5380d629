/* SPDX-License-Identifier: ISC
 *
 * The font that measures and draws.
 */
#ifndef WEFT_CAIRO_FONT_H
#define WEFT_CAIRO_FONT_H

#include <weft/cairo.h>

#include "cairo/library.h"

#define WEFT__CAIRO_DESCRIPTIONS 32
#define WEFT__CAIRO_HALO         4 /* px: the pen's width */

/* A cached text that was measured or drawn recently. */
struct weft__cairo_words {
	/* The key. */
	char *text;
	size_t bytes;
	int units; /* the size in pango units */
	bool bold;
	/* The result. */
	PangoLayout *layout;
	double width; /* as measured */
	/* The halo's mask, relative to the left end of the baseline; NULL until it is needed. */
	cairo_surface_t *halo;
	double halo_scale; /* device pixels per pixel */
	double halo_x, halo_y;
};

struct weft_cairo_font {
	PangoFontMap *map;
	PangoContext *context;
	GHashTable *words; /* of struct weft__cairo_words */
	unsigned description_count;
	struct {
		int units; /* pango units */
		bool bold;
		PangoFontDescription *description;
	} descriptions[WEFT__CAIRO_DESCRIPTIONS];
};

/* Finds or lays out a text. Valid until the next call. */
struct weft__cairo_words *weft__cairo_words(
	struct weft_cairo_font *font, const char *text, size_t bytes, double size, bool bold);

/* Makes the table of cached texts. */
GHashTable *weft__cairo_words_table(void);

/* words.c: draws the halo for that scale. */
void weft__cairo_halo(struct weft__cairo_words *words, double scale);

#endif

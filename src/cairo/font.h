/* SPDX-License-Identifier: ISC
 *
 * The font that measures and draws.
 */
#ifndef WEFT_CAIRO_FONT_H
#define WEFT_CAIRO_FONT_H

#include <pango/pangocairo.h>

#include <weft/cairo.h>

#define WEFT__CAIRO_DESCRIPTIONS 32
#define WEFT__CAIRO_HALO         4 /* px: how thick a pen */

/* A text that was measured or drawn lately. */
struct weft__cairo_words {
	/* What it is. */
	char *text;
	size_t bytes;
	int units; /* of pango: its size */
	bool bold;
	/* What that gave. */
	PangoLayout *layout;
	double width; /* as measured */
	/* Where its halo is opaque, around the left end of the baseline; NULL until it is needed. */
	cairo_surface_t *halo;
	double halo_scale; /* device pixels a pixel */
	double halo_x, halo_y;
};

struct weft_cairo_font {
	PangoFontMap *map;
	PangoContext *context;
	GHashTable *words; /* of struct weft__cairo_words */
	unsigned description_count;
	struct {
		int units; /* of pango */
		bool bold;
		PangoFontDescription *description;
	} descriptions[WEFT__CAIRO_DESCRIPTIONS];
};

/* They stay until the next call. */
struct weft__cairo_words *weft__cairo_words(
	struct weft_cairo_font *font, const char *text, size_t bytes, double size, bool bold);

/* The table of them. */
GHashTable *weft__cairo_words_table(void);

/* words.c: fills in the halo for that scale. */
void weft__cairo_halo(struct weft__cairo_words *words, double scale);

#endif

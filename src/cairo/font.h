/* SPDX-License-Identifier: ISC
 *
 * The font that measures and draws.
 */
#ifndef WEFT_CAIRO_FONT_H
#define WEFT_CAIRO_FONT_H

#include <pango/pangocairo.h>

#include <weft/cairo.h>

#define WEFT__CAIRO_DESCRIPTIONS 32

struct weft_cairo_font {
	PangoFontMap *map;
	PangoContext *context;
	PangoLayout *layout;
	unsigned description_count;
	struct {
		int units; /* of pango */
		bool bold;
		PangoFontDescription *description;
	} descriptions[WEFT__CAIRO_DESCRIPTIONS];
};

/* Makes the font's layout hold this text. */
void weft__cairo_font_set(
	struct weft_cairo_font *font, const char *text, size_t bytes, double size, bool bold);

#endif

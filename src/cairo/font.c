/* SPDX-License-Identifier: ISC
 *
 * Text by pango. One layout is kept, and one description a size and weight, as making them costs
 * more than measuring a name.
 */
#include "cairo/font.h"

#include <math.h>
#include <stdlib.h>

#include "base/export.h"

static PangoFontDescription *description(struct weft_cairo_font *font, double size, bool bold)
{
	int units = (int)(size * PANGO_SCALE + 0.5);
	for (unsigned i = 0; i < font->description_count; i++)
		if (font->descriptions[i].units == units && font->descriptions[i].bold == bold)
			return font->descriptions[i].description;
	unsigned place = font->description_count;
	if (place == WEFT__CAIRO_DESCRIPTIONS) {
		place = 0; /* sizes follow the rows: a lens has few, an animation many */
		pango_font_description_free(font->descriptions[place].description);
	} else {
		font->description_count++;
	}
	PangoFontDescription *made = pango_font_description_from_string("DejaVu Sans, Sans");
	pango_font_description_set_absolute_size(made, units);
	pango_font_description_set_weight(made, bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
	font->descriptions[place].units = units;
	font->descriptions[place].bold = bold;
	font->descriptions[place].description = made;
	return made;
}

void weft__cairo_font_set(
	struct weft_cairo_font *font, const char *text, size_t bytes, double size, bool bold)
{
	pango_layout_set_font_description(font->layout, description(font, size, bold));
	pango_layout_set_text(font->layout, text, bytes < 65536 ? (int)bytes : 65536);
}

static double measure(void *context, const char *text, size_t bytes, double size, bool bold)
{
	struct weft_cairo_font *font = context;
	PangoRectangle logical;
	weft__cairo_font_set(font, text, bytes, size, bold);
	pango_layout_get_extents(font->layout, NULL, &logical);
	return ceil((double)logical.width * 4 / PANGO_SCALE) / 4;
}

WEFT__EXPORT int weft_cairo_font_create(struct weft_cairo_font **ret_font)
{
	struct weft_cairo_font *font = calloc(1, sizeof(*font));
	if (!font)
		return WEFT_ERROR_MEMORY;
	font->map = pango_cairo_font_map_new();
	pango_cairo_font_map_set_resolution(PANGO_CAIRO_FONT_MAP(font->map), 96);
	font->context = pango_font_map_create_context(font->map);
	cairo_font_options_t *options = cairo_font_options_create();
	cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
	cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_SLIGHT);
	cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
	pango_cairo_context_set_font_options(font->context, options);
	cairo_font_options_destroy(options);
	font->layout = pango_layout_new(font->context);
	pango_layout_set_single_paragraph_mode(font->layout, TRUE);
	*ret_font = font;
	return 0;
}

WEFT__EXPORT void weft_cairo_font_destroy(struct weft_cairo_font *font)
{
	if (!font)
		return;
	for (unsigned i = 0; i < font->description_count; i++)
		pango_font_description_free(font->descriptions[i].description);
	g_object_unref(font->layout);
	g_object_unref(font->context);
	g_object_unref(font->map);
	free(font);
}

WEFT__EXPORT struct weft_font weft_cairo_font_interface(struct weft_cairo_font *font)
{
	return (struct weft_font){measure, font};
}

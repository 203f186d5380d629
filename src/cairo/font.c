/* SPDX-License-Identifier: ISC
 *
 * Text by pango. Recent layouts are cached, since most names of a picture were in the picture
 * before, and laying text out costs more than drawing it.
 */
#include "cairo/font.h"

#include <math.h>
#include <stdlib.h>

#include "base/export.h"

#define WORDS_MAX 2048
#define BYTES_MAX 65536 /* of a text; more would never be visible */

static PangoFontDescription *description(struct weft_cairo_font *font, double size, bool bold)
{
	int units = (int)(size * PANGO_SCALE + 0.5);
	for (unsigned i = 0; i < font->description_count; i++)
		if (font->descriptions[i].units == units && font->descriptions[i].bold == bold)
			return font->descriptions[i].description;
	unsigned index = font->description_count;
	if (index == WEFT__CAIRO_DESCRIPTIONS) {
		index =
			0; /* cache full: reuse the first; font sizes change with row heights in an animation */
		pango_font_description_free(font->descriptions[index].description);
	} else {
		font->description_count++;
	}
	PangoFontDescription *made = pango_font_description_from_string("DejaVu Sans, Sans");
	pango_font_description_set_absolute_size(made, units);
	pango_font_description_set_weight(made, bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
	font->descriptions[index].units = units;
	font->descriptions[index].bold = bold;
	font->descriptions[index].description = made;
	return made;
}

static struct weft__cairo_words *set(struct weft_cairo_font *font,
	const struct weft__cairo_words *key, PangoFontDescription *description)
{
	struct weft__cairo_words *words = g_new(struct weft__cairo_words, 1);
	PangoRectangle logical;
	*words = *key;
	words->text = g_memdup2(key->text, key->bytes);
	words->layout = pango_layout_new(font->context);
	pango_layout_set_single_paragraph_mode(words->layout, TRUE);
	pango_layout_set_font_description(words->layout, description);
	pango_layout_set_text(words->layout, words->text, (int)words->bytes);
	pango_layout_get_extents(words->layout, NULL, &logical);
	words->width = ceil((double)logical.width * 4 / PANGO_SCALE) / 4;
	return words;
}

struct weft__cairo_words *weft__cairo_words(
	struct weft_cairo_font *font, const char *text, size_t bytes, double size, bool bold)
{
	const struct weft__cairo_words key = {
		.text = (char *)(uintptr_t)text,
		.bytes = bytes < BYTES_MAX ? bytes : BYTES_MAX,
		.units = (int)(size * PANGO_SCALE + 0.5),
		.bold = bold,
	};
	struct weft__cairo_words *words = g_hash_table_lookup(font->words, &key);
	if (words)
		return words;
	/* Cache full: drop all; texts that are still shown come back with the next picture. */
	if (g_hash_table_size(font->words) >= WORDS_MAX)
		g_hash_table_remove_all(font->words);
	words = set(font, &key, description(font, size, bold));
	g_hash_table_add(font->words, words);
	return words;
}

static double measure(void *context, const char *text, size_t bytes, double size, bool bold)
{
	return weft__cairo_words(context, text, bytes, size, bold)->width;
}

WEFT__EXPORT int weft_cairo_font_create(struct weft_cairo_font **ret_font)
{
	int error = weft__cairo_pango_load();
	if (error)
		return error;
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
	font->words = weft__cairo_words_table();
	*ret_font = font;
	return 0;
}

WEFT__EXPORT void weft_cairo_font_destroy(struct weft_cairo_font *font)
{
	if (!font)
		return;
	for (unsigned i = 0; i < font->description_count; i++)
		pango_font_description_free(font->descriptions[i].description);
	g_hash_table_destroy(font->words);
	g_object_unref(font->context);
	g_object_unref(font->map);
	free(font);
}

WEFT__EXPORT struct weft_font weft_cairo_font_interface(struct weft_cairo_font *font)
{
	return (struct weft_font){measure, font};
}

/* SPDX-License-Identifier: ISC
 *
 * The cache of laid-out texts and their halos. A halo is the outline of each letter, drawn with a
 * thick pen, which costs a hundred times as much as the letters: it is drawn once, as a mask in
 * device pixels, and then copied to where the text is.
 */
#include "cairo/font.h"

#include <math.h>
#include <string.h>

static guint hash(const void *key)
{
	const struct weft__cairo_words *words = key;
	guint sum = (guint)words->units * 2 + words->bold;
	for (size_t i = 0; i < words->bytes; i++)
		sum = sum * 31 + (unsigned char)words->text[i];
	return sum;
}

static gboolean is_equal(const void *left, const void *right)
{
	const struct weft__cairo_words *l = left, *r = right;
	return l->bytes == r->bytes && l->units == r->units && l->bold == r->bold &&
		   /* An empty text may be NULL. */
		   (l->bytes == 0 || memcmp(l->text, r->text, l->bytes) == 0);
}

static void forget(void *entry)
{
	struct weft__cairo_words *words = entry;
	if (words->halo)
		cairo_surface_destroy(words->halo);
	g_object_unref(words->layout);
	g_free(words->text);
	g_free(words);
}

GHashTable *weft__cairo_words_table(void)
{
	return g_hash_table_new_full(hash, is_equal, forget, NULL);
}

static void draw_halo(struct weft__cairo_words *words)
{
	cairo_t *cairo = cairo_create(words->halo);
	cairo_set_line_width(cairo, WEFT__CAIRO_HALO);
	cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
	cairo_move_to(cairo, -words->halo_x, -words->halo_y);
	pango_cairo_layout_line_path(cairo, pango_layout_get_line_readonly(words->layout, 0));
	cairo_stroke(cairo);
	cairo_destroy(cairo);
}

void weft__cairo_halo(struct weft__cairo_words *words, double scale)
{
	PangoRectangle ink;
	if (words->halo && words->halo_scale == scale)
		return;
	if (words->halo)
		cairo_surface_destroy(words->halo);
	pango_layout_line_get_pixel_extents(
		pango_layout_get_line_readonly(words->layout, 0), &ink, NULL);
	words->halo_scale = scale;
	/* Rounded to whole device pixels, so that copying does not blur it. */
	words->halo_x = floor((ink.x - WEFT__CAIRO_HALO) * scale) / scale;
	words->halo_y = floor((ink.y - WEFT__CAIRO_HALO) * scale) / scale;
	words->halo = cairo_image_surface_create(CAIRO_FORMAT_A8,
		(int)ceil((ink.width + 2 * WEFT__CAIRO_HALO + 1) * scale),
		(int)ceil((ink.height + 2 * WEFT__CAIRO_HALO + 1) * scale));
	cairo_surface_set_device_scale(words->halo, scale, scale);
	draw_halo(words);
}

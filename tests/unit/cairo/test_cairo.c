/* SPDX-License-Identifier: ISC
 *
 * Pictures by cairo: texts have the measured size, and files have the canvas's size.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cairo/font.h"

#define SIZE 80

/* The leak sanitizer asks for this: fontconfig keeps some memory until a program ends. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:libfontconfig";
}

static struct weft_canvas *new_canvas(double width, double height)
{
	struct weft_canvas *canvas;
	assert_int_equal(weft_canvas_create(width, height, &canvas), 0);
	return canvas;
}

static struct weft_cairo_font *new_font(void)
{
	struct weft_cairo_font *font;
	assert_int_equal(weft_cairo_font_create(&font), 0);
	return font;
}

static cairo_t *white_image(cairo_format_t format, double scale)
{
	int size = (int)(SIZE * scale);
	assert_int_equal(weft__cairo_pango_load(), 0);
	cairo_surface_t *surface = cairo_image_surface_create(format, size, size);
	cairo_surface_set_device_scale(surface, scale, scale);
	cairo_t *cairo = cairo_create(surface);
	cairo_surface_destroy(surface);
	cairo_set_source_rgb(cairo, 1, 1, 1);
	cairo_paint(cairo);
	return cairo;
}

static const uint32_t *pixels_of(cairo_t *cairo)
{
	cairo_surface_t *surface = cairo_get_target(cairo);
	cairo_surface_flush(surface);
	return (const uint32_t *)(const void *)cairo_image_surface_get_data(surface);
}

static void a_translucent_line_is_drawn_over_a_box(void **state)
{
	(void)state;
	const struct weft_pen pen = {0x00000080, 1, WEFT_DASH_SOLID};
	struct weft_canvas *canvas = new_canvas(SIZE, SIZE);
	cairo_t *cairo = white_image(CAIRO_FORMAT_ARGB32, 1);
	weft_canvas_rect(canvas, 0, 0, 20, 20, 0xff0000ff);
	weft_canvas_line(canvas, 2, 10.5, 18, 10.5, &pen);
	weft_cairo_draw(canvas, NULL, cairo);
	const uint32_t *pixels = pixels_of(cairo);
	assert_int_equal(pixels[5 * SIZE + 10], 0xffff0000);
	assert_int_equal(pixels[10 * SIZE + 10], 0xff7f0000);
	assert_int_equal(pixels[5 * SIZE + 20], 0xffffffff);
	weft_canvas_destroy(canvas);
	cairo_destroy(cairo);
}

/* ---- Texts ---- */

/* The box around all pixels that are not white; false if there are none. */
static bool ink(cairo_t *cairo, int ret_box[4])
{
	const uint32_t *pixels = pixels_of(cairo);
	int size = cairo_image_surface_get_width(cairo_get_target(cairo));
	ret_box[0] = ret_box[1] = size;
	ret_box[2] = ret_box[3] = -1;
	for (int i = 0; i < size * size; i++) {
		int at[] = {i % size, i / size};
		if ((pixels[i] & 0xffffff) == 0xffffff)
			continue;
		for (unsigned axis = 0; axis < 2; axis++) {
			ret_box[axis] = at[axis] < ret_box[axis] ? at[axis] : ret_box[axis];
			ret_box[axis + 2] = at[axis] > ret_box[axis + 2] ? at[axis] : ret_box[axis + 2];
		}
	}
	return ret_box[2] >= 0;
}

static cairo_t *draw_text(const struct weft_text_style *style, double x, double y, double scale)
{
	struct weft_canvas *canvas = new_canvas(SIZE, SIZE);
	struct weft_cairo_font *font = new_font();
	cairo_t *cairo = white_image(CAIRO_FORMAT_RGB24, scale);
	weft_canvas_text(canvas, x, y, "Hex", 3, 30, style);
	weft_cairo_draw(canvas, font, cairo);
	weft_canvas_destroy(canvas);
	weft_cairo_font_destroy(font);
	return cairo;
}

static void ink_of(
	const struct weft_text_style *style, double x, double y, double scale, int box[4])
{
	cairo_t *cairo = draw_text(style, x, y, scale);
	assert_true(ink(cairo, box));
	cairo_destroy(cairo);
}

static void a_text_stands_on_its_place(void **state)
{
	const struct weft_text_style style = {.color = 0x000000ff, .size = 16};
	int first[4], moved[4], large[4];
	(void)state;
	ink_of(&style, 20, 40, 1, first);
	assert_in_range(first[0], 20, 24);
	assert_in_range(first[1], 25, 30);
	assert_in_range(first[3], 38, 40); /* the baseline */
	ink_of(&style, 30, 47, 1, moved);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(moved[i] - first[i], i % 2 ? 7 : 10);
	ink_of(&style, 20, 40, 2, large);
	for (unsigned i = 0; i < 4; i++)
		assert_in_range(large[i], 2 * first[i] - 3, 2 * first[i] + 3);
}

/* Half of a pen of 4 px is outside of the letters, at any scale. */
static void a_halo_lies_around_the_letters(void **state)
{
	const struct weft_text_style plain = {.color = 0x000000ff, .size = 16};
	const struct weft_text_style halo = {
		.color = 0x000000ff, .size = 16, .halo = true, .back = 0x0000ffff};
	(void)state;
	for (int scale = 1; scale <= 2; scale++)
		for (int x = 20; x <= 23; x += 3) {
			int a[4], b[4];
			ink_of(&plain, x, 40, scale, a);
			ink_of(&halo, x, 40, scale, b);
			for (unsigned i = 0; i < 4; i++) {
				int out = i < 2 ? a[i] - b[i] : b[i] - a[i];
				assert_in_range(out, 2 * scale - 1, 2 * scale + 1);
			}
		}
	cairo_t *cairo = draw_text(&halo, 20, 40, 1);
	const uint32_t *pixels = pixels_of(cairo);
	unsigned blue = 0, black = 0;
	for (int i = 0; i < SIZE * SIZE; i++) {
		blue += (pixels[i] & 0xffffff) == 0x0000ff;
		black += (pixels[i] & 0xffffff) == 0x000000;
	}
	assert_true(blue > 40 && black > 5);
	cairo_destroy(cairo);
}

/* In a PDF, the halo is a stroke and not a mask. */
static void a_halo_is_stroked_on_other_surfaces(void **state)
{
	double x[2], y[2], width[2], height[2];
	(void)state;
	for (int halo = 0; halo < 2; halo++) {
		const struct weft_text_style style = {
			.color = 0x000000ff, .size = 16, .halo = halo, .back = 0x0000ffff};
		cairo_surface_t *surface = cairo_recording_surface_create(CAIRO_CONTENT_COLOR_ALPHA, NULL);
		cairo_t *cairo = cairo_create(surface);
		struct weft_canvas *canvas = new_canvas(SIZE, SIZE);
		struct weft_cairo_font *font = new_font();
		weft_canvas_text(canvas, 20, 40, "Hex", 3, 30, &style);
		weft_cairo_draw(canvas, font, cairo);
		cairo_recording_surface_ink_extents(
			surface, &x[halo], &y[halo], &width[halo], &height[halo]);
		weft_canvas_destroy(canvas);
		weft_cairo_font_destroy(font);
		cairo_destroy(cairo);
		cairo_surface_destroy(surface);
	}
	assert_true(x[0] - x[1] == 2 && y[0] - y[1] == 2); /* half of the pen */
	assert_true(width[1] - width[0] == 4 && fabs(height[1] - height[0] - 4) <= 1);
}

static void a_halo_keeps_to_whole_pixels(void **state)
{
	const struct weft_text_style halo = {
		.color = 0x000000ff, .size = 16, .halo = true, .back = 0x0000ffff};
	(void)state;
	for (int scale = 1; scale <= 2; scale++) {
		cairo_t *whole = draw_text(&halo, 20, 40, scale);
		cairo_t *near = draw_text(&halo, 20 + 0.2 / scale, 40 - 0.2 / scale, scale);
		assert_memory_equal(
			pixels_of(near), pixels_of(whole), (size_t)(SIZE * SIZE * 4 * scale * scale));
		cairo_destroy(whole);
		cairo_destroy(near);
	}
}

static double width_of(const struct weft_font *font, const char *text, double size, bool bold)
{
	return font->measure(font->context, text, strlen(text), size, bold);
}

static void texts_are_measured_by_size_and_weight(void **state)
{
	struct weft_cairo_font *made = new_font();
	const struct weft_font font = weft_cairo_font_interface(made);
	(void)state;
	double width = width_of(&font, "weft", 12, false);
	assert_true(width > 15 && width < 40);
	assert_true(fmod(width, 0.25) == 0);
	assert_true(width_of(&font, "weft", 12, true) > width);
	assert_true(width_of(&font, "wefts", 12, false) > width);
	assert_true(fabs(width_of(&font, "weft", 24, false) - 2 * width) < 0.6);
	assert_true(width_of(&font, "", 12, false) == 0);
	weft_cairo_font_destroy(made);
	weft_cairo_font_destroy(NULL);
}

/* The caches of texts and sizes are emptied when they are full; what they forgot is measured
 * again. */
static void a_full_cache_measures_the_same(void **state)
{
	struct weft_cairo_font *made = new_font();
	const struct weft_font font = weft_cairo_font_interface(made);
	double sizes[70];
	(void)state;
	for (unsigned i = 0; i < 70; i++)
		sizes[i] = width_of(&font, "weft", 8 + i / 2, i % 2);
	assert_int_equal(made->description_count, WEFT__CAIRO_DESCRIPTIONS);
	for (unsigned i = 0; i < 5000; i++) {
		char text[16];
		snprintf(text, sizeof(text), "%u", i);
		assert_true(width_of(&font, text, 10, false) > 0);
		assert_true(g_hash_table_size(made->words) <= 2048);
	}
	for (unsigned i = 0; i < 70; i++) {
		assert_true(width_of(&font, "weft", 8 + i / 2, i % 2) == sizes[i]);
		assert_true(i < 4 || sizes[i] > sizes[i - 4]);
	}
	weft_cairo_font_destroy(made);
}

/* ---- Files ---- */

static uint32_t big_endian(const char *bytes)
{
	const unsigned char *b = (const unsigned char *)bytes;
	return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static void files_have_the_size_of_the_canvas(void **state)
{
	struct weft_cairo_font *font = new_font();
	struct weft_canvas *canvas = new_canvas(100.4, 199.5);
	char *bytes;
	size_t size;
	(void)state;
	weft_canvas_rect(canvas, 1, 2, 30, 40, 0x336699ff);
	assert_int_equal(weft_cairo_write_png(canvas, font, &bytes, &size), 0);
	assert_memory_equal(bytes, "\x89PNG\r\n\x1a\n", 8);
	assert_int_equal(big_endian(bytes + 16), 100);
	assert_int_equal(big_endian(bytes + 20), 200);
	assert_memory_equal(bytes + size - 8, "IEND", 4);
	free(bytes);
	assert_int_equal(weft_cairo_write_pdf(canvas, font, &bytes, &size), 0);
	assert_memory_equal(bytes, "%PDF-", 5);
	assert_memory_equal(bytes + size - 6, "%%EOF\n", 6);
	if (cairo_version() < CAIRO_VERSION_ENCODE(1, 17, 0)) /* later ones compress this */
		assert_non_null(memmem(bytes, size, "/MediaBox [ 0 0 75.3 149.625 ]", 30));
	free(bytes);
	weft_canvas_destroy(canvas);
	weft_cairo_font_destroy(font);
}

static void a_canvas_that_is_too_large_is_refused(void **state)
{
	struct weft_cairo_font *font = new_font();
	struct weft_canvas *canvas = new_canvas(40000, 20);
	char *bytes = NULL;
	size_t size = 0;
	(void)state;
	assert_int_equal(weft_cairo_write_png(canvas, font, &bytes, &size), WEFT_ERROR_LIMIT);
	assert_null(bytes);
	weft_canvas_destroy(canvas);
	weft_cairo_font_destroy(font);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_translucent_line_is_drawn_over_a_box),
		cmocka_unit_test(a_text_stands_on_its_place),
		cmocka_unit_test(a_halo_lies_around_the_letters),
		cmocka_unit_test(a_halo_is_stroked_on_other_surfaces),
		cmocka_unit_test(a_halo_keeps_to_whole_pixels),
		cmocka_unit_test(texts_are_measured_by_size_and_weight),
		cmocka_unit_test(a_full_cache_measures_the_same),
		cmocka_unit_test(files_have_the_size_of_the_canvas),
		cmocka_unit_test(a_canvas_that_is_too_large_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

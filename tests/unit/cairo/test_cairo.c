/* SPDX-License-Identifier: ISC
 *
 * Pictures by cairo: boxes that are written straight into an image look as if cairo had drawn them,
 * texts have the measured size, and files have the canvas's size.
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

#include "cairo/boxes.h"
#include "cairo/font.h"

#define SIZE 80

/* The leak sanitizer asks for this: fontconfig keeps some memory until a program ends. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:libfontconfig";
}

static uint32_t pick(uint32_t below)
{
	static uint64_t seed = 5;
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
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

/* ---- Boxes ---- */

/* Whole numbers mostly; lines of an odd width lie between two of them. */
static double place(void)
{
	static const double parts[] = {0, 0, 0, 0.5, 0.5, 0.25};
	return (double)pick(SIZE + 20) - 10 + parts[pick(6)];
}

static uint32_t any_color(void)
{
	return pick(1 << 24) << 8 | (pick(4) ? 255 : 128);
}

/* Mostly steps, as counters are drawn. */
static void add_polyline(struct weft_canvas *canvas, const struct weft_pen *pen)
{
	double points[12];
	uint32_t count = pick(6) + 1;
	for (uint32_t i = 0; i < count; i++) {
		bool is_level = i % 2, is_step = pick(8) > 0;
		points[2 * i] = i && !is_level && is_step ? points[2 * i - 2] : place();
		points[2 * i + 1] = i && is_level && is_step ? points[2 * i - 1] : place();
	}
	if (count > 1 && pick(8) == 0)
		memcpy(points + 2 * (count - 1), points, 2 * sizeof(*points));
	weft_canvas_polyline(canvas, points, count, pen);
}

static void add_anything(struct weft_canvas *canvas, unsigned *depth)
{
	double x = place(), y = place(), x2 = pick(3) ? x + pick(40) : place(), y2 = y + pick(40);
	struct weft_pen pen = {any_color(), 1 + pick(3), pick(4) ? WEFT_DASH_SOLID : WEFT_DASH_LONG};
	switch (pick(9)) {
	case 0:
	case 1:
		weft_canvas_rect(canvas, x, y, x2, y2, pen.color);
		break;
	case 2:
		weft_canvas_line(canvas, x, y, pick(2) ? x : x2, pick(2) ? y : y2, &pen);
		break;
	case 3:
		for (unsigned i = pick(4); i <= 4; i++) /* with one pen: they share a path */
			add_polyline(canvas, &pen);
		break;
	case 4:
		weft_canvas_polygon(canvas, (double[]){x, y, x2, y, x, y2}, 3, pen.color);
		break;
	case 5:
		weft_canvas_disc(canvas, x, y, 1 + pick(9), pen.color);
		weft_canvas_ring(canvas, x2, y2, 1 + pick(9), &pen);
		break;
	case 6:
		weft_canvas_hatch(canvas, x, y, x2, y2, pen.color);
		break;
	case 7:
		weft_canvas_clip(canvas, x, y, x2 + 30, y2 + 30);
		++*depth;
		break;
	default:
		if (*depth && (*depth)--)
			weft_canvas_unclip(canvas);
	}
}

static struct weft_canvas *any_picture(void)
{
	struct weft_canvas *canvas = new_canvas(SIZE, SIZE);
	unsigned depth = 0;
	for (unsigned i = 0; i < 30; i++)
		add_anything(canvas, &depth);
	while (depth--)
		weft_canvas_unclip(canvas);
	return canvas;
}

/* A part of a surface is not an image, so cairo itself draws everything in it. */
static void draw_slowly(const struct weft_canvas *canvas, cairo_t *image, double x, double y)
{
	cairo_surface_t *part =
		cairo_surface_create_for_rectangle(cairo_get_target(image), 0, 0, SIZE, SIZE);
	cairo_t *cairo = cairo_create(part);
	cairo_translate(cairo, x, y);
	weft_cairo_draw(canvas, NULL, cairo);
	cairo_destroy(cairo);
	cairo_surface_destroy(part);
}

/* Edges between pixels may be rounded otherwise where lines of one path cross. */
static bool are_near(uint32_t a, uint32_t b)
{
	for (unsigned shift = 0; shift < 24; shift += 8)
		if (abs((int)(a >> shift & 255) - (int)(b >> shift & 255)) > 16)
			return false;
	return true;
}

static void fast_boxes_look_like_slow_ones(void **state)
{
	static const cairo_format_t formats[] = {CAIRO_FORMAT_RGB24, CAIRO_FORMAT_ARGB32};
	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		double scale = round % 3 ? 1 : 2;
		int size = (int)(SIZE * scale);
		struct weft_canvas *canvas = any_picture();
		cairo_t *fast = white_image(formats[round % 2], scale);
		cairo_t *slow = white_image(formats[round % 2], scale);
		double x = round % 5 == 4 ? 3 : 0, y = 2 * x; /* as in a window: the corner is elsewhere */
		cairo_translate(fast, x, y);
		weft_cairo_draw(canvas, NULL, fast);
		draw_slowly(canvas, slow, x, y);
		const uint32_t *a = pixels_of(fast), *b = pixels_of(slow);
		for (int i = 0; i < size * size; i++)
			if (!are_near(a[i], b[i]))
				fail_msg(
					"round %u, x %d y %d: %08x is not %08x", round, i % size, i / size, a[i], b[i]);
		cairo_destroy(fast);
		cairo_destroy(slow);
		weft_canvas_destroy(canvas);
	}
}

/* Whether the last operation of a canvas is drawn by the fast path. */
static bool is_fast(cairo_t *cairo, const struct weft_canvas *canvas)
{
	struct weft__cairo_boxes boxes;
	weft__cairo_boxes_init(&boxes, cairo);
	bool done = weft__cairo_boxes_draw(&boxes, canvas, &canvas->ops[canvas->op_count - 1]);
	weft__cairo_boxes_finish(&boxes);
	return done;
}

static bool is_fast_rect(cairo_t *cairo, double x, double y, double x2, double y2, uint32_t color)
{
	struct weft_canvas *canvas = new_canvas(SIZE, SIZE);
	weft_canvas_rect(canvas, x, y, x2, y2, color);
	bool done = is_fast(cairo, canvas);
	weft_canvas_destroy(canvas);
	return done;
}

static bool is_fast_line(
	const double *points, uint32_t count, double width, enum weft_canvas_dash dash)
{
	cairo_t *cairo = white_image(CAIRO_FORMAT_RGB24, 1);
	struct weft_canvas *canvas = new_canvas(SIZE, SIZE);
	struct weft_pen pen = {0x112233ff, width, dash};
	weft_canvas_polyline(canvas, points, count, &pen);
	bool done = is_fast(cairo, canvas);
	if (count == 2) { /* a line is a polyline of two points */
		weft_canvas_line(canvas, points[0], points[1], points[2], points[3], &pen);
		assert_int_equal(is_fast(cairo, canvas), done);
	}
	weft_canvas_destroy(canvas);
	cairo_destroy(cairo);
	return done;
}

static void opaque_boxes_on_whole_pixels_are_fast(void **state)
{
	(void)state;
	cairo_t *cairo = white_image(CAIRO_FORMAT_RGB24, 1);
	assert_true(is_fast_rect(cairo, 2, 3, 5, 7, 0x112233ff));
	assert_true(is_fast_rect(cairo, 2.00005, 3, 5, 7, 0x112233ff)); /* a rounding error */
	assert_false(is_fast_rect(cairo, 2, 3, 5, 7, 0x112233fe));
	assert_false(is_fast_rect(cairo, 2.5, 3, 5, 7, 0x112233ff));
	assert_false(is_fast_rect(cairo, 2, 3.5, 5, 7, 0x112233ff));
	assert_false(is_fast_rect(cairo, 2, 3, 5.5, 7, 0x112233ff));
	assert_false(is_fast_rect(cairo, 2, 3, 5, 7.5, 0x112233ff));
	assert_false(is_fast_rect(cairo, 2, 3, 5, 7.001, 0x112233ff));
	assert_false(is_fast_rect(cairo, 2, 3, 2, 7, 0x112233ff));
	assert_false(is_fast_rect(cairo, 2, 3, 5, 3, 0x112233ff));
	assert_false(is_fast_rect(cairo, -2e6, 3, 5, 7, 0x112233ff));
	cairo_rectangle(cairo, 1, 1, 20, 20);
	cairo_clip(cairo);
	assert_true(is_fast_rect(cairo, 2, 3, 5, 7, 0x112233ff));
	cairo_rectangle(cairo, 1.5, 1, 20, 20);
	cairo_clip(cairo);
	assert_false(is_fast_rect(cairo, 2, 3, 5, 7, 0x112233ff));
	cairo_destroy(cairo);
}

/* A surface that cairo has not drawn into yet is empty for it, though boxes were written there. */
static void a_translucent_line_is_drawn_over_the_first_boxes(void **state)
{
	(void)state;
	struct weft_canvas *canvas;
	struct weft_pen pen = {0x00000080, 1, WEFT_DASH_SOLID};
	cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, 20, 20);
	cairo_t *cairo = cairo_create(image);
	assert_int_equal(weft_canvas_create(20, 20, &canvas), 0);
	weft_canvas_rect(canvas, 0, 0, 20, 20, 0xffffffff);
	weft_canvas_line(canvas, 2, 10.5, 18, 10.5, &pen);
	weft_cairo_draw(canvas, NULL, cairo);
	cairo_surface_flush(image);
	const uint32_t *pixels = (const uint32_t *)(const void *)cairo_image_surface_get_data(image);
	uint32_t stride = (uint32_t)cairo_image_surface_get_stride(image) / 4;
	assert_int_equal(pixels[5 * stride + 10], 0xffffffff);
	assert_int_equal(pixels[10 * stride + 10], 0xff7f7f7f);
	weft_canvas_destroy(canvas);
	cairo_destroy(cairo);
	cairo_surface_destroy(image);
}

static void lines_that_fill_whole_pixels_are_fast(void **state)
{
	static const double level[] = {2, 3.5, 20, 3.5}, upright[] = {2.5, 3, 2.5, 20},
						between[] = {2, 3, 20, 3}, slanted[] = {2, 3.5, 20, 4.5},
						point[] = {2, 2, 2, 2},
						steps[] = {2.5, 3.5, 20.5, 3.5, 20.5, 9.5, 30.5, 9.5},
						closed[] = {2.5, 3.5, 20.5, 3.5, 20.5, 9.5, 2.5, 3.5},
						stopping[] = {2.5, 3.5, 20.5, 3.5, 20.5, 3.5};
	(void)state;
	assert_true(is_fast_line(level, 2, 1, WEFT_DASH_SOLID));
	assert_true(is_fast_line(upright, 2, 1, WEFT_DASH_SOLID));
	assert_true(is_fast_line(between, 2, 2, WEFT_DASH_SOLID));
	assert_false(is_fast_line(between, 2, 1, WEFT_DASH_SOLID));
	assert_false(is_fast_line(level, 2, 1, WEFT_DASH_LONG));
	assert_false(is_fast_line(slanted, 2, 1, WEFT_DASH_SOLID));
	assert_false(is_fast_line(point, 2, 2, WEFT_DASH_SOLID));
	assert_false(is_fast_line(steps, 4, 1, WEFT_DASH_SOLID)); /* its ends are between pixels */
	static const double whole[] = {2, 3.5, 20.5, 3.5, 20.5, 9.5, 31, 9.5};
	assert_true(is_fast_line(whole, 4, 1, WEFT_DASH_SOLID));
	assert_false(is_fast_line(whole, 1, 1, WEFT_DASH_SOLID));
	assert_false(is_fast_line(closed, 4, 1, WEFT_DASH_SOLID));
	assert_false(is_fast_line(stopping, 3, 1, WEFT_DASH_SOLID));
}

static void only_upright_images_have_fast_boxes(void **state)
{
	(void)state;
	cairo_t *cairo = white_image(CAIRO_FORMAT_ARGB32, 1);
	cairo_scale(cairo, 2, 2);
	assert_true(is_fast_rect(cairo, 2.5, 3.5, 5, 7, 0x112233ff));
	cairo_scale(cairo, -1, 1);
	assert_false(is_fast_rect(cairo, 2, 3, 5, 7, 0x112233ff));
	cairo_scale(cairo, -1, -1);
	assert_false(is_fast_rect(cairo, 2, 3, 5, 7, 0x112233ff));
	cairo_identity_matrix(cairo);
	cairo_rotate(cairo, 0.1);
	assert_false(is_fast_rect(cairo, 2, 3, 5, 7, 0x112233ff));
	cairo_destroy(cairo);
	cairo = white_image(CAIRO_FORMAT_A8, 1);
	assert_false(is_fast_rect(cairo, 2, 3, 5, 7, 0x112233ff));
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
		cmocka_unit_test(fast_boxes_look_like_slow_ones),
		cmocka_unit_test(opaque_boxes_on_whole_pixels_are_fast),
		cmocka_unit_test(a_translucent_line_is_drawn_over_the_first_boxes),
		cmocka_unit_test(lines_that_fill_whole_pixels_are_fast),
		cmocka_unit_test(only_upright_images_have_fast_boxes),
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

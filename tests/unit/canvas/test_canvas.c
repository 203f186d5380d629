/* SPDX-License-Identifier: ISC */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <weft/canvas.h>

static const struct weft_pen thin = {0x102030ff, 1, WEFT_DASH_SOLID};
static const struct weft_text_style plain = {0x102030ff, 12, false, true, 0xf7f7f5ff};

static struct weft_canvas *make(void)
{
	struct weft_canvas *canvas = NULL;
	assert_int_equal(weft_canvas_create(200, 100, &canvas), 0);
	return canvas;
}

static void put(struct weft_canvas *canvas, const char *text, size_t bytes)
{
	weft_canvas_text(canvas, 5, 20, text, bytes, 40, &plain);
}

/* The caller frees the text. */
static char *svg_of(const struct weft_canvas *canvas)
{
	struct weft_text text = {0};
	assert_int_equal(weft_canvas_write_svg(canvas, NULL, &text), 0);
	weft_text_add(&text, "", 1);
	return text.bytes;
}

static void operations_as_text(void **state)
{
	(void)state;
	struct weft_canvas *canvas = make();
	struct weft_pen dotted = {0xaabbcc80, 1.25, WEFT_DASH_DOTTED};
	weft_canvas_rect(canvas, 0, 0, 200, 100, 0xf7f7f5ff);
	weft_canvas_clip(canvas, 10, 10, 90, 90);
	weft_canvas_group(canvas, 1, 2, 3, 4, "a \"task\"", 8);
	weft_canvas_line(canvas, 1, 2.5, 30.126, 2.5, &dotted);
	weft_canvas_polyline(canvas, (double[]){1, 2, 3, 4, 5, 6}, 3, &thin);
	weft_canvas_polygon(canvas, (double[]){1, 2, 3, 4, 5, 6}, 3, 0x000000ff);
	weft_canvas_disc(canvas, 5, 6, 2, 0x111111ff);
	weft_canvas_ring(canvas, 5, 6, 2, &thin);
	weft_canvas_ungroup(canvas);
	weft_canvas_hatch(canvas, -0.001, 0, 8, 8, 0x222222ff);
	put(canvas, "name", 4);
	weft_canvas_unclip(canvas);
	struct weft_text text = {0};
	assert_int_equal(weft_canvas_write_text(canvas, &text), 0);
	weft_text_add(&text, "", 1);
	assert_string_equal(text.bytes, "canvas 200 100\n"
									"rect 0 0 200 100 #f7f7f5\n"
									"clip 10 10 90 90\n"
									"group 1 2 3 4 \"a \\\"task\\\"\"\n"
									"line 1 2.5 30.13 2.5 #aabbcc/0.5 1.25 dotted\n"
									"polyline 1 2 3 4 5 6 #102030 1\n"
									"polygon 1 2 3 4 5 6 #000000\n"
									"disc 5 6 2 #111111\n"
									"ring 5 6 2 #102030 1\n"
									"ungroup\n"
									"hatch 0 0 8 8 #222222\n"
									"text 5 20 \"name\" #102030 12 w=40 halo=#f7f7f5\n"
									"unclip\n");
	weft_text_finish(&text);
	weft_canvas_destroy(canvas);
}

/* The picture was checked by eye. */
static void each_shape_and_style_as_svg(void **state)
{
	static const char expected[] =
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"120\" height=\"80\" viewBox=\"0 0 120 80\" role=\"img\" xml:space=\"preserve\" font-family=\"'DejaVu Sans',Verdana,sans-serif\" font-size=\"12\">\n"
		"<title>t &lt; u</title>\n"
		"<style>.h{paint-order:stroke;stroke-width:4px;stroke-linejoin:round;stroke:#f7f7f5}</style>\n"
		"<path fill=\"none\" stroke=\"#102030\" d=\"M5 5H40V20L60 30\"/>\n"
		"<path fill=\"none\" stroke=\"#102030\" stroke-opacity=\"0.5\" stroke-width=\"2.5\" stroke-dasharray=\"6 4\" d=\"M5 10L30 25\"/>\n"
		"<path fill=\"#ff0000\" d=\"M70 5H90L80 20z\"/>\n"
		"<path fill=\"#00aa00\" d=\"M97 12a8 8 0 1 0 16 0a8 8 0 1 0 -16 0z\"/>\n"
		"<path fill=\"none\" stroke=\"#102030\" d=\"M99 35a6 6 0 1 0 12 0a6 6 0 1 0 -12 0z\"/>\n"
		"<path fill=\"none\" stroke=\"#0000ff\" d=\"M5 43L8 40M5 51L16 40M5 59L24 40M12 60L30 42M20 60L30 50M28 60L30 58\"/>\n"
		"<text x=\"40\" y=\"50\" fill=\"#102030\" textLength=\"33\" lengthAdjust=\"spacingAndGlyphs\">plain</text>\n"
		"<text x=\"40\" y=\"62\" fill=\"#102030\" font-size=\"10.5\" font-weight=\"bold\" class=\"h\">haloed</text>\n"
		"<g><title>a &amp; b</title><path fill=\"none\" pointer-events=\"all\" d=\"M40 65H80V75H40z\"/>\n"
		"<text x=\"40\" y=\"74\" fill=\"#aa2030\" class=\"h\" style=\"stroke:#e9e9e6\" textLength=\"30\" lengthAdjust=\"spacingAndGlyphs\">other</text>\n"
		"</g>\n"
		"</svg>\n";
	const struct weft_pen wide = {0x10203080, 2.5, WEFT_DASH_LONG};
	const struct weft_text_style haloless = {0x102030ff, 12, false, false, 0};
	const struct weft_text_style bold = {0x102030ff, 10.5, true, true, 0xf7f7f5ff};
	const struct weft_text_style other = {0xaa2030ff, 12, false, true, 0xe9e9e6ff};
	struct weft_text text = {0};
	struct weft_canvas *canvas;
	(void)state;
	assert_int_equal(weft_canvas_create(1, 1, &canvas), 0);
	weft_canvas_clear(canvas, 120, 80);
	weft_canvas_polyline(canvas, (double[]){5, 5, 40, 5, 40, 20, 60, 30}, 4, &thin);
	weft_canvas_line(canvas, 5, 10, 30, 25, &wide);
	weft_canvas_polygon(canvas, (double[]){70, 5, 90, 5, 80, 20}, 3, 0xff0000ff);
	weft_canvas_disc(canvas, 105, 12, 8, 0x00aa00ff);
	weft_canvas_ring(canvas, 105, 35, 6, &thin);
	weft_canvas_hatch(canvas, 5, 40, 30, 60, 0x0000ffff);
	weft_canvas_text(canvas, 40, 50, "plain", 5, 33, &haloless);
	weft_canvas_text(canvas, 40, 62, "haloed", 6, 0, &bold);
	weft_canvas_group(canvas, 40, 65, 80, 75, "a & b", 5);
	weft_canvas_text(canvas, 40, 74, "other", 5, 30, &other);
	weft_canvas_ungroup(canvas);
	assert_int_equal(
		weft_canvas_write_svg(canvas, &(struct weft_svg_options){.title = "t < u"}, &text), 0);
	weft_text_add(&text, "", 1);
	assert_string_equal(text.bytes, expected);
	weft_text_finish(&text);
	weft_canvas_destroy(canvas);
}

static void operations_as_svg(void **state)
{
	(void)state;
	struct weft_canvas *canvas = make();
	weft_canvas_line(canvas, 0, 5.5, 20, 5.5, &thin);
	weft_canvas_line(canvas, 7.5, 0, 7.5, 9, &thin); /* the same pen: the same path */
	weft_canvas_rect(canvas, 1, 2, 3, 4, 0xff000080);
	put(canvas, "a<b>&\"c\"", 8);
	char *svg = svg_of(canvas);
	assert_non_null(
		strstr(svg, "<path fill=\"none\" stroke=\"#102030\" d=\"M0 5.5H20M7.5 0V9\"/>"));
	assert_non_null(strstr(svg, "<path fill=\"#ff0000\" fill-opacity=\"0.5\" d=\"M1 2H3V4H1z\"/>"));
	assert_non_null(
		strstr(svg, "<text x=\"5\" y=\"20\" fill=\"#102030\" class=\"h\" textLength=\"40\" "
					"lengthAdjust=\"spacingAndGlyphs\">a&lt;b&gt;&amp;&quot;c&quot;</text>"));
	assert_non_null(strstr(svg, "</svg>\n"));
	free(svg);
	weft_canvas_destroy(canvas);
}

static unsigned count(const char *text, const char *what)
{
	unsigned found = 0;
	for (const char *at = text; (at = strstr(at, what)); at++)
		found++;
	return found;
}

/* In one path, the overlap of two transparent shapes would be no darker than each of them. */
static void svg_paths_are_shared_only_by_shapes_that_look_alike(void **state)
{
	(void)state;
	struct weft_canvas *canvas = make();
	const struct weft_pen dotted = {thin.color, thin.width, WEFT_DASH_DOTTED};
	weft_canvas_line(canvas, 0, 1, 20, 1, &thin);
	weft_canvas_line(canvas, 0, 2, 20, 2, &dotted);
	for (int i = 0; i < 2; i++)
		weft_canvas_disc(canvas, 5, 5, 3 + i, 0x11111180);
	char *svg = svg_of(canvas);
	assert_int_equal(count(svg, "<path"), 4);
	assert_int_equal(count(svg, " stroke-dasharray=\""), 1);
	const char *dashes = strstr(svg, "dasharray=\"") + strlen("dasharray=\"");
	assert_int_equal(strspn(dashes, "0123456789. "), strcspn(dashes, "\""));
	assert_memory_equal(dashes + strcspn(dashes, "\""), "\" d=\"", 5);
	free(svg);
	weft_canvas_destroy(canvas);
}

static void svg_groups_are_balanced_whatever_the_list_says(void **state)
{
	(void)state;
	struct weft_canvas *canvas = make();
	weft_canvas_unclip(canvas);
	weft_canvas_clip(canvas, 0, 0, 9, 9);
	weft_canvas_group(canvas, 0, 0, 9, 9, "t", 1);
	weft_canvas_clip(canvas, 0, 0, 9, 9);
	char *svg = svg_of(canvas);
	assert_int_equal(count(svg, "<g"), 3);
	assert_int_equal(count(svg, "</g>"), 3);
	/* Each clip has a name of its own. */
	assert_int_equal(
		count(svg, "<clipPath id=\"c0000000000\"><path d=\"M0 0H9V9H0z\"/></clipPath>"), 1);
	assert_int_equal(count(svg, "<clipPath id=\"c0000000001\">"), 1);
	assert_int_equal(count(svg, "<g clip-path=\"url(#c0000000001)\">"), 1);
	assert_true(strstr(svg, "</g>") > strstr(svg, "<g clip-path"));
	free(svg);
	weft_canvas_destroy(canvas);
}

static void text_is_clean_whatever_the_bytes_are(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t size;
		const char *clean;
	} cases[] = {
		{"plain", 5, "plain"},
		{"a\0b\x1b[1m\n", 8,
			"a\xef\xbf\xbd"
			"b\xef\xbf\xbd[1m\xef\xbf\xbd"},
		{"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
		{"\xff\xc0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xe2\x82", 2, "\xef\xbf\xbd"},
		{"\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"x\xe2\x80\xaey", 5, "x\xef\xbf\xbdy"}, /* would turn the direction */
		{"\xef\xbf\xbf", 3, "\xef\xbf\xbd"},     /* XML forbids it */
	};
	char buffer[64];
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t size = weft_canvas_clean_text(cases[i].bytes, cases[i].size, buffer, sizeof(buffer));
		assert_string_equal(buffer, cases[i].clean);
		assert_int_equal(size, strlen(buffer));
	}
	assert_int_equal(weft_canvas_clean_text("\xc3\xa9\xc3\xa9", 4, buffer, 4), 2);
	struct weft_canvas *canvas = make();
	char all[256];
	for (unsigned i = 0; i < 256; i++)
		all[i] = (char)i;
	put(canvas, all, sizeof(all));
	char *svg = svg_of(canvas);
	for (const char *c = svg; *c; c++)
		assert_true((unsigned char)*c >= 0x20 || *c == '\n');
	free(svg);
	weft_canvas_destroy(canvas);
}

static void the_built_in_font_measures(void **state)
{
	(void)state;
	const struct weft_font *font = &weft_font_builtin;
	double a = font->measure(font->context, "a", 1, 2048, false);
	assert_int_equal((int)a, 1255);
	assert_int_equal((int)font->measure(font->context, "aa", 2, 2048, false), 2510);
	assert_int_equal((int)font->measure(font->context, "a", 1, 2048, true), 1382);
	assert_int_equal((int)font->measure(font->context, "\xe2\x80\xa6", 3, 2048, false), 2048);
	assert_int_equal((int)font->measure(font->context, "\xff", 1, 2048, false), 2100);
	assert_int_equal((int)font->measure(font->context, "", 0, 12, false), 0);
}

static void hatch_lines_stay_inside(void **state)
{
	(void)state;
	struct weft_canvas_op op = {.type = WEFT_CANVAS_HATCH, .x = 3, .y = 5, .x2 = 40, .y2 = 17};
	double line[4];
	uint32_t number = 0, lines = 0;
	while (weft_canvas_hatch_line(&op, &number, line)) {
		lines++;
		for (unsigned end = 0; end < 4; end += 2) {
			assert_true(line[end] >= 3 && line[end] <= 40);
			assert_true(line[end + 1] >= 5 && line[end + 1] <= 17);
		}
	}
	assert_int_equal(lines, 6);
}

static void a_canvas_can_be_filled_again(void **state)
{
	(void)state;
	struct weft_canvas *canvas = make();
	for (unsigned i = 0; i < 1000; i++)
		put(canvas, "again", 5);
	weft_canvas_clear(canvas, 300, 50);
	assert_int_equal(canvas->op_count, 0);
	put(canvas, "b", 1);
	assert_string_equal(canvas->text + canvas->ops[0].first, "b");
	assert_int_equal(weft_canvas_error(canvas), 0);
	weft_canvas_destroy(canvas);
	weft_canvas_destroy(NULL);
}

/* A program that was built with a header whose struct had only a size has the defaults. */
static void options_of_an_older_header_have_defaults(void **state)
{
	struct weft_svg_options options = {.title = "later"};
	struct weft_text text = {0};
	struct weft_canvas *canvas = make();
	(void)state;
	for (int i = 0; i < 2; i++) {
		options.size = i ? sizeof(options) : offsetof(struct weft_svg_options, title);
		text.size = 0;
		assert_int_equal(weft_canvas_write_svg(canvas, &options, &text), 0);
		weft_text_add(&text, "", 1);
		assert_int_equal(strstr(text.bytes, "later") != NULL, i);
	}
	weft_text_finish(&text);
	weft_canvas_destroy(canvas);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_of_an_older_header_have_defaults),
		cmocka_unit_test(operations_as_text),
		cmocka_unit_test(operations_as_svg),
		cmocka_unit_test(each_shape_and_style_as_svg),
		cmocka_unit_test(svg_paths_are_shared_only_by_shapes_that_look_alike),
		cmocka_unit_test(svg_groups_are_balanced_whatever_the_list_says),
		cmocka_unit_test(text_is_clean_whatever_the_bytes_are),
		cmocka_unit_test(the_built_in_font_measures),
		cmocka_unit_test(hatch_lines_stay_inside),
		cmocka_unit_test(a_canvas_can_be_filled_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

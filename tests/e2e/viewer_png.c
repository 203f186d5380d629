/* SPDX-License-Identifier: ISC
 *
 * Draws what a shell should show, with the PNG backend: a trace after one command to the viewer.
 *
 *     viewer_png TRACE OUT.png THEME WIDTH HEIGHT COMMAND
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/cairo.h>
#include <weft/decoder.h>
#include <weft/source.h>
#include <weft/viewer.h>

static void must(int error, const char *what)
{
	if (!error)
		return;
	fprintf(stderr, "viewer_png: %s: %s\n", what, weft_error_text(error));
	exit(1);
}

static struct weft_model *load(const char *path)
{
	struct weft_source *source;
	struct weft_decoder *decoder;
	struct weft_model *model;
	size_t size;
	must(weft_source_open(path, &source), path);
	must(weft_decoder_create(&decoder), path);
	const void *bytes = weft_source_bytes(source, &size);
	must(weft_decoder_feed_borrowed(decoder, bytes, size), path);
	must(weft_decoder_finish(decoder), path);
	must(weft_decoder_build_model(decoder, NULL, &model), path);
	weft_decoder_destroy(decoder);
	weft_source_close(source);
	return model;
}

static enum weft_theme theme_called(const char *name)
{
	for (unsigned theme = 0; theme < WEFT_THEMES; theme++)
		if (strcmp(name, weft_theme_name((enum weft_theme)theme)) == 0)
			return (enum weft_theme)theme;
	return WEFT_THEME_LIGHT;
}

static void save(const struct weft_canvas *canvas, struct weft_cairo_font *font, const char *path)
{
	char *bytes;
	size_t size;
	must(weft_cairo_write_png(canvas, font, &bytes, &size), path);
	FILE *file = fopen(path, "wb");
	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
		must(WEFT_ERROR_SYSTEM, path);
	free(bytes);
}

int main(int argc, char **argv)
{
	struct weft_cairo_font *pango;
	struct weft_viewer *viewer;
	struct weft_canvas *canvas;
	struct weft_viewer_boxes boxes;
	if (argc != 7)
		must(WEFT_ERROR_ARGUMENT, "TRACE OUT.png THEME WIDTH HEIGHT COMMAND");
	const char *slash = strrchr(argv[1], '/');
	must(weft_cairo_font_create(&pango), "font");
	struct weft_font font = weft_cairo_font_interface(pango);
	struct weft_viewer_options options = {
		.theme = theme_called(argv[3]),
		.title = slash ? slash + 1 : argv[1],
		.font = &font,
		.reduced_motion = true,
	};
	must(weft_viewer_create(&options, &viewer), "viewer");
	weft_viewer_resize(viewer, atof(argv[4]), atof(argv[5]), 0);
	must(weft_viewer_show(viewer, load(argv[1]), false), "show");
	if (argv[6][0])
		weft_viewer_command(viewer, argv[6], 0);
	for (double now = 0; weft_viewer_advance(viewer, now) < 1000 && now < 5000; now += 50)
		weft_viewer_changes(viewer);
	weft_viewer_boxes(viewer, &boxes);
	must(weft_canvas_create(boxes.canvas.width, boxes.canvas.height, &canvas), "canvas");
	must(weft_viewer_draw(viewer, canvas), "draw");
	save(canvas, pango, argv[2]);
	weft_canvas_destroy(canvas);
	weft_viewer_destroy(viewer);
	weft_cairo_font_destroy(pango);
	return 0;
}

/* SPDX-License-Identifier: ISC */
#include "picture.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"

#if WEFT_HAS_CAIRO
#include <weft/cairo.h>
#endif

const char *const picture_format_names[] = {"svg", "png", "pdf", "html", NULL};

enum picture_format picture_format_of_name(const char *name)
{
	for (unsigned i = 0; picture_format_names[i]; i++)
		if (strcmp(name, picture_format_names[i]) == 0)
			return (enum picture_format)(PICTURE_SVG + i);
	return PICTURE_NONE;
}

enum picture_format picture_format_of_path(const char *path)
{
	const char *suffix = strrchr(path, '.');
	return suffix ? picture_format_of_name(suffix + 1) : PICTURE_NONE;
}

const char *picture_short_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

int picture_check_build(enum picture_format format)
{
	if (WEFT_HAS_CAIRO || (format != PICTURE_PNG && format != PICTURE_PDF))
		return CLI_DONE;
	cli_error(
		"this weft was built without cairo (package libpango1.0-dev), so it draws SVG, but not PNG or PDF");
	return CLI_NO;
}

static int save(const struct picture_file *picture, const char *bytes, size_t size)
{
	return cli_save(picture->path, bytes, size) ? CLI_DONE : CLI_NO;
}

static int write_svg(
	const struct picture_file *picture, struct weft_canvas *canvas, int *ret_status)
{
	struct weft_text text = {0};
	const struct weft_svg_options options = {.title = picture->title};
	int error = picture->draw(picture->context, NULL, canvas, ret_status);
	if (!error && !*ret_status)
		error = weft_canvas_write_svg(canvas, &options, &text);
	if (!error && !*ret_status)
		*ret_status = save(picture, text.bytes, text.size);
	weft_text_finish(&text);
	return error;
}

#if WEFT_HAS_CAIRO
/* The height may be known only when all is drawn. */
static int check_size(const struct picture_file *picture, const struct weft_canvas *canvas)
{
	if (picture->format != PICTURE_PNG || canvas->width * canvas->height <= PICTURE_PIXELS_MAX)
		return CLI_DONE;
	cli_error(
		"a PNG of %.0f x %.0f is too large (100 million pixels at most); SVG has no such limit",
		canvas->width, canvas->height);
	return CLI_NO;
}

static int write_cairo(
	const struct picture_file *picture, struct weft_canvas *canvas, int *ret_status)
{
	struct weft_cairo_font *pango = NULL;
	char *bytes = NULL;
	size_t size = 0;
	int error = weft_cairo_font_create(&pango);
	if (error)
		return error;
	const struct weft_font font = weft_cairo_font_interface(pango);
	error = picture->draw(picture->context, &font, canvas, ret_status);
	if (!error && !*ret_status)
		*ret_status = check_size(picture, canvas);
	if (!error && !*ret_status)
		error = picture->format == PICTURE_PDF ? weft_cairo_write_pdf(canvas, pango, &bytes, &size)
											   : weft_cairo_write_png(canvas, pango, &bytes, &size);
	if (!error && !*ret_status)
		*ret_status = save(picture, bytes, size);
	free(bytes);
	weft_cairo_font_destroy(pango);
	return error;
}
#else
static int write_cairo(
	const struct picture_file *picture, struct weft_canvas *canvas, int *ret_status)
{
	(void)picture, (void)canvas, (void)ret_status;
	return WEFT_ERROR_UNSUPPORTED;
}
#endif

int picture_write(const struct picture_file *picture, struct weft_canvas *canvas, int *ret_status)
{
	*ret_status = CLI_DONE;
	return picture->format == PICTURE_SVG ? write_svg(picture, canvas, ret_status)
										  : write_cairo(picture, canvas, ret_status);
}

/* SPDX-License-Identifier: ISC
 *
 * Pictures as files: the formats, and how a canvas becomes one of them.
 */
#ifndef WEFT_RENDER_PICTURE_H
#define WEFT_RENDER_PICTURE_H

#include <weft/canvas.h>

enum picture_format {
	PICTURE_NONE,
	PICTURE_SVG,
	PICTURE_PNG,
	PICTURE_PDF,
	PICTURE_HTML, /* a page, which is no canvas */
};

#define PICTURE_PIXELS_MAX 100000000 /* of a PNG: 400 MB while it is drawn */

/* "svg", "png", "pdf", "html", NULL */
extern const char *const picture_format_names[];
enum picture_format picture_format_of_name(const char *name);
/* By the suffix. */
enum picture_format picture_format_of_path(const char *path);

/* The last component of a path, for titles. */
const char *picture_short_name(const char *path);

/* CLI_DONE; CLI_NO after a message: this build lacks the libraries for PNG or PDF. */
int picture_check_build(enum picture_format format);

struct picture_file {
	enum picture_format format;
	const char *path; /* "-": standard output */
	const char *title;
	/* Draws on the canvas, with texts as wide as `font` says; NULL: the built-in one. An error of
	 * the library; or 0, and an exit status that is not CLI_DONE after a message. */
	int (*draw)(const void *context, const struct weft_font *font, struct weft_canvas *canvas,
		int *ret_status);
	const void *context;
};

/* Draws and saves. An error of the library, or 0 and the exit status. */
int picture_write(const struct picture_file *picture, struct weft_canvas *canvas, int *ret_status);

#endif

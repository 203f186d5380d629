/* SPDX-License-Identifier: ISC
 *
 * Makes whole files in memory: the caller decides where to store them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/export.h"
#include "cairo/font.h"

struct file {
	char *bytes;
	size_t size, capacity;
};

static cairo_status_t append(void *context, const unsigned char *bytes, unsigned count)
{
	struct file *file = context;
	if (file->size + count > file->capacity) {
		size_t capacity = weft__array_next_capacity(file->capacity, file->size + count);
		if (weft__array_resize(&file->bytes, capacity, 1))
			return CAIRO_STATUS_WRITE_ERROR;
		file->capacity = capacity;
	}
	memcpy(file->bytes + file->size, bytes, count);
	file->size += count;
	return CAIRO_STATUS_SUCCESS;
}

/* Draws the canvas on `surface` and destroys that; 0 or a negative error. */
static int draw_on(
	const struct weft_canvas *canvas, struct weft_cairo_font *font, cairo_surface_t *surface)
{
	cairo_t *cairo = cairo_create(surface);
	weft_cairo_draw(canvas, font, cairo);
	cairo_status_t status = cairo_status(cairo);
	cairo_destroy(cairo);
	if (status == CAIRO_STATUS_INVALID_SIZE)
		return WEFT_ERROR_LIMIT;
	return status ? WEFT_ERROR_MEMORY : 0;
}

static int hand_over(int error, struct file *file, char **ret_bytes, size_t *ret_size)
{
	if (error) {
		free(file->bytes);
		return error;
	}
	*ret_bytes = file->bytes;
	*ret_size = file->size;
	return 0;
}

WEFT__EXPORT int weft_cairo_write_png(const struct weft_canvas *canvas,
	struct weft_cairo_font *font, char **ret_bytes, size_t *ret_size)
{
	struct file file = {0};
	cairo_surface_t *surface = cairo_image_surface_create(
		CAIRO_FORMAT_RGB24, (int)(canvas->width + 0.5), (int)(canvas->height + 0.5));
	int error = draw_on(canvas, font, surface);
	if (!error && cairo_surface_write_to_png_stream(surface, append, &file))
		error = WEFT_ERROR_MEMORY;
	cairo_surface_destroy(surface);
	return hand_over(error, &file, ret_bytes, ret_size);
}

WEFT__EXPORT int weft_cairo_write_pdf(const struct weft_canvas *canvas,
	struct weft_cairo_font *font, char **ret_bytes, size_t *ret_size)
{
	struct file file = {0};
	/* A point is 4/3 of a pixel. */
	cairo_surface_t *surface = cairo_pdf_surface_create_for_stream(
		append, &file, canvas->width * 0.75, canvas->height * 0.75);
	cairo_surface_set_device_scale(surface, 0.75, 0.75);
	int error = draw_on(canvas, font, surface);
	cairo_surface_finish(surface);
	if (!error && cairo_surface_status(surface))
		error = WEFT_ERROR_MEMORY;
	cairo_surface_destroy(surface);
	return hand_over(error, &file, ret_bytes, ret_size);
}

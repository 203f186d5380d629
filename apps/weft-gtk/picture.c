/* SPDX-License-Identifier: ISC
 *
 * See picture.h. The canvas is drawn onto an image of our own, in device pixels, as in `weft
 * render`: GTK would record the operations and replay them each time that it redraws the window.
 * Two images alternate, because GTK still uses the one that is on the screen.
 */
#include "picture.h"

#include "follower.h"

static cairo_surface_t *next_surface(struct picture *picture, int width, int height, int scale)
{
	unsigned next = 1 - picture->current;
	cairo_surface_t **surface = &picture->surfaces[next];
	if (*surface && (cairo_image_surface_get_width(*surface) != width * scale ||
						cairo_image_surface_get_height(*surface) != height * scale)) {
		cairo_surface_destroy(*surface);
		*surface = NULL;
	}
	if (!*surface)
		*surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width * scale, height * scale);
	cairo_surface_set_device_scale(*surface, scale, scale);
	picture->current = next;
	return *surface;
}

static void draw_canvas(struct picture *picture, cairo_surface_t *surface)
{
	int64_t start = follower_used_us();
	struct weft_viewer_boxes boxes;
	weft_viewer_boxes(picture->viewer, &boxes);
	weft_canvas_clear(picture->canvas, boxes.canvas.width, boxes.canvas.height);
	weft_viewer_draw(picture->viewer, picture->canvas);
	cairo_t *cairo = cairo_create(surface);
	cairo_scale(cairo, picture->zoom, picture->zoom);
	weft_cairo_draw(picture->canvas, picture->font, cairo);
	cairo_destroy(cairo);
	picture->is_stale = false;
	picture->drawn_us += follower_used_us() - start;
}

static void draw(GtkDrawingArea *area, cairo_t *cairo, int width, int height, void *context)
{
	struct picture *picture = context;
	int scale = gtk_widget_get_scale_factor(GTK_WIDGET(area));
	cairo_surface_t *surface = picture->surfaces[picture->current];
	if (picture->is_stale || !surface || cairo_image_surface_get_width(surface) != width * scale ||
		cairo_image_surface_get_height(surface) != height * scale) {
		surface = next_surface(picture, width, height, scale);
		draw_canvas(picture, surface);
	}
	cairo_set_source_surface(cairo, surface, 0, 0);
	cairo_paint(cairo);
}

static void destroy(void *context)
{
	struct picture *picture = context;
	for (int i = 0; i < 2; i++)
		if (picture->surfaces[i])
			cairo_surface_destroy(picture->surfaces[i]);
	weft_canvas_destroy(picture->canvas);
	g_free(picture);
}

struct picture *picture_create(struct weft_viewer *viewer, struct weft_cairo_font *font)
{
	struct picture *picture = g_new0(struct picture, 1);
	picture->viewer = viewer;
	picture->font = font;
	picture->zoom = 1;
	picture->is_stale = true;
	if (weft_canvas_create(1, 1, &picture->canvas))
		g_error("out of memory");
	picture->widget =
		g_object_new(GTK_TYPE_DRAWING_AREA, "accessible-role", GTK_ACCESSIBLE_ROLE_IMG, NULL);
	gtk_widget_set_focusable(picture->widget, TRUE);
	gtk_widget_set_hexpand(picture->widget, TRUE);
	gtk_widget_set_vexpand(picture->widget, TRUE);
	gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(picture->widget), draw, picture, destroy);
	return picture;
}

void picture_redraw(struct picture *picture)
{
	picture->is_stale = true;
	gtk_widget_queue_draw(picture->widget);
}

/* SPDX-License-Identifier: ISC
 *
 * Icons of buttons, 16 px wide, drawn as lines and discs so that they need no font.
 */
#include <math.h>

#include "base/export.h"
#include "viewer/state.h"

#define LINE 1.5

struct icon_drawing {
	struct weft_canvas *canvas;
	double x, y; /* the middle */
	uint32_t color;
	struct weft_pen pen;
};

static void line(const struct icon_drawing *d, double x, double y, double x2, double y2)
{
	weft_canvas_line(d->canvas, d->x + x, d->y + y, d->x + x2, d->y + y2, &d->pen);
}

static void polyline(const struct icon_drawing *d, const double *points, uint32_t count)
{
	double moved[22];
	for (uint32_t i = 0; i < count; i++) {
		moved[2 * i] = d->x + points[2 * i];
		moved[2 * i + 1] = d->y + points[2 * i + 1];
	}
	weft_canvas_polyline(d->canvas, moved, count, &d->pen);
}

static void draw_lens(const struct icon_drawing *d)
{
	weft_canvas_ring(d->canvas, d->x - 1.5, d->y - 1.5, 5, &d->pen);
	line(d, 2.2, 2.2, 6.5, 6.5);
}

static void draw_zoom(const struct icon_drawing *d, bool is_in)
{
	draw_lens(d);
	line(d, -4, -1.5, 1, -1.5);
	if (is_in)
		line(d, -1.5, -4, -1.5, 1);
}

/* Lines of a list, each with its point. */
static void draw_list(const struct icon_drawing *d)
{
	for (int i = -1; i <= 1; i++) {
		line(d, -6.5, 4.5 * i, -5, 4.5 * i);
		line(d, -2.5, 4.5 * i, 6.5, 4.5 * i);
	}
}

/* A folder, open. */
static void draw_open(const struct icon_drawing *d)
{
	polyline(d,
		(const double[]){-7, 5, -7, -5, -2.5, -5, -0.5, -3, 5, -3, 5, -0.5, -4.5, -0.5, -7, 5, 4.5,
			5, 7, -0.5, 5, -0.5},
		11);
}

/* An arrow to the left (-1) or right (1). */
static void draw_arrow(const struct icon_drawing *d, int side)
{
	line(d, -6, 0, 6, 0);
	polyline(d, (const double[]){side * 1.5, -4.5, side * 6.0, 0, side * 1.5, 4.5}, 3);
}

static void draw_fit(const struct icon_drawing *d)
{
	line(d, -7, -6, -7, 6);
	line(d, 7, -6, 7, 6);
	line(d, -4.5, 0, 4.5, 0);
	polyline(d, (const double[]){-2, -2.5, -4.5, 0, -2, 2.5}, 3);
	polyline(d, (const double[]){2, -2.5, 4.5, 0, 2, 2.5}, 3);
}

static void draw_measure(const struct icon_drawing *d)
{
	polyline(d, (const double[]){-7, -3.5, 7, -3.5, 7, 3.5, -7, 3.5, -7, -3.5}, 5);
	for (int i = -1; i <= 1; i++)
		line(d, 3.5 * i, -3.5, 3.5 * i, i ? -1 : 0.5);
}

static void draw_cross(const struct icon_drawing *d, double size)
{
	line(d, -size, -size, size, size);
	line(d, -size, size, size, -size);
}

static void draw_counters(const struct icon_drawing *d)
{
	polyline(d, (const double[]){-7, 5, -3, 5, -3, 1, 1, 1, 1, -2, 4, -2, 4, -5.5, 7, -5.5}, 8);
}

static void draw_rows(const struct icon_drawing *d)
{
	line(d, -7, -5, 3, -5);
	line(d, -4, 0, 7, 0);
	line(d, -4, 5, 5, 5);
	line(d, -7, -2, -7, 5);
	line(d, -7, 0, -5.5, 0);
	line(d, -7, 5, -5.5, 5);
}

static void draw_theme(const struct icon_drawing *d)
{
	double half[28];
	static const double arc[][2] = {{0, -6}, {2.3, -5.54}, {4.24, -4.24}, {5.54, -2.3}, {6, 0},
		{5.54, 2.3}, {4.24, 4.24}, {2.3, 5.54}, {0, 6}};
	for (unsigned i = 0; i < 9; i++) {
		half[2 * i] = d->x + arc[i][0];
		half[2 * i + 1] = d->y + arc[i][1];
	}
	weft_canvas_ring(d->canvas, d->x, d->y, 6, &d->pen);
	weft_canvas_polygon(d->canvas, half, 9, d->color);
}

static void draw_menu(const struct icon_drawing *d)
{
	for (int i = -1; i <= 1; i++)
		line(d, -6.5, 4.5 * i, 6.5, 4.5 * i);
}

static void draw_help(const struct icon_drawing *d)
{
	struct weft_text_style style = {d->color, 15, true, false, 0};
	weft_canvas_text(d->canvas, d->x - 4.3, d->y + 5.5, "?", 1, 8.7, &style);
}

/* Two bars. */
static void draw_pause(const struct icon_drawing *d)
{
	weft_canvas_rect(d->canvas, d->x - 4, d->y - 4, d->x - 1, d->y + 4, d->color);
	weft_canvas_rect(d->canvas, d->x + 1, d->y - 4, d->x + 4, d->y + 4, d->color);
}

void weft__viewer_draw_icon(
	struct weft_canvas *canvas, enum weft__icon icon, double x, double y, uint32_t color)
{
	struct icon_drawing d = {canvas, x, y, color, {color, LINE, WEFT_DASH_SOLID}};
	switch (icon) {
	case WEFT__ICON_LIST:
		draw_list(&d);
		break;
	case WEFT__ICON_OPEN:
		draw_open(&d);
		break;
	case WEFT__ICON_BACK:
	case WEFT__ICON_FORWARD:
		draw_arrow(&d, icon == WEFT__ICON_BACK ? -1 : 1);
		break;
	case WEFT__ICON_ZOOM_OUT:
	case WEFT__ICON_ZOOM_IN:
		draw_zoom(&d, icon == WEFT__ICON_ZOOM_IN);
		break;
	case WEFT__ICON_FIT:
		draw_fit(&d);
		break;
	case WEFT__ICON_MEASURE:
		draw_measure(&d);
		break;
	case WEFT__ICON_PROBLEMS:
		d.pen.width = 2.25;
		draw_cross(&d, 4);
		break;
	case WEFT__ICON_SEARCH:
		draw_lens(&d);
		break;
	case WEFT__ICON_COUNTERS:
		draw_counters(&d);
		break;
	case WEFT__ICON_ROWS:
		draw_rows(&d);
		break;
	case WEFT__ICON_THEME:
		draw_theme(&d);
		break;
	case WEFT__ICON_HELP:
		draw_help(&d);
		break;
	case WEFT__ICON_MENU:
		draw_menu(&d);
		break;
	case WEFT__ICON_CLOSE:
		draw_cross(&d, 4);
		break;
	case WEFT__ICON_LIVE:
		weft_canvas_disc(canvas, x, y, 4, color);
		break;
	case WEFT__ICON_PAUSED:
		draw_pause(&d);
		break;
	case WEFT__ICON_ENDED:
		weft_canvas_rect(canvas, x - 4, y - 4, x + 4, y + 4, color);
		break;
	case WEFT__ICON_NONE:
		break;
	}
}

WEFT__EXPORT void weft_viewer_draw_icon(
	const struct weft_viewer_control *control, struct weft_canvas *canvas)
{
	weft__viewer_draw_icon(canvas, (enum weft__icon)control->icon, floor(canvas->width / 2) + 0.5,
		floor(canvas->height / 2) + 0.5, control->color);
}

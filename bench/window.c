/* SPDX-License-Identifier: ISC
 *
 * The cost of a frame in the desktop window, zoomed out and zoomed in: the viewer's part, and its
 * replay by cairo, as the window does it. Times are processor time of one thread.
 *
 *     bench_window [EVENTS…]      by default 10⁶ and 10⁷
 */
#include <cairo.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <weft/cairo.h>
#include <weft/viewer.h>

#include "random_trace.h"

#define WIDTH  1400
#define HEIGHT 800
#define FRAMES 30

struct window {
	struct weft_viewer *viewer;
	struct weft_cairo_font *pango;
	struct weft_canvas *canvas;
	cairo_surface_t *surface;
	double now_ms; /* the viewer's clock: an hour passes between two frames, so no animation runs */
};

static void check(int error)
{
	if (!error)
		return;
	fprintf(stderr, "bench_window: %s\n", weft_error_text(error));
	exit(1);
}

static double cpu_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void run_command(struct window *w, const char *command)
{
	w->now_ms += 3600e3;
	if (!weft_viewer_command(w->viewer, command, w->now_ms))
		check(WEFT_ERROR_ARGUMENT);
	w->now_ms += 3600e3;
	weft_viewer_advance(w->viewer, w->now_ms);
}

static void fill(struct window *w)
{
	struct weft_viewer_boxes boxes;
	weft_viewer_boxes(w->viewer, &boxes);
	weft_canvas_clear(w->canvas, boxes.canvas.width, boxes.canvas.height);
	check(weft_viewer_draw(w->viewer, w->canvas));
}

static void replay(struct window *w)
{
	cairo_t *cairo = cairo_create(w->surface);
	weft_cairo_draw(w->canvas, w->pango, cairo);
	cairo_destroy(cairo);
	cairo_surface_flush(w->surface);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static void measure(struct window *w, double length, double zoom)
{
	char command[96];
	double part = length / zoom, viewer[FRAMES], drawing[FRAMES];
	snprintf(
		command, sizeof(command), "view start=%.0fns duration=%.0fns", (length - part) / 2, part);
	run_command(w, "fit");
	run_command(w, command);
	for (unsigned i = 0; i < FRAMES; i++) {
		run_command(w, i % 2 ? "pan left" : "pan right");
		double begin = cpu_ms();
		fill(w);
		double filled = cpu_ms();
		replay(w);
		viewer[i] = filled - begin;
		drawing[i] = cpu_ms() - filled;
	}
	qsort(viewer, FRAMES, sizeof(*viewer), compare);
	qsort(drawing, FRAMES, sizeof(*drawing), compare);
	printf("    1/%-7.0f  %7.1f  %7.1f   %8u\n", zoom, viewer[FRAMES / 2], drawing[FRAMES / 2],
		(unsigned)w->canvas->op_count);
	fflush(stdout);
}

static void look(uint64_t events)
{
	struct window w = {.now_ms = 1};
	check(weft_cairo_font_create(&w.pango));
	struct weft_font font = weft_cairo_font_interface(w.pango);
	struct weft_viewer_options options = {.title = "bench", .font = &font, .reduced_motion = true};
	check(weft_viewer_create(&options, &w.viewer));
	check(weft_canvas_create(WIDTH, HEIGHT, &w.canvas));
	weft_viewer_resize(w.viewer, WIDTH, HEIGHT, w.now_ms);
	w.surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
	struct weft_model *model = random_model(random_weft(events));
	double length = (double)(model->summary.end - model->summary.start);
	check(weft_viewer_show(w.viewer, model, false));
	printf("  %llu events; of it\n", (unsigned long long)events);
	for (double zoom = 1; zoom < 20000; zoom *= 10)
		measure(&w, length, zoom);
	cairo_surface_destroy(w.surface);
	weft_canvas_destroy(w.canvas);
	weft_viewer_destroy(w.viewer);
	weft_cairo_font_destroy(w.pango);
}

int main(int argc, char **argv)
{
	printf("the desktop's window, %d x %d: ms a frame, median of %d\n"
		   "               viewer   replay   operations\n",
		WIDTH, HEIGHT, FRAMES);
	if (argc < 2) {
		look(1000000);
		look(10000000);
	}
	for (int i = 1; i < argc; i++)
		look(strtoull(argv[i], NULL, 10));
	return 0;
}

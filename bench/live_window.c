/* SPDX-License-Identifier: ISC
 *
 * The cost of a refresh in the desktop window while it follows a program: after 10^6 and 10^7
 * events, REFRESHES times, NEW_EVENTS more are added, a model of all is shown, and a frame is drawn
 * by cairo, as the window does it. Times are processor time of one thread. The window makes the
 * model in another thread, and looks for problems every few seconds.
 *
 *     bench_live_window [EVENTS…]
 */
#include <cairo.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include <weft/cairo.h>
#include <weft/decoder.h>
#include <weft/refresh.h>
#include <weft/viewer.h>

#include "random_trace.h"

#define WIDTH  1400
#define HEIGHT 800

enum {
	REFRESHES = 8,
	NEW_EVENTS = 100000,
};

/* A decoder that gives `left` more events for now. */
struct fed {
	struct weft_decoder *decoder;
	uint64_t left;
};

struct window {
	struct fed fed;
	struct weft_refresh *refresh;
	struct weft_viewer *viewer;
	struct weft_cairo_font *pango;
	struct weft_canvas *canvas;
	cairo_surface_t *surface;
	double now_ms;
};

/* ms */
struct cost {
	double add, model, show, draw, replay, problems;
};

static void check(int error)
{
	if (error >= 0)
		return;
	fprintf(stderr, "bench_live_window: %s\n", weft_error_text(error));
	exit(1);
}

static double since(double *from)
{
	struct timespec now;
	double before = *from;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	*from = (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
	return *from - before;
}

static int next(void *context, struct weft_event *ret_event)
{
	struct fed *fed = context;
	if (!fed->left)
		return WEFT_AGAIN;
	fed->left--;
	return weft_decoder_next(fed->decoder, ret_event);
}

static const struct weft_trace_description *describe(void *context)
{
	const struct fed *fed = context;
	return weft_decoder_describe(fed->decoder);
}

static struct weft_diagnostics *diagnostics(void *context)
{
	struct fed *fed = context;
	return weft_decoder_diagnostics(fed->decoder);
}

static void draw(struct window *w, double *from, struct cost *cost)
{
	struct weft_viewer_boxes boxes;
	weft_viewer_boxes(w->viewer, &boxes);
	weft_canvas_clear(w->canvas, boxes.canvas.width, boxes.canvas.height);
	check(weft_viewer_draw(w->viewer, w->canvas));
	cost->draw += since(from);
	cairo_t *cairo = cairo_create(w->surface);
	weft_cairo_draw(w->canvas, w->pango, cairo);
	cairo_destroy(cairo);
	cairo_surface_flush(w->surface);
	cost->replay += since(from);
}

static void refresh(struct window *w, uint64_t events, double pause_ms, struct cost *cost)
{
	struct weft_model *model;
	double from = 0;
	since(&from);
	w->fed.left = events;
	while (w->fed.left)
		check(weft_refresh_read(w->refresh, (uint32_t)events));
	cost->add += since(&from);
	check(weft_refresh_model(w->refresh, &model));
	cost->model += since(&from);
	check(weft_viewer_show(w->viewer, model, true));
	cost->show += since(&from);
	draw(w, &from, cost);
	w->now_ms += pause_ms;
	while (weft_viewer_advance(w->viewer, ++w->now_ms) == 0)
		; /* one step of the search after the other */
	cost->problems += since(&from);
}

static void report(struct window *w, const char *name, double pause_ms)
{
	struct cost cost = {0};
	struct rusage usage;
	for (unsigned i = 0; i < REFRESHES; i++)
		refresh(w, NEW_EVENTS, pause_ms, &cost);
	getrusage(RUSAGE_SELF, &usage);
	printf("    %-16s %7.1f %7.1f %7.1f %7.1f %7.1f %9.1f %9ld\n", name, cost.add / REFRESHES,
		cost.model / REFRESHES, cost.show / REFRESHES, cost.draw / REFRESHES,
		cost.replay / REFRESHES, cost.problems / REFRESHES, usage.ru_maxrss / 1000);
	fflush(stdout);
}

static void open_window(struct window *w, struct bytes trace)
{
	const struct weft_refresh_source source = {next, describe, diagnostics, NULL, NULL, &w->fed};
	check(weft_decoder_create(&w->fed.decoder));
	check(weft_decoder_feed_borrowed(w->fed.decoder, trace.data, trace.size));
	check(weft_decoder_finish(w->fed.decoder));
	check(weft_refresh_create(&source, &w->refresh));
	check(weft_cairo_font_create(&w->pango));
	struct weft_font font = weft_cairo_font_interface(w->pango);
	struct weft_viewer_options options = {.title = "bench", .font = &font, .reduced_motion = true};
	check(weft_viewer_create(&options, &w->viewer));
	check(weft_canvas_create(WIDTH, HEIGHT, &w->canvas));
	weft_viewer_resize(w->viewer, WIDTH, HEIGHT, w->now_ms);
	w->surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
}

static void close_window(struct window *w)
{
	cairo_surface_destroy(w->surface);
	weft_canvas_destroy(w->canvas);
	weft_viewer_destroy(w->viewer);
	weft_cairo_font_destroy(w->pango);
	weft_refresh_destroy(w->refresh);
	weft_decoder_destroy(w->fed.decoder);
}

static void measure(uint64_t events)
{
	struct bytes trace = random_weft(events + (uint64_t)(4 * REFRESHES + 2) * NEW_EVENTS);
	struct window w = {.now_ms = 1};
	struct cost first = {0};
	open_window(&w, trace);
	refresh(&w, events, 1, &first);
	refresh(&w, NEW_EVENTS, 10000, &first);
	printf("  %" PRIu64 " events\n", events);
	report(&w, "nothing selected", 1);
	report(&w, "with problems", 10000);
	weft_viewer_command(w.viewer, "view task=1", w.now_ms);
	report(&w, "a task selected", 1);
	weft_viewer_command(w.viewer, "search net-12", w.now_ms);
	report(&w, "and a search", 1);
	close_window(&w);
	free(trace.data);
}

int main(int argc, char **argv)
{
	printf("a refresh of the desktop's window, %d new events: ms of processor time, mean of %d\n"
		   "                         add   model    show    draw  replay  problems    max MB\n",
		NEW_EVENTS, REFRESHES);
	if (argc < 2) {
		measure(1000000);
		measure(10000000);
	}
	for (int i = 1; i < argc; i++)
		measure(strtoull(argv[i], NULL, 10));
	return 0;
}

/* SPDX-License-Identifier: ISC
 *
 * A viewer of a sample, for its tests, and what they ask of it.
 */
#ifndef WEFT_TESTS_VIEWER_SAMPLE_H
#define WEFT_TESTS_VIEWER_SAMPLE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "viewer/commands/commands.h"
#include "viewer/state.h"
#include "sample.h"
#include "viewer_script.h"

#define BLOCK_READ "mirage-block-read.sexp"
#define ARP_GOOD   "mirage-arp-good.ctf"

/* The same numbers in each run. */
static inline uint32_t pick(uint32_t below)
{
	static uint64_t seed = 11;
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(seed >> 33) % below;
}

/* `trace` is within tests/data/traces; NULL: none yet. */
static inline struct script script_begin(const char *trace, bool reduced_motion)
{
	struct weft_viewer_options options = {.title = "sample", .reduced_motion = reduced_motion};
	struct script s = {.now_ms = 1000};
	assert_int_equal(weft_viewer_create(&options, &s.viewer), 0);
	weft_viewer_resize(s.viewer, 1400, 800, s.now_ms);
	if (trace)
		assert_int_equal(weft_viewer_show(s.viewer, sample_model(trace), false), 0);
	return s;
}

static inline void script_end(struct script *s)
{
	weft_viewer_destroy(s->viewer);
}

/* The current drawing, which the caller destroys. */
static inline struct weft_canvas *script_canvas(struct script *s)
{
	struct weft_viewer_boxes boxes;
	struct weft_canvas *canvas;
	weft_viewer_boxes(s->viewer, &boxes);
	assert_int_equal(weft_canvas_create(boxes.canvas.width, boxes.canvas.height, &canvas), 0);
	assert_int_equal(weft_viewer_draw(s->viewer, canvas), 0);
	for (uint32_t i = 0; i < canvas->op_count; i++)
		assert_true(isfinite(canvas->ops[i].x) && isfinite(canvas->ops[i].y2));
	return canvas;
}

static inline void script_draw(struct script *s)
{
	weft_canvas_destroy(script_canvas(s));
}

/* The same as text, added to `text`. */
static inline void script_text(struct script *s, struct weft_text *text)
{
	struct weft_canvas *canvas = script_canvas(s);
	assert_int_equal(weft_canvas_write_text(canvas, text), 0);
	weft_canvas_destroy(canvas);
}

static inline void close_to(double got, double expected, double tolerance)
{
	if (!(fabs(got - expected) <= tolerance))
		fail_msg("%.12g is not within %g of %.12g", got, tolerance, expected);
}

/* The time at an x of the canvas, ns from the trace's start. */
static inline double time_under(const struct script *s, double x)
{
	const struct weft_view *view = &s->viewer->view;
	return view->left + (x - s->viewer->frame.picture.x) / view->scale;
}

/* The x of a time in the overview. */
static inline double strip_x(const struct script *s, uint64_t time)
{
	const struct weft__strip strip = weft__viewer_strip(s->viewer);
	return weft__render_strip_x(&strip, time);
}

#endif

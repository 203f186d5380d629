/* SPDX-License-Identifier: ISC
 *
 * The overview of squeezed views, and its whiskers, against a count of all tasks.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <cmocka.h>

#include "loaded.h"
#include "painter_made.h"
#include "picture.h"
#include "render/painter.h"

#define COLUMNS 1000

static uint64_t overlap(uint64_t start, uint64_t end, uint64_t from, uint64_t to)
{
	start = start > from ? start : from;
	end = end < to ? end : to;
	return end > start ? end - start : 0;
}

static double ran_between(const struct weft_model *model, uint64_t from, uint64_t to)
{
	double ns = 0;
	for (uint32_t i = 0; i < model->activations.count; i++)
		ns += (double)overlap(model->activations.start[i], model->activations.end[i], from, to);
	return ns;
}

static void check_column(const struct picture *p, const struct weft__overview_column *column,
	uint64_t from, uint64_t to, bool is_last)
{
	const struct weft_tasks *tasks = &p->model->tasks;
	uint32_t alive = 0, failed = 0, never = 0;
	for (uint32_t task = 0; task < tasks->count; task++) {
		uint64_t end = tasks->end[task];
		bool is_here = end >= from && (end < to || is_last);
		alive += p->layout->start[task] <= from && weft__render_census_last(p->scene, task) >= from;
		if (is_here && tasks->flags[task] & WEFT_TASK_NEVER_RESOLVED)
			never++;
		else if (is_here && tasks->flags[task] & WEFT_TASK_FAILED)
			failed++;
	}
	double ran = column->running * (double)(to - from), most = 3 * (double)p->scene->census.run_ns;
	assert_int_equal(column->alive, alive);
	assert_int_equal(column->failed, failed);
	assert_int_equal(column->never_resolved, never);
	double away = fabs(ran - ran_between(p->model, from, to));
	if (away > most + 0.02 * (double)(to - from))
		fail_msg("%g ns ran, which is %g ns from the truth", ran, away);
}

static void columns_are_counted(const char *trace)
{
	static struct weft__overview_column columns[COLUMNS];
	struct picture p;
	picture_init(&p, sample_model(trace), COLUMNS + 40, 500);
	squeeze(&p);
	assert_non_null(p.squeeze);
	const struct weft__strip strip = weft__render_strip_of(&p.frame.strip, &p.view);
	weft__render_count_columns(p.scene, &strip, COLUMNS, columns);
	for (unsigned px = 0; px < COLUMNS; px++) {
		uint64_t from = weft_view_time(&strip.view, px), to = weft_view_time(&strip.view, px + 1);
		if (to > from)
			check_column(&p, &columns[px], from, to, px + 1 == COLUMNS);
	}
	picture_finish(&p);
}

static void pixels_of_a_squeezed_overview_are_exact(void **state)
{
	(void)state;
	columns_are_counted("mirage-arp-good.ctf");
	columns_are_counted("mirage-block-read.sexp");
}

static uint64_t life_of(const struct picture *p, uint32_t task)
{
	bool has_ended = p->model->tasks.flags[task] & WEFT_TASK_RESOLVED;
	return has_ended ? p->model->tasks.end[task] - p->layout->start[task] : 0;
}

static int by_length(const void *left, const void *right)
{
	const uint64_t *l = left, *r = right;
	return *l < *r ? -1 : *l > *r;
}

/* The longest life of each column of the overview, and how many have one. */
static uint32_t longest_lives(const struct picture *p, uint64_t *lives)
{
	double ns = (double)(p->scene->end - p->scene->start) / WEFT__OVERVIEW_COLUMNS;
	uint32_t count = 0;
	memset(lives, 0, WEFT__OVERVIEW_COLUMNS * sizeof(*lives));
	for (uint32_t task = 0; task < p->model->tasks.count; task++) {
		uint32_t column = (uint32_t)((double)(p->layout->start[task] - p->scene->start) / ns);
		column = column < WEFT__OVERVIEW_COLUMNS ? column : WEFT__OVERVIEW_COLUMNS - 1;
		if (life_of(p, task) > lives[column])
			lives[column] = life_of(p, task);
	}
	qsort(lives, WEFT__OVERVIEW_COLUMNS, sizeof(*lives), by_length);
	while (count < WEFT__OVERVIEW_COLUMNS && lives[WEFT__OVERVIEW_COLUMNS - 1 - count])
		count++;
	return count;
}

/* There is one for each column whose longest task is unusually long, and no other. */
static void whiskers_are_unusually_long(void **state)
{
	static uint64_t lives[WEFT__OVERVIEW_COLUMNS];
	static const char *const traces[] = {"mirage-arp-good.ctf", "mirage-block-read.sexp"};
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct picture p;
		picture_init(&p, sample_model(traces[i]), 1000, 500);
		uint32_t count = longest_lives(&p, lives), expected = 0, beyond = 0;
		const uint64_t *sorted = lives + WEFT__OVERVIEW_COLUMNS - count;
		double median = (double)sorted[count / 2], most = (double)sorted[(count - 1) * 99 / 100];
		double high = fmax(2 * most, 16 * median);
		for (uint32_t k = 0; k < count; k++)
			expected += (double)sorted[k] > 3 * median;
		for (uint32_t k = 0; k < p.scene->whisker_count; k++) {
			const struct weft__whisker *whisker = &p.scene->whiskers[k];
			double life = (double)life_of(&p, whisker->task);
			assert_true(life > 3 * median && whisker->height > 0 && whisker->height <= 1);
			assert_int_equal(whisker->is_beyond, life > high);
			assert_int_equal(whisker->time, p.layout->start[whisker->task]);
			beyond += whisker->is_beyond;
		}
		assert_int_equal(p.scene->whisker_count, expected);
		assert_true(i == 0 || (expected > 10 && beyond > 0));
		picture_finish(&p);
	}
}

/* Each alert of each process has a mark in the overview, and a flag and a line in the picture. */
static void alerts_of_all_processes_are_drawn(void **state)
{
	static const struct weft_trace_alert alerts[] = {
		{.time_ns = 20, .name = "a"}, {.time_ns = 50, .name = "b"}, {.time_ns = 90, .name = "c"}};
	static const struct weft_trace_buffer buffers[] = {{.process = "", .host = "", .file = ""},
		{.process = "", .host = "", .file = "", .alerts = alerts, .alert_count = 2},
		{.process = "", .host = "", .file = "", .alerts = alerts + 2, .alert_count = 1}};
	struct made made = make_begin();
	(void)state;
	made.buffers = buffers;
	made.buffer_count = 3;
	make_create(&made, WEFT_TASK_NONE, 1, WEFT_KIND_TASK);
	made.time = 100;
	make_edge(&made, WEFT_EVENT_RESOLVE, WEFT_TASK_NONE, 1);
	struct picture p;
	picture_init(&p, make_model(&made), 1000, 500);
	struct painter *painter = painter_made(p.scene, &p.frame, &p.view, p.canvas);
	const struct weft__strip strip = weft__render_strip_of(&p.frame.strip, &p.view);
	weft__render_draw_strip_alerts(painter, &strip);
	assert_int_equal(p.canvas->op_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const double x = weft__render_strip_x(&strip, alerts[i].time_ns);
		assert_true(p.canvas->ops[i].x == x - 1 && p.canvas->ops[i].x2 == x + 1);
	}
	weft_canvas_clear(p.canvas, p.frame.width, p.frame.height);
	weft__render_draw_alerts(painter);
	uint32_t lines = 0;
	for (uint32_t i = 0; i < p.canvas->op_count; i++) {
		const struct weft_canvas_op *op = &p.canvas->ops[i];
		if (op->type != WEFT_CANVAS_LINE)
			continue;
		assert_true(op->x == weft__render_crisp(weft__render_x(painter, alerts[lines].time_ns)));
		lines++;
	}
	assert_int_equal(lines, 3);
	free(painter);
	picture_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pixels_of_a_squeezed_overview_are_exact),
		cmocka_unit_test(whiskers_are_unusually_long),
		cmocka_unit_test(alerts_of_all_processes_are_drawn),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

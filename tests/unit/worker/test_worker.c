/* SPDX-License-Identifier: ISC
 *
 * A second thread changes no byte of the results. Runs under the thread sanitizer, too.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/decoder.h>
#include <weft/render.h>
#include <weft/text.h>
#include <weft/worker.h>

#include "waiting.h"

struct piece {
	pthread_t thread;
	unsigned times;
};

static void do_piece(void *context)
{
	struct piece *piece = context;
	piece->thread = pthread_self();
	piece->times++;
}

static void both_are_done_before_it_goes_on(void **state)
{
	(void)state;
	struct weft_worker *worker = weft_worker_create();
	const struct weft_help *help = weft_worker_help(worker);
	struct piece first = {.times = 0}, second = {.times = 0};
	if (!worker)
		skip(); /* one processor */
	for (unsigned i = 1; i <= 1000; i++) {
		help->both(help->context, do_piece, &first, do_piece, &second);
		assert_int_equal(first.times, i);
		assert_int_equal(second.times, i);
	}
	assert_true(pthread_equal(first.thread, pthread_self()));
	assert_false(pthread_equal(second.thread, pthread_self()));
	weft_worker_destroy(worker);
}

static void rest(void *context)
{
	let_pass_us(20000); /* longer than either side spins */
	++*(unsigned *)context;
}

static void each_side_sleeps_until_the_other_is_done(void **state)
{
	(void)state;
	struct weft_worker *worker = weft_worker_create();
	const struct weft_help *help = weft_worker_help(worker);
	struct piece piece = {.times = 0};
	unsigned rests = 0;
	if (!worker)
		skip(); /* one processor */
	for (unsigned i = 1; i <= 5; i++) {
		help->both(help->context, do_piece, &piece, rest, &rests);
		assert_int_equal(rests, 2 * i - 1);
		help->both(help->context, rest, &rests, do_piece, &piece);
		assert_int_equal(piece.times, 2 * i);
		assert_int_equal(rests, 2 * i);
	}
	weft_worker_destroy(worker);
}

static unsigned count_threads(void)
{
	unsigned count = 0;
	DIR *threads = opendir("/proc/self/task");
	assert_non_null(threads);
	while (readdir(threads))
		count++;
	closedir(threads);
	return count;
}

/* The kernel lists a thread for a moment after it was joined. */
static void await_threads(unsigned count)
{
	while (count_threads() != count)
		await();
}

static void a_destroyed_worker_has_no_thread(void **state)
{
	unsigned before = count_threads();
	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		weft_worker_destroy(weft_worker_create());
		await_threads(before);
	}
}

static void read_mask(void *context)
{
	pthread_sigmask(SIG_BLOCK, NULL, context);
}

/* Signals are for the program's own threads, except those that the worker's instructions raise. */
static void a_worker_takes_no_signals(void **state)
{
	static const int others[] = {SIGBUS, SIGSEGV, SIGILL, SIGFPE};
	sigset_t after, in_worker;
	(void)state;
	struct weft_worker *worker = weft_worker_create();
	const struct weft_help *help = weft_worker_help(worker);
	if (!worker)
		skip(); /* one processor */
	help->both(help->context, read_mask, &after, read_mask, &in_worker);
	assert_false(sigismember(&after, SIGINT) || sigismember(&after, SIGUSR1));
	assert_true(sigismember(&in_worker, SIGINT) && sigismember(&in_worker, SIGUSR1));
	for (unsigned i = 0; i < 4; i++)
		assert_false(sigismember(&in_worker, others[i]));
	weft_worker_destroy(worker);
}

/* On one processor a second thread would only take time from the first. */
static void one_processor_has_no_worker(void **state)
{
	cpu_set_t all, one;
	int cpu = sched_getcpu();
	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	assert_null(weft_worker_create());
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
	struct weft_worker *worker = weft_worker_create();
	assert_int_equal(worker != NULL, CPU_COUNT(&all) > 1);
	weft_worker_destroy(worker);
}

static void no_worker_works_too(void **state)
{
	(void)state;
	assert_null(weft_worker_help(NULL));
	weft_worker_destroy(NULL);
}

/* A program of some kinds of tasks, with failures, labels, counters, broken rules and strange ids.
 */
static void write_trace(struct weft_text *trace, uint32_t events)
{
	uint32_t random = 7, tasks = 1;
	for (uint32_t time = 0; time < events; time++) {
		static const char *const pairs[] = {
			"Reads", "Reads", "Try_read", "Resolves", "Becomes", "Signals"};
		char line[128];
		random = random * 1664525 + 1013904223;
		uint32_t task = (random >> 8) % tasks, other = (random >> 4) % tasks;
		unsigned what = random >> 28;
		if (what < 4)
			snprintf(line, sizeof(line), "((time %u)(op(Creates %u %u)))\n", time, task, tasks++);
		else if (what < 10)
			snprintf(line, sizeof(line), "((time %u)(op(%s %u %u)))\n", time, pairs[what - 4], task,
				other);
		else if (what == 10)
			snprintf(
				line, sizeof(line), "((time %u)(op(Label %u name-%u)))\n", time, task, other % 300);
		else if (what == 11)
			snprintf(line, sizeof(line), "((time %u)(op(Counter_value %u count-%u %u)))\n", time,
				task, other % 3, random % 100);
		else if (what == 12)
			snprintf(line, sizeof(line), "((time %u)(op(Creates %u %u)))\n", time, task, other);
		else if (what == 13)
			snprintf(line, sizeof(line), "((time %u)(op(Switch %u)))\n", time, task + 1000000000u);
		else
			snprintf(line, sizeof(line), "((time %u)(op(Switch %u)))\n", time, task);
		weft_text_add_string(trace, line);
	}
	assert_int_equal(trace->error, 0);
}

struct opened {
	struct weft_diagnostics diagnostics;
	struct weft_model *model;
	struct weft_layout *layout;
	struct weft_scene *scene;
};

static void open_trace(
	const struct weft_text *trace, const struct weft_help *help, struct opened *opened)
{
	struct weft_decoder *decoder;
	const struct weft_progress progress = {.help = help};
	struct weft_layout_options options = {.fold = true};
	assert_int_equal(weft_decoder_create(&decoder), 0);
	weft_decoder_lend(decoder, help);
	assert_int_equal(weft_decoder_feed_borrowed(decoder, trace->bytes, trace->size), 0);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	assert_int_equal(weft_decoder_build_model(decoder, NULL, &opened->model), 0);
	assert_true(weft_decoder_part(decoder) > 0.99);
	opened->diagnostics = *weft_decoder_diagnostics(decoder);
	weft_decoder_destroy(decoder);
	options.progress = &progress;
	assert_int_equal(weft_layout_create(opened->model, &options, &opened->layout), 0);
	assert_int_equal(
		weft_scene_create_watched(opened->model, opened->layout, &progress, &opened->scene), 0);
}

static void close_trace(struct opened *opened)
{
	weft_scene_destroy(opened->scene);
	weft_layout_destroy(opened->layout);
	weft_model_destroy(opened->model);
}

static void draw(const struct opened *opened, struct weft_text *ret_text)
{
	struct weft_render_options options = {.title = "trace"};
	struct weft_canvas *canvas;
	struct weft_frame frame;
	struct weft_view view;
	*ret_text = (struct weft_text){0};
	assert_int_equal(weft_canvas_create(900, 500, &canvas), 0);
	weft_frame_place(opened->layout, 900, 500, &frame);
	weft_frame_view(opened->layout, &frame, &view);
	assert_int_equal(weft_render_frame(opened->scene, &frame, &view, &options, canvas), 0);
	assert_int_equal(weft_canvas_write_text(canvas, ret_text), 0);
	weft_canvas_destroy(canvas);
}

#define SAME(a, b, column) \
	assert_memory_equal((a)->column, (b)->column, sizeof(*(a)->column) * rows)

static void compare_models(const struct weft_model *a, const struct weft_model *b)
{
	assert_int_equal(a->tasks.count, b->tasks.count);
	size_t rows = a->tasks.count;
	SAME(a, b, tasks.id);
	SAME(a, b, tasks.start);
	SAME(a, b, tasks.end);
	SAME(a, b, tasks.parent);
	SAME(a, b, tasks.label);
	SAME(a, b, tasks.flags);
	assert_int_equal(a->edges.count, b->edges.count);
	rows = a->edges.count;
	SAME(a, b, edges.time);
	SAME(a, b, edges.from);
	SAME(a, b, edges.to);
	SAME(a, b, edges.type);
	assert_int_equal(a->notes.count, b->notes.count);
	rows = a->notes.count;
	SAME(a, b, notes.time);
	SAME(a, b, notes.text);
	assert_int_equal(a->activations.count, b->activations.count);
	rows = a->activations.count;
	SAME(a, b, activations.start);
	SAME(a, b, activations.end);
	assert_int_equal(weft_model_string_count(a), weft_model_string_count(b));
}

static void a_trace_opens_the_same_with_help(void **state)
{
	(void)state;
	struct weft_text trace = {0}, alone_text, helped_text;
	struct opened alone, helped;
	struct weft_worker *worker = weft_worker_create();
	write_trace(&trace, 50000);
	open_trace(&trace, NULL, &alone);
	open_trace(&trace, weft_worker_help(worker), &helped);
	compare_models(alone.model, helped.model);
	assert_true(alone.diagnostics.count > 0);
	assert_int_equal(alone.diagnostics.count, helped.diagnostics.count);
	for (size_t i = 0; i < alone.diagnostics.count; i++) {
		const struct weft_diagnostic *a = &alone.diagnostics.list[i];
		const struct weft_diagnostic *b = &helped.diagnostics.list[i];
		assert_string_equal(a->message, b->message);
		assert_int_equal(a->offset, b->offset);
		assert_int_equal(a->count, b->count);
	}
	assert_int_equal(alone.layout->row_count, helped.layout->row_count);
	assert_memory_equal(
		alone.layout->row, helped.layout->row, alone.model->tasks.count * sizeof(uint32_t));
	draw(&alone, &alone_text);
	draw(&helped, &helped_text);
	assert_int_equal(alone_text.size, helped_text.size);
	assert_memory_equal(alone_text.bytes, helped_text.bytes, alone_text.size);
	weft_text_finish(&alone_text);
	weft_text_finish(&helped_text);
	close_trace(&alone);
	close_trace(&helped);
	weft_worker_destroy(worker);
	weft_text_finish(&trace);
}

static void compare_layouts(const struct weft_layout *a, const struct weft_layout *b)
{
	size_t rows = a->model->tasks.count;
	assert_int_equal(a->row_count, b->row_count);
	SAME(a, b, start);
	SAME(a, b, parent);
	SAME(a, b, row);
	SAME(a, b, moved);
	SAME(a, b, form);
	assert_int_equal(a->fold_count, b->fold_count);
}

static void every_layout_is_the_same_with_help(void **state)
{
	(void)state;
	struct weft_text trace = {0};
	struct opened opened;
	struct weft_worker *worker = weft_worker_create();
	const struct weft_progress progress = {.help = weft_worker_help(worker)};
	write_trace(&trace, 50000);
	open_trace(&trace, NULL, &opened);
	uint8_t *hidden = calloc(opened.model->tasks.count, 1);
	assert_non_null(hidden);
	for (uint32_t task = 0; task < opened.model->tasks.count; task++)
		hidden[task] = task % 7 == 3;
	const struct weft_layout_options all[] = {
		{.fold = false},
		{.no_simplify = true},
		{.fold = true, .previous = opened.layout},
		{.fold = true, .hidden = hidden},
	};
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct weft_layout_options options = all[i];
		struct weft_layout *alone, *helped;
		assert_int_equal(weft_layout_create(opened.model, &options, &alone), 0);
		options.progress = &progress;
		assert_int_equal(weft_layout_create(opened.model, &options, &helped), 0);
		compare_layouts(alone, helped);
		weft_layout_destroy(alone);
		weft_layout_destroy(helped);
	}
	free(hidden);
	close_trace(&opened);
	weft_worker_destroy(worker);
	weft_text_finish(&trace);
}

/* Stopping drops the events that were decoded ahead, and what only they had named. */
static bool stop(void *context, double part)
{
	(void)part;
	++*(unsigned *)context;
	return false;
}

static void stopped_it_keeps_what_was_taken_in(void **state)
{
	(void)state;
	struct weft_text trace = {0};
	struct weft_worker *worker = weft_worker_create();
	struct weft_decoder *decoder;
	struct weft_model *model;
	unsigned steps = 0;
	write_trace(&trace, 90000);
	assert_int_equal(weft_decoder_create(&decoder), 0);
	weft_decoder_lend(decoder, weft_worker_help(worker));
	assert_int_equal(weft_decoder_feed_borrowed(decoder, trace.bytes, trace.size), 0);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	const struct weft_progress progress = {stop, &steps, NULL};
	assert_int_equal(weft_decoder_build_model(decoder, &progress, &model), 0);
	assert_int_equal(steps, 1);
	assert_int_equal(model->summary.events, weft_decoder_events(decoder));
	uint32_t last = model->tasks.count - 1;
	assert_int_equal(weft_model_find_task(model, 0, model->tasks.id[last]), last);
	for (uint64_t id = 0; id < 90000; id++) {
		uint32_t task = weft_model_find_task(model, 0, id);
		assert_true(task == WEFT_NONE || model->tasks.id[task] == id);
	}
	weft_model_destroy(model);
	weft_decoder_destroy(decoder);
	weft_worker_destroy(worker);
	weft_text_finish(&trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_are_done_before_it_goes_on),
		cmocka_unit_test(each_side_sleeps_until_the_other_is_done),
		cmocka_unit_test(a_destroyed_worker_has_no_thread),
		cmocka_unit_test(a_worker_takes_no_signals),
		cmocka_unit_test(one_processor_has_no_worker),
		cmocka_unit_test(no_worker_works_too),
		cmocka_unit_test(a_trace_opens_the_same_with_help),
		cmocka_unit_test(every_layout_is_the_same_with_help),
		cmocka_unit_test(stopped_it_keeps_what_was_taken_in),
	};
	return cmocka_run_group_tests_name("worker", tests, NULL, NULL);
}

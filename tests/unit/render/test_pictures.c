/* SPDX-License-Identifier: ISC
 *
 * Small traces, each with the things of one subject, as pictures:
 * tests/data/golden/picture-*.txt has their operations. WEFT_GOLDEN=write
 * writes them anew, and as SVG if WEFT_SVG names a folder, to be looked at
 * before they are committed.
 */
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "golden.h"
#include "loaded.h"
#include "picture.h"

#define US UINT64_C(1000)

static const struct weft_trace_thread threads[] = {{.name = "main"}, {.name = "worker"}};

static struct weft_model *model_of(struct made *made, const struct weft_trace_description *more)
{
	struct weft_trace_description description = *more;
	struct weft_model *model = NULL;
	description.format = "test";
	description.clock = (struct weft_clock){.name = "unix", .epoch = WEFT_EPOCH_UNIX};
	description.threads = threads;
	if (!description.thread_count)
		description.thread_count = 1;
	assert_int_equal(weft_model_builder_finish(made->builder, &description, &model), 0);
	weft_model_builder_destroy(made->builder);
	return model;
}

static void at(struct made *made, uint64_t us)
{
	made->time = UINT64_C(86400000000000) + us * US;
}

static void make_create_named(struct made *made, uint64_t task, uint64_t child, const char *name)
{
	make_create(made, task, child, WEFT_KIND_TASK);
	make_label(made, child, name);
}

static void sleep_for(struct made *made, const char *reason)
{
	make(made,
		(struct weft_event){
			.type = WEFT_EVENT_SWITCH, .task = WEFT_TASK_NONE, .text = {reason, strlen(reason)}});
}

static void write_svg(const struct picture *p, const char *name)
{
	struct weft_text text = {0};
	char path[512];
	const char *folder = getenv("WEFT_SVG");
	if (!folder)
		return;
	snprintf(path, sizeof(path), "%s/%s.svg", folder, name);
	FILE *file = fopen(path, "wb");
	assert_non_null(file);
	assert_int_equal(weft_canvas_write_svg(p->canvas, NULL, &text), 0);
	assert_int_equal(fwrite(text.bytes, 1, text.size, file), text.size);
	fclose(file);
	weft_text_finish(&text);
}

static void compare(struct picture *p, const char *name)
{
	struct weft_text text = {0};
	draw(p);
	assert_int_equal(weft_canvas_write_text(p->canvas, &text), 0);
	write_svg(p, name);
	golden_compare(name, &text);
	weft_text_finish(&text);
}

static uint32_t task_of(const struct picture *p, uint64_t id)
{
	return weft_model_find_task(p->model, 0, id);
}

/* ---- One of each ---- */

static void make_order(struct made *m)
{
	at(m, 20);
	make_create_named(m, 1, 2, "GET /order");
	at(m, 40);
	make_create(m, 2, 3, WEFT_KIND_MAP);
	at(m, 60);
	make_switch(m, 2);
	make_counter(m, 2, "queue", 1, true);
	at(m, 80);
	make_edge(m, WEFT_EVENT_TRY_READ, 2, 3);
	at(m, 100);
	sleep_for(m, "poll");
	at(m, 250);
	make_switch(m, 3);
	at(m, 255);
	make(m, (struct weft_event){.type = WEFT_EVENT_NOTE, .task = 3, .text = {"reads row 7", 11}});
	make_counter(m, 3, "queue", 5, true);
	make_counter(m, 3, "bytes", 700, false);
	at(m, 330);
	make_edge(m, WEFT_EVENT_RESOLVE, 2, 3);
	make_edge(m, WEFT_EVENT_READ, 2, 3);
}

static void make_failure(struct made *m)
{
	at(m, 360);
	make_create_named(m, 2, 4, "write log");
	at(m, 370);
	make_switch(m, 4);
	at(m, 430);
	make_fail(m, 4, 4, "EIO: disk full");
	at(m, 450);
	make_edge(m, WEFT_EVENT_READ, 2, 4);
	make_counter(m, 2, "bytes", -300, false);
	make_counter(m, 2, "queue", 0, true);
}

static void make_ends(struct made *m)
{
	at(m, 470);
	make_create(m, 2, 5, WEFT_KIND_BIND);
	at(m, 500);
	make_switch(m, 5);
	at(m, 520);
	make_edge(m, WEFT_EVENT_BECOME, 2, 5);
	at(m, 580);
	make(m, (struct weft_event){.type = WEFT_EVENT_GC, .value = 40000});
	at(m, 600);
	make_signal(m, 1, 5, true);
	at(m, 620);
	make_create_named(m, 1, 6, "lost reply");
	make_edge(m, WEFT_EVENT_EXPECT, 6, 0);
	at(m, 640);
	make_create_named(m, 1, 7, "reader");
	make_edge(m, WEFT_EVENT_TRY_READ, 7, 6);
	at(m, 660);
	make_edge(m, WEFT_EVENT_RESOLVE, 1, 5);
	at(m, 700);
	sleep_for(m, "");
	at(m, 900);
	make_switch(m, 1);
	make_counter(m, 1, "bytes", 100, false);
	at(m, 1000);
	make_switch(m, 1);
}

/* Tasks that end in each way, edges of each type, bands, counters, remarks. */
static struct weft_model *one_of_each(void)
{
	struct made m = make_begin();
	at(&m, 0);
	make_create_named(&m, WEFT_TASK_NONE, 1, "main");
	make_switch(&m, 1);
	make_order(&m);
	make_failure(&m);
	make_ends(&m);
	return model_of(&m, &(struct weft_trace_description){0});
}

static void one_of_each_is_drawn(void **state)
{
	struct picture p;
	(void)state;
	picture_init(&p, one_of_each(), 900, 460);
	compare(&p, "picture-all.txt");
	p.options.theme = WEFT_THEME_SAFE_DARK;
	p.options.hover = p.options.clock_times = true;
	weft_view_set_range(&p.view, p.model->summary.start + 300 * US, 300e3);
	compare(&p, "picture-part.txt");
	picture_finish(&p);
}

static void a_small_frame_has_less(void **state)
{
	struct picture p;
	(void)state;
	picture_init(&p, one_of_each(), 400, 250);
	compare(&p, "picture-small.txt");
	resize(&p, 470, 440);
	p.options.status =
		"a status that is too long for one line of such a narrow frame, and whose last words are below";
	compare(&p, "picture-narrow.txt");
	picture_finish(&p);
}

static void highlights_are_drawn(void **state)
{
	struct picture p;
	(void)state;
	picture_init(&p, one_of_each(), 900, 460);
	const uint32_t found[] = {task_of(&p, 3), task_of(&p, 4)};
	const uint32_t related[] = {task_of(&p, 1), task_of(&p, 2), task_of(&p, 4)};
	const uint32_t edges[] = {4, 6, 9};
	struct weft_highlight highlight = {
		.selected = task_of(&p, 2),
		.hovered = task_of(&p, 1),
		.strength = 0.5,
		.edges = edges,
		.edge_count = 3,
		.edge = 6,
		.found = found,
		.found_count = 2,
	};
	p.options.highlight = &highlight;
	p.options.no_counters = true;
	p.options.taken_x = 300;
	p.options.taken_x2 = 420;
	compare(&p, "picture-selected.txt");
	highlight.related = related;
	highlight.related_count = 3;
	highlight.edge = WEFT_NONE;
	highlight.hovered = highlight.selected;
	compare(&p, "picture-related.txt");
	picture_finish(&p);
}

/* ---- Nothing ---- */

static void a_picture_without_tasks_says_why(void **state)
{
	static const uint8_t hidden[] = {1};
	struct picture p;
	struct made m = make_begin();
	(void)state;
	picture_init(&p, model_of(&m, &(struct weft_trace_description){0}), 600, 130);
	compare(&p, "picture-empty.txt");
	picture_finish(&p);
	m = make_begin();
	at(&m, 0);
	make_counter(&m, WEFT_TASK_NONE, "n", 3, true);
	picture_init(&p, model_of(&m, &(struct weft_trace_description){0}), 200, 130);
	compare(&p, "picture-no-tasks.txt");
	picture_finish(&p);
	m = make_begin();
	at(&m, 0);
	make_create_named(&m, WEFT_TASK_NONE, 1, "main");
	picture_init_laid_out(&p, model_of(&m, &(struct weft_trace_description){0}),
		&(struct weft_layout_options){.hidden = hidden}, 300, 130);
	compare(&p, "picture-hidden.txt");
	picture_finish(&p);
}

/* So near that ticks count from a base. */
static void nanoseconds_are_drawn(void **state)
{
	struct picture p;
	(void)state;
	picture_init(&p, one_of_each(), 500, 250);
	weft_view_set_range(&p.view, p.model->summary.start + 999 * US, 20);
	compare(&p, "picture-near.txt");
	picture_finish(&p);
}

/* ---- Folds, groups, losses ---- */

/* A job of a thread, which runs 20 us of it, or one step of it. */
static void make_job(struct made *m, uint32_t step, uint64_t id, const char *name)
{
	uint64_t owner = m->thread + 1;
	char text[32];
	snprintf(text, sizeof(text), "%s %u", name, (unsigned)(id % 10));
	if (step == 0)
		make_create_named(m, owner, id, text);
	else if (step < 3)
		make_switch(m, step == 1 ? id : owner);
	else
		make_edge(m, WEFT_EVENT_RESOLVE, owner, id);
}

/* Ten jobs of each of two threads. */
static void make_jobs(struct made *m)
{
	for (uint64_t i = 0; i < 10; i++)
		for (uint32_t step = 0; step < 4; step++) {
			static const uint64_t offset[] = {0, 10, 30, 50};
			uint64_t time = 40 + i * 90 + offset[step] + (step == 3 ? i % 3 * 15 : 0);
			m->thread = 0;
			at(m, time);
			make_job(m, step, 10 + i, "job");
			m->thread = 1;
			at(m, time + 3);
			make_job(m, step, 30 + i, "task");
		}
}

static struct weft_model *two_threads(void)
{
	static const struct weft_loss_period lost[] = {
		{86400000000000, 86400000000000, 5, 0, WEFT_LOSS_OVERWRITTEN},
		{86400000300000, 86400000330000, 1200, 1, WEFT_LOSS_OVERWRITTEN},
		{86400000600000, 86400000600500, 7, 0, WEFT_LOSS_OVERWRITTEN},
	};
	struct made m = make_begin();
	at(&m, 0);
	make_create_named(&m, WEFT_TASK_NONE, 1, "main");
	make_switch(&m, 1);
	m.thread = 1;
	make_create_named(&m, WEFT_TASK_NONE, 2, "worker");
	make_switch(&m, 2);
	make_jobs(&m);
	at(&m, 1000);
	make_switch(&m, 2);
	return model_of(&m, &(struct weft_trace_description){.losses = {[WEFT_LOSS_OVERWRITTEN] = 1212},
							.loss_periods = lost,
							.loss_period_count = 3,
							.thread_count = 2});
}

static void folds_and_losses_are_drawn(void **state)
{
	struct picture p;
	(void)state;
	picture_init_laid_out(&p, two_threads(), &(struct weft_layout_options){.fold = true}, 900, 360);
	p.options.handles = p.options.hover = true;
	compare(&p, "picture-folds.txt");
	weft_view_set_range(&p.view, p.model->summary.start + 200 * US, 250e3);
	compare(&p, "picture-folds-part.txt");
	resize(&p, 100, 360); /* narrow: densities */
	weft_view_fit(&p.view);
	compare(&p, "picture-folds-narrow.txt");
	picture_finish(&p);
}

/* The task that runs is cut by the right edge; a fold that is open has a handle
 * where its first visible task begins. */
static void folds_are_cut_by_the_view(void **state)
{
	struct weft_layout_options options = {.fold = true};
	struct picture p;
	(void)state;
	picture_init_laid_out(&p, two_threads(), &options, 500, 300);
	weft_view_set_range(&p.view, p.model->summary.start + 460 * US, 40e3);
	p.options.handles = true;
	compare(&p, "picture-folds-cut.txt");
	const uint32_t open[] = {p.layout->fold_members[p.layout->folds[0].first]};
	picture_finish(&p);
	options.fold_exceptions = open;
	options.fold_exception_count = 1;
	picture_init_laid_out(&p, two_threads(), &options, 500, 300);
	weft_view_set_range(&p.view, p.model->summary.start + 460 * US, 200e3);
	p.options.handles = true;
	compare(&p, "picture-folds-open.txt");
	picture_finish(&p);
}

static void groups_are_drawn(void **state)
{
	static const uint32_t folded[] = {1};
	struct weft_layout_options options = {.group_by = WEFT_GROUP_BY_THREAD};
	struct picture p;
	(void)state;
	picture_init_laid_out(&p, two_threads(), &options, 640, 420);
	p.options.handles = true;
	compare(&p, "picture-groups.txt");
	picture_finish(&p);
	options.folded_groups = folded;
	options.folded_group_count = 1;
	picture_init_laid_out(&p, two_threads(), &options, 500, 300);
	compare(&p, "picture-groups-folded.txt");
	resize(&p, 640, 60); /* no room for the second heading */
	compare(&p, "picture-groups-low.txt");
	picture_finish(&p);
}

/* ---- Densities ---- */

static uint32_t number;

static uint32_t pick(uint32_t below)
{
	number = number * 1664525 + 1013904223;
	return (number >> 8) % below;
}

/* `alive` tasks at once, which end and are followed by others; few fail. */
static struct weft_model *many_tasks(uint32_t count, uint32_t alive)
{
	struct made m = make_begin();
	uint64_t ids[512], next = alive + 1;
	number = 1;
	at(&m, 0);
	for (uint32_t i = 0; i < alive; i++) {
		ids[i] = i + 1;
		make_create(&m, WEFT_TASK_NONE, ids[i], WEFT_KIND_TASK);
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t slot = pick(alive);
		at(&m, i + 1);
		make_switch(&m, ids[slot]);
		if (pick(100) == 0)
			make_fail(&m, ids[slot], ids[slot], "E");
		else
			make_edge(&m, WEFT_EVENT_RESOLVE, ids[slot], ids[slot]);
		ids[slot] = next++;
		make_create(&m, WEFT_TASK_NONE, ids[slot], WEFT_KIND_TASK);
		make_edge(&m, WEFT_EVENT_READ, ids[slot], ids[pick(alive)]);
	}
	return model_of(&m, &(struct weft_trace_description){0});
}

static void densities_are_drawn(void **state)
{
	struct picture p;
	(void)state;
	picture_init(&p, many_tasks(250, 3), 130, 180);
	compare(&p, "picture-dense.txt");
	picture_finish(&p);
	picture_init(&p, many_tasks(250, 120), 110, 170);
	compare(&p, "picture-lanes.txt");
	picture_finish(&p);
}

/* More arrows than can be drawn one by one. */
static void heat_is_drawn(void **state)
{
	struct picture p;
	(void)state;
	picture_init(&p, many_tasks(4000, 2), 160, 200);
	compare(&p, "picture-heat.txt");
	picture_finish(&p);
}

/* A root creates a task each 50 us, and 3000 of them around 520 us, so that
 * only links of tasks with lines of their own are drawn there. One of these
 * lasts, and one becomes another. */
static struct weft_model *burst(void)
{
	struct made m = make_begin();
	at(&m, 0);
	make_create_named(&m, WEFT_TASK_NONE, 1, "main");
	for (uint64_t i = 2; i <= 11; i++) {
		at(&m, 50 * i);
		make_create(&m, 1, i, WEFT_KIND_TASK);
		make_create(&m, i, 100 + i, WEFT_KIND_TASK);
		make_edge(&m, WEFT_EVENT_BECOME, i, 100 + i);
	}
	for (uint64_t i = 0; i < 3000; i++) {
		m.time = UINT64_C(86400000552000) + i;
		make_create(&m, 1, 1000 + i, WEFT_KIND_TASK);
		if (i == 100)
			make_edge(&m, WEFT_EVENT_BECOME, 102, 1000 + i);
		make_edge(&m, WEFT_EVENT_READ, 1000 + i, 1);
		if (i != 1500 && i != 100)
			make_edge(&m, WEFT_EVENT_RESOLVE, 1000 + i, 1000 + i);
	}
	for (uint64_t i = 2; i <= 11; i++) {
		at(&m, 600 + 20 * i);
		make_edge(&m, WEFT_EVENT_RESOLVE, 1, 100 + i);
	}
	at(&m, 1000);
	make_edge(&m, WEFT_EVENT_RESOLVE, 1, 2500);
	make_edge(&m, WEFT_EVENT_RESOLVE, 1, 1100);
	return model_of(&m, &(struct weft_trace_description){0});
}

static void links_of_lines_are_drawn_in_a_burst(void **state)
{
	struct picture p;
	(void)state;
	picture_init(&p, burst(), 300, 420);
	compare(&p, "picture-burst.txt");
	picture_finish(&p);
}

/* ---- Stopped tasks ---- */

/* One that was cancelled after it ran, one closed, one timed out that is very small, and one beside
 * them that failed. */
static struct weft_model *stopped_tasks(bool all)
{
	struct made m = make_begin();
	at(&m, 0);
	make_create_named(&m, WEFT_TASK_NONE, 1, "main");
	make_create_named(&m, 1, 2, "reply");
	make_create_named(&m, 1, 3, "connection");
	make_create_named(&m, 1, 4, "failing");
	make_switch(&m, 2);
	at(&m, 100);
	make_switch(&m, 1);
	at(&m, 200);
	make_edge(&m, WEFT_EVENT_CANCEL, 1, 2);
	at(&m, 300);
	make_edge(&m, all ? WEFT_EVENT_CLOSE : WEFT_EVENT_CANCEL, 1, 3);
	make_create_named(&m, 1, 5, "small");
	at(&m, 301);
	make_edge(&m, all ? WEFT_EVENT_TIME_OUT : WEFT_EVENT_CANCEL, 1, 5);
	at(&m, 400);
	make_fail(&m, 1, 4, "EPIPE");
	at(&m, 500);
	make_edge(&m, WEFT_EVENT_RESOLVE, 1, 1);
	return model_of(&m, &(struct weft_trace_description){0});
}

static void stopped_tasks_are_drawn(void **state)
{
	struct picture p;
	(void)state;
	picture_init(&p, stopped_tasks(true), 800, 300);
	compare(&p, "picture-stopped.txt");
	picture_finish(&p);
	picture_init(&p, stopped_tasks(false), 800, 220);
	compare(&p, "picture-stopped-low.txt");
	picture_finish(&p);
}

/* A server whose requests have spans, one of which lasts over a wait, and some that are too small.
 */
static void spans_are_drawn(void **state)
{
	struct picture p;
	struct made m = make_begin();
	(void)state;
	at(&m, 0);
	make_create_named(&m, WEFT_TASK_NONE, 1, "server");
	make_create_named(&m, WEFT_TASK_NONE, 2, "disk");
	make_switch(&m, 1);
	at(&m, 20);
	make_begin_span(&m, 1, "request");
	at(&m, 40);
	make_begin_span(&m, 1, "parse");
	at(&m, 140);
	make_end_span(&m, 1);
	make_begin_span(&m, 1, "load");
	at(&m, 200);
	make_switch(&m, 2);
	make_begin_span(&m, 2, "seek");
	at(&m, 300);
	make_end_span(&m, 2);
	make_switch(&m, 1);
	at(&m, 400);
	make_end_span(&m, 1);
	make_begin_span(&m, 1, "deflate");
	at(&m, 420);
	make_begin_span(&m, 1, "crc32");
	at(&m, 500);
	make_end_span(&m, 1);
	for (uint64_t i = 0; i < 20; i++) {
		make_begin_span(&m, 1, "small");
		at(&m, 501 + i);
		make_end_span(&m, 1);
	}
	at(&m, 640);
	make_end_span(&m, 1);
	make_end_span(&m, 1);
	at(&m, 700);
	make_edge(&m, WEFT_EVENT_RESOLVE, 1, 1);
	picture_init(&p, model_of(&m, &(struct weft_trace_description){0}), 800, 220);
	compare(&p, "picture-spans.txt");
	picture_finish(&p);
}

/* A GPU that runs frames of which two overlap, many short reads of a disk, and a thread that does
 * something without a task. */
static void tracks_are_drawn(void **state)
{
	const struct weft_trace_thread thread = {.name = "main"};
	struct picture p;
	struct made m = make_begin();
	(void)state;
	at(&m, 0);
	make_create_named(&m, WEFT_TASK_NONE, 1, "render loop");
	make_switch(&m, 1);
	for (uint64_t i = 0; i < 400; i++) {
		at(&m, 10 + i);
		make_given_span(&m, "disk", "read", m.time - 900, m.time - 300);
	}
	at(&m, 500);
	make_given_span(&m, "gpu", "draw", m.time - 400000, m.time - 250000);
	make_given_span(&m, "gpu", "blur", m.time - 250000, m.time - 100000);
	make_given_span(&m, "gpu", "copy", m.time - 300000, m.time - 150000);
	make_switch(&m, WEFT_TASK_NONE);
	make_begin_span(&m, WEFT_TASK_NONE, "shut down");
	at(&m, 560);
	make_begin_span(&m, WEFT_TASK_NONE, "free");
	at(&m, 640);
	make_end_span(&m, WEFT_TASK_NONE);
	make_end_span(&m, WEFT_TASK_NONE);
	at(&m, 700);
	make_edge(&m, WEFT_EVENT_RESOLVE, 1, 1);
	picture_init(&p,
		model_of(&m, &(struct weft_trace_description){.threads = &thread, .thread_count = 1}), 800,
		360);
	compare(&p, "picture-tracks.txt");
	picture_finish(&p);
}

/* A client that goes on with one of three, and then waits for either of two until the end. */
static struct weft_model *wait_for_any(void)
{
	struct made m = make_begin();
	at(&m, 0);
	make_create_named(&m, WEFT_TASK_NONE, 1, "client");
	make_create_named(&m, 1, 2, "cancel");
	make_create_named(&m, 1, 3, "reply");
	make_create_named(&m, 1, 4, "timer");
	make_create_named(&m, WEFT_TASK_NONE, 5, "loop");
	make_switch(&m, 1);
	at(&m, 20);
	for (uint64_t id = 2; id <= 4; id++)
		make_edge(&m, WEFT_EVENT_WAIT_ANY, 1, id);
	make_switch(&m, 5);
	at(&m, 420);
	make_edge(&m, WEFT_EVENT_RESOLVE, 5, 3);
	make_edge(&m, WEFT_EVENT_READ, 1, 3);
	make_switch(&m, 1);
	at(&m, 500);
	make_edge(&m, WEFT_EVENT_WAIT_ANY, 1, 2);
	make_edge(&m, WEFT_EVENT_WAIT_ANY, 1, 4);
	make_switch(&m, 5);
	at(&m, 900);
	make_switch(&m, 5);
	return model_of(&m, &(struct weft_trace_description){0});
}

/* As texts; the only arrow is that of the read. */
static void a_wait_for_any_is_drawn(void **state)
{
	struct picture p;
	(void)state;
	picture_init(&p, wait_for_any(), 900, 260);
	compare(&p, "picture-wait-any.txt");
	picture_finish(&p);
}

/* ---- Idle time of several threads ---- */

/* The worker comes late: before that, the reason is the one of the only thread. */
static struct weft_model *idle_threads(void)
{
	struct made m = make_begin();
	at(&m, 0);
	make_create_named(&m, WEFT_TASK_NONE, 1, "main");
	make_create_named(&m, 1, 2, "job");
	make_switch(&m, 1);
	at(&m, 100);
	sleep_for(&m, "poll");
	at(&m, 200);
	make_switch(&m, 1);
	at(&m, 220);
	m.thread = 1;
	make_switch(&m, 2);
	at(&m, 300);
	m.thread = 0;
	sleep_for(&m, "poll");
	at(&m, 350);
	m.thread = 1;
	sleep_for(&m, "no job");
	at(&m, 450);
	make_switch(&m, 2);
	at(&m, 500);
	make_edge(&m, WEFT_EVENT_RESOLVE, 2, 2);
	return model_of(&m, &(struct weft_trace_description){.thread_count = 2});
}

static void idle_time_is_that_of_all_threads(void **state)
{
	struct picture p;
	(void)state;
	picture_init(&p, idle_threads(), 600, 220);
	compare(&p, "picture-idle.txt");
	picture_finish(&p);
}

/* Work in five places with idle times between them: two of 1 ms, one of 100 us, one of 1.5 s and
 * one of 40 ms. */
static struct weft_model *long_sleeps(void)
{
	static const uint64_t sleeps_us[] = {1000, 100, 1500000, 1000, 40000};
	struct made m = make_begin();
	uint64_t us = 0;
	at(&m, 0);
	make_create_named(&m, WEFT_TASK_NONE, 1, "main");
	make_create_named(&m, WEFT_TASK_NONE, 2, "request");
	for (unsigned i = 0; i < 5; i++) {
		at(&m, us);
		make_switch(&m, i % 2 + 1);
		make_counter(&m, 1, "queue", i, true);
		at(&m, us += 400);
		sleep_for(&m, "poll");
		us += sleeps_us[i];
	}
	at(&m, us);
	make_switch(&m, 1);
	at(&m, us + 400);
	make_edge(&m, WEFT_EVENT_RESOLVE, 1, 2);
	return model_of(&m, &(struct weft_trace_description){0});
}

static void long_sleeps_are_squeezed(void **state)
{
	struct picture p;
	(void)state;
	picture_init(&p, long_sleeps(), 600, 260);
	squeeze(&p);
	compare(&p, "picture-squeezed.txt");
	weft_view_zoom(&p.view, 300, 0.5); /* everything is in view already */
	compare(&p, "picture-squeezed.txt");
	picture_finish(&p);
}

/* Timers that are due after 10 ms: one in time, one 5 ms late. */
static struct weft_model *two_timers(void)
{
	struct made m = make_begin();
	at(&m, 0);
	for (uint64_t id = 1; id <= 2; id++) {
		make_create(&m, WEFT_TASK_NONE, id, WEFT_KIND_TIMER);
		make_label(&m, id, id == 1 ? "in time" : "late one");
		make(&m, (struct weft_event){.type = WEFT_EVENT_TAG,
					 .task = id,
					 .text = {"deadline", 8},
					 .value = 10000000,
					 .has_value = true});
	}
	at(&m, 10000);
	make_edge(&m, WEFT_EVENT_RESOLVE, WEFT_TASK_NONE, 1);
	at(&m, 15000);
	make_edge(&m, WEFT_EVENT_RESOLVE, WEFT_TASK_NONE, 2);
	at(&m, 20000);
	make_switch(&m, WEFT_TASK_NONE);
	return model_of(&m, &(struct weft_trace_description){0});
}

static void a_late_timer_is_named_so(void **state)
{
	struct picture p;
	(void)state;
	picture_init(&p, two_timers(), 600, 200);
	compare(&p, "picture-late.txt");
	picture_finish(&p);
}

/* ---- Counters ---- */

/* One that rises by steps, one that flutters, one of large numbers, one below
 * zero. */
static struct weft_model *counters(void)
{
	struct made m = make_begin();
	at(&m, 0);
	make_create_named(&m, WEFT_TASK_NONE, 1, "main");
	for (uint32_t i = 0; i < 400; i++) {
		at(&m, 10 * i);
		if (i % 50 == 0)
			make_counter(&m, 1, "steps", 3, false);
		if (i > 200 && i < 300)
			make_counter(&m, 1, "fluttering", 10 + pick(30), true);
		if (i == 100 || i == 350)
			make_counter(&m, 1, "heap bytes", i * INT64_C(8400000), true);
		if (i % 130 == 129)
			make_counter(&m, 1, "below zero", -5, false);
	}
	return model_of(&m, &(struct weft_trace_description){0});
}

static void counters_are_drawn(void **state)
{
	static const uint8_t hidden[] = {0, 1, 0, 0};
	struct picture p;
	(void)state;
	picture_init(&p, counters(), 600, 260);
	place_counters(&p, WEFT_COUNTERS_OVERLAY);
	compare(&p, "picture-counters.txt");
	resize(&p, 500, 100); /* no room for all labels */
	compare(&p, "picture-counters-low.txt");
	resize(&p, 600, 260);
	p.options.counters_at = p.model->summary.start + 500 * US;
	p.options.hidden_counters = hidden;
	weft_view_set_range(&p.view, p.model->summary.start + 2000 * US, 600e3);
	compare(&p, "picture-counters-part.txt");
	resize(&p, 300, 200);
	weft_view_fit(&p.view);
	p.options.hidden_counters = NULL;
	p.options.counters_at = 0;
	p.options.counter_rates = true;
	compare(&p, "picture-counter-rates.txt");
	picture_finish(&p);
}

static void counters_have_lanes(void **state)
{
	static const uint8_t hidden[] = {1, 0, 0, 0};
	struct picture p;
	(void)state;
	picture_init(&p, counters(), 600, 400);
	assert_true(p.frame.lane_height == 28 && p.frame.lanes.height == 4 * 28);
	assert_true(p.frame.picture.y == p.frame.lanes.y + p.frame.lanes.height);
	compare(&p, "picture-counter-lanes.txt");
	resize(&p, 400, 200); /* two lanes, one hidden counter: two have none */
	p.options.counters_at = p.model->summary.start + 3500 * US;
	p.options.hidden_counters = hidden;
	compare(&p, "picture-counter-lanes-low.txt");
	p.options.counter_rates = true;
	compare(&p, "picture-counter-lanes-rates.txt");
	picture_finish(&p);
}

/* The number of a text that the model has. */
static uint32_t string_of(const struct weft_model *model, const char *text)
{
	for (uint32_t i = 0; i < weft_model_string_count(model); i++)
		if (strcmp(weft_model_string(model, i).bytes, text) == 0)
			return i;
	fail_msg("no string %s", text);
	return 0;
}

/* Metrics without labels that have values: the first four. Times of the picture do not cross
 * their lanes. */
static void histograms_have_lanes(void **state)
{
	static const char *const texts[] = {
		"latency", "sizes", "empty", "one", "seconds", "bytes", "", "{}", "{\"vm\":\"7\"}"};
	static const struct weft_bucket buckets[] = {{1.58e-6, 1}, {1.72e-6, 40}, {1.88e-6, 30},
		{3.76e-6, 10}, {0.0032, 5}, {512, 5}, {(double)INFINITY, 5}, {(double)INFINITY, 2}};
	struct made m = make_begin();
	struct picture p;
	uint32_t name[9];
	(void)state;
	at(&m, 0);
	make_create_named(&m, WEFT_TASK_NONE, 1, "main");
	for (unsigned i = 0; i < 9; i++)
		make(&m, (struct weft_event){.type = WEFT_EVENT_NOTE,
					 .task = 1,
					 .text = {texts[i], (uint32_t)strlen(texts[i])}});
	at(&m, 1000);
	make_counter(&m, 1, "queue", 3, true);
	at(&m, 2000);
	make_switch(&m, 1);
	struct weft_model *model = model_of(&m, &(struct weft_trace_description){0});
	for (unsigned i = 0; i < 9; i++)
		name[i] = string_of(model, texts[i]);
	struct weft_histogram list[] = {
		{.name = name[0], .labels = name[7], .unit = name[4], .bucket_count = 5, .values = 86},
		{.name = name[0], .labels = name[8], .unit = name[4], .bucket_count = 1, .values = 1},
		{.name = name[2], .labels = name[7], .unit = name[4], .first_bucket = 5},
		{.name = name[1],
			.labels = name[7],
			.unit = name[5],
			.first_bucket = 5,
			.bucket_count = 2,
			.values = 10},
		{.name = name[3],
			.labels = name[7],
			.unit = name[6],
			.first_bucket = 7,
			.bucket_count = 1,
			.values = 2},
		{.name = name[3],
			.labels = name[7],
			.unit = name[6],
			.first_bucket = 0,
			.bucket_count = 1,
			.values = 1},
		{.name = name[3],
			.labels = name[7],
			.unit = name[6],
			.first_bucket = 0,
			.bucket_count = 1,
			.values = 1}};
	model->histograms = list;
	model->histogram_count = 7;
	model->buckets = buckets;
	model->bucket_count = 8;
	assert_int_equal(weft_histogram_lanes(model), 4);
	picture_init(&p, model, 900, 500);
	assert_true(p.frame.lanes.height == 5 * 28);
	compare(&p, "picture-histograms.txt");
	resize(&p, 300, 200); /* no room for bars, nor for all lanes */
	compare(&p, "picture-histograms-low.txt");
	p.options.no_counters = true;
	compare(&p, "picture-histograms-none.txt");
	model->histograms = NULL; /* the test's */
	model->buckets = NULL;
	picture_finish(&p);
}

/* Real numbers fill the height, and have a fraction. */
static void real_counters_are_drawn(void **state)
{
	struct made m = make_begin();
	struct picture p;
	(void)state;
	at(&m, 0);
	make_create_named(&m, WEFT_TASK_NONE, 1, "main");
	for (uint32_t i = 0; i < 40; i++) {
		at(&m, 100 * i);
		make_real_counter(&m, 1, "load", 0.25 + 0.0125 * i, true);
	}
	picture_init(&p, model_of(&m, &(struct weft_trace_description){0}), 600, 160);
	compare(&p, "picture-counters-real.txt");
	picture_finish(&p);
}

/* Runs that had the processor all the time, for most of it, half of it, a quarter, and hardly; some
 * bars of the last task are too narrow for a pattern. */
static void bars_without_a_processor_are_hollow(void **state)
{
	static const int64_t off_percent[] = {0, 20, 50, 75, 97};
	struct picture p;
	struct made m = make_begin();
	(void)state;
	at(&m, 0);
	for (uint64_t i = 0; i < 5; i++) {
		const char *const names[] = {"undisturbed", "preempted", "shared", "starved", "blocked"};
		make_create_named(&m, WEFT_TASK_NONE, i + 1, names[i]);
	}
	for (uint64_t i = 0; i < 25; i++) {
		uint64_t from = m.time, task = i < 4 ? i + 1 : 5;
		make_switch(&m, task);
		at(&m, i < 4 ? 100 + i * 150 : 560 + i * 3);
		make(&m, (struct weft_event){.type = WEFT_EVENT_OFF_CPU,
					 .task = task,
					 .value = (int64_t)(m.time - from) * off_percent[task - 1] / 100});
	}
	make_switch(&m, 1);
	at(&m, 680);
	make_edge(&m, WEFT_EVENT_RESOLVE, 1, 1);
	picture_init(&p, model_of(&m, &(struct weft_trace_description){0}), 800, 220);
	compare(&p, "picture-off-cpu.txt");
	picture_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_of_each_is_drawn),
		cmocka_unit_test(a_small_frame_has_less),
		cmocka_unit_test(highlights_are_drawn),
		cmocka_unit_test(folds_and_losses_are_drawn),
		cmocka_unit_test(folds_are_cut_by_the_view),
		cmocka_unit_test(groups_are_drawn),
		cmocka_unit_test(a_picture_without_tasks_says_why),
		cmocka_unit_test(nanoseconds_are_drawn),
		cmocka_unit_test(densities_are_drawn),
		cmocka_unit_test(heat_is_drawn),
		cmocka_unit_test(links_of_lines_are_drawn_in_a_burst),
		cmocka_unit_test(stopped_tasks_are_drawn),
		cmocka_unit_test(spans_are_drawn),
		cmocka_unit_test(bars_without_a_processor_are_hollow),
		cmocka_unit_test(tracks_are_drawn),
		cmocka_unit_test(a_wait_for_any_is_drawn),
		cmocka_unit_test(idle_time_is_that_of_all_threads),
		cmocka_unit_test(long_sleeps_are_squeezed),
		cmocka_unit_test(a_late_timer_is_named_so),
		cmocka_unit_test(counters_are_drawn),
		cmocka_unit_test(counters_have_lanes),
		cmocka_unit_test(histograms_have_lanes),
		cmocka_unit_test(real_counters_are_drawn),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: ISC
 *
 * From events to rows to a frame: time and peak memory for growing numbers of events and of tasks
 * that are alive at once. Each row of the table runs in a process of its own, so that the peak is
 * its own. Times are processor time of one thread, which other activity of the machine hardly
 * affects.
 *
 *     bench_layout [EVENTS [CONCURRENCY]]      by default 10⁵, 10⁶ and 10⁷ at 1, 10, 30 and 100,
 *                                               and two traces that are hard to draw
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <weft/render.h>

#define COMMON_EVENT_BYTES 16
#define LIVE_MAX           1000
#define FRAMES             3

/* The trace of a row of the table. */
struct shape {
	uint64_t events;
	uint32_t concurrency, counters;
	bool is_dense;
};

/* A program that always has `live` tasks, which interact. */
struct program {
	uint64_t random, time, next_id;
	uint64_t live[LIVE_MAX];
	uint32_t concurrency, counters;
	bool is_dense; /* no task ends before the trace does */
	struct weft_model_builder *builder;
	struct weft_diagnostics diagnostics;
	uint64_t events;
};

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void check(int error)
{
	if (!error)
		return;
	fprintf(stderr, "bench_layout: %s\n", weft_error_text(error));
	exit(1);
}

static uint32_t pick(struct program *p, uint32_t below)
{
	p->random = p->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((p->random >> 33) % below);
}

static void emit(struct program *p, struct weft_event event)
{
	event.time_ns = p->time;
	p->time += 20 + pick(p, 400);
	p->events++;
	check(weft_model_builder_add(p->builder, &event, &p->diagnostics));
}

/* Ends a task, and lets another one create a task instead. */
static void replace_task(struct program *p)
{
	static const uint16_t kinds[] = {WEFT_KIND_BIND, WEFT_KIND_BIND, WEFT_KIND_TASK, WEFT_KIND_TRY,
		WEFT_KIND_WAIT, WEFT_KIND_MAP};
	uint32_t slot = pick(p, p->concurrency);
	uint64_t actor = p->live[pick(p, p->concurrency)], id = p->next_id++;
	emit(p, (struct weft_event){
				.type = WEFT_EVENT_CREATE, .task = actor, .other = id, .kind = kinds[pick(p, 6)]});
	if (pick(p, 5) == 0)
		emit(p, (struct weft_event){.type = WEFT_EVENT_BECOME, .task = p->live[slot], .other = id});
	else if (pick(p, 100) == 0)
		emit(p, (struct weft_event){.type = WEFT_EVENT_FAIL,
					.task = actor,
					.other = p->live[slot],
					.text = {"Failure", 7}});
	else
		emit(p,
			(struct weft_event){.type = WEFT_EVENT_RESOLVE, .task = actor, .other = p->live[slot]});
	p->live[slot] = id;
}

static void step(struct program *p)
{
	char name[32];
	uint64_t actor = p->live[pick(p, p->concurrency)], other = p->live[pick(p, p->concurrency)];
	uint32_t roll = pick(p, 100);
	struct weft_event event = {.task = actor, .other = other};
	if (roll < 22 && !p->is_dense) {
		replace_task(p);
		return;
	}
	if (roll < 56) {
		event.type = WEFT_EVENT_READ;
	} else if (roll < 74) {
		event.type = WEFT_EVENT_SWITCH;
	} else if (roll < 84) {
		event.type = WEFT_EVENT_LABEL;
		event.text = (struct weft_slice){
			name, (size_t)snprintf(name, sizeof(name), "work-%u", pick(p, 300))};
	} else if (roll < 91) {
		event.type = WEFT_EVENT_COUNTER;
		event.value = (int64_t)pick(p, 20) - 9;
		event.text = (struct weft_slice){
			name, (size_t)snprintf(name, sizeof(name), "queue-%" PRIu32, pick(p, p->counters))};
	} else if (roll < 96) {
		event.type = WEFT_EVENT_TRY_READ;
	} else {
		event.type = WEFT_EVENT_SIGNAL;
		event.flag = pick(p, 2);
	}
	emit(p, event);
}

static struct weft_model *build(const struct shape *shape)
{
	static const struct weft_trace_thread thread = {.name = ""};
	struct weft_trace_description description = {
		.format = "bench", .clock = {.name = "bench"}, .threads = &thread, .thread_count = 1};
	struct program p = {.random = 1,
		.concurrency = shape->concurrency,
		.next_id = shape->concurrency,
		.counters = shape->counters,
		.is_dense = shape->is_dense};
	struct weft_model *model = NULL;
	for (uint32_t i = 0; i < shape->concurrency; i++)
		p.live[i] = i;
	check(weft_model_builder_create(&p.builder));
	while (p.events < shape->events)
		step(&p);
	check(weft_model_builder_finish(p.builder, &description, &model));
	weft_model_builder_destroy(p.builder);
	return model;
}

static double peak_mb(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

/* A scene, and the objects for drawing a frame of it. */
struct stage {
	const struct weft_scene *scene;
	const struct weft_layout *layout;
	struct weft_frame frame;
	struct weft_view view;
	struct weft_canvas *canvas;
};

/* The fastest of some frames, ms. */
static double time_frame(struct stage *s)
{
	struct weft_render_options options = {.title = "bench"};
	uint64_t best = UINT64_MAX;
	for (unsigned i = 0; i < FRAMES; i++) {
		uint64_t begin = now_ns();
		weft_canvas_clear(s->canvas, 1400, 800);
		check(weft_render_frame(s->scene, &s->frame, &s->view, &options, s->canvas));
		uint64_t took = now_ns() - begin;
		best = took < best ? took : best;
	}
	return (double)best / 1e6;
}

/* A row with activity at a time. */
static uint32_t busy_row(const struct weft_layout *layout, uint64_t time)
{
	const struct weft_edges *edges = &layout->model->edges;
	uint32_t low = 0, high = edges->count - 1;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (edges->time[middle] < time)
			low = middle + 1;
		else
			high = middle;
	}
	return layout->row[edges->to[low]];
}

/* The slowest frame of views that show 1/zoom of the trace: at five times, with three rows at the
 * lens' middle. */
static double slowest_frame(struct stage *s, double zoom)
{
	const struct weft_model_summary *summary = &s->layout->model->summary;
	double length = (double)(summary->end - summary->start), slowest = 0;
	for (unsigned view = 0; view <= 4; view++) {
		uint64_t start = summary->start + (uint64_t)(length * (1 - 1 / zoom) * view / 4);
		uint32_t busy = busy_row(s->layout, start + (uint64_t)(length / zoom / 2));
		const uint32_t rows[] = {0, busy, s->layout->row_count / 2};
		for (unsigned row = 0; row < 3; row++) {
			weft_view_set_range(&s->view, start, length / zoom);
			weft_view_set_focus(&s->view, rows[row]);
			double ms = time_frame(s);
			slowest = ms > slowest ? ms : slowest;
		}
	}
	return slowest;
}

static void print_frames(const struct weft_scene *scene, const struct weft_layout *layout)
{
	struct stage stage = {.scene = scene, .layout = layout};
	check(weft_canvas_create(1400, 800, &stage.canvas));
	weft_frame_place(layout, 1400, 800, &stage.frame);
	weft_frame_view(layout, &stage.frame, &stage.view);
	for (double zoom = 1; zoom < 20000; zoom *= 10)
		printf(" %6.2f", slowest_frame(&stage, zoom));
	weft_canvas_destroy(stage.canvas);
}

static void measure(const struct shape *shape)
{
	struct weft_layout *layout = NULL;
	struct weft_scene *scene = NULL;
	(void)mallopt(M_MMAP_THRESHOLD, 128 << 10); /* as in weft */
	double before = peak_mb();
	uint64_t begin = now_ns();
	struct weft_model *model = build(shape);
	uint64_t built = now_ns();
	check(weft_layout_create(model, NULL, &layout));
	uint64_t laid_out = now_ns();
	check(weft_scene_create(model, layout, &scene));
	uint64_t ready = now_ns();
	double peak = peak_mb() - before;
	printf("%9" PRIu64 " %5" PRIu32 " %8" PRIu32 " %7" PRIu32 " %8.0f %8.0f %8.0f %8.1f %6.2f",
		shape->events, shape->concurrency, model->tasks.count, layout->row_count,
		(double)(built - begin) / 1e6, (double)(laid_out - built) / 1e6,
		(double)(ready - laid_out) / 1e6, peak,
		peak * 1048576 / ((double)shape->events * COMMON_EVENT_BYTES));
	print_frames(scene, layout);
	printf("\n");
	weft_scene_destroy(scene);
	weft_layout_destroy(layout);
	weft_model_destroy(model);
}

static void run(struct shape shape)
{
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		measure(&shape);
		fflush(stdout);
		_exit(0);
	}
	int status;
	if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
		exit(1);
}

int main(int argc, char **argv)
{
	static const uint64_t sizes[] = {100000, 1000000, 10000000};
	static const uint32_t concurrencies[] = {1, 10, 30, 100};
	uint64_t only_events = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	uint32_t only_concurrency = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
	if (only_concurrency > LIVE_MAX) {
		fprintf(stderr, "bench_layout: at most %d tasks at once\n", LIVE_MAX);
		return 2;
	}
	printf(
		"layout: a random mix of events; peak is beside 16 bytes an event. The slowest frame of\n"
		"1400 x 800 that shows all, a tenth ... of the trace, at 15 places each, in ms\n"
		"   events alive    tasks    rows model ms   layout    scene  peak MB  x 16B"
		"    all   1/10  1/100 1/10^3 1/10^4\n");
	if (only_concurrency) {
		run((struct shape){only_events, only_concurrency, 1, false});
		return 0;
	}
	for (unsigned i = 0; i < 3; i++)
		for (unsigned j = 0; j < 4; j++)
			if (!only_events || only_events == sizes[i])
				run((struct shape){sizes[i], concurrencies[j], 1, false});
	if (only_events)
		return 0;
	printf("30 tasks that live all along; 5,000 counters\n");
	run((struct shape){10000000, 30, 1, true});
	run((struct shape){10000000, 30, 5000, false});
	return 0;
}

/* SPDX-License-Identifier: ISC
 *
 * From a cached file to the first picture, step by step, and the memory that it takes: what a user
 * waits for when opening a trace. Each row runs in a process of its own, which opens the file as
 * weft does, so that the peak is its own: all resident memory, including mapped pages of the file.
 *
 *     bench_open [EVENTS]      by default 10⁶ and 10⁷, and $WEFT_BENCH_EVENTS
 *     bench_open FILE          a trace of a real program
 *
 * The run that took the least processor time of five counts.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <weft/decoder.h>
#include <weft/render.h>
#include <weft/source.h>
#include <weft/worker.h>

#include "random_trace.h"

#define RUNS 5

struct format {
	const char *name;
	struct bytes (*make)(uint64_t events);
};

static double now_ms(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Processor time of both threads, which other programs do not affect. */
static double used_ms(void)
{
	return now_ms(CLOCK_PROCESS_CPUTIME_ID);
}

static double wall_ms(void)
{
	return now_ms(CLOCK_MONOTONIC);
}

static void check(int error)
{
	if (!error)
		return;
	fprintf(stderr, "bench_open: %s\n", weft_error_text(error));
	exit(1);
}

static void check_system(bool works)
{
	if (works)
		return;
	perror("bench_open");
	exit(1);
}

static double peak_mb(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1024;
}

/* As in weft: returns memory that was read to the system. */
static bool step(void *source, double part)
{
	(void)part;
	weft_source_forget(source);
	return true;
}

static struct weft_model *load(struct weft_source *source, const struct weft_help *help)
{
	struct weft_decoder *decoder;
	struct weft_model *model = NULL;
	size_t size;
	const void *bytes = weft_source_bytes(source, &size);
	check(weft_decoder_create(&decoder));
	weft_decoder_lend(decoder, help);
	check(weft_decoder_feed_borrowed(decoder, bytes, size));
	check(weft_decoder_finish(decoder));
	weft_source_forget(source);
	check(weft_decoder_build_model(decoder, &(struct weft_progress){step, source, NULL}, &model));
	weft_source_forget(source);
	weft_decoder_destroy(decoder);
	return model;
}

static void draw_first(const struct weft_scene *scene, const struct weft_layout *layout)
{
	struct weft_render_options options = {.title = "bench"};
	struct weft_canvas *canvas;
	struct weft_frame frame;
	struct weft_view view;
	check(weft_canvas_create(1400, 800, &canvas));
	weft_frame_place(layout, 1400, 800, &frame);
	weft_frame_view(layout, &frame, &view);
	check(weft_render_frame(scene, &frame, &view, &options, canvas));
	weft_canvas_destroy(canvas);
}

struct row {
	uint64_t events;
	uint32_t tasks;
	double load, layout, scene, frame, wall, used; /* ms */
	double file, peak;                             /* MB */
};

static void print_row(const char *name, const struct row *row)
{
	printf("%-10s %10" PRIu64 " %9" PRIu32
		   " %7.0f %7.0f %7.0f %6.1f %7.0f %7.0f %7.0f %7.0f %6.2f\n",
		name, row->events, row->tasks, row->load, row->layout, row->scene, row->frame, row->wall,
		row->used, row->file, row->peak, row->peak / row->file);
	fflush(stdout);
}

/* Nothing is freed at the end, because the process exits. */
static struct row measure(struct weft_source *source)
{
	struct weft_layout *layout = NULL;
	struct weft_scene *scene = NULL;
	size_t size;
	(void)weft_source_bytes(source, &size);
	(void)mallopt(M_MMAP_THRESHOLD, 128 << 10); /* as in weft */
	double used = used_ms(), begin = wall_ms();
	struct weft_progress progress = {.help = weft_worker_help(weft_worker_create())};
	struct weft_layout_options options = {.progress = &progress};
	struct weft_model *model = load(source, progress.help);
	double loaded = wall_ms();
	check(weft_layout_create(model, &options, &layout));
	double laid_out = wall_ms();
	check(weft_scene_create_watched(model, layout, &progress, &scene));
	double ready = wall_ms();
	draw_first(scene, layout);
	double end = wall_ms();
	return (struct row){.events = model->summary.events,
		.tasks = model->tasks.count,
		.load = loaded - begin,
		.layout = laid_out - loaded,
		.scene = ready - laid_out,
		.frame = end - ready,
		.wall = end - begin,
		.used = used_ms() - used,
		.file = (double)size / 1048576,
		.peak = peak_mb()};
}

static void write_trace(const struct format *format, uint64_t events, int file)
{
	struct bytes trace = format->make(events);
	for (size_t at = 0; at < trace.size;) {
		ssize_t written = write(file, trace.data + at, trace.size - at);
		check_system(written > 0);
		at += (size_t)written;
	}
}

static bool has_ended_well(pid_t child)
{
	int status;
	check_system(child > 0 && waitpid(child, &status, 0) == child);
	return status == 0;
}

/* Opens the file in a child, which leaves the row in `shared`. */
static void open_once(const char *path, struct row *shared)
{
	struct weft_source *source;
	pid_t child = fork();
	if (child == 0) {
		check(weft_source_open(path, &source));
		*shared = measure(source);
		_exit(0);
	}
	if (!has_ended_well(child))
		exit(1);
}

static void open_trace(const char *name, const char *path)
{
	struct row best = {.used = INFINITY};
	struct row *shared =
		mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check_system(shared != MAP_FAILED);
	for (int i = 0; i < RUNS; i++) {
		open_once(path, shared);
		best = shared->used < best.used ? *shared : best;
	}
	munmap(shared, sizeof(*shared));
	print_row(name, &best);
}

static void run_format(const struct format *format, uint64_t events)
{
	char path[32];
	FILE *file = tmpfile();
	check_system(file != NULL);
	pid_t child = fork();
	if (child == 0) {
		write_trace(format, events, fileno(file));
		_exit(0);
	}
	if (!has_ended_well(child))
		exit(1);
	snprintf(path, sizeof(path), "/dev/fd/%d", fileno(file));
	open_trace(format->name, path);
	fclose(file);
}

static void run_both(uint64_t events)
{
	static const struct format formats[] = {{"mirage-ctf", random_mirage}, {"weft", random_weft}};
	for (unsigned i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		run_format(&formats[i], events);
}

int main(int argc, char **argv)
{
	const char *more = getenv("WEFT_BENCH_EVENTS");
	printf(
		"open: from a file in memory to the first picture, 1400 x 800; a random mix of events, or a program's.\n"
		"Processor time of both threads, ms, and the whole by the wall's clock. MB, and the peak of what is "
		"resident in\ntimes of the file.\n"
		"format         events     tasks    load  layout   scene  frame    wall     cpu    file"
		"    peak  times\n");
	fflush(stdout);
	if (argc > 1) {
		char *end;
		const uint64_t events = strtoull(argv[1], &end, 10);
		if (*end)
			open_trace("a program", argv[1]);
		else
			run_both(events);
		return 0;
	}
	run_both(1000000);
	run_both(10000000);
	if (more)
		run_both(strtoull(more, NULL, 10));
	return 0;
}

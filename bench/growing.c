/* SPDX-License-Identifier: ISC
 *
 * Pictures a second of a program that records all the time: a ring has EVENTS events when it is
 * opened, and RATE new ones a second come from another process. This process follows it, and shows
 * each model in the viewer, as the shells do; all in one thread. A second is one of this process's
 * processor time and of its waits, which it does not sleep: so other programs do not matter.
 *
 *     bench_growing [EVENTS [RATE]]
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <weft/follow.h>
#include <weft/refresh.h>
#include <weft/viewer.h>
#include <weft/weft.h>

#include "random_trace.h"

#define WIDTH  1400
#define HEIGHT 800

enum {
	BATCH_EVENTS = 65536,
	TURNS = 100,         /* in each second, the program records so many times */
	FIRST_PICTURES = 10, /* the first one is made from nothing, and the next ones fill memory */
};

static const double SECONDS = 5, LOOK_MS = 10;

/* The other process, and the ends of pipes to and from it. */
struct recorder_process {
	pid_t pid;
	int to, from;
};

struct shell {
	struct weft_growing *growing;
	struct weft_refresh *refresh;
	struct weft_viewer *viewer;
	struct weft_canvas *canvas;
	struct recorder_process program;
	double waited_ms;
};

/* ms of processor time, and counts */
struct cost {
	double read, model, show, draw;
	double seconds;
	uint64_t pictures, events;
};

static void check(int error)
{
	if (error >= 0)
		return;
	fprintf(stderr, "bench_growing: %s\n", weft_error_text(error));
	exit(1);
}

static double used_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static double now_ms(const struct shell *s)
{
	return used_ms() + s->waited_ms;
}

static double since(double *from)
{
	double before = *from;
	*from = used_ms();
	return *from - before;
}

/* ---- The program ---- */

/* Records as many events as each number that comes from `in`, and answers with a byte. */
static void run_program(int fd, size_t bytes, int in, int out)
{
	uint64_t events;
	void *ring = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED || weft_start(ring, bytes, NULL))
		_exit(1);
	while (read(in, &events, sizeof(events)) == (ssize_t)sizeof(events)) {
		random_record(events);
		if (write(out, "", 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static void record(struct recorder_process *p, uint64_t events)
{
	char byte;
	if (write(p->to, &events, sizeof(events)) != (ssize_t)sizeof(events) ||
		read(p->from, &byte, 1) != 1)
		check(WEFT_ERROR_SYSTEM);
}

static struct recorder_process start_program(
	uint64_t events, uint64_t rate, char *ret_path, size_t room)
{
	const size_t bytes = (size_t)(events * 45 + rate * 45 * 60 + (300 << 20)) & ~(size_t)4095;
	int fd = memfd_create("ring", 0), to[2], from[2];
	if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0 || pipe(to) != 0 || pipe(from) != 0)
		check(WEFT_ERROR_SYSTEM);
	struct recorder_process p = {fork(), to[1], from[0]};
	if (p.pid == 0) {
		close(to[1]);
		run_program(fd, bytes, to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	if (p.pid < 0)
		check(WEFT_ERROR_SYSTEM);
	record(&p, events);
	snprintf(ret_path, room, "/proc/self/fd/%d", fd);
	return p;
}

static void end_program(const struct recorder_process *p)
{
	close(p->to);
	close(p->from);
	waitpid(p->pid, NULL, 0);
}

/* ---- The shell ---- */

static void open_shell(struct shell *s, const char *path)
{
	const struct weft_growing_spec spec = {.size = sizeof(spec), .paths = &path, .count = 1};
	const struct weft_viewer_options options = {.title = "bench", .reduced_motion = true};
	check(weft_input_open_growing(&spec, &s->growing));
	const struct weft_refresh_source source = weft_growing_source(s->growing);
	check(weft_refresh_create(&source, &s->refresh));
	check(weft_viewer_create(&options, &s->viewer));
	check(weft_canvas_create(WIDTH, HEIGHT, &s->canvas));
	weft_viewer_resize(s->viewer, WIDTH, HEIGHT, 1);
}

static void close_shell(struct shell *s)
{
	weft_canvas_destroy(s->canvas);
	weft_viewer_destroy(s->viewer);
	weft_refresh_destroy(s->refresh);
	weft_growing_close(s->growing);
}

/* Makes and shows a picture. */
static void show(struct shell *s, double *from, struct cost *cost)
{
	struct weft_viewer_boxes boxes;
	struct weft_model *model;
	double begun_ms = *from;
	check(weft_refresh_model(s->refresh, &model));
	cost->model += since(from);
	check(weft_viewer_show(s->viewer, model, true));
	cost->show += since(from);
	weft_viewer_boxes(s->viewer, &boxes);
	weft_canvas_clear(s->canvas, boxes.canvas.width, boxes.canvas.height);
	check(weft_viewer_draw(s->viewer, s->canvas));
	cost->draw += since(from);
	cost->pictures++;
	weft_refresh_shown(s->refresh, now_ms(s), *from - begun_ms);
}

static void wait_for(struct shell *s, double ms)
{
	s->waited_ms += ms;
	check(weft_growing_wait(s->growing, 0));
}

/* Follows for that time, and until there are so many pictures. The program records `rate` events a
 * second meanwhile. */
static struct cost follow(struct shell *s, uint64_t rate, double seconds, uint64_t pictures)
{
	struct cost cost = {.events = weft_refresh_events(s->refresh)};
	double from = used_ms(), begun_ms = now_ms(s);
	uint64_t recorded = 0;
	do {
		uint64_t due = (uint64_t)((now_ms(s) - begun_ms) * (double)rate / 1e3);
		record(&s->program, due - recorded);
		recorded = due;
		int status = weft_refresh_read(s->refresh, BATCH_EVENTS);
		check(status);
		cost.read += since(&from);
		double wait_ms = weft_refresh_wait_ms(s->refresh, now_ms(s));
		if (wait_ms <= 0 && (cost.pictures > 0 || seconds > 0 || status == WEFT_AGAIN))
			show(s, &from, &cost);
		else if (status == WEFT_AGAIN)
			wait_for(s, fmin(wait_ms, LOOK_MS));
	} while (now_ms(s) - begun_ms < seconds * 1e3 || cost.pictures < pictures);
	cost.events = weft_refresh_events(s->refresh) - cost.events;
	cost.seconds = (now_ms(s) - begun_ms) / 1e3;
	return cost;
}

static void measure(uint64_t events, uint64_t rate)
{
	struct shell shell = {.waited_ms = 0};
	struct rusage usage;
	char path[64];
	shell.program = start_program(events, rate, path, sizeof(path));
	open_shell(&shell, path);
	follow(&shell, rate, 0, FIRST_PICTURES);
	struct cost cost = follow(&shell, rate, SECONDS, 1);
	double pictures = (double)cost.pictures;
	getrusage(RUSAGE_SELF, &usage);
	printf("%10" PRIu64 " %10.0f %9.1f %8.1f %8.1f %8.1f %8.1f %9ld\n", events,
		(double)cost.events / cost.seconds, pictures / cost.seconds, cost.read / pictures,
		cost.model / pictures, cost.show / pictures, cost.draw / pictures, usage.ru_maxrss / 1000);
	fflush(stdout);
	end_program(&shell.program);
	close_shell(&shell);
}

int main(int argc, char **argv)
{
	static const uint64_t all[] = {1000000, 10000000};
	printf(
		"a program is followed while it records; ms of processor time for each picture\n"
		"    events  new a second  pictures a second      read    model     show     draw    max MB\n");
	fflush(stdout);
	if (argc > 1)
		measure(strtoull(argv[1], NULL, 10), argc > 2 ? strtoull(argv[2], NULL, 10) : 100000);
	for (unsigned i = 0; argc < 2 && i < 2; i++)
		measure(all[i], 100000);
	return 0;
}

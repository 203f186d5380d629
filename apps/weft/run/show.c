/* SPDX-License-Identifier: ISC
 *
 * Records a program, and shows it meanwhile.
 *
 * The program is run as `weft record` runs it; when the first ring is there, a window follows it
 * or, where there is no window to be had, a server gives it to browsers. The window is a process of
 * its own that stays when we end. The server is a part of us.
 */
#include "run.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <weft/buffer.h>
#include <weft/source.h>

#include "cli/cli.h"
#include "record/record.h"
#include "view.h"

/* How long to wait for a window to open. */
#define OPEN_MS 5000
/* weft-gtk opens a file several times: after this long it has the file open for good. */
#define HELD_MS 300

struct show {
	const struct run_options *options;
	bool has_begun; /* showing was attempted */
	bool has_saved;
	pid_t window; /* 0: none */
	char directory[PATH_MAX];
	char ring[PATH_MAX + NAME_MAX];
	int64_t opened_ms; /* when the window opened the ring; 0: not yet */
	struct run_server *server;
};

static int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void pause_ms(long ms)
{
	const struct timespec pause = {0, ms * 1000000};
	nanosleep(&pause, NULL);
}

static void start_server(struct show *show)
{
	show->server = run_server_start(&show->options->serving, show->directory);
}

/* ---- In a window ---- */

static void start_window(struct show *show, const char *path, pid_t ring_pid)
{
	sigset_t none;
	pid_t child = fork();
	if (child == 0) {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		setsid(); /* detach from the terminal: Ctrl-C is for the program */
		if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
			view_become(path, ring_pid, ring_pid != 0);
		_exit(127);
	}
	show->window = child > 0 ? child : 0;
}

/* True if the process has the ring mapped. */
static bool has_open(pid_t process, const char *ring)
{
	char path[32], line[PATH_MAX + 256];
	bool is_there = false;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)process);
	FILE *maps = fopen(path, "r");
	if (!maps)
		return false;
	while (!is_there && fgets(line, sizeof(line), maps)) {
		line[strcspn(line, "\n")] = '\0';
		const char *at = strchr(line, '/');
		is_there = at && strcmp(at, ring) == 0;
	}
	fclose(maps);
	return is_there;
}

/* True if the window has the ring open, so that it keeps working when the file is removed. */
static bool has_opened(struct show *show)
{
	if (!has_open(show->window, show->ring))
		show->opened_ms = 0;
	else if (show->opened_ms == 0)
		show->opened_ms = now_ms();
	return show->opened_ms && now_ms() - show->opened_ms >= HELD_MS;
}

/* True if the window could not start, or was closed already. */
static bool has_failed(struct show *show)
{
	int status;
	if (!show->window || waitpid(show->window, &status, WNOHANG) != show->window)
		return false;
	show->window = 0;
	return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

static void begin_show(struct show *show, const char *path, pid_t ring_pid)
{
	show->has_begun = true;
	if (!show->options->wants_browser && view_can_show())
		start_window(show, path, ring_pid);
	if (!show->window)
		start_server(show);
}

/* ---- While the program runs ---- */

/* True if the process has begun to record into the ring. */
static bool is_complete(const char *path, pid_t pid)
{
	struct weft_buffer_summary summary;
	size_t size;
	return weft__runs_ring_summarize(path, pid, &summary, &size);
}

/* Finds a ring and stores it in show->ring; returns its process, or 0. */
static pid_t find_ring(struct show *show, const char *directory)
{
	struct weft__runs_rings rings;
	pid_t found = 0;
	if (!weft__runs_rings_find(directory, 1, &rings))
		return 0;
	for (size_t i = 0; i < rings.count && !found; i++) {
		const struct weft__runs_ring *ring = &rings.list[i];
		snprintf(show->ring, sizeof(show->ring), "%s%s", directory, ring->name);
		if (!ring->is_failure && ring->is_running && is_complete(show->ring, ring->pid))
			found = ring->pid;
	}
	weft__runs_rings_finish(&rings);
	return found;
}

/* Begins as soon as there is a ring, or at once if the server stays. */
static void try_to_begin(struct show *show)
{
	pid_t pid = show->options->serving.stays ? 0 : find_ring(show, show->directory);
	if (pid) {
		begin_show(show, show->ring, pid);
	} else if (show->options->serving.stays) {
		show->has_begun = true;
		start_server(show);
	}
}

static void look(void *context, const char *directory)
{
	struct show *show = context;
	snprintf(show->directory, sizeof(show->directory), "%s", directory);
	if (!show->has_begun)
		try_to_begin(show);
	else if (has_failed(show))
		start_server(show);
	else if (show->window)
		has_opened(show);
	if (show->server)
		run_server_tick(show->server);
}

/* Called before the ring is saved and removed: waits for a window that was just started. */
static void ended(void *context)
{
	struct show *show = context;
	int64_t until = now_ms() + OPEN_MS;
	while (show->window && now_ms() < until && !has_opened(show)) {
		if (has_failed(show))
			start_server(show);
		pause_ms(20);
	}
}

static void saved(void *context, const char *ring, const char *file)
{
	struct show *show = context;
	char path[PATH_MAX];
	show->has_saved = true;
	run_server_saved(ring, file);
	if (show->has_begun)
		return;
	/* The program ended before a ring was found. */
	snprintf(show->ring, sizeof(show->ring), "%s", ring);
	snprintf(path, sizeof(path), "%s", file);
	begin_show(show, path, 0);
}

int run_show(char **program, const struct run_options *options)
{
	struct show show = {.options = options};
	const struct record_watcher watcher = {look, ended, saved, &show};
	if (options->output && strcmp(options->output, "-") == 0)
		return cli_usage_error(options->command,
			"-o -: weft %s saves the trace in a file, not on standard output", options->command);
	int status = record_watched(options->command, program, options->adapters, options->output,
		options->size_bytes, &watcher);
	run_server_finish(show.server, show.has_saved);
	return status;
}

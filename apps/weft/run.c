/* SPDX-License-Identifier: ISC
 *
 * weft run: records a program, and shows it meanwhile.
 *
 * The program is run as `weft record` runs it; when the first ring is there, a window follows it
 * or, where there is no window to be had, a server gives it to browsers. The window is a process of
 * its own that stays when we end. The server is a part of us: at a terminal it stays until Ctrl-C,
 * otherwise it ends soon after the program.
 */
#include "cli.h"
#include "record/record.h"
#include "view.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <weft/buffer.h>
#include <weft/source.h>

#if WEFT_HAS_SERVE
#include "serve.h"
#endif

static const char usage[] =
	"usage: weft run [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"\n"
	"Runs PROGRAM and shows its trace while it records, as `weft record` does it: in a window,\n"
	"like `weft view`, or if no window can be opened in a browser, like `weft serve`, at the address\n"
	"that it prints. The trace is saved when the program ends, as by `weft record`. The window\n"
	"stays open; the server ends with Ctrl-C or, without a terminal, 10 s after PROGRAM.\n"
	"\n"
	"  -a, --adapters LIST  what records a program that does not call libweft: see `weft record`\n"
	"  -o, --output FILE  the file for the trace; default: PROGRAM-PID.weft in the current directory\n"
	"  --size BYTES       the size of the buffer, 64K at least; default: 16M\n"
	"  --browser          use a browser even if a window could be opened\n"
	"  --token-file FILE  read the browser's token from FILE, as `weft serve` does\n"
	"  --help             this text\n"
	"\n"
	"Exit status: the program's; 128 + N if signal N ended it; 127 not found, 126 not\n"
	"executable, 125 weft run itself failed, 2 invalid arguments.\n";

/* How long to wait for a window to open. */
#define OPEN_MS 5000
/* weft-gtk opens a file several times: after this long it has the file open for good. */
#define HELD_MS 300
/* How long the server waits for a browser if standard error is not a terminal. */
#define LINGER_MS 10000

struct show {
	bool wants_browser;
	const char *token; /* the server's token; NULL: draw one */
	bool has_begun;    /* showing was attempted */
	pid_t window;      /* 0: none */
	char ring[PATH_MAX + NAME_MAX];
	int64_t opened_ms; /* when the window opened the ring; 0: not yet */
	struct serve_server *server;
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

/* ---- In a browser ---- */

#if WEFT_HAS_SERVE
static const char *read_token(const char *file)
{
	static char token[SERVE_TOKEN_BYTES + 1];
	return serve_token_read(file, token) ? token : NULL;
}

static void start_server(struct show *show, const char *ring)
{
	char id[SERVE_ID_BYTES + 1];
	const struct serve_address address = {"127.0.0.1", "9338", false, show->token};
	show->server = serve_start(&address);
	if (!show->server)
		return;
	serve_traces_ring_id(ring, id);
	fprintf(stderr, "weft: %s#trace=%s\n", serve_url(show->server), id);
}

/* Serves on until Ctrl-C at a terminal, for a short time otherwise. */
static void finish_server(struct show *show)
{
	const struct timespec second = {1, 0};
	sigset_t signals;
	if (!show->server)
		return;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	int64_t until = isatty(STDERR_FILENO) ? INT64_MAX : now_ms() + LINGER_MS;
	if (until == INT64_MAX)
		fprintf(stderr, "weft: the program has ended; Ctrl-C ends the server\n");
	/* Signals that came until now were for the program. */
	const struct timespec none = {0, 0};
	while (sigtimedwait(&signals, NULL, &none) > 0)
		;
	while (now_ms() < until && sigtimedwait(&signals, NULL, &second) < 0)
		serve_tick(show->server);
	serve_stop(show->server);
}

static void serve_saved(const char *file, const char *ring)
{
	serve_traces_add(file, ring);
}
#else
static const char *read_token(const char *file)
{
	return file; /* there is no server */
}

static void start_server(struct show *show, const char *ring)
{
	(void)show;
	(void)ring;
	cli_error("cannot show the trace: a window needs weft-gtk (package libgtk-4-dev when "
			  "weft is built) and a display; a browser needs a weft that was built with "
			  "libmicrohttpd-dev; the trace is recorded");
}

static void finish_server(struct show *show)
{
	(void)show;
}

static void serve_saved(const char *file, const char *ring)
{
	(void)file;
	(void)ring;
}
#endif

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

static void begin(struct show *show, const char *path, pid_t ring_pid)
{
	show->has_begun = true;
	if (!show->wants_browser && view_can_show())
		start_window(show, path, ring_pid);
	if (!show->window)
		start_server(show, show->ring);
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

static void look(void *context, const char *directory)
{
	struct show *show = context;
	if (!show->has_begun) {
		pid_t pid = find_ring(show, directory);
		if (pid)
			begin(show, show->ring, pid);
	} else if (has_failed(show)) {
		start_server(show, show->ring);
	} else if (show->window) {
		has_opened(show);
	}
#if WEFT_HAS_SERVE
	if (show->server)
		serve_tick(show->server);
#endif
}

/* Called before the ring is saved and removed: waits for a window that was just started. */
static void ended(void *context)
{
	struct show *show = context;
	int64_t until = now_ms() + OPEN_MS;
	while (show->window && now_ms() < until && !has_opened(show)) {
		if (has_failed(show))
			start_server(show, show->ring);
		pause_ms(20);
	}
}

static void saved(void *context, const char *ring, const char *file)
{
	struct show *show = context;
	char path[PATH_MAX];
	serve_saved(file, ring);
	if (show->has_begun)
		return;
	/* The program ended before a ring was found. */
	snprintf(show->ring, sizeof(show->ring), "%s", ring);
	snprintf(path, sizeof(path), "%s", file);
	begin(show, path, 0);
}

/* ---- The command ---- */

struct run_arguments {
	const char *adapters, *output;
	uint64_t size_bytes;
	bool wants_browser;
	const char *token_file;
};

/* Parses the arguments: CLI_DONE to go on, with the program at optind; else *ret_run is false. */
static int parse(int argc, char **argv, struct run_arguments *a, bool *ret_run)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"adapters", required_argument, NULL, 'a'},
		{"browser", no_argument, NULL, 'b'},
		{"output", required_argument, NULL, 'o'},
		{"size", required_argument, NULL, 's'},
		{"token-file", required_argument, NULL, 'k'},
		{NULL, 0, NULL, 0},
	};
	*ret_run = false;
	for (int option; (option = cli_next_leading_option(argc, argv, options)) != -1;) {
		if (option == 'h')
			return cli_help(usage);
		if (option == 'a')
			a->adapters = optarg;
		else if (option == 'o')
			a->output = optarg;
		else if (option == 'b')
			a->wants_browser = true;
		else if (option == 'k')
			a->token_file = optarg;
		else if (option != 's' || !cli_parse_size(argv[0], "--size", optarg, &a->size_bytes))
			return CLI_USAGE;
	}
	if (optind == argc)
		return cli_usage_error(argv[0], "PROGRAM is missing");
	if (a->output && strcmp(a->output, "-") == 0)
		return cli_usage_error(
			argv[0], "-o -: weft run saves the trace in a file, not on standard output");
	*ret_run = true;
	return CLI_DONE;
}

int cli_run(int argc, char **argv)
{
	struct run_arguments a = {0};
	bool goes_on;
	int status = parse(argc, argv, &a, &goes_on);
	if (!goes_on)
		return status;
	struct show show = {.wants_browser = a.wants_browser};
	/* Read before the program starts, so that an invalid file costs no recording. */
	if (a.token_file && !(show.token = read_token(a.token_file)))
		return RECORD_FAILED;
	const struct record_watcher watcher = {look, ended, saved, &show};
	status = record_watched(argv + optind, a.adapters, a.output, a.size_bytes, &watcher);
	finish_server(&show);
	return status;
}

/* SPDX-License-Identifier: ISC
 *
 * The server that shows a program while it is recorded. It runs in this process, whose loop calls
 * run_server_tick() for it.
 */
#include "run.h"

#include "cli/cli.h"

#if WEFT_HAS_SERVE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* How long the server goes on after the program's end if standard error is not a terminal. */
#define LINGER_S 10
/* The file through which the browser gets the URL is removed after this long. */
#define OPEN_S 60

struct run_server {
	struct serve_server *server;
	struct serve_page_file page;
	time_t start, ticked;
	bool stays;
};

static time_t now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

static void show_url(struct run_server *server, const struct run_serving *serving)
{
	char secret[SERVE_URL_BYTES];
	struct weft_text url = {0};
	fprintf(stderr, "weft: %s#trace=all%s\n", serve_url(server->server), serving->view);
	if (!serving->opens)
		return;
	serve_write_secret_url(server->server, secret);
	weft_text_add_string(&url, secret);
	weft_text_add_string(&url, "#trace=all");
	weft_text_add_string(&url, serving->view);
	weft_text_add(&url, "", 1);
	if (!url.error)
		serve_browser_open(url.bytes, &server->page);
	weft_text_finish(&url);
}

struct run_server *run_server_start(const struct run_serving *serving, const char *directory)
{
	struct run_server *server = calloc(1, sizeof(*server));
	if (!server) {
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
		return NULL;
	}
	serve_traces_own(directory);
	server->start = now_s();
	server->stays = serving->stays;
	server->server = serve_start(&serving->address);
	if (!server->server) {
		free(server);
		return NULL;
	}
	show_url(server, serving);
	return server;
}

void run_server_tick(struct run_server *server)
{
	time_t now = now_s();
	if (now == server->ticked)
		return;
	server->ticked = now;
	serve_tick(server->server);
	if (serve_was_opened(server->server) || now - server->start >= OPEN_S)
		serve_browser_forget(&server->page);
}

void run_server_saved(const char *ring, const char *file)
{
	serve_traces_add(file, ring);
}

static void serve_until_signal(struct run_server *server)
{
	const struct timespec none = {0, 0}, second = {1, 0};
	sigset_t signals;
	bool is_terminal = isatty(STDERR_FILENO), has_end = !is_terminal && !server->stays;
	time_t end = now_s() + LINGER_S;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	/* Signals that came until now were for the program. The user may send one after the message. */
	while (sigtimedwait(&signals, NULL, &none) > 0)
		continue;
	if (!has_end)
		cli_error(
			"the program has ended; the page shows its saved trace until Ctrl-C ends the server");
	while ((!has_end || now_s() < end) && sigtimedwait(&signals, NULL, &second) < 0)
		run_server_tick(server);
}

void run_server_finish(struct run_server *server, bool has_saved)
{
	if (!server)
		return;
	if (has_saved)
		serve_until_signal(server);
	serve_browser_forget(&server->page);
	serve_stop(server->server);
	free(server);
}
#else
struct run_server *run_server_start(const struct run_serving *serving, const char *directory)
{
	(void)serving;
	(void)directory;
	cli_error("cannot show the trace: a window needs weft-gtk (package libgtk-4-dev when "
			  "weft is built) and a display; a browser needs a weft that was built with "
			  "libmicrohttpd-dev; the trace is recorded");
	return NULL;
}

void run_server_tick(struct run_server *server)
{
	(void)server;
}

void run_server_saved(const char *ring, const char *file)
{
	(void)ring;
	(void)file;
}

void run_server_finish(struct run_server *server, bool has_saved)
{
	(void)server;
	(void)has_saved;
}
#endif

/* SPDX-License-Identifier: ISC
 *
 * Progress of long work on a terminal, and a way to stop it that keeps what is done.
 */
#include "cli.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

/* Progress is shown after this time, and then at this interval. */
#define SHOW_MS 300

static struct {
	bool is_shown;        /* the terminal's line is in use */
	bool was_interrupted; /* Ctrl-C came before the present work */
	int64_t last_ms;
} progress;

static void on_interrupt(int signal_number)
{
	(void)signal_number;
	interrupted = 1;
}

static int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void cli_progress_start(void)
{
	struct sigaction action;
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_interrupt;
	action.sa_flags = (int)SA_RESETHAND; /* a second Ctrl-C ends the process at once */
	sigemptyset(&action.sa_mask);
	/* A shell that starts us in the background makes us ignore SIGINT: leave that. */
	struct sigaction current;
	if (sigaction(SIGINT, NULL, &current) == 0 && current.sa_handler != SIG_IGN)
		sigaction(SIGINT, &action, NULL);
	progress.last_ms = now_ms();
}

/* True if it is time to update the line; moves to its beginning. */
static bool is_due(void)
{
	int64_t now = now_ms();
	if (now - progress.last_ms < SHOW_MS || !isatty(STDERR_FILENO) || isatty(STDOUT_FILENO))
		return false;
	progress.last_ms = now;
	progress.is_shown = true;
	fputs("\r\033[K", stderr);
	return true;
}

bool cli_progress_read(uint64_t events, double part)
{
	if (is_due())
		fprintf(stderr, "%.1f million events, %.0f %% read ", (double)events / 1e6, part * 100);
	return !interrupted;
}

bool cli_progress_step(uint64_t events)
{
	if (is_due())
		fprintf(stderr, "%.1f million events ", (double)events / 1e6);
	return !interrupted;
}

static bool show_part(void *context, double part)
{
	(void)context;
	if (is_due())
		fprintf(stderr, "laying out, %.0f %% ", part * 100);
	return !interrupted || progress.was_interrupted;
}

struct weft_progress cli_progress_of(const struct cli_trace *trace)
{
	progress.was_interrupted = interrupted;
	return (struct weft_progress){show_part, NULL, weft_input_help(trace->input)};
}

void cli_progress_resume(void)
{
	interrupted = 0;
	cli_progress_start();
}

void cli_progress_end(void)
{
	if (progress.is_shown)
		fputs("\r\033[K", stderr);
	progress.is_shown = false;
}

void cli_progress_die_if_interrupted(void)
{
	if (!interrupted)
		return;
	cli_error("interrupted: the output covers only what was read so far");
	signal(SIGINT, SIG_DFL);
	raise(SIGINT);
}

/* SPDX-License-Identifier: ISC
 *
 * The view on a terminal. Signals that end the program only set a flag, so that the terminal is as
 * before in any case; then the process ends by that signal, as its parent expects.
 */
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "runs/message.h"
#include "view.h"

/* ---- Signals ---- */

static const int endings[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static volatile sig_atomic_t ended_by;

static void on_signal(int number)
{
	ended_by = number;
}

/* Blocks them but while the program waits. A shell that starts us in the background makes us ignore
 * SIGINT: that stays so. */
static void catch_signals(sigset_t *ret_waiting)
{
	struct sigaction action = {.sa_handler = on_signal}, current;
	sigset_t blocked;
	sigemptyset(&blocked);
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		if (sigaction(endings[i], NULL, &current) == 0 && current.sa_handler != SIG_IGN) {
			sigaction(endings[i], &action, NULL);
			sigaddset(&blocked, endings[i]);
		}
	sigprocmask(SIG_BLOCK, &blocked, ret_waiting);
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
		sigdelset(ret_waiting, endings[i]);
}

static void end_by_signal(const sigset_t *waiting)
{
	if (!ended_by)
		return;
	signal(ended_by, SIG_DFL);
	raise(ended_by);
	sigprocmask(SIG_SETMASK, waiting, NULL);
}

/* ---- The terminal ---- */

struct terminal {
	FILE *input;
	SCREEN *screen;
	WINDOW *window;
};

/* Keys come from standard input, or where that is no terminal, from the one that we are on. */
static bool open_input(struct terminal *terminal)
{
	int fd = isatty(STDIN_FILENO) ? dup(STDIN_FILENO) : open("/dev/tty", O_RDWR | O_CLOEXEC);
	terminal->input = fd < 0 ? NULL : fdopen(fd, "r");
	if (!terminal->input)
		cli_error(
			"there is no terminal for keys: %s; `weft top --once` does without", strerror(errno));
	return terminal->input;
}

static bool can_move(void)
{
	char name[] = "cup";
	const char *move = tigetstr(name);
	return move && move != (const char *)(intptr_t)-1;
}

static void close_terminal(struct terminal *terminal)
{
	if (terminal->screen) {
		endwin();
		delscreen(terminal->screen);
	}
	if (terminal->input)
		fclose(terminal->input);
}

static bool open_terminal(struct terminal *terminal)
{
	*terminal = (struct terminal){0};
	if (!open_input(terminal))
		return false;
	terminal->screen = newterm(NULL, stdout, terminal->input);
	if (terminal->screen && can_move())
		terminal->window = newwin(0, 0, 0, 0);
	if (!terminal->window) {
		close_terminal(terminal);
		cli_error("the terminal cannot be used (TERM=%s); `weft top --once` does without",
			getenv("TERM") ? getenv("TERM") : "");
		return false;
	}
	cbreak();
	noecho();
	set_escdelay(50);
	keypad(terminal->window, true);
	nodelay(terminal->window, true);
	return true;
}

/* ---- The view ---- */

bool top_view_sample(struct top_view *view, const struct top_programs *programs)
{
	const uint32_t row = top_rows_find(&view->rows, &view->forest, view->selected);
	const uint32_t selected = view->selected, origin = view->search.origin;
	if (!top_forest_update(&view->forest, &programs->linked, top_now_s()) ||
		!top_rows_update(&view->rows, &view->forest))
		return false;
	view->selected = view->search.origin = TOP_NONE;
	for (uint32_t i = 0; i < view->forest.count; i++) {
		const uint32_t previous = view->forest.nodes[i].previous;
		if (previous != TOP_NONE && previous == selected)
			view->selected = i;
		if (previous != TOP_NONE && previous == origin)
			view->search.origin = i;
	}
	if (view->selected == TOP_NONE && view->rows.count)
		view->selected = view->rows.list[row < view->rows.count ? row : view->rows.count - 1];
	return true;
}

/* Waits for a key, a signal, or the time of the next sample. False if the terminal is gone. */
static bool wait_for_key(const struct terminal *terminal, double until_s, const sigset_t *waiting)
{
	double rest_s = until_s - top_now_s();
	rest_s = rest_s > 0 ? rest_s : 0;
	struct timespec rest = {(time_t)rest_s, (long)(1e9 * (rest_s - (double)(time_t)rest_s))};
	struct pollfd input = {fileno(terminal->input), POLLIN, 0};
	int ready = ppoll(&input, 1, &rest, waiting);
	return ready <= 0 || !(input.revents & (POLLHUP | POLLERR | POLLNVAL));
}

/* Takes the keys that were pressed. False without memory. */
static bool take_keys(struct top_view *view, const struct terminal *terminal)
{
	wint_t key;
	for (int kind; !view->is_over && (kind = wget_wch(terminal->window, &key)) != ERR;)
		if (!top_view_key(view, key, kind == KEY_CODE_YES))
			return false;
	return true;
}

static bool run(struct top_view *view, struct top_programs *programs,
	const struct terminal *terminal, const sigset_t *waiting)
{
	double next_s = 0;
	while (!view->is_over && !ended_by) {
		double now_s = top_now_s();
		if (now_s >= next_s) {
			top_programs_find(programs, now_s);
			if (!top_view_sample(view, programs))
				return false;
			/* Samples that are late are left out. */
			next_s = next_s + view->interval_s > now_s ? next_s + view->interval_s
													   : now_s + view->interval_s;
		}
		top_view_draw(view, terminal->window);
		view->is_over = !wait_for_key(terminal, next_s, waiting);
		if (!take_keys(view, terminal))
			return false;
	}
	return true;
}

int top_live(struct top_programs *programs, double interval_s, bool has_children)
{
	struct top_view view = {.selected = TOP_NONE, .interval_s = interval_s};
	struct terminal terminal;
	sigset_t waiting;
	if (!top_load_curses())
		return CLI_NO;
	setlocale(LC_CTYPE, "");
	view.has_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	view.search.origin = TOP_NONE;
	view.forest.has_children = has_children;
	view.forest.xen = programs->xen;
	catch_signals(&waiting);
	if (!open_terminal(&terminal))
		return CLI_NO;
	weft__runs_set_report(NULL); /* messages would be written across the picture */
	bool good = run(&view, programs, &terminal, &waiting);
	close_terminal(&terminal);
	top_rows_finish(&view.rows);
	top_forest_finish(&view.forest);
	end_by_signal(&waiting);
	if (!good)
		cli_error("%s", strerror(ENOMEM));
	return good ? CLI_DONE : CLI_NO;
}

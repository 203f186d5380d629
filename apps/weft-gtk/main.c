/* SPDX-License-Identifier: ISC
 *
 * weft-gtk: shows traces in windows. `weft view` or the desktop starts it.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <weft/source.h>
#include <weft/text.h>

#include "follower.h"
#include "loading.h"
#include "opening.h"
#include "parts.h"
#include "window.h"

static const char usage[] =
	"usage: weft-gtk [OPTION]... [FILE]...\n"
	"\n"
	"Shows traces in windows. To start it from a terminal, use `weft view`.\n"
	"\n"
	"  --together       all FILEs are one trace, in one window\n"
	"  --theme NAME     light, dark, safe or safe-dark, instead of the desktop's\n"
	"  --command WORDS  a command that the viewer runs first, as in links\n"
	"  --follow         show what is added to the files while they grow\n"
	"  --whole BYTES    show a file that is larger a part at a time\n"
	"  --cpu-hz HZ      the rate of the cycles in a trace of Xen\n"
	"  --no-align       leave the clocks of several hosts as they are\n"
	"  --check          print a message and exit with 3 if no file can be read\n"
	"  --rings          each FILE is PID:FILE, the ring of that process in a run directory, and\n"
	"                   refused if it belongs to another; 0:FILE is any file\n"
	"  --help           this text\n"
	"  --version        print the version\n";

enum {
	EXIT_USAGE = 2,
	EXIT_UNREADABLE = 3,
	EXIT_NO_DISPLAY = 4, /* weft view prints a message for it */
};

/* Wait this long for files that cannot be read: most errors are known by then. */
#define CHECK_US 250000
#define BUSY_US  2000000 /* on a busy machine, as long as no event was read */

struct arguments {
	char **files;
	pid_t *pids;               /* for each file: the process whose ring it must be, or 0 */
	struct loading **loadings; /* for each file */
	int file_count;
	enum weft_theme theme;
	bool has_theme, checks, follows, are_rings, are_together;
	const char *command;
};

/* Escapes the text, since a file's name may contain control characters. */
static void report_failure(const char *what, const char *message)
{
	struct weft_text text = {0};
	weft_text_add_string(&text, what);
	weft_text_add_shown(&text, message, strlen(message));
	weft_text_add_string(&text, "\n");
	fwrite(text.bytes, 1, text.size, stderr);
	weft_text_finish(&text);
}

static bool parse_theme(struct arguments *a, const char *name)
{
	for (int theme = 0; theme < WEFT_THEMES; theme++)
		if (strcmp(weft_theme_name((enum weft_theme)theme), name) == 0) {
			a->theme = (enum weft_theme)theme;
			return a->has_theme = true;
		}
	report_failure("weft-gtk: no theme: ", name);
	return false;
}

/* Removes the prefix PID: from each file argument. */
static bool parse_rings(struct arguments *a)
{
	for (int i = 0; i < a->file_count; i++) {
		char *end;
		guint64 pid = g_ascii_strtoull(a->files[i], &end, 10);
		if (end == a->files[i] || *end != ':' || pid > G_MAXINT32) {
			report_failure("weft-gtk: not PID:FILE: ", a->files[i]);
			return false;
		}
		a->pids[i] = (pid_t)pid;
		a->files[i] = end + 1;
	}
	return true;
}

/* Parses arguments; -1 to go on, or an exit status. */
static int parse(int argc, char **argv, struct arguments *a)
{
	static const struct option options[] = {
		{"check", no_argument, NULL, 'k'},
		{"command", required_argument, NULL, 'c'},
		{"cpu-hz", required_argument, NULL, 'z'},
		{"follow", no_argument, NULL, 'f'},
		{"help", no_argument, NULL, 'h'},
		{"no-align", no_argument, NULL, 'n'},
		{"rings", no_argument, NULL, 'r'},
		{"theme", required_argument, NULL, 't'},
		{"together", no_argument, NULL, 'g'},
		{"whole", required_argument, NULL, 'w'},
		{"version", no_argument, NULL, 'v'},
		{NULL, 0, NULL, 0},
	};
	for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		if (option == 'h')
			return fputs(usage, stdout) < 0;
		if (option == 'v')
			return puts("weft-gtk " WEFT_VERSION) < 0;
		if (option == '?' || (option == 't' && !parse_theme(a, optarg)))
			return EXIT_USAGE;
		a->checks |= option == 'k';
		a->follows |= option == 'f';
		a->are_rings |= option == 'r';
		a->are_together |= option == 'g';
		if (option == 'c')
			a->command = optarg;
		if (option == 'n')
			opening_set_no_align();
		if (option == 'w')
			parts_set_whole(g_ascii_strtoull(optarg, NULL, 10));
		if (option == 'z')
			opening_set_hz(g_ascii_strtoull(optarg, NULL, 10));
	}
	a->files = argv + optind;
	a->file_count = argc - optind;
	a->pids = g_new0(pid_t, a->file_count);
	return !a->are_rings || parse_rings(a) ? -1 : EXIT_USAGE;
}

static void open_windows(GtkApplication *application, void *context)
{
	const struct arguments *a = context;
	struct window_options options = {
		.theme = a->has_theme ? a->theme : look_system_theme(),
		.command = a->command,
		.is_followed = a->follows,
	};
	for (int i = 0; i < a->file_count; i++) {
		if (!a->files[i])
			continue;
		char *paths[] = {a->files[i], NULL};
		options.paths = a->are_together ? a->files : paths;
		options.pid = a->pids[i];
		options.loading = a->loadings[i];
		window_open(application, &options);
		if (a->are_together)
			break;
	}
	if (a->file_count == 0)
		window_open(application, &options);
}

static void add_keys(GtkApplication *application, void *context)
{
	(void)context;
	actions_add_to_application(application);
}

/* True if the trace cannot be shown, as far as that is known soon. A pipe may be silent for long.
 */
static bool has_failed(struct loading *loading, const char *path)
{
	bool has_ended = loading_wait(loading, CHECK_US);
	if (!has_ended && loading_events(loading) == 0 && strcmp(path, "-") != 0)
		has_ended = loading_wait(loading, BUSY_US);
	return has_ended && loading_error(loading);
}

/* Starts loading; returns how many files are readable so far. */
static int begin(struct arguments *a)
{
	int good = 0;
	a->loadings = g_new0(struct loading *, a->file_count);
	/* A program that records now is followed in a window of its own. */
	for (int i = 0; i < a->file_count; i++)
		a->are_together = a->are_together && !follower_is_wanted(a->files[i], a->pids[i]);
	const int count = a->are_together && a->file_count ? 1 : a->file_count;
	/* A live ring is opened by the window's follower. */
	for (int i = 0; i < count; i++) {
		char *paths[] = {a->files[i], NULL};
		if (a->are_together || !follower_is_wanted(a->files[i], a->pids[i]))
			a->loadings[i] = loading_start(&(struct loading_request){
				.paths = a->are_together ? a->files : paths,
				.pid = a->pids[i],
				.is_prepared = true,
				.is_followed = a->follows,
			});
	}
	for (int i = 0; i < count; i++) {
		if (a->checks && a->loadings[i] && has_failed(a->loadings[i], a->files[i])) {
			report_failure("", loading_error(a->loadings[i]));
			g_clear_pointer(&a->loadings[i], loading_abandon);
			a->files[i] = NULL;
			continue;
		}
		good++;
	}
	return good;
}

/* Cancels all loadings before any window exists. */
static int give_up(struct arguments *a, int status)
{
	for (int i = 0; i < a->file_count; i++)
		loading_abandon(a->loadings[i]);
	return status;
}

/* Opens the windows and serves them until the last one is closed. */
static int run(struct arguments *a)
{
	weft_source_survive_truncation();
	if (begin(a) == 0 && a->file_count)
		return give_up(a, EXIT_UNREADABLE);
	if (!gtk_init_check()) {
		if (!a->checks)
			fputs("weft-gtk: no display\n", stderr);
		return give_up(a, EXIT_NO_DISPLAY);
	}
	/* Each start is a separate process, so that a crash on one trace closes no other window. */
	GtkApplication *application = gtk_application_new("org.weft.Viewer", G_APPLICATION_NON_UNIQUE);
	g_signal_connect(application, "startup", G_CALLBACK(add_keys), NULL);
	g_signal_connect(application, "activate", G_CALLBACK(open_windows), a);
	int status = g_application_run(G_APPLICATION(application), 0, NULL);
	g_object_unref(application);
	return status;
}

int main(int argc, char **argv)
{
	struct arguments arguments = {.theme = WEFT_THEME_LIGHT};
	int status = parse(argc, argv, &arguments);
	if (status < 0)
		status = run(&arguments);
	g_free(arguments.loadings);
	g_free(arguments.pids);
	return status;
}

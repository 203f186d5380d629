/* SPDX-License-Identifier: ISC
 *
 * weft view: shows traces in windows.
 *
 * A separate program, weft-gtk, opens the windows, so that this one does not need GTK. This command
 * checks the arguments, starts weft-gtk and returns its exit status.
 */
#include "view.h"

#include "cli/cli.h"
#include "cli/attach.h"
#include "render/rows.h"
#include "runs/directory/traces.h"
#include "runs/guests/guest.h"
#include "runs/memory/operand.h"
#include "why/watched.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] =
	"usage: weft view [OPTION]... FILE|PID...\n"
	"\n"
	"Shows the trace FILE (`-` is standard input) in a window: zoom with the wheel, drag, and\n"
	"press `?` for the keys. Several files, or a directory of traces, are one trace.\n"
	"A program that records now, given by its PID (see `weft ls`) or by the file that it records\n"
	"into, is followed, and so is a directory: the picture grows. Any other PID is looked at from\n"
	"outside, ten times a second.\n"
	"\n"
	"      --start T        the start of the view: 12ms, 1.5s, 300us, 40ns after the trace's start,\n"
	"                       or @N on its own clock\n"
	"      --duration T     the length of the view\n"
	"      --last T         the newest events of that length of time; the view keeps to them while\n"
	"                       the trace grows\n"
	"      --task ID        select this task\n"
	"      --hide PATTERN, --only PATTERN, --group-by WHAT, --no-fold, --no-simplify\n"
	"                       select the rows, as for weft render\n"
	"      --squeeze        show long idle times as narrow stripes that tell their length\n"
	"      --command TEXT   a command that the viewer runs first, like 'view start=12ms task=3', or\n"
	"                       one that was copied from it\n"
	"      --separate       show each FILE in a window of its own\n"
	"      --follow         show what is added to the files while they grow, as streams do\n"
	"      --whole SIZE     show a FILE larger than SIZE a part at a time (500M, 4G); default: 1G\n"
	"      --cpu-hz HZ      the rate of the cycles in a trace of Xen (2596.15M); default: estimated\n"
	"      --no-align       leave the clocks of several hosts as they are\n"
	"      --theme NAME     light, dark, safe or safe-dark; the safe ones are for colour-blind eyes.\n"
	"                       Default: light or dark, as on the desktop\n"
	"      --help           this text\n";

enum {
	NO_DISPLAY = 4,    /* weft-gtk's exit status */
	NOT_STARTED = 127, /* the program or one of its libraries is missing */
	ARGUMENTS = 18,    /* arguments of weft-gtk, without files */
	PID_CHARACTERS = 16,
	HZ_CHARACTERS = 24,
	SIZE_CHARACTERS = 24,
};

struct view_arguments {
	char *theme;
	bool follows, is_separate, are_together, has_range, has_last;
	char words[1024];            /* for the viewer's `view` command */
	const char *first;           /* a further command, or NULL */
	char command[8192];          /* the combined command */
	char hz[HZ_CHARACTERS];      /* the rate of cycles, or "" */
	char whole[SIZE_CHARACTERS]; /* the largest trace that is read as a whole, in bytes, or "" */
	struct render_rows rows;
};

static void add_word(struct view_arguments *a, const char *name, const char *value)
{
	size_t used = strlen(a->words);
	snprintf(a->words + used, sizeof(a->words) - used, " %s=%s", name, value);
}

static bool parse_whole(const char *command, struct view_arguments *a)
{
	uint64_t bytes;
	if (!cli_parse_whole(command, &bytes))
		return false;
	snprintf(a->whole, sizeof(a->whole), "%" PRIu64, bytes);
	return true;
}

static bool parse_option(const char *command, int option, struct view_arguments *a)
{
	struct cli_time time;
	uint64_t number;
	enum weft_theme theme;
	switch (option) {
	case 's':
		a->has_range = true;
		add_word(a, "start", optarg);
		return cli_parse_time(command, "--start", optarg, &time);
	case 'd':
		a->has_range = true;
		add_word(a, "duration", optarg);
		return cli_parse_duration(command, "--duration", optarg, &number);
	case 'l':
		add_word(a, "last", optarg);
		a->has_last = true;
		return cli_parse_duration(command, "--last", optarg, &number);
	case 'i':
		add_word(a, "task", optarg);
		return cli_parse_number(command, "--task", optarg, 0, UINT64_MAX, &number);
	case 'q':
		add_word(a, "squeeze", "on");
		return true;
	case 'f':
		return a->follows = true;
	case 'p':
		return a->is_separate = true;
	case 'c':
		a->first = optarg;
		return true;
	case 'w':
		return parse_whole(command, a);
	case 't':
		a->theme = optarg;
		return cli_parse_theme(command, optarg, &theme);
	default:
		return render_rows_parse(command, option, &a->rows);
	}
}

/* Combines all options into one command; false after a message. */
static bool make_command(const char *command, struct view_arguments *a)
{
	struct weft_text rows = {0};
	int error = render_rows_describe(&a->rows, &rows);
	weft_text_add(&rows, "", 1);
	error = error ? error : rows.error;
	bool has_look = !error && (a->words[0] || rows.bytes[0]);
	size_t size = 0;
	bool is_double = a->has_last && a->has_range;
	if (is_double)
		cli_usage_error(command, "--last excludes --start and --duration");
	else if (has_look && a->first)
		cli_usage_error(command, "--command excludes the other options that choose the view");
	else if (has_look)
		size = (size_t)snprintf(a->command, sizeof(a->command), "view%s%s", a->words, rows.bytes);
	else
		size = (size_t)snprintf(a->command, sizeof(a->command), "%s", a->first ? a->first : "");
	weft_text_finish(&rows);
	if (error)
		cli_error("%s", weft_error_text(error));
	else if (size >= sizeof(a->command))
		cli_usage_error(command, "the options are too long");
	return !error && size < sizeof(a->command) && !(has_look && a->first) && !is_double;
}

/* Parses the arguments: CLI_DONE to go on, with the files at optind; else *ret_run is false. */
static int parse(int argc, char **argv, struct view_arguments *a, bool *ret_run)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"command", required_argument, NULL, 'c'},
		CLI_CPU_HZ_OPTION,
		CLI_NO_ALIGN_OPTION,
		{"duration", required_argument, NULL, 'd'},
		{"follow", no_argument, NULL, 'f'},
		{"last", required_argument, NULL, 'l'},
		{"separate", no_argument, NULL, 'p'},
		{"squeeze", no_argument, NULL, 'q'},
		{"start", required_argument, NULL, 's'},
		{"task", required_argument, NULL, 'i'},
		{"theme", required_argument, NULL, 't'},
		{"whole", required_argument, NULL, 'w'},
		RENDER_ROWS_OPTIONS,
		{NULL, 0, NULL, 0},
	};
	*ret_run = false;
	for (int option; (option = cli_next_option(argc, argv, options)) != -1;) {
		if (option == 'h')
			return cli_help(usage);
		if (!parse_option(argv[0], option, a))
			return CLI_USAGE;
	}
	if (optind == argc)
		return cli_usage_error(argv[0], "FILE or PID is missing");
	if (!make_command(argv[0], a))
		return CLI_USAGE;
	if (cli_trace_hz())
		snprintf(a->hz, sizeof(a->hz), "%" PRIu64, cli_trace_hz());
	*ret_run = true;
	return CLI_DONE;
}

/* Finds weft-gtk beside this program, as in a build directory. */
static bool find_beside(char path[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - sizeof("weft-gtk"));
	if (length <= 0)
		return false;
	path[length] = '\0';
	char *slash = strrchr(path, '/');
	strcpy(slash ? slash + 1 : path, "weft-gtk");
	return true;
}

/* Executes that one, or else the one in PATH. */
static void run_windows(char **arguments)
{
	char path[PATH_MAX];
	if (find_beside(path))
		execv(path, arguments);
	execvp("weft-gtk", arguments);
	_exit(NOT_STARTED);
}

/* Fills weft-gtk's arguments without files; returns their number. */
static size_t fill(const struct view_arguments *a, char **room)
{
	static char name[] = "weft-gtk", check[] = "--check", theme[] = "--theme",
				command[] = "--command", follow[] = "--follow", rings[] = "--rings",
				together[] = "--together", hz[] = "--cpu-hz", no_align[] = "--no-align",
				whole[] = "--whole", end[] = "--";
	char **first = room;
	*room++ = name;
	*room++ = check;
	*room++ = rings;
	if (a->follows)
		*room++ = follow;
	if (a->are_together)
		*room++ = together;
	if (a->theme) {
		*room++ = theme;
		*room++ = a->theme;
	}
	if (a->hz[0]) {
		*room++ = hz;
		*room++ = (char *)(uintptr_t)a->hz;
	}
	if (a->whole[0]) {
		*room++ = whole;
		*room++ = (char *)(uintptr_t)a->whole;
	}
	if (!cli_trace_aligns())
		*room++ = no_align;
	if (a->command[0]) {
		*room++ = command;
		*room++ = (char *)(uintptr_t)a->command;
	}
	*room++ = end;
	return (size_t)(room - first);
}

bool view_can_show(void)
{
	char path[PATH_MAX];
	const char *display = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
	if (!(display && *display) && !(wayland && *wayland))
		return false;
	if (find_beside(path) && access(path, X_OK) == 0)
		return true;
	const char *at = getenv("PATH");
	for (size_t length; at; at = at[length] ? at + length + 1 : NULL) {
		length = strcspn(at, ":");
		snprintf(path, sizeof(path), "%.*s/weft-gtk", (int)length, at);
		if (access(path, X_OK) == 0)
			return true;
	}
	return false;
}

/* Makes PID:PATH for weft-gtk --rings, which opens the ring with the same checks. */
static char *name_ring(const char *path, pid_t pid)
{
	size_t room = strlen(path) + PID_CHARACTERS;
	char *name = malloc(room);
	if (name)
		snprintf(name, room, "%d:%s", (int)pid, path);
	return name;
}

void view_become(const char *path, pid_t pid, bool follows)
{
	const struct view_arguments a = {.follows = follows};
	char *arguments[ARGUMENTS + 2] = {NULL};
	char *name = arguments[fill(&a, arguments)] = name_ring(path, pid);
	if (name)
		run_windows(arguments);
	free(name);
}

static int wait_for(pid_t child)
{
	int status;
	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return CLI_NO;
		if (cli_is_interrupted())
			kill(child, SIGTERM);
	}
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (cli_is_interrupted())
		return CLI_DONE;
	cli_error("weft-gtk ended by signal %d", WTERMSIG(status));
	return CLI_NO;
}

static int run_view(char **arguments)
{
	pid_t parent = getpid(), child = fork();
	if (child < 0) {
		cli_error("cannot start weft-gtk: %s", strerror(errno));
		return CLI_NO;
	}
	if (child == 0) {
		/* The windows are closed when this process ends. */
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() == parent)
			run_windows(arguments);
		_exit(NOT_STARTED);
	}
	return wait_for(child);
}

/* Says how to see it without `what`. A process that records nothing has no trace to render. */
static void offer_page(const char *what, const char *file)
{
	if (watched_is_wanted(file))
		cli_error("without %s: weft serve %s, for a browser", what, file);
	else
		cli_error("without %s: weft render %s -o page.html, for a browser", what, file);
}

static int explain(int status, const char *file)
{
	if (status == NOT_STARTED) {
		cli_error("weft-gtk, the program that shows windows, is missing or does not start; it "
				  "needs the package libgtk-4-1, and is built if libgtk-4-dev is "
				  "installed");
		offer_page("it", file);
		return CLI_NO;
	}
	if (status == NO_DISPLAY) {
		cli_error("there is no display to open a window on (see DISPLAY and WAYLAND_DISPLAY)");
		offer_page("one", file);
		return CLI_NO;
	}
	struct stat about;
	if (status == CLI_UNREADABLE && stat(file, &about) == 0 && S_ISDIR(about.st_mode))
		cli_error("to show the traces in this directory in a browser: weft serve --open %s", file);
	return status;
}

/* A guest of Xen and a ring in memory are looked at first, so that this command says why one cannot
 * be shown. */
static bool can_show(const char *operand)
{
	struct weft__runs_guest guest;
	if (weft__runs_is_image(operand)) {
		int copy = weft__runs_image_copy_named(operand, 0);
		if (copy >= 0)
			close(copy);
		return copy >= 0;
	}
	if (!weft__runs_guest_domain(operand))
		return true;
	if (!weft__runs_guest_open(operand, &guest))
		return false;
	weft__runs_guest_close(&guest);
	return true;
}

/* The recording or watching that is started for an operand PID. */
struct view_started {
	struct cli_attached attached;
	struct watched_process watched;
	bool is_watched;
};

/* The name of an operand for weft-gtk --rings. NULL after a message. */
static char *find_file(char *operand, struct view_started *started, bool *follows)
{
	struct weft__runs_found ring = {0};
	char *path = NULL;
	if (!can_show(operand))
		return NULL;
	if (watched_is_wanted(operand)) {
		cli_catch_interrupts();
		*follows = started->is_watched = watched_start(operand, &started->watched);
		path = started->is_watched ? started->watched.path : NULL;
	} else {
		path = cli_attach_path(operand, &ring, &started->attached);
	}
	char *name = path ? name_ring(path, ring.ring.pid) : NULL;
	if (path && !name)
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
	return name;
}

/* Finds weft-gtk's files: operands, or the rings of the given PIDs. False after a message. */
static bool find_files(char **operands, char **files, struct view_started *started, bool *follows)
{
	for (; *operands; operands++, files++)
		if (!(*files = find_file(*operands, started++, follows)))
			return false;
	return true;
}

static void stop(const struct view_started *started)
{
	cli_detach(&started->attached);
	if (started->is_watched)
		watched_stop(&started->watched);
}

/* True if one is a directory: the processes of a run save their traces there one after the other,
 * so it is followed like a program. */
static bool has_directory(char **operands)
{
	while (*operands && !weft__runs_traces_is_directory(*operands))
		operands++;
	return *operands;
}

/* Files are one trace, programs have a window each. */
static bool are_files(char **operands)
{
	struct stat status;
	for (; *operands; operands++)
		if (strcmp(*operands, "-") != 0 && stat(*operands, &status) != 0)
			return false;
	return true;
}

/* Shows the operands from `optind` on. Returns an exit status. */
static int show(struct view_arguments *a, int argc, char **argv)
{
	char **arguments = calloc((size_t)argc + ARGUMENTS, sizeof(*arguments));
	struct view_started *started = calloc((size_t)argc, sizeof(*started));
	char **files = calloc((size_t)argc + 1, sizeof(*files));
	int status = CLI_NO;
	if (arguments && started && files) {
		a->are_together = !a->is_separate && argc - optind > 1 && are_files(argv + optind);
		a->follows = a->follows || has_directory(argv + optind);
		status = CLI_UNREADABLE;
		if (find_files(argv + optind, files, started, &a->follows)) {
			memcpy(arguments + fill(a, arguments), files, (size_t)(argc - optind) * sizeof(*files));
			status = explain(run_view(arguments), argv[optind]);
		}
		for (int i = optind; i < argc; i++) {
			free(files[i - optind]);
			stop(&started[i - optind]);
		}
	} else {
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
	}
	free(files);
	free(started);
	free(arguments);
	return status;
}

int cli_view(int argc, char **argv)
{
	struct view_arguments a = {0};
	bool goes_on;
	int status = parse(argc, argv, &a, &goes_on);
	if (status || !goes_on)
		return status;
	return show(&a, argc, argv);
}

/* SPDX-License-Identifier: ISC
 *
 * weft serve: serves traces to browsers.
 *
 * Without libmicrohttpd at build time WEFT_HAS_SERVE is 0, and the command prints a message.
 * Signals are blocked and read one by one: Ctrl-C closes all connections, then ends the process.
 */
#include "cli/cli.h"
#include "render/rows.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#if WEFT_HAS_SERVE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <weft/parse.h>
#include <weft/source.h>

#include "record/record.h"
#include "run/run.h"
#include "serve/metrics.h"
#include "serve/tokens.h"
#include "why/watched.h"
#endif

static const char usage[] =
	"usage: weft serve [OPTION]... [FILE|DIR]...\n"
	"       weft serve [OPTION]... PID\n"
	"       weft serve --run [-a LIST] [-o FILE] [--size BYTES] [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"\n"
	"Serves traces to browsers, with the page that shows them: each FILE, the traces in each DIR\n"
	"(default: the current directory), and live traces of programs under `weft record`. Prints the\n"
	"address to open; Ctrl-C ends it. Nothing is served without the token in that address. The\n"
	"traces of one DIR are shown as one if they are of one boot, and the picture grows with them.\n"
	"PID is a process that records nothing: it is shown as seen from outside, while it runs.\n"
	"\n"
	"  --run             run PROGRAM as `weft record` does, and serve its trace from its start on;\n"
	"                    Ctrl-C ends the program, then the server\n"
	"  -a, --adapters LIST, -o, --output FILE, --size BYTES\n"
	"                    with --run: as for weft record\n"
	"  --listen ADDRESS  the address to listen on; default: 127.0.0.1, which only this machine can\n"
	"                    reach. The connection is not encrypted\n"
	"  --token-file FILE read the token from FILE, which other users must not be able to read;\n"
	"                    default: a new random one, printed with the address\n"
	"  --tokens FILE     further tokens, which show the counters that have some labels, and no\n"
	"                    traces: lines like TOKEN customer=acme\n"
	"  --data FILE       the database of `weft agent`, from which /metrics is answered; default: that\n"
	"                    of this user's agent, if one runs\n"
	"  --open            open the address in a browser\n"
	"  --whole SIZE      show traces larger than SIZE a part at a time (500M, 4G); default: 1G\n"
	"  --cpu-hz HZ       the rate of the cycles in traces of Xen (2596.15M); default: estimated\n"
	"  --no-align        leave the clocks of several hosts as they are\n"
	"  --hide PATTERN, --only PATTERN, --group-by WHAT, --no-fold, --no-simplify,\n"
	"  --start T, --duration T, --squeeze, --theme NAME\n"
	"                    how the printed address shows a trace, as for weft render; it can be\n"
	"                    changed in the browser\n"
	"  --help            this text\n";

struct serve_arguments {
	char address[64], port[8];
	bool is_port_given, opens, runs;
	const char *token_file, *tokens, *data;
	char words[512]; /* for the viewer's `view` command */
	struct render_rows rows;
	const char *adapters, *output; /* of a program to run */
	uint64_t size_bytes, whole_bytes;
	char **operands; /* or the program and its arguments */
	int count;
};

#if WEFT_HAS_SERVE
/* Parses "[::1]:80", "127.0.0.1:80", ":80", or an address without port. */
static bool parse_address(const char *text, struct serve_arguments *a)
{
	const char *colon = strrchr(text, ':');
	const char *bracket = strchr(text, ']');
	/* Several colons without brackets are a plain IPv6 address. */
	if (colon && (bracket ? colon < bracket : strchr(text, ':') != colon))
		colon = NULL;
	size_t length = colon ? (size_t)(colon - text) : strlen(text);
	a->is_port_given = colon != NULL;
	const char *port = colon ? colon + 1 : SERVE_USUAL_PORT;
	uint64_t number;
	if (weft_parse_number(port, strlen(port), &number) != WEFT_PARSE_OK || number > UINT16_MAX ||
		strlen(port) >= sizeof(a->port))
		return false;
	strcpy(a->port, port);
	if (length && text[0] == '[') {
		if (!bracket || bracket != text + length - 1)
			return false;
		text++;
		length -= 2;
	}
	if (length >= sizeof(a->address))
		return false;
	if (length == 0 || (length == 9 && strncmp(text, "localhost", 9) == 0))
		strcpy(a->address, "127.0.0.1");
	else
		snprintf(a->address, sizeof(a->address), "%.*s", (int)length, text);
	return cli_is_address(a->address);
}
#else
static bool parse_address(const char *text, struct serve_arguments *a)
{
	(void)text;
	(void)a;
	return true;
}
#endif

static bool add_word(struct serve_arguments *a, const char *name, const char *value)
{
	size_t used = strlen(a->words), room = sizeof(a->words) - used;
	return (size_t)snprintf(a->words + used, room, " %s=%s", name, value) < room;
}

/* Parses an option about how traces are shown first. */
static bool parse_look(const char *command, int option, struct serve_arguments *a)
{
	struct cli_time time;
	uint64_t ns;
	enum weft_theme theme;
	switch (option) {
	case 's':
		return cli_parse_time(command, "--start", optarg, &time) && add_word(a, "start", optarg);
	case 'd':
		return cli_parse_duration(command, "--duration", optarg, &ns) &&
			   add_word(a, "duration", optarg);
	case 'q':
		return add_word(a, "squeeze", "on");
	case 't':
		return cli_parse_theme(command, optarg, &theme) && add_word(a, "theme", optarg);
	default:
		return render_rows_parse(command, option, &a->rows);
	}
}

/* True if the options ask for a program, whose own options follow then. */
static bool runs_program(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--run") == 0)
			return true;
	return false;
}

/* Parses an option with its `optarg`. CLI_DONE, or after a message CLI_USAGE. */
static int parse_option(const char *command, int option, struct serve_arguments *a)
{
	switch (option) {
	case 'l':
		return parse_address(optarg, a)
				   ? CLI_DONE
				   : cli_usage_error(command,
						 "--listen: \"%s\" is not an address; write 127.0.0.1, [::1]:8080 or "
						 "0.0.0.0:8080",
						 optarg);
	case 'b':
		a->opens = true;
		return CLI_DONE;
	case 'k':
		a->token_file = optarg;
		return CLI_DONE;
	case 'w':
		a->tokens = optarg;
		return CLI_DONE;
	case 'f':
		a->data = optarg;
		return CLI_DONE;
	case 'W':
		return cli_parse_whole(command, &a->whole_bytes) ? CLI_DONE : CLI_USAGE;
	case 'r':
		return CLI_DONE;
	case 'a':
		a->adapters = optarg;
		return CLI_DONE;
	case 'o':
		a->output = optarg;
		return CLI_DONE;
	case 'z':
		return cli_parse_size(command, "--size", optarg, &a->size_bytes) ? CLI_DONE : CLI_USAGE;
	default:
		return parse_look(command, option, a) ? CLI_DONE : CLI_USAGE;
	}
}

static int check(const char *command, const struct serve_arguments *a)
{
	if (a->runs && a->count == 0)
		return cli_usage_error(command, "PROGRAM is missing");
	if (!a->runs && (a->adapters || a->output || a->size_bytes))
		return cli_usage_error(command, "%s needs --run",
			a->adapters ? "--adapters"
			: a->output ? "--output"
						: "--size");
	return CLI_DONE;
}

/* Parses the arguments: CLI_DONE to go on; else *ret_run is false. */
static int parse(int argc, char **argv, struct serve_arguments *ret_arguments, bool *ret_run)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"adapters", required_argument, NULL, 'a'},
		CLI_CPU_HZ_OPTION,
		CLI_NO_ALIGN_OPTION,
		{"listen", required_argument, NULL, 'l'},
		{"open", no_argument, NULL, 'b'},
		{"output", required_argument, NULL, 'o'},
		{"run", no_argument, NULL, 'r'},
		{"size", required_argument, NULL, 'z'},
		{"start", required_argument, NULL, 's'},
		{"duration", required_argument, NULL, 'd'},
		{"squeeze", no_argument, NULL, 'q'},
		{"token-file", required_argument, NULL, 'k'},
		{"tokens", required_argument, NULL, 'w'},
		{"data", required_argument, NULL, 'f'},
		{"theme", required_argument, NULL, 't'},
		{"whole", required_argument, NULL, 'W'},
		RENDER_ROWS_OPTIONS,
		{NULL, 0, NULL, 0},
	};
	struct serve_arguments a = {.runs = runs_program(argc, argv)};
	*ret_run = false;
	parse_address("127.0.0.1", &a);
	for (;;) {
		int option = a.runs ? cli_next_leading_option(argc, argv, options)
							: cli_next_option(argc, argv, options);
		if (option == -1)
			break;
		if (option == 'h')
			return cli_help(usage);
		if (parse_option(argv[0], option, &a) != CLI_DONE)
			return CLI_USAGE;
	}
	a.operands = argv + optind;
	a.count = argc - optind;
	if (check(argv[0], &a) != CLI_DONE)
		return CLI_USAGE;
	*ret_arguments = a;
	*ret_run = true;
	return CLI_DONE;
}

#if WEFT_HAS_SERVE
/* The file for --open is removed after this long. */
#define OPEN_S 60

/* Serves until a signal. */
static void serve(
	struct serve_server *server, const sigset_t *signals, struct serve_page_file *file)
{
	const struct timespec second = {1, 0};
	for (unsigned seconds = 0;; seconds++) {
		int signal = sigtimedwait(signals, NULL, &second);
		if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP)
			return;
		serve_tick(server);
		if (serve_was_opened(server) || seconds >= OPEN_S)
			serve_browser_forget(file);
	}
}

/* Writes the view as in a link: "&view&start=12ms", or "" if no option asks for one. */
static bool make_view(const struct serve_arguments *a, struct weft_text *view)
{
	struct weft_text look = {0};
	weft_text_add_string(&look, a->words);
	int error = render_rows_describe(&a->rows, &look);
	weft_text_add_string(view, look.size ? "&view" : "");
	for (size_t i = 0; i < look.size; i++)
		weft_text_add(view, look.bytes[i] == ' ' ? "&" : &look.bytes[i], 1);
	weft_text_add(view, "", 1);
	weft_text_finish(&look);
	error = error ? error : view->error;
	if (error)
		cli_error("%s", weft_error_text(error));
	return !error;
}

/* True if the operand is one directory, whose traces the page shows as one. */
static bool is_one_directory(const struct serve_arguments *a)
{
	struct stat status;
	return a->count == 1 && stat(a->operands[0], &status) == 0 && S_ISDIR(status.st_mode);
}

/* The trace and the view behind #, which the page reads. */
static void add_fragment(const struct serve_arguments *a, const char *view, struct weft_text *url)
{
	if (is_one_directory(a))
		weft_text_add_string(url, "#trace=all");
	else
		weft_text_add_string(url, view[0] ? "#" : "");
	weft_text_add_string(url, is_one_directory(a) || !view[0] ? view : view + 1);
	weft_text_add(url, "", 1);
}

/* Prints the URL, and opens it in a browser if requested. */
static bool show_url(const struct serve_arguments *a, const struct serve_server *server,
	struct serve_page_file *file)
{
	char secret[SERVE_URL_BYTES];
	struct weft_text view = {0}, url = {0}, opened = {0};
	serve_write_secret_url(server, secret);
	weft_text_add_string(&url, serve_url(server));
	weft_text_add_string(&opened, secret);
	bool is_made = make_view(a, &view);
	if (is_made) {
		add_fragment(a, view.bytes, &url);
		add_fragment(a, view.bytes, &opened);
		is_made = !url.error && !opened.error;
	}
	if (is_made) {
		printf("%s\n", url.bytes);
		fflush(stdout);
	}
	if (is_made && a->opens)
		serve_browser_open(opened.bytes, file);
	weft_text_finish(&view);
	weft_text_finish(&url);
	weft_text_finish(&opened);
	return is_made;
}

/* Runs a program and serves its trace. */
static int run_and_serve(const struct serve_arguments *a, const char *token)
{
	struct weft_text view = {0};
	int status = RECORD_FAILED;
	if (make_view(a, &view)) {
		const struct run_options options = {
			.command = "serve",
			.adapters = a->adapters,
			.output = a->output,
			.size_bytes = a->size_bytes,
			.serving = {.address = {a->address, a->port, a->is_port_given, token, a->tokens},
				.view = view.bytes,
				.opens = a->opens,
				.stays = true},
		};
		status = run_show(a->operands, &options);
	}
	weft_text_finish(&view);
	return status;
}

/* Before a program starts. */
static bool are_tokens_good(const char *path)
{
	struct serve_tokens tokens;
	const bool are_good = !path || serve_tokens_read(path, &tokens);
	if (path)
		serve_tokens_finish(&tokens);
	return are_good;
}

/* Serves the operands until a signal. */
static int serve_operands(const struct serve_arguments *a, const char *token)
{
	sigset_t signals;
	if (a->whole_bytes)
		serve_traces_whole(a->whole_bytes);
	if (a->whole_bytes)
		serve_traces_whole(a->whole_bytes);
	if (weft_source_survive_truncation() || !serve_traces_init(a->operands, a->count))
		return CLI_UNREADABLE;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGPIPE); /* from closed connections */
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGCHLD, SIG_IGN);
	const struct serve_address address = {
		a->address, a->port, a->is_port_given, a->token_file ? token : NULL, a->tokens};
	struct serve_server *server = serve_start(&address);
	if (!server)
		return CLI_NO;
	struct serve_page_file file = {0};
	if (show_url(a, server, &file))
		serve(server, &signals, &file);
	serve_browser_forget(&file);
	serve_stop(server);
	return CLI_DONE;
}

/* Serves the trace of a process that is watched meanwhile. */
static int watch_and_serve(const struct serve_arguments *a, const char *token)
{
	struct watched_process watched;
	if (!watched_start(a->operands[0], &watched))
		return CLI_UNREADABLE;
	char *directory[] = {watched.directory};
	struct serve_arguments watching = *a;
	watching.operands = directory;
	int status = serve_operands(&watching, token);
	watched_stop(&watched);
	return status;
}

static int run_server(const struct serve_arguments *a)
{
	static char here[] = ".";
	static char *default_operands[] = {here};
	char token[SERVE_TOKEN_BYTES + 1];
	struct serve_arguments served = *a;
	if ((a->token_file && !serve_token_read(a->token_file, token)) || !are_tokens_good(a->tokens))
		return a->runs ? RECORD_FAILED : CLI_UNREADABLE;
	serve_metrics_init(a->data);
	if (a->runs)
		return run_and_serve(a, a->token_file ? token : NULL);
	if (a->count == 1 && watched_is_wanted(a->operands[0]))
		return watch_and_serve(a, token);
	if (!a->count) {
		served.operands = default_operands;
		served.count = 1;
	}
	return serve_operands(&served, token);
}
#else
static int run_server(const struct serve_arguments *a)
{
	(void)a;
	cli_error(
		"this weft was built without a server: it needs the package libmicrohttpd-dev when it "
		"is built");
	return CLI_NO;
}
#endif

int cli_serve(int argc, char **argv)
{
	struct serve_arguments arguments;
	bool goes_on;
	int status = parse(argc, argv, &arguments, &goes_on);
	return goes_on ? run_server(&arguments) : status;
}

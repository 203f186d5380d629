/* SPDX-License-Identifier: ISC
 *
 * weft serve: traces to a browser.
 *
 * Without libmicrohttpd at build time WEFT_HAS_SERVE is 0, and this says so. Signals are blocked
 * and read one by one: Ctrl-C ends connections where they are, and then us.
 */
#include "cli.h"

#include <getopt.h>

#if WEFT_HAS_SERVE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <weft/source.h>

#include "serve.h"
#endif

static const char usage[] =
	"usage: weft serve [--listen ADDRESS[:PORT]] [--open] [FILE|DIR]...\n"
	"\n"
	"Serves traces to a browser, with the page that shows them: each FILE, those that are in a\n"
	"DIR at the time (the current directory, if nothing is told), and what programs under\n"
	"`weft record` record now, as it grows. Prints the address to open; Ctrl-C ends it.\n"
	"\n"
	"  --listen ADDRESS  where to listen: 127.0.0.1 unless told, which only this machine\n"
	"                    reaches. Anywhere else the address to open has a token in it, and\n"
	"                    nothing is served without that; the connection is not encrypted\n"
	"  --open            opens the address in a browser\n"
	"  --help            this text\n";

struct arguments {
	char address[64], port[8];
	bool is_port_told, opens;
	char **operands;
	int count;
};

#if WEFT_HAS_SERVE
/* WEFT on a telephone's keys. */
static const char usual_port[] = "9338";

/* "[::1]:80", "127.0.0.1:80", ":80", or without the port. */
static bool parse_address(const char *text, struct arguments *a)
{
	const char *colon = strrchr(text, ':');
	const char *bracket = strchr(text, ']');
	/* Several colons without brackets are an address of IPv6 alone. */
	if (colon && (bracket ? colon < bracket : strchr(text, ':') != colon))
		colon = NULL;
	size_t length = colon ? (size_t)(colon - text) : strlen(text);
	a->is_port_told = colon != NULL;
	if (colon && (!colon[1] || strlen(colon + 1) >= sizeof(a->port) ||
					 strspn(colon + 1, "0123456789") != strlen(colon + 1)))
		return false;
	snprintf(a->port, sizeof(a->port), "%s", colon ? colon + 1 : usual_port);
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
	return strtoul(a->port, NULL, 10) <= 65535;
}
#else
static bool parse_address(const char *text, struct arguments *a)
{
	(void)text;
	(void)a;
	return true;
}
#endif

/* CLI_DONE to go on; else *ret_run is false. */
static int parse(int argc, char **argv, struct arguments *ret_arguments, bool *ret_run)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"listen", required_argument, NULL, 'l'},
		{"open", no_argument, NULL, 'b'},
		{NULL, 0, NULL, 0},
	};
	struct arguments a = {0};
	const char *address = "127.0.0.1";
	*ret_run = false;
	for (int option; (option = cli_next_option(argc, argv, options)) != -1;) {
		if (option == 'h')
			return cli_help(usage);
		if (option == 'l')
			address = optarg;
		else if (option == 'b')
			a.opens = true;
		else
			return CLI_USAGE;
	}
	if (!parse_address(address, &a))
		return cli_usage_error(argv[0],
			"--listen: \"%s\" is no address; write 127.0.0.1, [::1]:8080 or 0.0.0.0:8080", address);
	a.operands = argv + optind;
	a.count = argc - optind;
	*ret_arguments = a;
	*ret_run = true;
	return CLI_DONE;
}

#if WEFT_HAS_SERVE
static void open_browser(const char *url)
{
	pid_t child = fork();
	if (child != 0)
		return; /* it is nobody's concern when a browser ends */
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execlp("xdg-open", "xdg-open", url, (char *)NULL);
	cli_error("cannot open a browser: xdg-open: %s", strerror(errno));
	_exit(127);
}

/* Until somebody ends us. */
static void serve(struct serve_server *server, const sigset_t *signals)
{
	const struct timespec second = {1, 0};
	for (;;) {
		int signal = sigtimedwait(signals, NULL, &second);
		if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP)
			return;
		serve_tick(server);
	}
}

static int run(const struct arguments *a)
{
	static char here[] = ".";
	static char *nothing_told[] = {here};
	sigset_t signals;
	if (weft_source_survive_truncation() ||
		!serve_traces_init(a->count ? a->operands : nothing_told, a->count ? a->count : 1))
		return CLI_UNREADABLE;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGPIPE); /* of connections */
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGCHLD, SIG_IGN);
	struct serve_server *server = serve_start(a->address, a->port, a->is_port_told);
	if (!server)
		return CLI_NO;
	printf("%s\n", serve_url(server));
	fflush(stdout);
	if (a->opens)
		open_browser(serve_url(server));
	serve(server, &signals);
	serve_stop(server);
	return CLI_DONE;
}
#else
static int run(const struct arguments *a)
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
	struct arguments arguments;
	bool goes_on;
	int status = parse(argc, argv, &arguments, &goes_on);
	return goes_on ? run(&arguments) : status;
}

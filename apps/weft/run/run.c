/* SPDX-License-Identifier: ISC
 *
 * weft run: records a program, and shows it meanwhile.
 */
#include "run.h"

#include <getopt.h>
#include <stdio.h>

#include "cli/cli.h"
#include "record/record.h"

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
	*ret_run = true;
	return CLI_DONE;
}

static bool read_token(const char *file, char ret_token[SERVE_TOKEN_BYTES + 1])
{
#if WEFT_HAS_SERVE
	return serve_token_read(file, ret_token);
#else
	(void)file;
	(void)ret_token;
	return true; /* there is no server */
#endif
}

int cli_run(int argc, char **argv)
{
	struct run_arguments a = {0};
	char token[SERVE_TOKEN_BYTES + 1];
	bool goes_on;
	int status = parse(argc, argv, &a, &goes_on);
	if (!goes_on)
		return status;
	/* Read before the program starts, so that an invalid file costs no recording. */
	if (a.token_file && !read_token(a.token_file, token))
		return RECORD_FAILED;
	const struct run_options options = {
		.command = argv[0],
		.adapters = a.adapters,
		.output = a.output,
		.size_bytes = a.size_bytes,
		.wants_browser = a.wants_browser,
		.serving = {.address = {.address = "127.0.0.1",
						.port = SERVE_USUAL_PORT,
						.token = a.token_file ? token : NULL},
			.view = ""},
	};
	return run_show(argv + optind, &options);
}

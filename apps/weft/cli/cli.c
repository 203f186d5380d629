/* SPDX-License-Identifier: ISC
 *
 * Messages, and closing standard output.
 */
#include "cli.h"

#include <errno.h>
#include <stdarg.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "range.h"

/* Messages contain names of files and programs, and text of traces: these must not control the
 * terminal, or begin a line that looks like another message. */
static void put_shown(const char *format, va_list arguments)
{
	char *message;
	int size = vasprintf(&message, format, arguments);
	struct weft_text text = {0};
	if (size < 0)
		return;
	weft_text_add_shown(&text, message, (size_t)size);
	fwrite(text.bytes, 1, text.size, stderr);
	weft_text_finish(&text);
	free(message);
}

void cli_put(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	put_shown(format, arguments);
	va_end(arguments);
}

void cli_inform(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	put_shown(format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
}

void cli_error(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fputs("weft: ", stderr);
	put_shown(format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
}

int cli_usage_error(const char *command, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fprintf(stderr, "weft%s%s: ", command ? " " : "", command ? command : "");
	put_shown(format, arguments);
	fprintf(stderr, "\n`weft%s%s --help` lists what is possible\n", command ? " " : "",
		command ? command : "");
	va_end(arguments);
	return CLI_USAGE;
}

int cli_help(const char *usage)
{
	fputs(usage, stdout);
	return CLI_DONE;
}

static bool has_option(const struct option *options, int code)
{
	for (; options->name; options++)
		if (options->val == code)
			return true;
	return false;
}

static bool take_max_size(const char *command)
{
	uint64_t bytes;
	if (!cli_parse_size(command, "--max-size", optarg, &bytes))
		return false;
	if (!bytes) {
		cli_usage_error(command, "--max-size must be more than 0");
		return false;
	}
	cli_trace_limit(bytes);
	return true;
}

static bool take_cpu_hz(const char *command)
{
	uint64_t hz;
	if (!cli_parse_hz(command, "--cpu-hz", optarg, &hz))
		return false;
	cli_trace_set_hz(hz);
	return true;
}

static bool is_of_trace(int code)
{
	return code >= CLI_MAX_SIZE && code <= CLI_DURATION;
}

/* Takes an option of the trace, which is not the command's own. False after a message. */
static bool take_of_trace(const char *command, int code)
{
	switch (code) {
	case CLI_MAX_SIZE:
		return take_max_size(command);
	case CLI_CPU_HZ:
		return take_cpu_hz(command);
	case CLI_NO_ALIGN:
		cli_trace_leave_clocks();
		return true;
	default:
		return cli_range_take(command, code);
	}
}

/* -h is short for --help in all commands; -o for --output and -p for --pid where these exist. */
static int next_option(int argc, char **argv, const char *first, const struct option *options)
{
	char letters[16];
	snprintf(letters, sizeof(letters), "%s:h%s%s%s", first, has_option(options, 'a') ? "a:" : "",
		has_option(options, 'o') ? "o:" : "", has_option(options, 'p') ? "p:" : "");
	opterr = 0;
	int code;
	do {
		code = getopt_long(argc, argv, letters, options, NULL);
		if (is_of_trace(code) && !take_of_trace(argv[0], code))
			return '?';
	} while (is_of_trace(code));
	if (code == 'h')
		code = options[0].val; /* --help is the first option of every table */
	if (code == ':')
		cli_usage_error(argv[0], "%s needs a value", argv[optind - 1]);
	else if (code == '?' && optopt >= 256)
		cli_usage_error(argv[0], "\"%s\": this option takes no value", argv[optind - 1]);
	else if (code == '?' && optopt)
		cli_usage_error(argv[0], "unknown option \"-%c\"", optopt);
	else if (code == '?')
		cli_unknown_option(argv[0], argv[optind - 1], options);
	return code == ':' ? '?' : code;
}

int cli_next_option(int argc, char **argv, const struct option *options)
{
	return next_option(argc, argv, "", options);
}

int cli_next_leading_option(int argc, char **argv, const struct option *options)
{
	return next_option(argc, argv, "+", options);
}

int cli_count_operands(int argc, char **argv, const char *what)
{
	if (argc == optind)
		cli_usage_error(argv[0], "%s is missing", what);
	return argc - optind;
}

const char *cli_only_operand(int argc, char **argv, const char *what)
{
	if (argc - optind == 1)
		return argv[optind];
	if (argc == optind)
		cli_usage_error(argv[0], "%s is missing", what);
	else
		cli_usage_error(
			argv[0], "only one %s is allowed; \"%s\" is too many", what, argv[optind + 1]);
	return NULL;
}

bool cli_write(struct weft_text *text)
{
	bool good = !text->error && fwrite(text->bytes, 1, text->size, stdout) == text->size;
	if (text->error)
		cli_error("%s", weft_error_text(text->error));
	text->size = 0;
	return good;
}

int cli_close_output(int status)
{
	/* Checked even if nothing was written: the descriptor may be invalid, or the last block lost.
	 */
	int failed = fflush(stdout) || ferror(stdout);
	int reason = errno;
	if (fclose(stdout) && !failed) {
		failed = 1;
		reason = errno;
	}
	/* EBADF with nothing to write means a closed descriptor that was not needed. EPIPE is the
	 * reader's choice, and occurs here only if our parent ignores SIGPIPE. */
	if (!failed || reason == EPIPE)
		return status;
	cli_error("standard output: %s", strerror(reason));
	return status == CLI_DONE ? CLI_NO : status;
}

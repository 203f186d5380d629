/* SPDX-License-Identifier: ISC
 *
 * What the subcommands share: their table, exit statuses, messages, times and sizes, and the way
 * from a FILE argument to a decoder.
 */
#ifndef WEFT_APPS_CLI_H
#define WEFT_APPS_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/decoder.h>
#include <weft/input.h>
#include <weft/render.h>
#include <weft/source.h>
#include <weft/text.h>

enum cli_exit {
	CLI_DONE = 0,       /* also when a damaged file was partly read */
	CLI_NO = 1,         /* the answer is no; writing failed */
	CLI_USAGE = 2,      /* wrong use */
	CLI_UNREADABLE = 3, /* nothing could be read */
};

/* Subcommands: argv[0] is the subcommand's name; answers an exit status. Each understands --help.
 */
int cli_ctl(int argc, char **argv);
int cli_cut(int argc, char **argv);
int cli_dump(int argc, char **argv);
int cli_ls(int argc, char **argv);
int cli_tail(int argc, char **argv);
int cli_info(int argc, char **argv);
int cli_record(int argc, char **argv);
int cli_export(int argc, char **argv);
int cli_render(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_serve(int argc, char **argv);
int cli_view(int argc, char **argv);

/* Messages go to standard error. Control characters in them, marks of writing direction and what is
 * no UTF-8 are written as escapes, whatever file or trace they come from. */

/* A line that begins with "weft: ". */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A line that begins with its own subject, mostly the name of a trace. */
void cli_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A part of a line. */
void cli_put(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, then where to find help; answers CLI_USAGE. */
int cli_usage_error(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A usage text to standard output; answers CLI_DONE. */
int cli_help(const char *usage);

/* In the options of a command that reads a FILE: cli_next_option() takes it, and cli_trace_open()
 * heeds it. */
#define CLI_MAX_SIZE 1000
#define CLI_MAX_SIZE_OPTION                               \
	{                                                     \
		"max-size", required_argument, NULL, CLI_MAX_SIZE \
	}

struct option;

/* getopt_long with our messages: an option's value, -1 behind the last, or after a message '?'. */
int cli_next_option(int argc, char **argv, const struct option *options);

/* The same for a command that runs another: its own options end at the first operand. */
int cli_next_leading_option(int argc, char **argv, const struct option *options);

/* The one operand of a command that takes one, after getopt_long; NULL (and a message) if there is
 * none or more. */
const char *cli_only_operand(int argc, char **argv, const char *what);

/* A time of an option: from the trace's start, or on its clock. */
struct cli_time {
	uint64_t ns;
	bool is_absolute;
};

/* `12ms`, `1.5s`, `300us`, `40ns`, `@N`. False after a message that names the option. */
bool cli_parse_time(
	const char *command, const char *option, const char *text, struct cli_time *ret_time);

/* Likewise, but without `@N`. */
bool cli_parse_duration(
	const char *command, const char *option, const char *text, uint64_t *ret_ns);

/* Bytes, or K, M, G (powers of 1024). */
bool cli_parse_size(const char *command, const char *option, const char *text, uint64_t *ret_bytes);

/* A theme's name. */
bool cli_parse_theme(const char *command, const char *name, enum weft_theme *ret_theme);

/* The whole number `text`, between `least` and `most`. */
bool cli_parse_number(const char *command, const char *option, const char *text, uint64_t least,
	uint64_t most, uint64_t *ret_number);

/* On the trace's clock, given the time of its first event; stops at the clock's end. */
uint64_t cli_time_on_clock(struct cli_time time, uint64_t start_ns);

/* A FILE argument, opened. */
struct cli_trace {
	const char *name; /* as typed, or "standard input" */
	struct weft_input *input;
	struct weft_decoder *decoder; /* the input's: ready for next */
};

/* All of its events as a model, with progress. 0 or an error of the library. */
int cli_trace_build_model(const struct cli_trace *trace, struct weft_model **ret_model);

/* What a compressed FILE may hold, in place of --max-size; 0: as weft_source_open() has it. */
void cli_trace_limit(uint64_t max_bytes);

/* CLI_DONE, or after a message CLI_UNREADABLE. */
int cli_trace_open(const char *path, struct cli_trace *ret_trace);
/* The same of an open file, which stays the caller's; `name` is for messages. */
int cli_trace_open_descriptor(int fd, const char *name, struct cli_trace *ret_trace);
void cli_trace_close(struct cli_trace *trace);

/* A line a diagnostic to standard error: `FILE: offset 0x…: message (×n)`. */
void cli_trace_report(const struct cli_trace *trace);

/* What an error from the decoder or the model means to the user: a message, and the status. */
int cli_trace_fail(const struct cli_trace *trace, int error);

/* The name of the category with that number; "*" if it stands for all. */
const char *cli_category_name(const struct weft_trace_description *trace, unsigned number);

/* Around long work: shows how far it is if standard error is a terminal (and standard output, which
 * the lines would disturb, is not), and turns Ctrl-C into an end that keeps what is done. */
void cli_progress_start(void);
/* For work on a trace that was read: shows which part of it is done. Ctrl-C cancels it, unless it
 * came before and ended the reading. */
struct weft_progress cli_progress_of(const struct cli_trace *trace);
/* Likewise while events are read, whose part is known. */
bool cli_progress_read(uint64_t events, double part);
/* Now and then; false if the work should stop. As weft_decoder_build_model wants it. */
bool cli_progress_step(void *context, uint64_t events);
void cli_progress_end(void);

/* After the output is written: whoever started us shall see that Ctrl-C ended it. */
void cli_progress_die_if_interrupted(void);

/* Writes what `text` holds to standard output, and empties it. False if that failed:
 * cli_close_output says why. */
bool cli_write(struct weft_text *text);

/* Flushes standard output, closes it and answers `status`; CLI_NO after a message if something
 * could not be written. */
int cli_close_output(int status);

#endif

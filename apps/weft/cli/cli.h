/* SPDX-License-Identifier: ISC
 *
 * Shared by the subcommands: their table, exit statuses, messages, times and sizes, and opening a
 * FILE argument as a decoder.
 */
#ifndef WEFT_APPS_CLI_H
#define WEFT_APPS_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/decoder.h>
#include <weft/input.h>
#include <weft/model.h>
#include <weft/render.h>
#include <weft/source.h>
#include <weft/text.h>

enum cli_exit {
	CLI_DONE = 0,       /* also when a damaged file was partly read */
	CLI_NO = 1,         /* the answer is no, or writing failed */
	CLI_USAGE = 2,      /* invalid arguments */
	CLI_UNREADABLE = 3, /* nothing could be read */
};

/* Subcommands: argv[0] is the subcommand's name; returns an exit status. Each accepts --help. */
int cli_agent(int argc, char **argv);
int cli_collect(int argc, char **argv);
int cli_ctl(int argc, char **argv);
int cli_cut(int argc, char **argv);
int cli_merge(int argc, char **argv);
int cli_dump(int argc, char **argv);
int cli_doctor(int argc, char **argv);
int cli_ls(int argc, char **argv);
int cli_metrics(int argc, char **argv);
int cli_tail(int argc, char **argv);
int cli_top(int argc, char **argv);
int cli_index(int argc, char **argv);
int cli_info(int argc, char **argv);
int cli_query(int argc, char **argv);
int cli_record(int argc, char **argv);
int cli_export(int argc, char **argv);
int cli_render(int argc, char **argv);
int cli_flame(int argc, char **argv);
int cli_run(int argc, char **argv);
int cli_serve(int argc, char **argv);
int cli_stats(int argc, char **argv);
int cli_view(int argc, char **argv);
int cli_why(int argc, char **argv);

/* Messages go to standard error. Control characters, marks of writing direction and invalid UTF-8
 * are escaped, whatever file or trace they come from. */

/* Prints a line that begins with "weft: ". */
void cli_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a line that begins with its own subject, usually a trace's name. */
void cli_inform(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a part of a line. */
void cli_put(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same with a hint to --help; returns CLI_USAGE. */
int cli_usage_error(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

struct option;

/* Finds the name that a mistyped word was probably meant to be: begin, then try each name. `name`
 * is NULL as long as none is similar. */
struct cli_guess {
	const char *typed;
	size_t size;
	const char *name;
	unsigned changes; /* the name must need fewer changes than these */
};
struct cli_guess cli_guess_begin(const char *typed, size_t size);
void cli_guess_try(struct cli_guess *guess, const char *name);

/* Messages that name the option or value that was probably meant; both return CLI_USAGE.
 * `options` may be NULL. `names` ends in NULL, and the message lists all of them. */
int cli_unknown_option(const char *command, const char *typed, const struct option *options);
int cli_unknown_value(
	const char *command, const char *what, const char *value, const char *const *names);

/* The index of `value` in `names`, which end in NULL; or -1 after the message above. */
int cli_choose(const char *command, const char *what, const char *value, const char *const *names);

/* Prints a usage text to standard output; returns CLI_DONE. */
int cli_help(const char *usage);

/* The option --max-size of commands that read a FILE: cli_next_option() handles it, and
 * cli_trace_open() applies it. */
#define CLI_MAX_SIZE 1000
#define CLI_MAX_SIZE_OPTION                               \
	{                                                     \
		"max-size", required_argument, NULL, CLI_MAX_SIZE \
	}

/* The option --cpu-hz of the same commands, handled in the same way. */
#define CLI_CPU_HZ 1001
#define CLI_CPU_HZ_OPTION                             \
	{                                                 \
		"cpu-hz", required_argument, NULL, CLI_CPU_HZ \
	}

/* The option --no-align of commands that read several FILEs, handled in the same way. */
#define CLI_NO_ALIGN 1002
#define CLI_NO_ALIGN_OPTION                         \
	{                                               \
		"no-align", no_argument, NULL, CLI_NO_ALIGN \
	}

/* The option --past of commands whose answers may be about a range, handled in the same way. */
#define CLI_PAST 1003
#define CLI_PAST_OPTION                           \
	{                                             \
		"past", required_argument, NULL, CLI_PAST \
	}

/* The options --start and --duration of commands that read a range only, in the same way. */
#define CLI_START    1004
#define CLI_DURATION 1005
#define CLI_RANGE_OPTIONS                                 \
	{"start", required_argument, NULL, CLI_START},        \
	{                                                     \
		"duration", required_argument, NULL, CLI_DURATION \
	}

/* getopt_long with our messages: returns an option's value, -1 after the last, or '?' after a
 * message. */
int cli_next_option(int argc, char **argv, const struct option *options);

/* The same for a command that runs another: its own options end at the first operand. */
int cli_next_leading_option(int argc, char **argv, const struct option *options);

/* The number of operands after getopt_long, from optind on; 0 after a message if there are none. */
int cli_count_operands(int argc, char **argv, const char *what);

/* The operand of a command that takes exactly one, after getopt_long; NULL after a message. */
const char *cli_only_operand(int argc, char **argv, const char *what);

/* A time in an option: from the trace's start, or on its clock. */
struct cli_time {
	uint64_t ns;
	bool is_absolute;
};

/* Parses `12ms`, `1.5s`, `300us`, `40ns` or `@N`. False after a message that names the option. */
bool cli_parse_time(
	const char *command, const char *option, const char *text, struct cli_time *ret_time);

/* The same without `@N`. */
bool cli_parse_duration(
	const char *command, const char *option, const char *text, uint64_t *ret_ns);

/* Whether it is an address of IP, not a name. */
bool cli_is_address(const char *text);

/* Parses bytes, or K, M, G (powers of 1024). */
bool cli_parse_size(const char *command, const char *option, const char *text, uint64_t *ret_bytes);

/* Parses the `optarg` of --whole: the size of the largest trace that is shown as a whole. */
bool cli_parse_whole(const char *command, uint64_t *ret_bytes);

/* Parses a rate in Hz: digits, perhaps with a fraction, and k, M or G (powers of 1000). */
bool cli_parse_hz(const char *command, const char *option, const char *text, uint64_t *ret_hz);

/* Parses a theme's name. */
bool cli_parse_theme(const char *command, const char *name, enum weft_theme *ret_theme);

/* Reads the kernel's "boot_id", or "uuid", a new random one. False leaves zeros. */
bool cli_read_uuid(const char *name, uint8_t ret_uuid[16]);

/* Parses a whole number between `least` and `most`. */
bool cli_parse_number(const char *command, const char *option, const char *text, uint64_t least,
	uint64_t most, uint64_t *ret_number);

/* Converts a time to the trace's clock, given the time of its first event; stops at the clock's
 * end. */
uint64_t cli_time_on_clock(struct cli_time time, uint64_t start_ns);

/* A FILE argument, opened. */
struct cli_trace {
	const char *name; /* as typed, "standard input", or "FILE and 3 more" */
	char *own_name;   /* the same if it was composed; or NULL */
	struct weft_input *input;
	struct weft_decoder *decoder; /* the input's: ready for next */
};

/* Builds a model of all events, or of those that cli_trace_read_only() asked for, with progress. 0
 * or an error of the library. */
int cli_trace_build_model(const struct cli_trace *trace, struct weft_model **ret_model);
/* The same without what tasks did: see weft_decoder_build_summary(). */
int cli_trace_build_summary(const struct cli_trace *trace, struct weft_model **ret_model);

/* Sets the limit for the content of a compressed FILE, as --max-size does; 0: the default of
 * weft_source_open(). */
void cli_trace_limit(uint64_t max_bytes);
uint64_t cli_trace_max_bytes(void);

/* Sets the rate of a trace's cycles, as --cpu-hz does; 0: the trace's own. */
void cli_trace_set_hz(uint64_t hz);
uint64_t cli_trace_hz(void);

/* Leaves the clocks of several hosts as they are, as --no-align does. */
void cli_trace_leave_clocks(void);
bool cli_trace_aligns(void);

/* Sets the range that is read, with the time before it that --past gives; UINT64_MAX: up to the
 * trace's end. Without --past, all of a trace is read. */
void cli_trace_read_only(struct cli_time start, uint64_t duration_ns);
/* True if only a range is read. */
bool cli_trace_has_range(void);

/* Opens a trace. CLI_DONE, or CLI_UNREADABLE after a message. */
int cli_trace_open(const char *path, struct cli_trace *ret_trace);
/* Opens all operands as one trace; a directory stands for the traces in it. Messages name files
 * that cannot be read or do not fit to the others. */
int cli_trace_open_all(char **operands, int count, struct cli_trace *ret_trace);

/* The same; but if the named files are of different boots, or do not say of which one, prints
 * nothing and sets *ret_unrelated. */
int cli_trace_open_fitting(
	char **operands, int count, bool *ret_unrelated, struct cli_trace *ret_trace);
/* Says which files of an input were left out and why, and how the clocks of its hosts compare. */
void cli_trace_report_files(const struct weft_input *input);
/* Opens the trace of an open file, which stays the caller's; `name` is for messages. */
int cli_trace_open_descriptor(int fd, const char *name, struct cli_trace *ret_trace);
void cli_trace_close(struct cli_trace *trace);

/* Calls `take` for each diagnostic; `file` is NULL if the trace is one file. */
typedef void cli_diagnostic_function(
	void *context, const char *file, const struct weft_diagnostic *diagnostic);
void cli_trace_each_diagnostic(
	const struct cli_trace *trace, cli_diagnostic_function *take, void *context);

/* Prints a line for each diagnostic to standard error: `FILE: offset 0x…: message (×n)`. */
void cli_trace_report(const struct cli_trace *trace);

/* Prints a message for an error of the decoder or the model; `errno` says more for
 * WEFT_ERROR_SYSTEM. Returns the exit status. */
int cli_trace_explain(const char *name, int error);
/* The same. */
int cli_trace_fail(const struct cli_trace *trace, int error);

/* The name of a buffer's category with that number; "*" for all. */
const char *cli_category_name(
	const struct weft_trace_description *trace, uint32_t buffer, unsigned number);

/* Parses "17", or "2/17" for task 17 of buffer 2, with "task:" before it or not; `what` is for the
 * message. A buffer that is not given is WEFT_NONE. */
bool cli_parse_task(const char *command, const char *option, const char *text, uint32_t *ret_buffer,
	weft_task_id *ret_id);
/* Finds the task; if no buffer is given, in the first buffer that has it. */
uint32_t cli_find_task(const struct weft_model *model, uint32_t buffer, weft_task_id id);

/* Finds a task by "ID", "BUFFER/ID" or "task:ID". WEFT_NONE: there is none. */
uint32_t cli_find_task_by_id(const struct weft_model *model, const char *text);

/* Finds a task by its id or label, or by the begin or a part of its label if only one label has
 * that: the first with that label, and how many there are. WEFT_NONE after a message: there is
 * none, or there are several labels. */
uint32_t cli_find_task_named(
	const char *trace, const struct weft_model *model, const char *text, uint32_t *ret_count);

/* Call before long work: shows progress if standard error is a terminal and standard output, which
 * the lines would disturb, is not. Ctrl-C then ends the work and keeps what is done. */
void cli_progress_start(void);
/* Progress of work on a trace that was read. Ctrl-C cancels the work, unless it already ended the
 * reading. */
struct weft_progress cli_progress_of(const struct cli_trace *trace);
/* The same while events are read. */
bool cli_progress_read(uint64_t events, double part);
/* Called now and then; false if the work should stop. */
bool cli_progress_step(uint64_t events);
/* Begins again after a Ctrl-C that stopped one piece of the work only. */
void cli_progress_resume(void);
void cli_progress_end(void);

/* Call after the output is written: if Ctrl-C ended the work, ends this process by that signal, so
 * that the parent sees it. */
void cli_progress_die_if_interrupted(void);

/* Writes `text` to standard output, and empties it. False on failure: cli_close_output reports why.
 */
bool cli_write(struct weft_text *text);

/* Append what stands before a value, such as ",\"pid\":", and the value. */
void cli_add_number(struct weft_text *text, const char *before, uint64_t number);
void cli_add_json(struct weft_text *text, const char *before, const char *string);
/* The id of a task of the model; null for WEFT_NONE. */
void cli_add_task(
	struct weft_text *text, const char *before, const struct weft_model *model, uint32_t task);
/* An object with the number of lost events by cause. */
void cli_add_losses(
	struct weft_text *text, const char *before, const uint64_t losses[WEFT_LOSS_CAUSES]);

/* Appends the members "categories" and "changes" of an object, with the buffer if there are
 * several. */
void cli_add_levels(struct weft_text *text, const struct weft_trace_description *trace);
const char *cli_level_name(unsigned level);

/* Appends seconds with nine decimals; before the point they have that many columns or more. */
void cli_add_seconds(struct weft_text *text, int width, uint64_t ns);

/* Flushes and closes standard output and returns `status`; CLI_NO after a message if something
 * could not be written. */
int cli_close_output(int status);

#endif

/* SPDX-License-Identifier: ISC
 *
 * Looks at a process ten times a second, without a stop: a profile of where its threads wait. A
 * thread that waits has the same stack at many looks, so that equal ones are counted; what they
 * mean is found out at the end, or when there are many.
 */
#include "watch.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <weft/text.h>

#include "cli/call_names.h"
#include "cli/cli.h"
#include "outside/outside.h"
#include "outside_words.h"
#include "stacks.h"
#include "watch_trace.h"

enum {
	INTERVAL_NS = 100000000,
	STACKS_MAX = 512,           /* that are counted before they are unwound */
	STACK_BYTES_MAX = 32 << 20, /* of these */
	ROWS_MAX = 100000,
	SHOWN_ROWS = 100,
	SHOWN_FRAMES = 6,
	PER_MILLE = 1000,
};

/* A thread in one call with one stack, as text. */
struct watch_row {
	pid_t tid;
	char name[32];
	char *shown;     /* "futex, in take (FILE:28) ← work" */
	char *collapsed; /* "work;take;[futex]" */
	uint64_t looks;
};

struct watch {
	pid_t pid, alive; /* the process, and its thread whose files can be read */
	char name[32];
	uint64_t looks;
	/* Looks that are not unwound yet. */
	struct weft__outside_thread stacks[STACKS_MAX];
	uint64_t counts[STACKS_MAX];
	uint32_t stack_count;
	size_t stack_bytes;
	uint64_t python_runtime, python_version;
	struct stack_files *files; /* as of the last new stack: the process may end */
	bool has_new;
	uid_t user;
	struct watch_row *rows;
	size_t row_count, row_capacity;
	const char *no_frames;
	bool is_cut;
	struct watch_trace *trace; /* or NULL */
};

static volatile sig_atomic_t is_over;

static void end(int number)
{
	(void)number;
	is_over = 1;
}

/* ---- Rows ---- */

static const char *state_of(const struct weft__outside_thread *thread)
{
	const char *name = thread->kernel.has_call ? cli_call_name(thread->kernel.number) : NULL;
	if (name && thread->kernel.state != 'R')
		return name;
	switch (thread->kernel.state) {
	case 'R':
		return "runs";
	case 'T':
	case 't':
		return "stopped";
	case 'Z':
	case 'X':
		return "ended";
	default:
		return "sleeps";
	}
}

static void describe(
	const struct weft__outside_thread *thread, struct weft_text *shown, struct weft_text *collapsed)
{
	const bool is_script = thread->script_count;
	const struct weft__outside_frame *frames = is_script ? thread->script : thread->frames;
	const uint32_t count = is_script ? thread->script_count : thread->frame_count;
	uint32_t number = 0;
	weft_text_add_string(shown, state_of(thread));
	for (uint32_t i = 0; i < count && number < SHOWN_FRAMES; i++)
		if (is_script || outside_is_own(&frames[i])) {
			weft_text_add_string(shown, number ? " ← " : ", in ");
			outside_add_frame(shown, &frames[i], true);
			number++;
		}
	weft_text_add_shown(collapsed, thread->kernel.name, strlen(thread->kernel.name));
	for (uint32_t i = count; i-- > 0;) {
		weft_text_add_string(collapsed, ";");
		outside_add_frame(collapsed, &frames[i], false);
	}
	weft_text_add_string(collapsed, ";[");
	weft_text_add_string(collapsed, state_of(thread));
	weft_text_add_string(collapsed, "]");
	weft_text_add(shown, "", 1);
	weft_text_add(collapsed, "", 1);
}

static struct watch_row *find_row(
	struct watch *watch, pid_t tid, const char *collapsed, const char *shown)
{
	for (size_t i = 0; i < watch->row_count; i++)
		if (watch->rows[i].tid == tid && strcmp(watch->rows[i].collapsed, collapsed) == 0 &&
			strcmp(watch->rows[i].shown, shown) == 0)
			return &watch->rows[i];
	return NULL;
}

static struct watch_row *add_row(struct watch *watch)
{
	if (watch->row_count == watch->row_capacity) {
		const size_t more = watch->row_capacity ? 2 * watch->row_capacity : 64;
		struct watch_row *rows =
			more <= ROWS_MAX ? realloc(watch->rows, more * sizeof(*rows)) : NULL;
		if (!rows) {
			watch->is_cut = true;
			return NULL;
		}
		watch->rows = rows;
		watch->row_capacity = more;
	}
	return &watch->rows[watch->row_count++];
}

static void count_row(
	struct watch *watch, const struct weft__outside_thread *thread, uint64_t looks)
{
	struct weft_text shown = {0}, collapsed = {0};
	describe(thread, &shown, &collapsed);
	struct watch_row *row = NULL;
	if (!shown.error && !collapsed.error) {
		row = find_row(watch, thread->tid, collapsed.bytes, shown.bytes);
		if (!row && (row = add_row(watch))) {
			*row = (struct watch_row){
				.tid = thread->tid, .shown = shown.bytes, .collapsed = collapsed.bytes};
			memcpy(row->name, thread->kernel.name, sizeof(row->name));
			shown = collapsed = (struct weft_text){0};
		}
	}
	if (row)
		row->looks += looks;
	weft_text_finish(&shown);
	weft_text_finish(&collapsed);
}

/* ---- Looks ---- */

static void free_thread(struct weft__outside_thread *thread)
{
	for (uint32_t i = 0; i < thread->stack_count; i++)
		free(thread->stacks[i].bytes);
	free(thread->frames);
	free(thread->script);
}

/* Finds the frames of the looks so far. */
static void find_frames(struct watch *watch)
{
#if WHY_HAS_STACKS
	struct weft__outside_process process = {.pid = watch->pid,
		.alive = watch->alive,
		.user = watch->user,
		.threads = watch->stacks,
		.count = watch->stack_count};
	watch->no_frames = why_stacks_find(&process, watch->files);
	watch->python_runtime = process.python_runtime;
	watch->python_version = process.python_version;
#else
	watch->no_frames = WHY_NO_STACKS;
#endif
}

static void drop_stacks(struct watch *watch)
{
	for (uint32_t i = 0; i < watch->stack_count; i++)
		free_thread(&watch->stacks[i]);
	watch->stack_count = 0;
	watch->stack_bytes = 0;
}

static void write_trace(struct watch *watch)
{
	struct watch_words words[STACKS_MAX];
	struct weft_text calls[STACKS_MAX] = {{0}};
	for (uint32_t i = 0; i < watch->stack_count; i++) {
		const struct weft__outside_thread *thread = &watch->stacks[i];
		outside_add_calls(&calls[i], thread);
		weft_text_add(&calls[i], "", 1);
		words[i] = (struct watch_words){
			.call = state_of(thread),
			.calls = calls[i].error ? "" : calls[i].bytes,
			.runs = thread->kernel.state == 'R',
		};
	}
	watch_trace_write(watch->trace, words);
	for (uint32_t i = 0; i < watch->stack_count; i++)
		weft_text_finish(&calls[i]);
}

/* Counts the looks so far as rows. */
static void count_rows(struct watch *watch)
{
	if (watch->stack_count)
		find_frames(watch);
	if (watch->trace)
		write_trace(watch);
	for (uint32_t i = 0; i < watch->stack_count; i++)
		count_row(watch, &watch->stacks[i], watch->counts[i]);
	drop_stacks(watch);
}

static bool is_same(const struct weft__outside_thread *a, const struct weft__outside_thread *b)
{
	if (a->tid != b->tid || a->kernel.state != b->kernel.state ||
		a->kernel.has_call != b->kernel.has_call || a->kernel.number != b->kernel.number ||
		a->kernel.code != b->kernel.code || a->stack_count != b->stack_count ||
		a->script_count != b->script_count)
		return false;
	for (uint32_t i = 0; i < a->script_count; i++)
		if (a->script[i].code != b->script[i].code || a->script[i].line != b->script[i].line)
			return false;
	/* Python's frames are known; the stack below them does not matter. */
	return a->script_count || !a->stack_count ||
		   (a->kernel.stack == b->kernel.stack && a->stacks[0].size == b->stacks[0].size &&
			   memcmp(a->stacks[0].bytes, b->stacks[0].bytes, a->stacks[0].size) == 0);
}

/* Finds or adds the stack of a look at a thread; takes the thread's memory. */
static uint32_t find_stack(struct watch *watch, struct weft__outside_thread *thread)
{
	for (uint32_t i = 0; i < watch->stack_count; i++)
		if (is_same(&watch->stacks[i], thread)) {
			free_thread(thread);
			return i;
		}
	if (watch->stack_count == STACKS_MAX || watch->stack_bytes > STACK_BYTES_MAX)
		count_rows(watch);
	watch->has_new = true;
	watch->stack_bytes += thread->stack_count ? thread->stacks[0].size : 0;
	watch->counts[watch->stack_count] = 0;
	watch->stacks[watch->stack_count] = *thread;
	return watch->stack_count++;
}

/* Counts a look at a process; takes the memory of its threads. */
static void count(struct watch *watch, struct weft__outside_process *process)
{
	if (watch->trace)
		watch_trace_begin_look(watch->trace);
	for (uint32_t i = 0; i < process->count; i++) {
		const uint32_t stack = find_stack(watch, &process->threads[i]);
		watch->counts[stack]++;
		if (watch->trace)
			watch_trace_see(watch->trace, &process->threads[i], stack);
	}
	process->count = 0;
	watch->looks++;
	if (watch->trace && watch_trace_end_look(watch->trace))
		count_rows(watch);
}

/* Reads the mappings, if a new stack may be in one that is new. */
static void read_files(struct watch *watch)
{
#if WHY_HAS_STACKS
	struct stack_files *files = watch->has_new ? stack_files_read(watch->alive) : NULL;
	if (files && files->count) {
		free(watch->files);
		watch->files = files;
	} else {
		free(files);
	}
#endif
	watch->has_new = false;
}

/* False if the process has ended. */
static bool look(struct watch *watch)
{
	struct weft__outside_host host = {0};
	struct weft__outside_process *process = weft__outside_look(&host, watch->pid, false);
	const bool is_there = process && !process->has_ended;
	if (is_there) {
		watch->user = process->user;
		watch->alive = process->alive;
		memcpy(watch->name, process->name, sizeof(watch->name));
		if (watch->python_version)
			weft__outside_read_python(process, watch->python_runtime, watch->python_version, false);
		count(watch, process);
		read_files(watch);
	}
	weft__outside_finish(&host);
	return is_there;
}

/* ---- The answer ---- */

static int compare_rows(const void *a, const void *b)
{
	const struct watch_row *x = a, *y = b;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->looks != y->looks)
		return x->looks > y->looks ? -1 : 1;
	return strcmp(x->shown, y->shown);
}

static void add_percent(struct weft_text *text, uint64_t part, uint64_t all)
{
	const uint64_t tenths = (part * PER_MILLE + all / 2) / all;
	char cell[32];
	snprintf(cell, sizeof(cell), "  %3" PRIu64 ".%" PRIu64 " %%  ", tenths / 10, tenths % 10);
	weft_text_add_string(text, cell);
}

static void add_table(const struct watch *watch, struct weft_text *text)
{
	pid_t tid = 0;
	weft_text_add_shown(text, watch->name, strlen(watch->name));
	weft_text_add_string(text, " ");
	weft_text_add_i64(text, watch->pid);
	weft_text_add_string(text, ": ");
	weft_text_add_u64(text, watch->looks);
	weft_text_add_string(text, " looks\n");
	for (size_t i = 0; i < watch->row_count && i < SHOWN_ROWS; i++) {
		const struct watch_row *row = &watch->rows[i];
		if (row->tid != tid) {
			weft_text_add_string(text, "thread ");
			weft_text_add_i64(text, row->tid);
			weft_text_add_string(text, " '");
			weft_text_add_shown(text, row->name, strlen(row->name));
			weft_text_add_string(text, "'\n");
		}
		tid = row->tid;
		add_percent(text, row->looks, watch->looks);
		weft_text_add_string(text, row->shown);
		weft_text_add_string(text, "\n");
	}
	if (watch->row_count > SHOWN_ROWS) {
		weft_text_add_string(text, "and ");
		weft_text_add_u64(text, watch->row_count - SHOWN_ROWS);
		weft_text_add_string(text, " more\n");
	}
}

static void add_rows(const struct watch *watch, bool json, struct weft_text *text)
{
	for (size_t i = 0; i < watch->row_count; i++) {
		const struct watch_row *row = &watch->rows[i];
		if (json) {
			cli_add_number(text, "{\"pid\":", (uint64_t)watch->pid);
			cli_add_number(text, ",\"tid\":", (uint64_t)row->tid);
			cli_add_json(text, ",\"name\":", row->name);
			cli_add_number(text, ",\"looks\":", row->looks);
			cli_add_number(text, ",\"of\":", watch->looks);
			cli_add_json(text, ",\"sentence\":", row->shown);
			weft_text_add_string(text, "}\n");
		} else {
			weft_text_add_string(text, row->collapsed);
			weft_text_add_string(text, " ");
			weft_text_add_u64(text, row->looks);
			weft_text_add_string(text, "\n");
		}
	}
}

/* False after a message. */
static bool watch_until_end(struct watch *watch, const char *output)
{
	struct timespec next;
	/* The first look only shows whether this is Python, whose frames the others then have. */
	if (!look(watch)) {
		cli_error("there is no process %d", (int)watch->pid);
		return false;
	}
	find_frames(watch);
	drop_stacks(watch);
	watch->looks = 0;
	if (output && !(watch->trace = watch_trace_open(output, watch->pid)))
		return false;
	clock_gettime(CLOCK_MONOTONIC, &next);
	while (!is_over && look(watch)) {
		next.tv_nsec += INTERVAL_NS;
		next.tv_sec += next.tv_nsec / 1000000000;
		next.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
	}
	count_rows(watch);
	return true;
}

static bool write_answer(struct watch *watch, enum why_watch_form form)
{
	struct weft_text text = {0};
	if (watch->row_count)
		qsort(watch->rows, watch->row_count, sizeof(*watch->rows), compare_rows);
	if (form == WHY_WATCH_TABLE)
		add_table(watch, &text);
	else
		add_rows(watch, form == WHY_WATCH_JSON, &text);
	const bool is_written = cli_write(&text);
	weft_text_finish(&text);
	return is_written;
}

static void destroy(struct watch *watch)
{
	drop_stacks(watch);
	for (size_t i = 0; i < watch->row_count; i++) {
		free(watch->rows[i].shown);
		free(watch->rows[i].collapsed);
	}
	free(watch->rows);
	free(watch->files);
	free(watch);
}

int why_watch(pid_t pid, enum why_watch_form form, const char *output)
{
	const struct sigaction action = {.sa_handler = end, .sa_flags = (int)SA_RESETHAND};
	struct watch *watch = calloc(1, sizeof(*watch));
	if (!watch)
		return CLI_NO;
	watch->pid = pid;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (!watch_until_end(watch, output)) {
		const int status = watch->name[0] ? CLI_NO : CLI_UNREADABLE;
		destroy(watch);
		return status;
	}
	if (watch->no_frames)
		cli_error("the rows have no functions: %s", watch->no_frames);
	if (watch->is_cut)
		cli_error("there are more rows than %d: the others are not counted", ROWS_MAX);
	const bool is_written = watch->trace ? watch_trace_close(watch->trace, watch->name, !is_over)
										 : write_answer(watch, form);
	destroy(watch);
	return is_written ? CLI_DONE : CLI_NO;
}

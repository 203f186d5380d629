/* SPDX-License-Identifier: ISC
 *
 * Looks at a process ten times a second, without a stop: a profile of where its threads wait. A
 * thread that waits has the same stack at many looks, so that equal ones are counted; what they
 * mean is found out at the end, or when there are many. In a trace that is followed meanwhile, it
 * is found out as soon as that takes no more than a tenth of the time.
 */
#include "watch.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <weft/text.h>

#include "cli/cli.h"
#include "outside/outside.h"
#include "outside_words.h"
#include "stacks.h"
#include "watch_rows.h"
#include "watch_trace.h"

enum {
	INTERVAL_NS = 100000000,
	UNWIND_NS = 500000000, /* from one search for frames to the next in a trace that is followed */
	UNWIND_SHARE = 10,     /* or so many times its cost */
	STACKS_MAX = 512,      /* that are counted before they are unwound */
	STACK_BYTES_MAX = 32 << 20, /* of these */
};

struct watch {
	pid_t pid, alive; /* the process, and its thread whose files can be read */
	char name[32];
	uint64_t looks;
	/* Looks that are not unwound yet. */
	struct weft__outside_thread stacks[STACKS_MAX];
	uint64_t counts[STACKS_MAX];
	struct weft_text calls[STACKS_MAX]; /* their functions, for a trace */
	uint32_t stack_count, found_count;  /* found_count: the frames of the first ones are known */
	uint64_t found_ns;                  /* when frames are to be searched again */
	size_t stack_bytes;
	uint64_t python_runtime, python_version;
	struct stack_files *files; /* as of the last new stack: the process may end */
	bool has_new;
	uid_t user;
	struct watch_rows rows;
	const char *no_frames;
	bool is_denied;            /* nothing is known of its threads */
	struct watch_trace *trace; /* or NULL */
	int caller;    /* the socket to those that follow the trace; -1: it is not followed */
	bool is_shown; /* they have been told that it can be opened */
};

static volatile sig_atomic_t is_over;

static void end(int number)
{
	(void)number;
	is_over = 1;
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
	if (watch->found_count == watch->stack_count)
		return;
#if WHY_HAS_STACKS
	struct weft__outside_process process = {.pid = watch->pid,
		.alive = watch->alive,
		.user = watch->user,
		.threads = watch->stacks + watch->found_count,
		.count = watch->stack_count - watch->found_count};
	watch->no_frames = why_stacks_find(&process, watch->files);
	watch->python_runtime = process.python_runtime;
	watch->python_version = process.python_version;
#else
	watch->no_frames = WHY_NO_STACKS;
#endif
	for (; watch->found_count < watch->stack_count; watch->found_count++) {
		struct weft_text *calls = &watch->calls[watch->found_count];
		outside_add_calls(calls, &watch->stacks[watch->found_count]);
		weft_text_add(calls, "", 1);
	}
}

static void drop_stacks(struct watch *watch)
{
	for (uint32_t i = 0; i < watch->stack_count; i++) {
		free_thread(&watch->stacks[i]);
		weft_text_finish(&watch->calls[i]);
		watch->calls[i] = (struct weft_text){0};
	}
	if (watch->trace)
		watch_trace_drop_stacks(watch->trace);
	watch->stack_count = watch->found_count = 0;
	watch->stack_bytes = 0;
}

static void write_trace(struct watch *watch)
{
	struct watch_words words[STACKS_MAX];
	for (uint32_t i = 0; i < watch->stack_count; i++) {
		const struct weft__outside_thread *thread = &watch->stacks[i];
		words[i] = (struct watch_words){
			.call = watch_rows_state(thread),
			.calls = watch->calls[i].error ? "" : watch->calls[i].bytes,
			.runs = thread->kernel.state == 'R',
		};
	}
	watch_trace_write(watch->trace, words);
}

/* Writes the looks so far as events, or counts them as rows. */
static void use_looks(struct watch *watch)
{
	find_frames(watch);
	if (watch->trace)
		write_trace(watch);
	for (uint32_t i = 0; i < watch->stack_count && !watch->trace; i++)
		watch_rows_count(&watch->rows, &watch->stacks[i], watch->counts[i]);
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
		use_looks(watch);
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
		use_looks(watch);
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

/* Says what the kernel does not show of the process. */
static void report_limits(struct watch *watch, const struct weft__outside_process *process)
{
	struct weft_text text = {0};
	outside_add_limits(&text, process);
	weft_text_add(&text, "", 1);
	if (!text.error && text.bytes[0])
		cli_error("%s %d: %s", process->name, (int)process->pid, text.bytes);
	weft_text_finish(&text);
	watch->is_denied = process->denied == process->count;
}

/* False if the process has ended. */
static bool look(struct watch *watch)
{
	struct weft__outside_host host = {0};
	struct weft__outside_process *process = weft__outside_look(&host, watch->pid, false);
	const bool is_there = process && !process->has_ended;
	if (is_there) {
		if (!watch->alive)
			report_limits(watch, process);
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

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void report_no_frames(const struct watch *watch)
{
	if (watch->no_frames && !watch->is_denied)
		cli_error("there are no functions: %s", watch->no_frames);
}

/* Tells those that follow the trace, the first time, that it can be opened. */
static void show(struct watch *watch)
{
	if (watch->is_shown)
		return;
	report_no_frames(watch);
	watch->is_shown = watch->caller < 0 || send(watch->caller, "", 1, MSG_NOSIGNAL) == 1;
}

/* Writes the looks so far for those that follow the trace. False: it cannot be written. */
static bool write_live(struct watch *watch)
{
	if (watch->found_count < watch->stack_count) {
		const uint64_t start = now_ns();
		if (start < watch->found_ns)
			return true;
		find_frames(watch);
		const uint64_t end = now_ns(), pause = UNWIND_SHARE * (end - start);
		watch->found_ns = end + (pause > UNWIND_NS ? pause : UNWIND_NS);
	}
	write_trace(watch);
	if (!watch_trace_flush(watch->trace))
		return false;
	show(watch);
	return true;
}

/* Waits for the time of the next look. */
static void wait_until(const struct watch *watch, uint64_t time_ns)
{
	struct pollfd caller = {.fd = watch->caller, .events = POLLIN};
	const uint64_t now = now_ns(), left = time_ns > now ? time_ns - now : 0;
	const struct timespec timeout = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
	if (ppoll(&caller, 1, &timeout, NULL) > 0)
		is_over = 1;
}

static void look_until_end(struct watch *watch)
{
	for (uint64_t next = now_ns(); !is_over && look(watch);) {
		if (watch->caller >= 0 && !write_live(watch))
			return;
		const uint64_t now = now_ns();
		next = next + INTERVAL_NS > now ? next + INTERVAL_NS : now;
		wait_until(watch, next);
	}
}

/* False after a message. */
static bool watch_until_end(struct watch *watch, const char *output)
{
	/* The first look only shows whether this is Python, whose frames the others then have. */
	if (!look(watch)) {
		cli_error("there is no process %d", (int)watch->pid);
		return false;
	}
	if (watch->caller >= 0 && watch->is_denied)
		return false;
	find_frames(watch);
	drop_stacks(watch);
	watch->looks = 0;
	if (output &&
		!(watch->trace = watch_trace_open(output, watch->pid, watch->name, watch->caller >= 0)))
		return false;
	look_until_end(watch);
	use_looks(watch);
	return true;
}

static void destroy(struct watch *watch)
{
	drop_stacks(watch);
	watch_rows_finish(&watch->rows);
	free(watch->files);
	free(watch);
}

/* Returns an exit status. */
static int finish(struct watch *watch, bool good, enum why_watch_form form)
{
	const struct watch_about about = {watch->name, watch->pid, watch->looks};
	int status = good ? CLI_DONE : watch->name[0] && !watch->is_denied ? CLI_NO : CLI_UNREADABLE;
	if (watch->trace)
		good = watch_trace_close(watch->trace, !is_over);
	else if (good)
		good = watch_rows_write(&watch->rows, &about, form);
	watch->trace = NULL;
	if (status == CLI_DONE && good)
		show(watch);
	destroy(watch);
	return status == CLI_DONE && !good ? CLI_NO : status;
}

static struct watch *create(pid_t pid, int caller)
{
	struct watch *watch = calloc(1, sizeof(*watch));
	if (watch) {
		watch->pid = pid;
		watch->caller = caller;
	}
	return watch;
}

static void catch_signal(int number)
{
	const struct sigaction action = {.sa_handler = end, .sa_flags = (int)SA_RESETHAND};
	sigaction(number, &action, NULL);
}

int why_watch(pid_t pid, enum why_watch_form form, const char *output)
{
	struct watch *watch = create(pid, -1);
	if (!watch)
		return CLI_NO;
	catch_signal(SIGINT);
	catch_signal(SIGTERM);
	return finish(watch, watch_until_end(watch, output), form);
}

int why_watch_live(pid_t pid, const char *output, int caller)
{
	struct watch *watch = create(pid, caller);
	if (!watch)
		return CLI_NO;
	catch_signal(SIGTERM);
	return finish(watch, watch_until_end(watch, output), WHY_WATCH_TABLE);
}

/* SPDX-License-Identifier: ISC
 *
 * See watch_trace.h. A thread is noted when it does something else than at the look before: it has
 * another stack, or has run meanwhile, so that it waits a second time. Stacks get their words
 * later, so that these changes are kept until then.
 */
#include "watch_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <weft/cut.h>

#include "cli/cli.h"
#include "cli/output.h"

enum {
	THREADS_MAX = 65536,
	CHANGES_MAX = 2 * THREADS_MAX, /* that are kept before they are written; one look has half */
	CALLS_MAX = 512,
	CALL_BYTES = 32,
};

#define NO_STACK   UINT32_MAX
#define FIRST_CALL ((uint64_t)THREADS_MAX) /* the first call's task; those of threads are lower */

/* A thread began to do something. */
struct change {
	uint64_t time_ns;
	uint32_t thread;   /* its index */
	uint32_t stack;    /* NO_STACK: it has ended */
	bool is_same_wait; /* if it has the words of before */
};

struct seen_thread {
	pid_t tid;
	uint32_t stack;
	uint64_t switches, look; /* at that look */
	bool has_ended;
	/* As far as is written. */
	bool is_alive, runs;
	uint64_t call; /* the task for which it waits */
	char *calls;
};

struct watch_trace {
	struct cli_output output;
	struct weft_cut *cut;
	int error;
	uint64_t look, time_ns;
	uint64_t first_ns;   /* time of the first look */
	bool is_cut;         /* there were too many threads */
	uint64_t written_ns; /* the last event's */
	struct change changes[CHANGES_MAX];
	size_t change_count;
	struct seen_thread threads[THREADS_MAX];
	struct weft_trace_thread described[THREADS_MAX];
	char names[THREADS_MAX][32];
	char calls[CALLS_MAX][CALL_BYTES];
	uint32_t call_count;
	char host[65];
	struct weft_trace_buffer buffer;
	struct weft_trace_description description;
};

static uint64_t now(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static int append(void *output, const void *bytes, size_t size)
{
	return cli_output_append(output, bytes, size) ? 0 : WEFT_ERROR_SYSTEM;
}

static void destroy(struct watch_trace *trace)
{
	for (uint32_t i = 0; i < trace->description.thread_count; i++)
		free(trace->threads[i].calls);
	weft_cut_destroy(trace->cut);
	free(trace);
}

static bool open_output(const char *path, bool is_live, struct cli_output *ret_output)
{
	if (!is_live)
		return cli_output_open(path, ret_output);
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	*ret_output = (struct cli_output){.path = path, .file = fd >= 0 ? fdopen(fd, "wb") : NULL};
	if (!ret_output->file)
		cli_error("%s: %s", path, strerror(errno));
	return ret_output->file;
}

struct watch_trace *watch_trace_open(const char *path, pid_t pid, const char *process, bool is_live)
{
	const struct weft_cut_range range = {0, UINT64_MAX, 0};
	char source[64];
	/* Most of it is not touched. */
	struct watch_trace *trace = calloc(1, sizeof(*trace));
	if (!trace) {
		cli_error("%s", weft_error_text(WEFT_ERROR_MEMORY));
		return NULL;
	}
	snprintf(source, sizeof(source), "weft why --watch %d", (int)pid);
	trace->first_ns = trace->time_ns = now(CLOCK_MONOTONIC);
	trace->buffer = (struct weft_trace_buffer){.process = process,
		.host = trace->host,
		.file = "",
		.pid = (uint64_t)pid,
		.ending = WEFT_ENDING_RUNNING};
	/* Each trace has its own number, and the same number of the boot. */
	(void)cli_read_uuid("boot_id", trace->buffer.boot_id);
	(void)cli_read_uuid("uuid", trace->buffer.uuid);
	(void)gethostname(trace->host, sizeof(trace->host) - 1);
	trace->description = (struct weft_trace_description){
		.format = "weft",
		.clock = {.name = "monotonic",
			.epoch = WEFT_EPOCH_MONOTONIC,
			.hz = 1000000000,
			.offset_ns = (int64_t)(now(CLOCK_REALTIME) - trace->first_ns)},
		.threads = trace->described,
		.buffer_count = 1,
		.buffers = &trace->buffer,
	};
	const struct weft_cut_sink sink = {append, &trace->output};
	trace->error = weft_cut_create(&range, source, &sink, &trace->cut);
	if (trace->error)
		cli_error("%s", weft_error_text(trace->error));
	if (trace->error || !open_output(path, is_live, &trace->output)) {
		destroy(trace);
		return NULL;
	}
	return trace;
}

/* ---- Looks ---- */

void watch_trace_begin_look(struct watch_trace *trace)
{
	trace->time_ns = now(CLOCK_MONOTONIC);
	if (!trace->look++)
		trace->first_ns = trace->time_ns;
}

static void add_change(
	struct watch_trace *trace, uint32_t thread, uint32_t stack, bool is_same_wait)
{
	trace->changes[trace->change_count++] =
		(struct change){trace->time_ns, thread, stack, is_same_wait};
}

/* Finds or adds a thread. The number of one that has ended may be used again. NULL: too many. */
static struct seen_thread *find_thread(
	struct watch_trace *trace, const struct weft__outside_thread *thread)
{
	const uint32_t count = trace->description.thread_count;
	for (uint32_t i = 0; i < count; i++)
		if (trace->threads[i].tid == thread->tid && !trace->threads[i].has_ended)
			return &trace->threads[i];
	trace->is_cut |= count == THREADS_MAX;
	if (count == THREADS_MAX)
		return NULL;
	snprintf(trace->names[count], sizeof(trace->names[count]), "%s", thread->kernel.name);
	trace->described[count] = (struct weft_trace_thread){
		.name = trace->names[count], .tid = (uint64_t)thread->tid, .number = count + 1};
	trace->threads[count] = (struct seen_thread){.tid = thread->tid, .stack = NO_STACK};
	trace->description.thread_count++;
	return &trace->threads[count];
}

void watch_trace_see(
	struct watch_trace *trace, const struct weft__outside_thread *thread, uint32_t stack)
{
	/* A main thread that has ended stays as a zombie while others run. */
	const bool has_ended = thread->kernel.state == 'Z' || thread->kernel.state == 'X';
	struct seen_thread *seen = has_ended ? NULL : find_thread(trace, thread);
	/* The list of threads changes while it is read, and may have one twice. */
	if (!seen || seen->look == trace->look)
		return;
	const bool has_stayed = seen->switches == thread->switches;
	if (seen->stack != stack || !has_stayed)
		add_change(trace, (uint32_t)(seen - trace->threads), stack, has_stayed);
	seen->stack = stack;
	seen->switches = thread->switches;
	seen->look = trace->look;
}

bool watch_trace_end_look(struct watch_trace *trace)
{
	for (uint32_t i = 0; i < trace->description.thread_count; i++) {
		struct seen_thread *seen = &trace->threads[i];
		if (seen->look == trace->look || seen->has_ended)
			continue;
		seen->has_ended = true;
		add_change(trace, i, NO_STACK, false);
	}
	return trace->change_count > CHANGES_MAX - THREADS_MAX;
}

/* ---- Events ---- */

static void add(struct watch_trace *trace, const struct change *change, struct weft_event event)
{
	if (trace->written_ns < change->time_ns)
		trace->written_ns = change->time_ns;
	event.time_ns = event.ticks = trace->written_ns;
	event.thread = change->thread;
	if (!trace->error)
		trace->error = weft_cut_add(trace->cut, &event, &trace->description);
}

static struct weft_slice slice(const char *text)
{
	return (struct weft_slice){text, strlen(text)};
}

static void add_alive(struct watch_trace *trace, const struct change *change, uint64_t task,
	const char *kind, const char *label)
{
	/* A thread that is new at a look has begun since the one before. */
	const bool is_new = task < FIRST_CALL && change->time_ns > trace->first_ns;
	add(trace, change,
		(struct weft_event){.type = WEFT_EVENT_ALIVE,
			.task = task,
			.other = WEFT_TASK_NONE,
			.kind = WEFT_KIND_UNKNOWN,
			.kind_name = slice(kind),
			.text = slice(label),
			.has_value = is_new,
			.is_rundown = true});
}

static void run(struct watch_trace *trace, const struct change *change, uint64_t task)
{
	add(trace, change, (struct weft_event){.type = WEFT_EVENT_SWITCH, .task = task});
}

/* The task for a call; WEFT_TASK_NONE: there are too many. */
static uint64_t call_task(struct watch_trace *trace, const struct change *change, const char *name)
{
	uint32_t i = 0;
	while (i < trace->call_count && strcmp(trace->calls[i], name) != 0)
		i++;
	if (i == CALLS_MAX)
		return WEFT_TASK_NONE;
	if (i == trace->call_count) {
		snprintf(trace->calls[i], CALL_BYTES, "%.*s", CALL_BYTES - 1, name);
		trace->call_count++;
		add_alive(trace, change, FIRST_CALL + i, trace->calls[i], trace->calls[i]);
	}
	return FIRST_CALL + i;
}

static void begin_wait(
	struct watch_trace *trace, const struct change *change, const struct watch_words *words)
{
	struct seen_thread *seen = &trace->threads[change->thread];
	const uint64_t task = change->thread, call = call_task(trace, change, words->call);
	if (!seen->runs && call == seen->call && change->is_same_wait && seen->calls &&
		strcmp(seen->calls, words->calls) == 0)
		return;
	/* It has run meanwhile, which an activation of no length would not show. */
	if (!seen->runs) {
		run(trace, change, task);
		trace->written_ns++;
	}
	if (words->calls[0])
		add(trace, change,
			(struct weft_event){
				.type = WEFT_EVENT_STACK, .task = task, .text = slice(words->calls)});
	if (call != WEFT_TASK_NONE)
		add(trace, change,
			(struct weft_event){.type = WEFT_EVENT_TRY_READ, .task = task, .other = call});
	run(trace, change, WEFT_TASK_NONE);
	free(seen->calls);
	seen->calls = strdup(words->calls);
	seen->call = call;
	seen->runs = false;
}

static void write_change(
	struct watch_trace *trace, const struct change *change, const struct watch_words *words)
{
	struct seen_thread *seen = &trace->threads[change->thread];
	const uint64_t task = change->thread;
	if (!seen->is_alive)
		add_alive(trace, change, task, "thread", trace->names[change->thread]);
	seen->is_alive = true;
	if (change->stack == NO_STACK) {
		add(trace, change,
			(struct weft_event){.type = WEFT_EVENT_RESOLVE, .task = task, .other = task});
	} else if (!words[change->stack].runs) {
		begin_wait(trace, change, &words[change->stack]);
	} else if (!seen->runs) {
		run(trace, change, task);
		seen->runs = true;
	}
}

void watch_trace_write(struct watch_trace *trace, const struct watch_words *words)
{
	for (size_t i = 0; i < trace->change_count; i++)
		write_change(trace, &trace->changes[i], words);
	trace->change_count = 0;
}

void watch_trace_drop_stacks(struct watch_trace *trace)
{
	for (uint32_t i = 0; i < trace->description.thread_count; i++)
		trace->threads[i].stack = NO_STACK;
}

bool watch_trace_flush(struct watch_trace *trace)
{
	/* The next look is later. */
	const uint64_t end = trace->written_ns > trace->time_ns ? trace->written_ns : trace->time_ns;
	if (!trace->error)
		trace->error = weft_cut_flush(trace->cut, end + 1, &trace->description);
	if (!trace->error && fflush(trace->output.file) != 0)
		trace->error = WEFT_ERROR_SYSTEM;
	return !trace->error;
}

bool watch_trace_close(struct watch_trace *trace, bool has_ended)
{
	trace->buffer.ending = has_ended ? WEFT_ENDING_EXIT : WEFT_ENDING_RUNNING;
	trace->buffer.end_ns = trace->written_ns > trace->time_ns ? trace->written_ns : trace->time_ns;
	if (!trace->error)
		trace->error = weft_cut_finish(trace->cut, &trace->description);
	if (trace->error) {
		cli_error("%s: %s", trace->output.path, weft_error_text(trace->error));
		cli_output_abandon(&trace->output);
	}
	if (trace->is_cut)
		cli_error("there were more threads than %d: the others are not in the trace", THREADS_MAX);
	const bool is_written = !trace->error && cli_output_commit(&trace->output);
	destroy(trace);
	return is_written;
}

/* SPDX-License-Identifier: ISC
 *
 * Tasks of requests and handles: when they begin, run and end.
 *
 * A task that is ended while its callback runs ends when the callback returns: otherwise the rest
 * of the callback would be nobody's. So each thread remembers the callbacks in which it is.
 */
#include <errno.h>

#define WEFT_CATEGORY always
#include "hooks/callbacks.h"

#define DEPTH 16 /* deeper callbacks are not remembered */

static __thread struct {
	unsigned depth;
	struct {
		uint64_t task;
		struct weft__hooks_end end;
	} runs[DEPTH];
} thread __attribute__((tls_model("initial-exec")));

/* ---- Ends ---- */

struct failed {
	uint64_t task;
	struct weft__hooks_end end;
};

static void fail(void *of)
{
	const struct failed *it = of;
	struct weft__hooks_text text = {0};
	it->end.describe(&text, it->end.status);
	text.bytes[text.size < sizeof(text.bytes) ? text.size : sizeof(text.bytes) - 1] = '\0';
	weft_fail(it->task, text.bytes);
}

static void end_task(uint64_t task, struct weft__hooks_end end)
{
	switch (end.how) {
	case WEFT__HOOKS_GOES_ON:
		break;
	case WEFT__HOOKS_RESOLVED:
		weft_resolve(task);
		break;
	case WEFT__HOOKS_FAILED:
		weft__hooks_aside(fail, &(struct failed){task, end});
		break;
	case WEFT__HOOKS_CANCELLED:
		weft_cancel(task);
		break;
	case WEFT__HOOKS_CLOSED:
		weft_close(task);
		break;
	}
}

/* How the task ends whose callback runs. NULL: it does not run here. */
static struct weft__hooks_end *end_while_running(uint64_t task)
{
	for (unsigned i = thread.depth < DEPTH ? thread.depth : DEPTH; i-- > 0;)
		if (thread.runs[i].task == task)
			return &thread.runs[i].end;
	return NULL;
}

/* ---- Beginnings ---- */

static bool has_task(const struct weft__hooks_subject *subject)
{
	return subject->task != WEFT_TASK_NONE && subject->epoch == weft__hooks_epoch();
}

/* Without a current task, as in the loop, the thread's own task asks. That does not mean that it
 * runs: a library's thread may be about to wait in a way that no hook sees. */
static void make_task(
	const struct weft_category *category, struct weft__hooks_subject *subject, uint16_t kind)
{
	uint64_t creator = weft_current();
	if (creator == WEFT_TASK_NONE) {
		creator = weft__hooks_thread_task();
		if (weft_current() != WEFT_TASK_NONE)
			weft_switch(WEFT_TASK_NONE);
	}
	subject->task = weft__create_in(category, creator, kind);
	subject->epoch = weft__hooks_epoch();
	subject->alive.category = category;
	subject->alive.kind = kind;
	subject->close_end = WEFT__HOOKS_END(WEFT__HOOKS_GOES_ON);
}

struct weft__hooks_subject *weft__hooks_ask_in(const struct weft_category *category,
	const void *request, weft__hooks_callback callback, uint16_t kind)
{
	struct weft__hooks_subject *subject = weft__hooks_subject_put(request);
	if (!subject)
		return NULL;
	subject->callback = callback;
	make_task(category, subject, kind);
	return subject;
}

void weft__hooks_refused(const void *request, struct weft__hooks_end end)
{
	struct weft__hooks_subject *subject = weft__hooks_subject_find(request);
	int saved = weft__hooks_begin();
	if (subject && has_task(subject))
		end_task(subject->task, end);
	weft__hooks_subject_forget(request);
	weft__hooks_end(saved);
}

bool weft__hooks_start_in(const struct weft_category *category, struct weft__hooks_subject *subject,
	weft__hooks_callback callback, uint16_t kind)
{
	subject->callback = callback;
	if (has_task(subject))
		return false;
	make_task(category, subject, kind);
	return true;
}

void weft__hooks_stop(struct weft__hooks_subject *subject, struct weft__hooks_end end)
{
	if (!has_task(subject))
		return;
	struct weft__hooks_end *later = end_while_running(subject->task);
	if (later)
		*later = end;
	else
		end_task(subject->task, end);
	subject->task = WEFT_TASK_NONE;
}

/* A handle that is being closed is stopped already: its task waits for that callback. */
void weft__hooks_cancel(const void *handle)
{
	struct weft__hooks_subject *subject = weft__hooks_subject_find(handle);
	if (!subject || subject->close_end.how != WEFT__HOOKS_GOES_ON)
		return;
	int saved = weft__hooks_begin();
	weft__hooks_stop(subject, WEFT__HOOKS_END(WEFT__HOOKS_CANCELLED));
	weft__hooks_end(saved);
}

void weft__hooks_postpone(uint64_t task, struct weft__hooks_end *ret_end)
{
	struct weft__hooks_end *now = end_while_running(task);
	if (!now || now->how == WEFT__HOOKS_GOES_ON)
		return;
	*ret_end = *now;
	now->how = WEFT__HOOKS_GOES_ON;
}

/* ---- Callbacks ----
 *
 * weft_enter and weft_leave leave errno alone, so these save a call each and set `inside`
 * themselves. */

/* A callback is called by the library, of which nothing else is recorded (weft__hooks_loop_begin).
 */
static struct weft__hooks_run begin_run(const void *address)
{
	return (struct weft__hooks_run){.address = address,
		.task = WEFT_TASK_NONE,
		.epoch = weft__hooks_epoch(),
		.was_inside = weft__hooks_thread.inside};
}

static void enter(struct weft__hooks_run *run, uint64_t task, struct weft__hooks_end end)
{
	run->task = task;
	run->depth = thread.depth++;
	if (run->depth < DEPTH) {
		thread.runs[run->depth].task = task;
		thread.runs[run->depth].end = end;
	}
	weft__hooks_thread.inside = HOOKS_HERE;
	weft_enter(task);
}

struct weft__hooks_run weft__hooks_begin_request(
	const void *request, struct weft__hooks_end end, bool is_recorded)
{
	struct weft__hooks_subject *subject = weft__hooks_subject_find(request);
	struct weft__hooks_run run = begin_run(request);
	if (likely(subject)) {
		run.callback = subject->callback;
		if (is_recorded && has_task(subject))
			enter(&run, subject->task, end);
		weft__hooks_subject_forget(request);
	}
	weft__hooks_thread.inside = 0;
	return run;
}

/* The handle was started before recording was, or before a fork. */
static void make_task_late(
	const struct weft_category *category, struct weft__hooks_subject *subject, const char *word)
{
	int saved = weft__hooks_begin();
	struct weft__hooks_text text = {0};
	make_task(category, subject, WEFT_KIND_TASK);
	weft__hooks_append(&text, word);
	weft__hooks_append_callback(&text, subject->callback);
	weft__hooks_subject_label(subject, &text);
	weft__hooks_end(saved);
}

static inline struct weft__hooks_run begin(const struct weft_category *category, const void *handle,
	const char *word, enum weft__hooks_ending how)
{
	struct weft__hooks_subject *subject = weft__hooks_subject_find(handle);
	struct weft__hooks_run run = begin_run(handle);
	if (likely(subject)) {
		run.callback = subject->callback;
		if (word && unlikely(subject->task == WEFT_TASK_NONE || subject->epoch != run.epoch))
			make_task_late(category, subject, word);
		if (word)
			enter(&run, subject->task, WEFT__HOOKS_END(how));
		if (word && how != WEFT__HOOKS_GOES_ON)
			subject->task = WEFT_TASK_NONE;
	}
	weft__hooks_thread.inside = 0;
	return run;
}

struct weft__hooks_run weft__hooks_begin_handle_in(
	const struct weft_category *category, const void *handle, const char *word)
{
	return begin(category, handle, word, WEFT__HOOKS_GOES_ON);
}

struct weft__hooks_run weft__hooks_begin_last_in(
	const struct weft_category *category, const void *handle, const char *word)
{
	return begin(category, handle, word, WEFT__HOOKS_RESOLVED);
}

void weft__hooks_ends(const struct weft__hooks_run *run, struct weft__hooks_end end)
{
	if (run->task != WEFT_TASK_NONE && run->depth < DEPTH)
		thread.runs[run->depth].end = end;
}

/* The handle may have been freed, and another may have its address: only the table is asked. */
static void end_run(const struct weft__hooks_run *run, struct weft__hooks_end end)
{
	int saved = errno;
	struct weft__hooks_subject *subject = weft__hooks_subject_find(run->address);
	if (subject && subject->task == run->task)
		subject->task = WEFT_TASK_NONE;
	weft_moment_begin();
	end_task(run->task, end);
	weft_leave();
	weft_moment_end();
	errno = saved;
}

void weft__hooks_return(const struct weft__hooks_run *run)
{
	bool is_entered = run->task != WEFT_TASK_NONE;
	weft__hooks_thread.inside = HOOKS_HERE;
	weft__hooks_count_recording();
	if (is_entered)
		thread.depth = run->depth;
	/* A child of a fork in the callback has another epoch, and not its task. */
	if (is_entered && likely(run->epoch == weft__hooks_epoch())) {
		if (run->depth < DEPTH && thread.runs[run->depth].end.how != WEFT__HOOKS_GOES_ON)
			end_run(run, thread.runs[run->depth].end);
		else
			weft_leave();
	}
	weft__hooks_thread.inside = run->was_inside;
}

/* ---- Loops ---- */

struct weft__hooks_loop weft__hooks_loop_begin(void)
{
	int saved = weft__hooks_begin();
	weft__hooks_thread_task();
	struct weft__hooks_loop loop = {
		.caller = weft_current(), .epoch = weft__hooks_epoch(), .depth = thread.depth};
	weft_switch(WEFT_TASK_NONE);
	weft__hooks_end(saved);
	weft__hooks_thread.inside = (uintptr_t)__builtin_dwarf_cfa(); /* where the caller calls from */
	return loop;
}

void weft__hooks_loop_end(const struct weft__hooks_loop *loop)
{
	int saved = weft__hooks_begin();
	thread.depth = loop->depth;
	if (loop->epoch == weft__hooks_epoch())
		weft_switch(loop->caller);
	weft__hooks_end(saved);
}

void weft__hooks_append_callback(struct weft__hooks_text *text, weft__hooks_callback callback)
{
	size_t before = text->size;
	weft__hooks_append(text, " in ");
	if (!callback || !weft__hooks_append_symbol(text, (const void *)callback))
		text->size = before;
}

void weft__hooks_label_callback(struct weft__hooks_subject *subject, weft__hooks_callback callback,
	struct weft__hooks_text *label)
{
	weft__hooks_append_callback(label, callback);
	weft__hooks_subject_label(subject, label);
}

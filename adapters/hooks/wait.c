/* SPDX-License-Identifier: ISC
 *
 * A thread that is blocked in a call: its task waits, and nothing runs on it.
 *
 * If the program records itself, the waiting task may be one of its own. If it has said that the
 * thread is idle, its own loop is waiting, which it has recorded already.
 */
#define WEFT_CATEGORY always
#include "hooks/counts.h"
#include "hooks/hooks.h"
#include "hooks/stack.h"

/* The thread's wait, if it is waiting, and the call. */
static __thread struct weft__hooks_wait present __attribute__((tls_model("initial-exec")));
static __thread struct {
	const char *name;
	uint64_t began_ns;
} present_call __attribute__((tls_model("initial-exec")));

/* A signal handler leaves the wait that it has interrupted by a jump. */
static void leave(void)
{
	int saved = weft__hooks_begin();
	const struct weft__hooks_wait wait = present;
	weft__hooks_wait_ended(&wait);
	weft__hooks_end(saved);
}

static void begin(const struct weft__hooks_wait *wait, const char *call)
{
	present = *wait;
	present_call.name = call;
	present_call.began_ns = weft__hooks_now_ns();
	weft__hooks_waits(leave);
	weft__hooks_set_blocked(wait->waiter, wait->source, wait->is_own);
}

/* A jump has left a hook that was about to let the task go on. */
static void go_on(void)
{
	weft_switch(present.waiter);
	weft__hooks_waits_no_longer();
}

/* False: nothing was recorded, or a jump has left the wait. Until the task goes on, a jump still
 * leaves a thread that is idle. */
static bool end(const struct weft__hooks_wait *wait)
{
	if (wait->waiter == WEFT_TASK_NONE || weft__hooks_thread.leave_wait != leave)
		return false;
	weft__hooks_thread.leave_wait = go_on;
	weft__hooks_set_blocked(WEFT_TASK_NONE, WEFT_TASK_NONE, false);
	weft__hooks_count_blocked(present_call.name, weft__hooks_now_ns() - present_call.began_ns);
	return true;
}

void weft__hooks_wait_begin(
	struct weft__hooks_wait *ret, uint64_t source, bool is_own, const char *call)
{
	weft__hooks_thread_task();
	*ret = (struct weft__hooks_wait){.waiter = weft_current(), .source = source, .is_own = is_own};
	if (ret->waiter == WEFT_TASK_NONE)
		return;
	if (ret->waiter == weft__hooks_main_task())
		weft__hooks_title_waits();
	if (unlikely(weft__hooks_has_to_wait))
		weft__hooks_first_wait();
	const uint64_t stack = weft__hooks_stack_find();
	begin(ret, call);
	weft_moment_begin();
	weft__hooks_stack_record(stack);
	weft_try_read_as(ret->waiter, source);
	weft_switch(WEFT_TASK_NONE);
	weft_moment_end();
}

struct weft__hooks_wait weft__hooks_wait_for(uint64_t source, const char *call)
{
	struct weft__hooks_wait wait;
	weft__hooks_wait_begin(&wait, source, false, call);
	return wait;
}

uint64_t weft__hooks_call_task_in(
	const struct weft_category *category, const struct weft__hooks_text *label, uint16_t kind)
{
	weft__hooks_thread_task();
	if (weft_current() == WEFT_TASK_NONE)
		return WEFT_TASK_NONE;
	uint64_t task = weft__create_in(category, WEFT_TASK_CURRENT, kind);
	weft__hooks_label(task, label);
	return task;
}

struct weft__hooks_wait weft__hooks_wait_outside_in(const struct weft_category *category,
	const struct weft__hooks_text *label, uint16_t kind, const char *call)
{
	struct weft__hooks_wait wait;
	weft__hooks_wait_begin(&wait, weft__hooks_call_task_in(category, label, kind), true, call);
	return wait;
}

static void (*leave_loop)(void);

void weft__hooks_offer_leave_loop(void (*function)(void))
{
	leave_loop = function;
}

void weft__hooks_leave_loop(void)
{
	if (leave_loop)
		leave_loop();
}

/* The thread goes on with the task that waited, unless a signal handler lets another one run. */
void weft__hooks_wait_got(const struct weft__hooks_wait *wait)
{
	if (!end(wait))
		return;
	weft_moment_begin();
	if (wait->is_own)
		weft_resolve_as(WEFT_TASK_NONE, wait->source);
	weft_read_as(wait->waiter, wait->source);
	weft_moment_end();
	weft__hooks_waits_no_longer();
}

void weft__hooks_wait_acquired(const struct weft__hooks_wait *wait)
{
	if (!end(wait))
		return;
	weft_moment_begin();
	weft_acquire_as(wait->waiter, wait->source);
	weft_switch(wait->waiter);
	weft_moment_end();
	weft__hooks_waits_no_longer();
}

void weft__hooks_wait_ended(const struct weft__hooks_wait *wait)
{
	if (!end(wait))
		return;
	weft_moment_begin();
	if (wait->is_own)
		weft_time_out_as(WEFT_TASK_NONE, wait->source);
	weft_switch(wait->waiter);
	weft_moment_end();
	weft__hooks_waits_no_longer();
}

/* SPDX-License-Identifier: ISC
 *
 * Threads: each is a task, made by the task that creates it, named by its function, and read by the
 * one that joins it.
 */
#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include "thread/objects.h"

#include "hooks/python.h"
#include "kernel/call.h"
#include "thread/births.h"
#include "thread/names.h"

/* ---- The new thread ---- */

/* Runs when the function returns, and when the thread exits or is cancelled inside of it. */
static void end_thread(void *argument)
{
	struct weft__thread_birth *birth = argument;
	int saved = weft__hooks_begin();
	if (birth->epoch == weft__hooks_epoch() && !weft__hooks_is_confined()) {
		weft__hooks_thread_task();
		weft_resolve_as(birth->alive.task, birth->alive.task);
		weft__thread_wait_left(weft__hooks_thread_end());
	}
	weft__hooks_end(saved);
	weft__thread_birth_ends(birth);
}

static void begin_thread(struct weft__thread_birth *birth)
{
	int saved = weft__hooks_begin();
	if (weft__hooks_system_begin()) {
		weft__hooks_thread_begin_unnamed(&birth->alive, birth->creators_name);
		weft__hooks_system_end();
	}
	weft__thread_birth_begins(birth);
	weft__hooks_unborn(-1);
	weft__hooks_end(saved);
}

static void *run_thread(void *argument)
{
	struct weft__thread_birth *birth = argument;
	void *result;
	begin_thread(birth);
	pthread_cleanup_push(end_thread, birth);
	result = birth->function(birth->argument);
	pthread_cleanup_pop(1);
	return result;
}

static int run_c11(void *argument)
{
	struct weft__thread_birth *birth = argument;
	int result;
	begin_thread(birth);
	pthread_cleanup_push(end_thread, birth);
	result = birth->c11_function(birth->argument);
	pthread_cleanup_pop(1);
	return result;
}

/* ---- The main thread ---- */

/* Called when the main thread ends before its process does: by pthread_exit, thrd_exit or
 * cancellation. A forked child's only thread is its main one. */
static void end_main(void *unused)
{
	int saved = weft__hooks_begin();
	(void)unused;
	if (weft__hooks_is_this_process() && !weft__hooks_is_confined() &&
		weft__hooks_thread.task == weft__hooks_main_task()) {
		weft__hooks_main_ends();
		weft__thread_wait_left(weft__hooks_thread_end());
	}
	weft__hooks_end(saved);
}

/* After the adapters have begun (110). A value of the thread's own is destroyed at its end, but not
 * at that of the process. Without a free key, the task ends with the process. */
__attribute__((constructor(111))) static void watch_main(void)
{
	static pthread_key_t key;
	if (weft__hooks_main_task() != WEFT_TASK_NONE && pthread_key_create(&key, end_main) == 0)
		pthread_setspecific(key, &key);
}

/* ---- Creating ---- */

struct wanted {
	struct weft__thread_birth *birth;
	const void *function;
	void *argument;
};

static void make_task(void *of)
{
	const struct wanted *wanted = of;
	struct weft__thread_birth *birth = wanted->birth;
	struct weft__hooks_text name = {0};
	if (!weft__hooks_python_thread(&name))
		weft__thread_append_name(&name, wanted->function, wanted->argument);
	weft__hooks_thread_task();
	if (weft__hooks_system_begin()) {
		weft__kernel_thread_name(birth->creators_name);
		weft__hooks_system_end();
	}
	birth->argument = wanted->argument;
	weft__hooks_create_unnamed(&birth->alive, WEFT_TASK_CURRENT, weft_kind("thread"), &name);
	birth->epoch = weft__hooks_epoch();
	weft__hooks_unborn(1);
}

static struct weft__thread_birth *prepare(const void *function, void *argument)
{
	struct wanted wanted = {weft__thread_birth_take(), function, argument};
	if (!wanted.birth)
		return NULL;
	int saved = weft__hooks_begin();
	weft__hooks_aside(make_task, &wanted);
	weft__hooks_end(saved);
	return wanted.birth;
}

static void finish(struct weft__thread_birth *birth, bool is_created)
{
	if (is_created) {
		weft__thread_birth_created(birth);
		return;
	}
	int saved = weft__hooks_begin();
	weft_fail(birth->alive.task, "not created");
	weft__hooks_unborn(-1);
	weft__hooks_end(saved);
	weft__thread_birth_failed(birth);
}

static bool is_detached(const pthread_attr_t *attributes)
{
	int state = PTHREAD_CREATE_JOINABLE;
	return attributes && pthread_attr_getdetachstate(attributes, &state) == 0 &&
		   state == PTHREAD_CREATE_DETACHED;
}

HOOK(pthread_create)
int pthread_create(pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
	void *(*function)(void *), void *restrict argument)
{
	struct weft__thread_birth *birth =
		HOOKS_RECORD ? prepare((const void *)function, argument) : NULL;
	if (!birth)
		return NEXT_VERSION(pthread_create, "GLIBC_2.34")(thread, attributes, function, argument);
	birth->function = function;
	birth->is_detached = is_detached(attributes);
	int error = NEXT_VERSION(pthread_create, "GLIBC_2.34")(thread, attributes, run_thread, birth);
	finish(birth, error == 0);
	return error;
}

HOOK(thrd_create)
int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
	struct weft__thread_birth *birth =
		HOOKS_RECORD ? prepare((const void *)function, argument) : NULL;
	if (!birth)
		return NEXT(thrd_create)(thread, function, argument);
	birth->c11_function = function;
	birth->is_detached = false;
	int result = NEXT(thrd_create)(thread, run_c11, birth);
	finish(birth, result == thrd_success);
	return result;
}

/* ---- Joining ---- */

/* A joining thread may be cancelled in the original: its wait then stays until its task ends.
 * `birth`: NULL if the thread is unknown. */
static struct weft__hooks_wait begin_join(const struct weft__thread_birth *birth, bool is_timed)
{
	struct weft__hooks_wait wait = {.waiter = WEFT_TASK_NONE};
	if (!birth || birth->epoch != weft__hooks_epoch())
		return wait;
	int saved = weft__hooks_begin();
	weft__hooks_leave_loop();
	if (is_timed)
		weft_tag_value_as(birth->alive.task, WEFT_TAG_LIMITED, 1);
	wait = weft__hooks_wait_for(birth->alive.task, "pthread_join");
	weft__hooks_end(saved);
	return wait;
}

/* No thread may be waited for here that has not begun: its joiner then has a limit. */
static struct weft__hooks_wait begin_timed_join(pthread_t thread)
{
	return begin_join(HOOKS_RECORD ? weft__thread_birth_of(thread) : NULL, true);
}

static void end_join(pthread_t thread, const struct weft__hooks_wait *wait, bool is_joined)
{
	int saved = weft__hooks_begin();
	if (is_joined)
		weft__hooks_wait_got(wait);
	else
		weft__hooks_wait_ended(wait);
	weft__hooks_end(saved);
	if (is_joined)
		weft__thread_birth_forget(thread);
}

HOOK(pthread_join)
int pthread_join(pthread_t thread, void **result)
{
	struct weft__hooks_wait wait =
		begin_join(HOOKS_RECORD ? weft__thread_birth_await(thread) : NULL, false);
	int error = NEXT_VERSION(pthread_join, "GLIBC_2.34")(thread, result);
	end_join(thread, &wait, error == 0);
	return error;
}

HOOK(pthread_timedjoin_np)
int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *until)
{
	struct weft__hooks_wait wait = begin_timed_join(thread);
	int error = NEXT_VERSION(pthread_timedjoin_np, "GLIBC_2.34")(thread, result, until);
	end_join(thread, &wait, error == 0);
	return error;
}

HOOK(pthread_clockjoin_np)
int pthread_clockjoin_np(
	pthread_t thread, void **result, clockid_t clock, const struct timespec *until)
{
	struct weft__hooks_wait wait = begin_timed_join(thread);
	int error = NEXT_VERSION(pthread_clockjoin_np, "GLIBC_2.34")(thread, result, clock, until);
	end_join(thread, &wait, error == 0);
	return error;
}

HOOK(pthread_tryjoin_np)
int pthread_tryjoin_np(pthread_t thread, void **result)
{
	int error = NEXT_VERSION(pthread_tryjoin_np, "GLIBC_2.34")(thread, result);
	if (error == 0)
		weft__thread_birth_forget(thread);
	return error;
}

HOOK(thrd_join)
int thrd_join(thrd_t thread, int *result)
{
	struct weft__hooks_wait wait =
		begin_join(HOOKS_RECORD ? weft__thread_birth_await(thread) : NULL, false);
	int status = NEXT(thrd_join)(thread, result);
	end_join(thread, &wait, status == thrd_success);
	return status;
}

HOOK(pthread_detach)
int pthread_detach(pthread_t thread)
{
	int error = NEXT_VERSION(pthread_detach, "GLIBC_2.34")(thread);
	if (error == 0)
		weft__thread_birth_forget(thread);
	return error;
}

HOOK(thrd_detach)
int thrd_detach(thrd_t thread)
{
	int result = NEXT(thrd_detach)(thread);
	if (result == thrd_success)
		weft__thread_birth_forget(thread);
	return result;
}

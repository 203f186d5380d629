/* SPDX-License-Identifier: ISC
 *
 * Locks that are known by the function that waits for them: threads of this process, with frames
 * that are made here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "outside/outside.h"
#include "outside/parts.h"

enum {
	THREADS = 6,
	TID = 1000,
	/* In glibc's struct pthread. */
	SELF = 16,
	NUMBER = 720,
};

static struct weft__outside_thread threads[THREADS];
static uint32_t word;

/* A process whose first thread waits in these functions, from the innermost one on, for `word`. */
static struct weft__outside_process process_in(const char *const *functions, uint32_t count)
{
	memset(threads, 0, sizeof(threads));
	for (uint32_t i = 0; i < THREADS; i++) {
		threads[i].tid = threads[i].inner = (pid_t)(TID + i);
		snprintf(threads[i].kernel.name, sizeof(threads[i].kernel.name), "t%u", (unsigned)i);
	}
	threads[0].kernel.has_call = true;
	threads[0].kernel.arguments[0] = (uintptr_t)&word;
	threads[0].frames = calloc(count, sizeof(*threads[0].frames));
	assert_non_null(threads[0].frames);
	threads[0].frame_count = count;
	for (uint32_t i = 0; i < count; i++)
		snprintf(threads[0].frames[i].function, sizeof(threads[0].frames[i].function), "%s",
			functions[i]);
	return (struct weft__outside_process){
		.pid = getpid(), .alive = getpid(), .threads = threads, .count = 1};
}

static void finish(void)
{
	for (uint32_t i = 0; i < THREADS; i++)
		free(threads[i].frames);
}

/* Adds a thread that is in a function. */
static void add_thread(struct weft__outside_process *process, const char *function)
{
	struct weft__outside_thread *thread = &threads[process->count++];
	thread->frames = calloc(1, sizeof(*thread->frames));
	assert_non_null(thread->frames);
	thread->frame_count = 1;
	snprintf(thread->frames[0].function, sizeof(thread->frames[0].function), "%s", function);
}

#define EXPECT(wanted, kind_of, ...)                                       \
	do {                                                                   \
		const char *const functions[] = {__VA_ARGS__};                     \
		struct weft__outside_process process =                             \
			process_in(functions, sizeof(functions) / sizeof(*functions)); \
		assert_true(weft__outside_resolve_named(&process, &threads[0]));   \
		assert_string_equal(threads[0].about, with_address(wanted));       \
		assert_int_equal(threads[0].kind, kind_of);                        \
		assert_int_equal(threads[0].other_count, 0);                       \
		finish();                                                          \
	} while (0)

static void locks_of_known_programs_are_named(void **state)
{
	const char *const functions[] = {"WaitLatch", "ProcSleep", "LockAcquireExtended"};
	(void)state;
	(void)process_in(functions, 3);
	weft__outside_name_lock(&threads[0]);
	assert_string_equal(threads[0].outcome,
		"ProcSleep is PostgreSQL's wait for a lock, whose holders are those of "
		"pg_blocking_pids(1000)");
	finish();
	(void)process_in((const char *const[]){"ObjectMonitor::EnterI", "ObjectMonitor::wait"}, 2);
	weft__outside_name_lock(&threads[0]);
	assert_string_equal(threads[0].outcome,
		"ObjectMonitor::EnterI is Java's wait for a monitor, whose holder jstack names");
	finish();
	(void)process_in(functions, 1);
	weft__outside_name_lock(&threads[0]);
	assert_string_equal(threads[0].outcome, "");
	finish();
}

/* "*" stands for the address of the word. */
static const char *with_address(const char *wanted)
{
	static char text[256];
	const char *star = strchr(wanted, '*');
	if (star)
		snprintf(text, sizeof(text), "%.*s0x%llx%s", (int)(star - wanted), wanted,
			(unsigned long long)(uintptr_t)&word, star + 1);
	return star ? text : wanted;
}

static void locks_of_rust_and_cplusplus_are_known_by_their_functions(void **state)
{
	(void)state;
	EXPECT("waits for mutex *, which does not name its holder", WEFT__OUTSIDE_MUTEX, "syscall",
		"Mutex::lock_contended", "std::sync::poison::mutex::Mutex<T>::lock", "main");
	EXPECT("waits for rwlock *, which does not name its holder", WEFT__OUTSIDE_RWLOCK, "syscall",
		"RwLock::write_contended");
	EXPECT("waits for condition *, which any thread may signal", WEFT__OUTSIDE_CONDITION, "syscall",
		"std::sys::sync::condvar::futex::Condvar::wait", "main");
	EXPECT("waits for the other threads of a barrier", WEFT__OUTSIDE_BARRIER, "syscall",
		"std::sync::barrier::Barrier::wait");
	EXPECT("waits for a latch", WEFT__OUTSIDE_BARRIER, "syscall",
		"void std::__detail::__platform_wait<int>",
		"void std::__atomic_wait_address<int, std::latch::wait() const::{lambda()#1}>");
}

/* Others wait by the same function: one further out says for what. */
static void a_general_function_is_named_by_its_caller(void **state)
{
	(void)state;
	EXPECT("waits for a change of the atomic variable *", WEFT__OUTSIDE_CONDITION, "syscall",
		"std::__atomic_wait_address_v", "main");
	EXPECT("waits for the other threads of a barrier", WEFT__OUTSIDE_BARRIER, "syscall",
		"std::__atomic_wait_address", "std::barrier<std::__empty_completion>::arrive_and_wait");
	EXPECT("waits for a call of unpark(), which any thread may make", WEFT__OUTSIDE_CONDITION,
		"syscall", "functions::park", "app::main",
		/* No Once. */ "core::ops::function::FnOnce::call_once");
	EXPECT("waits for a message of a channel, which nobody owns: any thread may send it",
		WEFT__OUTSIDE_CONDITION, "syscall", "Thread::park", "a", "b", "c", "d", "e",
		"std::sync::mpsc::Receiver<T>::recv");
	EXPECT("waits for room in a channel, which nobody owns: any thread may receive from it",
		WEFT__OUTSIDE_CONDITION, "syscall", "Thread::park", "std::sync::mpmc::Sender<T>::send");
	/* Too far out: the program's own code is between. */
	EXPECT("waits for a call of unpark(), which any thread may make, also by a channel",
		WEFT__OUTSIDE_CONDITION, "syscall", "Thread::park", "a", "b", "c", "d", "e", "f", "g", "h",
		"i", "j", "std::sync::mpsc::Receiver<T>::recv");
}

static void other_functions_are_none(void **state)
{
	static const char *const plain[] = {"syscall", "wait_for_it", "main"},
							 *const outside[] = {"syscall", "a", "b", "c", "Once::call"},
							 *const longer[] = {"syscall", "FnOnce::call_once"};
	struct weft__outside_process process = process_in(plain, 3);
	(void)state;
	assert_false(weft__outside_resolve_named(&process, &threads[0]));
	finish();
	process = process_in(outside, 5);
	assert_false(weft__outside_resolve_named(&process, &threads[0]));
	finish();
	process = process_in(longer, 2);
	assert_false(weft__outside_resolve_named(&process, &threads[0]));
	finish();
	process = process_in(NULL, 0);
	assert_false(weft__outside_resolve_named(&process, &threads[0]));
	assert_string_equal(threads[0].about, "");
	finish();
}

static void threads_in_the_same_initialisation_are_named(void **state)
{
	static const char *const guard[] = {"syscall", "__cxa_guard_acquire", "get", "main"},
							 *const once[] = {"syscall", "Once::call", "main"};
	struct weft__outside_process process = process_in(guard, 4);
	(void)state;
	add_thread(&process, "get_other"); /* another function */
	add_thread(&process, "get");
	assert_true(weft__outside_resolve_named(&process, &threads[0]));
	assert_string_equal(threads[0].about,
		with_address("waits for the end of an initialisation, *; thread 1002 't2' is in get"));
	finish();

	process = process_in(once, 3);
	add_thread(&process, "Once::call");
	threads[1].kernel = threads[0].kernel; /* it waits as well */
	assert_true(weft__outside_resolve_named(&process, &threads[0]));
	assert_string_equal(
		threads[0].about, with_address("waits for the end of an initialisation, *"));
	finish();

	process = process_in(once, 3);
	for (unsigned i = 1; i < THREADS; i++)
		add_thread(&process, "Once::call");
	assert_true(weft__outside_resolve_named(&process, &threads[0]));
	assert_string_equal(threads[0].about,
		with_address("waits for the end of an initialisation, *; thread 1001 't1', "
					 "thread 1002 't2', thread 1003 't3' and 2 more are in Once::call"));
	finish();
}

/* ---- Inside of glibc ---- */

struct stream_lock {
	uint32_t word, count;
	uint64_t owner;
};

static bool resolve_stream(const struct stream_lock *lock, const char *caller)
{
	const char *const functions[] = {"__lll_lock_wait_private", caller, "main"};
	struct weft__outside_process process = process_in(functions, 3);
	add_thread(&process, "keep");
	threads[0].kernel.arguments[0] = (uintptr_t)lock;
	const bool is_known = weft__outside_resolve_named(&process, &threads[0]);
	finish();
	return is_known;
}

static void a_stream_names_its_owner(void **state)
{
	/* Its memory says that the second thread is the owner. */
	static _Alignas(16) unsigned char owner[1024];
	const uint64_t self = (uintptr_t)owner;
	uint32_t number = TID + 1;
	struct stream_lock lock = {2, 1, self};
	(void)state;
	memcpy(owner + SELF, &self, sizeof(self));
	memcpy(owner + NUMBER, &number, sizeof(number));
	assert_true(resolve_stream(&lock, "puts"));
	assert_non_null(strstr(threads[0].about, "waits for the lock of a stream (0x"));
	/* The thread is not at a call in reality. */
	assert_non_null(strstr(threads[0].about, "), whose holder changes"));

	number = TID + 2; /* no thread of the process */
	memcpy(owner + NUMBER, &number, sizeof(number));
	assert_false(resolve_stream(&lock, "puts"));
	number = TID + 1;
	memcpy(owner + NUMBER, &number, sizeof(number));
	lock.owner = self + 8; /* not a thread's memory */
	assert_false(resolve_stream(&lock, "puts"));
	lock.owner = 1; /* no memory at all */
	assert_false(resolve_stream(&lock, "puts"));
	lock = (struct stream_lock){0, 1, self}; /* given back */
	assert_false(resolve_stream(&lock, "puts"));
	lock = (struct stream_lock){2, 0, self};
	assert_false(resolve_stream(&lock, "puts"));
}

static void a_lock_of_the_heap_has_no_holder(void **state)
{
	const char *const functions[] = {"__lll_lock_wait_private", "", "calloc", "main"};
	const struct stream_lock lock = {2, 0, 0};
	struct weft__outside_process process = process_in(functions, 4);
	(void)state;
	add_thread(&process, "free");
	threads[0].kernel.arguments[0] = (uintptr_t)&lock;
	assert_true(weft__outside_resolve_named(&process, &threads[0]));
	assert_int_equal(threads[0].kind, WEFT__OUTSIDE_MUTEX);
	assert_non_null(strstr(threads[0].about, "waits for a lock of the heap (0x"));
	assert_non_null(
		strstr(threads[0].about, "), which does not name its holder; thread 1001 't1' is in free"));
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(locks_of_rust_and_cplusplus_are_known_by_their_functions),
		cmocka_unit_test(a_general_function_is_named_by_its_caller),
		cmocka_unit_test(other_functions_are_none),
		cmocka_unit_test(locks_of_known_programs_are_named),
		cmocka_unit_test(threads_in_the_same_initialisation_are_named),
		cmocka_unit_test(a_stream_names_its_owner),
		cmocka_unit_test(a_lock_of_the_heap_has_no_holder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

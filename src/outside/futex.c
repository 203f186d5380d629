/* SPDX-License-Identifier: ISC
 *
 * Locks of glibc, by the futex at which a thread waits. A mutex and the writer of an rwlock name
 * their holder in the process's own memory, which may hold anything: a holder is believed only if
 * it is a thread that exists. Conditions, semaphores, barriers, and the locks of Rust, Go and
 * Python have no holder that could be read.
 */
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>

#include "parts.h"

enum {
	/* glibc's pthread_rwlock_t, whose futexes are at 8 and 12. */
	RWLOCK_FUTEX = 8,
	RWLOCK_WRITER = 24,
	/* Its pthread_cond_t, whose futexes are at 40 and 44. */
	CONDITION_FUTEX = 40,
	/* Its pthread_barrier_t: the threads that ever came, those of earlier rounds, which is the
	 * futex, and the threads of a round. */
	BARRIER_FUTEX = 4,
	SHARED_MUTEX = 128, /* in the type of a mutex: other processes may hold it */
	CONTENDED = 2,      /* the word of a plain mutex for which threads wait */
	READERS_SHIFT = 3,
	THREADS_END = 1 << 22, /* no thread has such a number */
};

/* The first words of glibc's pthread_mutex_t. */
struct mutex {
	uint32_t word, count, holder, users, type;
};

static const struct weft__outside_thread *find_inner(
	const struct weft__outside_process *process, uint32_t inner)
{
	for (uint32_t i = 0; inner && i < process->count; i++)
		if ((uint32_t)process->threads[i].inner == inner)
			return &process->threads[i];
	return NULL;
}

void weft__outside_add_object(struct weft__outside_thread *thread, uint64_t offset)
{
	thread->address = thread->kernel.arguments[0] - offset;
	if (!thread->object[0] || thread->object_offset < offset) {
		weft__outside_add(thread, "0x%llx", (unsigned long long)thread->address);
		return;
	}
	weft__outside_add(thread, "%s", thread->object);
	if (thread->object_offset > offset)
		weft__outside_add(thread, "+%llu", (unsigned long long)(thread->object_offset - offset));
	weft__outside_add(thread, " (0x%llx)", (unsigned long long)thread->address);
}

/* "waits for mutex queue_lock (0x55…)" */
static void add_object(struct weft__outside_thread *thread, const char *word, uint64_t offset)
{
	weft__outside_add(thread, "waits for %s ", word);
	weft__outside_add_object(thread, offset);
}

void weft__outside_add_holder(const struct weft__outside_process *process,
	struct weft__outside_thread *thread, const struct weft__outside_thread *holder)
{
	/* The holder was read after the look. If the thread has run since, it may be the holder. */
	if (!weft__outside_has_stayed(process->alive, thread)) {
		weft__outside_add(thread, ", whose holder changes");
		return;
	}
	if (holder == thread)
		weft__outside_add(thread, ", held by itself");
	else
		weft__outside_add(
			thread, ", held by thread %d '%s'", (int)holder->tid, holder->kernel.name);
	weft__outside_add_other(thread, process->pid, holder->tid);
	thread->is_complete = true;
}

static bool is_thread_of_parent(pid_t pid, pid_t thread)
{
	const pid_t process = weft__outside_status(thread, "Tgid:");
	return process && process == weft__outside_status(pid, "PPid:");
}

/* The mutex's holder is not a thread of this process. */
static void add_strange_holder(const struct weft__outside_process *process,
	struct weft__outside_thread *thread, const struct mutex *mutex, uint32_t holder)
{
	char name[32];
	const bool is_ours = thread->inner == thread->tid; /* else numbers are of another namespace */
	if ((mutex->type & SHARED_MUTEX) && is_ours) {
		weft__outside_name((pid_t)holder, name);
		if (!name[0]) {
			weft__outside_add(thread, ", held by thread %u, which has ended", (unsigned)holder);
			thread->is_left = true;
			return;
		}
		weft__outside_add(
			thread, ", held by thread %u '%s' of another process", (unsigned)holder, name);
		weft__outside_add_other(thread, (pid_t)holder, (pid_t)holder);
		thread->is_complete = true;
	} else if (mutex->type & SHARED_MUTEX) {
		return;
	} else if (is_ours && is_thread_of_parent(process->pid, (pid_t)holder)) {
		weft__outside_name((pid_t)holder, name);
		weft__outside_add(thread, ", held by thread %u '%s' of the parent when it forked",
			(unsigned)holder, name);
		thread->is_left = true;
	} else {
		weft__outside_add(thread, ", held by thread %u, which has ended without giving it back",
			(unsigned)holder);
		thread->is_left = true;
	}
}

static void resolve_mutex(const struct weft__outside_process *process,
	struct weft__outside_thread *thread, const struct mutex *mutex, uint32_t holder)
{
	const struct weft__outside_thread *found = find_inner(process, holder);
	thread->kind = WEFT__OUTSIDE_MUTEX;
	add_object(thread, "mutex", 0);
	if (found)
		weft__outside_add_holder(process, thread, found);
	else if (holder && holder < THREADS_END)
		add_strange_holder(process, thread, mutex, holder);
	else
		weft__outside_add(thread, ", whose holder is not known");
}

/* A futex of FUTEX_LOCK_PI has the holder's number. */
static bool is_inheriting(int operation)
{
#ifdef FUTEX_LOCK_PI2
	if (operation == FUTEX_LOCK_PI2)
		return true;
#endif
	return operation == FUTEX_LOCK_PI;
}

static bool resolve_as_mutex(const struct weft__outside_process *process,
	struct weft__outside_thread *thread, int operation, uint32_t expected)
{
	struct mutex mutex = {0};
	const uint64_t address = thread->kernel.arguments[0];
	if (!weft__outside_read(process->alive, address, &mutex, sizeof(mutex)))
		return false;
	if (is_inheriting(operation) ||
		((expected & FUTEX_WAITERS) && find_inner(process, expected & FUTEX_TID_MASK))) {
		resolve_mutex(process, thread, &mutex, mutex.word & FUTEX_TID_MASK);
		return true;
	}
	const bool is_named = weft__outside_is_in(thread, "mutex_lock") ||
						  weft__outside_is_in(thread, "mutex_timedlock") ||
						  weft__outside_is_in(thread, "mutex_clocklock");
	if (expected != CONTENDED || mutex.word != CONTENDED)
		return false;
	/* The function's name may be missing; other locks have this value, too. */
	if (!is_named && (!find_inner(process, mutex.holder) || !mutex.users))
		return false;
	resolve_mutex(process, thread, &mutex, mutex.holder);
	return true;
}

static bool resolve_as_join(const struct weft__outside_process *process,
	struct weft__outside_thread *thread, int operation, uint32_t expected)
{
	uint32_t word = 0;
	const struct weft__outside_thread *joined = find_inner(process, expected);
	if (!joined || joined == thread || operation == FUTEX_LOCK_PI ||
		!weft__outside_read(process->alive, thread->kernel.arguments[0], &word, sizeof(word)) ||
		word != expected)
		return false;
	thread->kind = WEFT__OUTSIDE_JOIN;
	weft__outside_add(
		thread, "waits for the end of thread %d '%s'", (int)joined->tid, joined->kernel.name);
	weft__outside_add_other(thread, process->pid, joined->tid);
	thread->is_complete = true;
	return true;
}

static bool resolve_as_rwlock(
	const struct weft__outside_process *process, struct weft__outside_thread *thread)
{
	uint32_t words[8];
	/* The lock is aligned to 8 bytes, so that the address shows which of the two futexes it is. */
	const uint64_t futex = thread->kernel.arguments[0],
				   offset = RWLOCK_FUTEX + (futex % 8 ? sizeof(uint32_t) : 0);
	if (!weft__outside_is_in(thread, "rwlock_") || futex < offset ||
		!weft__outside_read(process->alive, futex - offset, words, sizeof(words)))
		return false;
	const struct weft__outside_thread *writer =
		find_inner(process, words[RWLOCK_WRITER / sizeof(uint32_t)]);
	const uint32_t readers = words[0] >> READERS_SHIFT;
	thread->kind = WEFT__OUTSIDE_RWLOCK;
	add_object(thread, "rwlock", offset);
	if (writer)
		weft__outside_add_holder(process, thread, writer);
	else if (readers)
		weft__outside_add(thread,
			readers == 1 ? ", which a thread reads or waits to read: it does not have its name"
						 : ", which %u threads read or wait to read: it does not have their names",
			(unsigned)readers);
	return true;
}

/* sem_wait(3) jumps to a function without a name: the semaphore is 0, counts the threads that wait,
 * and is waited for by a call that few others make. */
static bool is_semaphore(
	const struct weft__outside_process *process, const struct weft__outside_thread *thread)
{
	uint32_t words[2];
	const uint64_t *arguments = thread->kernel.arguments;
	return arguments[0] % sizeof(words) == 0 && (uint32_t)arguments[2] == 0 &&
		   ((int)arguments[1] & ~FUTEX_PRIVATE_FLAG) ==
			   (FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME) &&
		   thread->frame_count > 1 && strncmp(thread->frames[0].module, "libc.so", 7) == 0 &&
		   !thread->frames[0].function[0] &&
		   weft__outside_read(process->alive, arguments[0], words, sizeof(words)) &&
		   words[0] == 0 && words[1] > 0 && words[1] <= process->count;
}

static void resolve_barrier(
	const struct weft__outside_process *process, struct weft__outside_thread *thread)
{
	uint32_t words[3];
	const uint64_t futex = thread->kernel.arguments[0];
	thread->kind = WEFT__OUTSIDE_BARRIER;
	add_object(thread, "barrier", BARRIER_FUTEX);
	if (futex < BARRIER_FUTEX ||
		!weft__outside_read(process->alive, futex - BARRIER_FUTEX, words, sizeof(words)) ||
		words[0] - words[1] >= words[2] || words[2] >= THREADS_END)
		return;
	weft__outside_add(thread, ", where %u of %u threads are", (unsigned)(words[0] - words[1]),
		(unsigned)words[2]);
}

static bool resolve_by_name(
	const struct weft__outside_process *process, struct weft__outside_thread *thread)
{
	if (weft__outside_is_in(thread, "pthread_cond_") || weft__outside_is_in(thread, "cnd_wait") ||
		weft__outside_is_in(thread, "cnd_timedwait")) {
		const bool is_second = thread->kernel.arguments[0] % 8;
		thread->kind = WEFT__OUTSIDE_CONDITION;
		add_object(thread, "condition", CONDITION_FUTEX + (is_second ? sizeof(uint32_t) : 0));
		weft__outside_add(thread, ", which any thread may signal");
	} else if (weft__outside_is_in(thread, "sem_wait") ||
			   weft__outside_is_in(thread, "sem_timedwait") ||
			   weft__outside_is_in(thread, "sem_clockwait") ||
			   weft__outside_is_in(thread, "PyThread_acquire_lock") ||
			   is_semaphore(process, thread)) {
		thread->kind = WEFT__OUTSIDE_SEMAPHORE;
		add_object(thread, "semaphore", 0);
		weft__outside_add(thread, ", which nobody owns: any thread may post it");
	} else if (weft__outside_is_in(thread, "pthread_barrier_wait")) {
		resolve_barrier(process, thread);
	}
	return thread->kind != WEFT__OUTSIDE_OTHER;
}

void weft__outside_resolve_futex(
	const struct weft__outside_process *process, struct weft__outside_thread *thread)
{
	const uint64_t *arguments = thread->kernel.arguments;
	const int operation = (int)arguments[1] & FUTEX_CMD_MASK;
	const uint32_t expected = (uint32_t)arguments[2];
	thread->has_timeout = arguments[3] != 0;
	/* The structs of 32-bit programs have other offsets. */
	if (sizeof(void *) < sizeof(uint64_t)) {
		thread->kind = WEFT__OUTSIDE_FUTEX;
		add_object(thread, "a lock at", 0);
		return;
	}
	if (resolve_by_name(process, thread) || weft__outside_resolve_named(process, thread) ||
		resolve_as_rwlock(process, thread) ||
		resolve_as_mutex(process, thread, operation, expected) ||
		resolve_as_join(process, thread, operation, expected))
		return;
	thread->kind = WEFT__OUTSIDE_FUTEX;
	add_object(thread, "a lock at", 0);
	weft__outside_add(thread, ", of which no holder is known");
}

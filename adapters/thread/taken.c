/* SPDX-License-Identifier: ISC
 *
 * See taken.h. Python's global lock guards the tables, except where a thread that waits reads them
 * without it: there `semaphore` is read before and after `thread`, and it is written last.
 */
#include "thread/taken.h"

#include "hooks/stack.h"

#define TAKEN      1024
#define CONDITIONS 256

/* The semaphores that were taken at once. A later one with the same entry takes it. */
static struct taken {
	const sem_t *semaphore;
	uint32_t thread;
} all[TAKEN];

/* Locks of conditions. A thread that has one tries it again and again, to see whether it has it. */
static const sem_t *conditions[CONDITIONS];

/* The try that failed last. */
static __thread struct {
	const sem_t *semaphore;
	enum weft__hooks_python_wait way;
	struct weft__hooks_text name;
} tried __attribute__((tls_model("initial-exec")));

static size_t hash_of(const sem_t *semaphore)
{
	return (size_t)((uint64_t)(uintptr_t)semaphore * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

static struct taken *entry_of(const sem_t *semaphore)
{
	return &all[hash_of(semaphore) % TAKEN];
}

static void set(struct taken *it, const sem_t *semaphore, uint32_t thread)
{
	__atomic_store_n(&it->semaphore, NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&it->thread, thread, __ATOMIC_RELEASE);
	__atomic_store_n(&it->semaphore, semaphore, __ATOMIC_RELEASE);
}

static int taken_by(const sem_t *semaphore)
{
	const struct taken *it = entry_of(semaphore);
	if (__atomic_load_n(&it->semaphore, __ATOMIC_ACQUIRE) != semaphore)
		return 0;
	const uint32_t thread = __atomic_load_n(&it->thread, __ATOMIC_ACQUIRE);
	const bool is_still = __atomic_load_n(&it->semaphore, __ATOMIC_ACQUIRE) == semaphore;
	return is_still ? (int)weft__hooks_thread_now(thread) : 0;
}

void weft__thread_given(const sem_t *semaphore)
{
	struct taken *it = entry_of(semaphore);
	if (__atomic_load_n(&it->semaphore, __ATOMIC_RELAXED) == semaphore)
		set(it, NULL, 0);
}

void weft__thread_taken_forget(const sem_t *semaphore)
{
	const sem_t **condition = &conditions[hash_of(semaphore) % CONDITIONS];
	weft__thread_given(semaphore);
	if (*condition == semaphore)
		*condition = NULL;
}

/* ---- Tries ---- */

static uint32_t own_number(void)
{
	if (unlikely(weft__hooks_thread.epoch != weft__hooks_epoch())) {
		int saved = weft__hooks_begin();
		weft__hooks_thread_task();
		weft__hooks_end(saved);
	}
	return weft__hooks_thread.number;
}

static void look_aside(void *nothing)
{
	(void)nothing;
	tried.name.size = 0;
	tried.way = weft__hooks_python_waits(&tried.name);
}

/* A wait stays without a name if the thread has used up its time for looking. */
static void look(const sem_t *semaphore)
{
	const uint64_t began_ns = weft__hooks_budget_begin();
	if (!began_ns)
		return;
	int saved = weft__hooks_begin();
	weft__hooks_aside(look_aside, NULL);
	weft__hooks_end(saved);
	weft__hooks_budget_end(began_ns);
	if (tried.way == WEFT__PYTHON_UNKNOWN)
		conditions[hash_of(semaphore) % CONDITIONS] = semaphore;
	else
		tried.semaphore = semaphore;
}

void weft__thread_tried(const sem_t *semaphore, bool is_taken)
{
	tried.semaphore = NULL;
	if (is_taken) {
		set(entry_of(semaphore), semaphore, own_number());
		return;
	}
	const bool is_conditions = conditions[hash_of(semaphore) % CONDITIONS] == semaphore;
	if (!weft__thread_object_known(semaphore) &&
		!(is_conditions && taken_by(semaphore) == (int)own_number()))
		look(semaphore);
}

/* ---- Waits ---- */

/* A thread that calls acquire() for a semaphore that it has taken itself expects another thread to
 * release it, so it does not use it as a lock. */
static bool is_lock(int by)
{
	return tried.way == WEFT__PYTHON_WITH ||
		   (tried.way == WEFT__PYTHON_ACQUIRE && by && by != (int)own_number());
}

void weft__thread_taken_wait(struct weft__thread_taken *ret, const sem_t *semaphore)
{
	*ret = (struct weft__thread_taken){.by = taken_by(semaphore), .thread = WEFT_TASK_NONE};
	if (tried.semaphore == semaphore) {
		int saved = weft__hooks_begin();
		tried.semaphore = NULL;
		if (tried.way == WEFT__PYTHON_THREAD && ret->by)
			ret->thread = weft__hooks_task_of((uint32_t)ret->by);
		if (ret->thread == WEFT_TASK_NONE)
			weft__thread_object_named(
				semaphore, is_lock(ret->by) ? WEFT_KIND_LOCK : WEFT_KIND_CONDITION, &tried.name);
		weft__hooks_end(saved);
	}
	ret->is_lock = weft__thread_taken_is_lock(semaphore);
}

bool weft__thread_taken_is_lock(const sem_t *semaphore)
{
	const struct weft__thread_object *it = weft__thread_object_known(semaphore);
	return it && it->alive.kind == WEFT_KIND_LOCK;
}

/* SPDX-License-Identifier: ISC
 *
 * A reader takes an entry in the bucket of the lock's address, and nothing is written. When a
 * thread waits for the lock, all who read are recorded, and from then on those that come while one
 * waits.
 *
 *     FREE ─▶ TAKEN ─▶ HELD ─▶ NAMING ─▶ KNOWN ─▶ FREE
 *                        │         └─▶ LEFT ─▶ FREE     the reader left while it was being recorded
 *                        └─▶ FREE
 *
 * Readers that find no free entry are not known.
 */
#include "thread/readers.h"

#include <pthread.h>
#include <string.h>

enum {
	BUCKETS = 256,
	ENTRIES = 16,
};

enum state {
	FREE,
	TAKEN,
	HELD,
	NAMING,
	KNOWN,
	LEFT,
};

struct read {
	const void *lock;
	uint64_t task; /* the lock's, once it was recorded */
	uint32_t thread;
	uint32_t state;
};

static struct read reads[BUCKETS][ENTRIES];

__thread uint32_t weft__thread_reading __attribute__((tls_model("initial-exec")));
/* The thread has a task in this process. */
static __thread bool has_task __attribute__((tls_model("initial-exec")));

/* A forked child has the locks, but its tasks are others. */
static void forget(void)
{
	memset(reads, 0, sizeof(reads));
	weft__thread_reading = 0;
	has_task = false;
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forget);
}

static struct read *bucket_of(const void *lock)
{
	uintptr_t bits = (uintptr_t)lock;
	return reads[(bits >> 4 ^ bits >> 12) % BUCKETS];
}

static bool change(struct read *it, uint32_t from, enum state to)
{
	return __atomic_compare_exchange_n(
		&it->state, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static void set(struct read *it, enum state state)
{
	__atomic_store_n(&it->state, state, __ATOMIC_RELEASE);
}

static uint32_t state_of(const struct read *it)
{
	return __atomic_load_n(&it->state, __ATOMIC_ACQUIRE);
}

/* For readers of the trace an acquire ends a wait: repeat what a reader waits for. */
static void acquire(uint64_t reader, const struct read *it)
{
	const uint64_t source = weft__hooks_blocked_on(it->thread);
	weft_moment_begin();
	weft_acquire_as(reader, it->task);
	if (source != WEFT_TASK_NONE)
		weft_try_read_as(reader, source);
	weft_moment_end();
}

static void record_reader(struct read *it, const struct weft__thread_object *lock)
{
	if (__atomic_load_n(&it->lock, __ATOMIC_RELAXED) != lock->address || !change(it, HELD, NAMING))
		return;
	const uint64_t reader = weft__hooks_task_of(it->thread);
	it->task = lock->alive.task;
	if (reader != WEFT_TASK_NONE)
		acquire(reader, it);
	if (change(it, NAMING, KNOWN))
		return;
	if (reader != WEFT_TASK_NONE)
		weft_release_as(reader, it->task);
	set(it, FREE);
}

void weft__thread_find_readers(const struct weft__thread_object *lock)
{
	struct read *bucket = bucket_of(lock->address);
	for (int i = 0; i < ENTRIES; i++)
		if (state_of(&bucket[i]) == HELD)
			record_reader(&bucket[i], lock);
}

/* Threads begin at different entries, so that those that read at one time write different ones. */
static struct read *take(const void *lock)
{
	struct read *bucket = bucket_of(lock);
	const uint32_t thread = weft__hooks_thread.number;
	for (uint32_t i = 0; i < ENTRIES; i++) {
		struct read *it = &bucket[(thread + i) % ENTRIES];
		if (state_of(it) != FREE || !change(it, FREE, TAKEN))
			continue;
		__atomic_store_n(&it->lock, lock, __ATOMIC_RELAXED);
		__atomic_store_n(&it->thread, thread, __ATOMIC_RELAXED);
		set(it, HELD);
		return it;
	}
	return NULL;
}

static WEFT__OWN_FRAME void find_task(void)
{
	int saved = weft__hooks_begin();
	has_task = weft__hooks_thread_task() != WEFT_TASK_NONE;
	weft__hooks_end(saved);
}

static WEFT__OWN_FRAME void record_if_waited_for(struct read *it, const void *lock)
{
	int saved = weft__hooks_begin();
	const struct weft__thread_object *object = weft__thread_object_known(lock);
	if (object && __atomic_load_n(&object->waiters, __ATOMIC_RELAXED))
		record_reader(it, object);
	weft__hooks_end(saved);
}

void weft__thread_reads(const void *lock)
{
	if (unlikely(!has_task))
		find_task();
	struct read *it = has_task ? take(lock) : NULL;
	if (!it)
		return;
	weft__thread_reading++;
	if (weft__thread_is_busy(lock))
		record_if_waited_for(it, lock);
}

static struct read *find(const void *lock)
{
	struct read *bucket = bucket_of(lock);
	const uint32_t thread = weft__hooks_thread.number;
	for (uint32_t i = 0; i < ENTRIES; i++) {
		struct read *it = &bucket[(thread + i) % ENTRIES];
		const uint32_t state = state_of(it);
		if (state >= HELD && state <= KNOWN &&
			__atomic_load_n(&it->lock, __ATOMIC_RELAXED) == lock &&
			__atomic_load_n(&it->thread, __ATOMIC_RELAXED) == thread)
			return it;
	}
	return NULL;
}

void weft__thread_reads_no_longer(const void *lock)
{
	struct read *it = find(lock);
	if (!it)
		return;
	weft__thread_reading--;
	if (change(it, HELD, FREE) || change(it, NAMING, LEFT))
		return;
	if (HOOKS_RECORD) {
		int saved = weft__hooks_begin();
		weft_release_as(weft__hooks_thread.task, it->task);
		weft__hooks_end(saved);
	}
	set(it, FREE);
}

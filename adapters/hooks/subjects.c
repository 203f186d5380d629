/* SPDX-License-Identifier: ISC
 *
 * A table of handles, requests and sources by address.
 *
 * An address has one bucket of slots, and is in any of them; so a slot is freed by clearing its
 * key, and no other key must move. Several loops may run in several threads: a slot is taken by an
 * atomic exchange, and only the thread that uses a handle or request looks for it. The memory is
 * reserved once, and the system provides the pages that are used.
 *
 *     used     | a bit for each bucket in which an address was stored
 *     keys     | bucket 0: 16 addresses, two cache lines | bucket 1 | ...
 *     subjects | 16 subjects                             |          | ...
 */
#include <string.h>
#include <sys/mman.h>

#define WEFT_CATEGORY always
#include "hooks/callbacks.h"
#include "kernel/clock.h"

#define BUCKETS 8192 /* a power of two */
#define SLOTS   16

struct table {
	uint64_t used[BUCKETS / 64];
	const void *keys[BUCKETS][SLOTS]; /* NULL: free */
	struct weft__hooks_subject subjects[BUCKETS][SLOTS];
};

/* NULL until the first one is made. A forked child has a copy. */
static struct table *table;

static size_t bucket_of(const void *address)
{
	/* Bits above the alignment, mixed so that neighbours in an array get different buckets. */
	uint64_t bits = (uint64_t)(uintptr_t)address >> 3;
	return (size_t)(bits * UINT64_C(0x9e3779b97f4a7c15) >> 51) % BUCKETS;
}

/* A program may pass NULL, which the library refuses: free slots have that key. */
static const void *key_of(const void *address)
{
	return address ? address : (const void *)1;
}

/* Two threads may come here at the same time; one of their tables is unmapped again. */
static struct table *make_table(void)
{
	void *memory = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	struct table *none = NULL;
	if (__atomic_compare_exchange_n(
			&table, &none, memory, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return memory;
	munmap(memory, sizeof(*table));
	return none;
}

/* The slot with that key in its bucket. -1: none. */
static int slot_of(const struct table *in, size_t bucket, const void *address)
{
	for (int slot = 0; slot < SLOTS; slot++)
		if (__atomic_load_n(&in->keys[bucket][slot], __ATOMIC_ACQUIRE) == address)
			return slot;
	return -1;
}

struct weft__hooks_subject *weft__hooks_subject_find(const void *address)
{
	struct table *in = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
	address = key_of(address);
	if (!in)
		return NULL;
	size_t bucket = bucket_of(address);
	int slot = slot_of(in, bucket, address);
	return slot < 0 ? NULL : &in->subjects[bucket][slot];
}

uint64_t weft__hooks_subject_task(const void *address)
{
	const struct weft__hooks_subject *subject = weft__hooks_subject_find(address);
	bool is_ours = subject && subject->epoch == weft__hooks_epoch();
	return is_ours ? subject->task : WEFT_TASK_NONE;
}

static struct weft__hooks_subject *take_slot(struct table *in, const void *address)
{
	size_t bucket = bucket_of(address);
	for (int slot = 0; slot < SLOTS; slot++) {
		const void *none = NULL;
		if (__atomic_compare_exchange_n(&in->keys[bucket][slot], &none, address, false,
				__ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			struct weft__hooks_subject *subject = &in->subjects[bucket][slot];
			memset(subject, 0, offsetof(struct weft__hooks_subject, alive));
			subject->task = WEFT_TASK_NONE;
			subject->name[0] = '\0';
			__atomic_fetch_or(&in->used[bucket / 64], UINT64_C(1) << bucket % 64, __ATOMIC_SEQ_CST);
			return subject;
		}
	}
	return NULL;
}

struct weft__hooks_subject *weft__hooks_subject_put(const void *address)
{
	struct weft__hooks_subject *subject = weft__hooks_subject_find(address);
	if (subject)
		return subject;
	struct table *in = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
	if (!in)
		in = make_table();
	return in ? take_slot(in, key_of(address)) : NULL;
}

void weft__hooks_subject_forget(const void *address)
{
	struct table *in = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
	address = key_of(address);
	if (!in)
		return;
	size_t bucket = bucket_of(address);
	int slot = slot_of(in, bucket, address);
	if (slot >= 0)
		__atomic_store_n(&in->keys[bucket][slot], NULL, __ATOMIC_RELEASE);
}

/* ---- Rundowns ---- */

/* As weft__hooks_now_ns, up to 4 ms ago: it need not be exact, and many tasks are named. */
static uint64_t coarse_now_ns(void)
{
	return weft__kernel_clock_ns(CLOCK_MONOTONIC_COARSE);
}

void weft__hooks_subject_label(
	struct weft__hooks_subject *subject, const struct weft__hooks_text *label)
{
	struct weft__hooks_alive *alive = &subject->alive;
	size_t size = label->size < sizeof(alive->label) ? label->size : sizeof(alive->label) - 1;
	weft__hooks_label(subject->task, label);
	alive->created_ns = coarse_now_ns();
	memcpy(alive->label, label->bytes, size);
	alive->label[size] = '\0';
	__atomic_store_n(&alive->task, subject->task, __ATOMIC_RELEASE);
}

void weft__hooks_subject_label_again(struct weft__hooks_subject *subject)
{
	struct weft__hooks_alive *alive = &subject->alive;
	weft_label_n_as(subject->task, alive->label, strlen(alive->label));
	alive->created_ns = coarse_now_ns();
	__atomic_store_n(&alive->task, subject->task, __ATOMIC_RELEASE);
}

/* Another thread may use the subject meanwhile: if its task has changed, it is left out. */
static unsigned run_down_subject(const struct weft__hooks_subject *subject)
{
	uint64_t task = __atomic_load_n(&subject->alive.task, __ATOMIC_ACQUIRE);
	struct weft__hooks_alive copy = subject->alive;
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	copy.label[sizeof(copy.label) - 1] = '\0';
	if (subject->task != task || subject->epoch != weft__hooks_epoch() ||
		__atomic_load_n(&subject->alive.task, __ATOMIC_RELAXED) != task)
		return 0;
	weft__hooks_rundown_task(&copy, WEFT_TASK_NONE);
	return 1;
}

/* The bit is cleared before the keys are looked at: one that is stored meanwhile sets it again. */
static unsigned run_down_bucket(struct table *in, size_t bucket)
{
	uint64_t bit = UINT64_C(1) << bucket % 64;
	unsigned count = 0;
	bool is_used = false;
	__atomic_fetch_and(&in->used[bucket / 64], ~bit, __ATOMIC_SEQ_CST);
	for (size_t slot = 0; slot < SLOTS; slot++)
		if (__atomic_load_n(&in->keys[bucket][slot], __ATOMIC_SEQ_CST)) {
			count += run_down_subject(&in->subjects[bucket][slot]);
			is_used = true;
		}
	if (is_used)
		__atomic_fetch_or(&in->used[bucket / 64], bit, __ATOMIC_SEQ_CST);
	return count;
}

/* A bucket costs as much to look at as some of a task's record: they count, too. */
static unsigned run_down(void)
{
	struct table *in = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
	unsigned count = 0, looked_at = 0;
	for (size_t bucket = 0; in && bucket < BUCKETS; bucket++) {
		if (!(__atomic_load_n(&in->used[bucket / 64], __ATOMIC_RELAXED) >> bucket % 64 & 1))
			continue;
		count += run_down_bucket(in, bucket);
		looked_at++;
	}
	return count + looked_at / 8;
}

__attribute__((constructor)) static void add_rundown(void)
{
	weft__hooks_rundown_add(run_down);
}

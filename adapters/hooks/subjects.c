/* SPDX-License-Identifier: ISC
 *
 * A table of handles, requests and sources by address.
 *
 * An address has one bucket of slots, and is in any of them; so a slot is freed by clearing its
 * key, and no other key must move. Several loops may run in several threads: a slot is taken by an
 * atomic exchange, and only the thread that uses a handle or request looks for it. The memory is
 * reserved once, and the system provides the pages that are used.
 *
 *     keys     | bucket 0: 16 addresses, two cache lines | bucket 1 | ...
 *     subjects | 16 subjects                             |          | ...
 */
#include <string.h>
#include <sys/mman.h>

#define WEFT_CATEGORY always
#include "hooks/callbacks.h"

#define BUCKETS 8192 /* a power of two */
#define SLOTS   16

struct table {
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
	if (!in)
		return NULL;
	size_t bucket = bucket_of(address);
	int slot = slot_of(in, bucket, address);
	return slot < 0 ? NULL : &in->subjects[bucket][slot];
}

static struct weft__hooks_subject *take_slot(struct table *in, const void *address)
{
	size_t bucket = bucket_of(address);
	for (int slot = 0; slot < SLOTS; slot++) {
		const void *none = NULL;
		if (__atomic_compare_exchange_n(&in->keys[bucket][slot], &none, address, false,
				__ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			struct weft__hooks_subject *subject = &in->subjects[bucket][slot];
			memset(subject, 0, offsetof(struct weft__hooks_subject, name) + 1);
			subject->task = WEFT_TASK_NONE;
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
	return in ? take_slot(in, address) : NULL;
}

void weft__hooks_subject_forget(const void *address)
{
	struct table *in = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
	if (!in)
		return;
	size_t bucket = bucket_of(address);
	int slot = slot_of(in, bucket, address);
	if (slot >= 0)
		__atomic_store_n(&in->keys[bucket][slot], NULL, __ATOMIC_RELEASE);
}

/* SPDX-License-Identifier: ISC
 *
 * A minimal recorder: no guard, no limit check, and it cannot be switched off.
 *
 * It shows how much time all that can take. Some processors read their time stamp only when earlier
 * instructions are done, and start later ones only then: on these, the loads and the commit of even
 * the smallest recorder are visible above the floor.
 */
#include "bound.h"

#include <stdatomic.h>

#include "measure.h"

#define EXPORT __attribute__((visibility("default")))

/* Like the recorder's packets: a header with the offset, then the events. */
struct packet {
	_Alignas(64) _Atomic uint32_t committed;
	_Alignas(64) unsigned char events[32768];
};

static _Thread_local __attribute__((tls_model("initial-exec"))) struct packet *own;

/* The lower half only: the two halves need not be combined. */
static inline uint32_t stamp(void)
{
#if defined(__x86_64__) || defined(__i386__)
	uint32_t low, high;
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return low;
#else
	return (uint32_t)measure_stamp();
#endif
}

static inline uint32_t store(struct packet *packet, uint64_t operand)
{
	uint32_t offset = atomic_load_explicit(&packet->committed, memory_order_relaxed);
	_Atomic uint32_t *head = (_Atomic uint32_t *)(void *)(packet->events + offset);
	_Atomic uint64_t *last = (_Atomic uint64_t *)(void *)(head + 2);
	atomic_store_explicit(&head[0], stamp(), memory_order_relaxed);
	atomic_store_explicit(&head[1], 0x204, memory_order_relaxed);
	atomic_store_explicit(last, operand, memory_order_relaxed);
	return offset;
}

EXPORT void bound_enter(void *packet)
{
	own = packet;
	atomic_store_explicit(&own->committed, 0, memory_order_relaxed);
}

EXPORT void bound_store(uint64_t operand)
{
	store(own, operand);
}

EXPORT void bound_commit(uint64_t operand)
{
	struct packet *packet = own;
	/* It wraps around instead of testing for an end. */
	uint32_t next = (store(packet, operand) + 16) % sizeof(packet->events);
	atomic_store_explicit(&packet->committed, next, memory_order_release);
}

/* SPDX-License-Identifier: ISC
 *
 * A lower bound for recording an event: calls into a shared library that does the minimum.
 */
#ifndef WEFT_BENCH_BOUND_H
#define WEFT_BENCH_BOUND_H

#include <stdint.h>

/* Like the recorder's calls: through one jump instead of two, where the compiler allows it. */
#if defined(__has_attribute)
#if __has_attribute(noplt)
#define BOUND_DIRECT __attribute__((noplt))
#endif
#endif
#ifndef BOUND_DIRECT
#define BOUND_DIRECT
#endif

/* Sets the memory for the calling thread's events: 64 KiB, aligned to 64 bytes. */
void bound_enter(void *packet);

/* Loads the event's position, stamps it, stores 16 bytes; does not advance the position. */
void bound_store(uint64_t operand) BOUND_DIRECT;
/* The same with a commit: advances the position, so that another process would see the event. */
void bound_commit(uint64_t operand) BOUND_DIRECT;

#endif

/* SPDX-License-Identifier: ISC
 *
 * What bounds an event: calls into a shared library that do the least that a recorder does.
 */
#ifndef WEFT_BENCH_BOUND_H
#define WEFT_BENCH_BOUND_H

#include <stdint.h>

/* As the recorder's calls: through one jump instead of two, where the compiler can. */
#if defined(__has_attribute)
#if __has_attribute(noplt)
#define BOUND_DIRECT __attribute__((noplt))
#endif
#endif
#ifndef BOUND_DIRECT
#define BOUND_DIRECT
#endif

/* The calling thread's events go here: 64 KiB, aligned to 64 bytes. */
void bound_enter(void *packet);

/* Loads where the event goes, stamps it, stores 16 bytes; the next one goes there too. */
void bound_store(uint64_t operand) BOUND_DIRECT;
/* And commits it: the next one goes behind it, and another process would know of it. */
void bound_commit(uint64_t operand) BOUND_DIRECT;

#endif

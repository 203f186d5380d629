/* SPDX-License-Identifier: ISC
 *
 * Included first in each file of src/record, and in the files with which a follower reads
 * sequences: their atomics become the machine's, and their clock counts calls. The code is
 * otherwise that of the libraries.
 */
#ifndef WEFT_TESTS_MODEL_HOOKS_H
#define WEFT_TESTS_MODEL_HOOKS_H

#include "record/atomics.h"
#include "record/clock.h"

#include "machine.h"

#undef weft__load
#undef weft__load_acquire
#undef weft__store
#undef weft__store_release
#undef weft__load_own
#undef weft__fetch_add
#undef weft__exchange
#undef weft__compare_exchange
#undef weft__fence_release

#define MACHINE_LOAD_AS(address, order) \
	((__typeof__(*(address)))machine_load((address), sizeof(*(address)), order))
#define MACHINE_STORE_AS(address, order, value) \
	machine_store((address), sizeof(*(address)), order, (uint64_t)(value))

#define weft__load(address)                 MACHINE_LOAD_AS(address, MACHINE_RELAXED)
#define weft__load_acquire(address)         MACHINE_LOAD_AS(address, MACHINE_ACQUIRE)
#define weft__load_own(address)             MACHINE_LOAD_AS(address, MACHINE_RELAXED)
#define weft__store(address, value)         MACHINE_STORE_AS(address, MACHINE_RELAXED, value)
#define weft__store_release(address, value) MACHINE_STORE_AS(address, MACHINE_RELEASE, value)
#define weft__fetch_add(address, value)   \
	((__typeof__(*(address)))machine_add( \
		(address), sizeof(*(address)), MACHINE_RELAXED, (uint64_t)(value)))
#define weft__exchange(address, desired)   \
	((__typeof__(*(address)))machine_swap( \
		(address), sizeof(*(address)), MACHINE_RELAXED, (uint64_t)(desired)))
#define weft__compare_exchange(address, expected, desired)                                     \
	machine_compare_exchange((address), sizeof(*(address)), MACHINE_ACQUIRE | MACHINE_RELEASE, \
		(uint64_t)(__typeof__(*(address)))(expected), (uint64_t)(__typeof__(*(address)))(desired))
#define weft__fence_release() machine_fence(MACHINE_RELEASE)

/* Readers call the compiler's builtins. */
#define __atomic_load_n(address, order) \
	MACHINE_LOAD_AS(address, (order) == __ATOMIC_RELAXED ? MACHINE_RELAXED : MACHINE_ACQUIRE)

/* Returns the same in each execution with the same choices. */
struct weft__stamp model_stamp(void);

uint64_t model_ticks(void);

#define weft__record_cpu_stamp  model_stamp
#define weft__record_ticks(...) model_ticks()

#endif

/* SPDX-License-Identifier: ISC
 *
 * Bugs that a test may plant in the recorder's steps, to see whether they are noticed.
 */
#ifndef WEFT_TESTS_STRESS_FAULTS_H
#define WEFT_TESTS_STRESS_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum stress_fault {
	STRESS_SOUND = 0,
	STRESS_COMMIT_BEFORE_WORDS,
	STRESS_OPENING_NOT_PUBLISHED,
	STRESS_CLAIM_TORN,
	STRESS_TAKEN_TORN,
	STRESS_TAKEN_WITHOUT_BARRIER,
	STRESS_TAKEN_IN_AN_EVENT,
	STRESS_SLOT_TORN,
	STRESS_ALIVE_TAKEN,
	STRESS_NAME_TORN,
	STRESS_MOMENT_UNGUARDED,
	STRESS_FAULTS
};

/* Set it before any thread starts. */
extern enum stress_fault stress_fault;

/* The buffers, which are contiguous; accesses elsewhere stay correct. */
void stress_watch(unsigned char *buffers, size_t buffer_bytes, unsigned count);

/* For hooks.h alone. */
uint64_t stress_load(const volatile void *address, size_t size, bool acquires);
bool stress_store(
	volatile void *address, size_t size, uint64_t value); /* false: the store was dropped */
bool stress_exchange(volatile void *address, size_t size, uint64_t expected, uint64_t desired);

#endif

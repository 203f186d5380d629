/* SPDX-License-Identifier: ISC
 *
 * The files, memory and address space that a process holds. A test compares two readings, to see
 * that closing leaves nothing behind.
 */
#ifndef WEFT_TEST_NOTHING_LEFT_H
#define WEFT_TEST_NOTHING_LEFT_H

#include <malloc.h>
#include <stdio.h>
#include <unistd.h>

#define HELD_ROUNDS 200

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
#define HELD_KEEPS_FREED 1 /* sanitizers keep freed memory for a while */
#else
#define HELD_KEEPS_FREED 0
#endif

struct held {
	int file; /* the next descriptor */
	size_t bytes;
	long pages;
};

static inline struct held held_now(void)
{
	struct held held = {.file = dup(STDOUT_FILENO)};
	close(held.file);
	if (HELD_KEEPS_FREED)
		return held;
	FILE *file = fopen("/proc/self/statm", "r");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%ld", &held.pages), 1);
	fclose(file);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
	held.bytes = mallinfo2().uordblks;
#endif
	return held;
}

/* After HELD_ROUNDS rounds: no descriptor more, and less than a word or a page for each round. */
static inline void held_expect(struct held before)
{
	struct held now = held_now();
	assert_int_equal(now.file, before.file);
	assert_true(now.bytes < before.bytes + HELD_ROUNDS * sizeof(void *));
	assert_true(now.pages - before.pages < HELD_ROUNDS);
}

#endif

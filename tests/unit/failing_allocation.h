/* SPDX-License-Identifier: ISC
 *
 * Makes the n-th allocation fail: the linker prefers these functions to libc's. Include it in one
 * file of a program.
 */
#ifndef WEFT_TESTS_FAILING_ALLOCATION_H
#define WEFT_TESTS_FAILING_ALLOCATION_H

#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

static long until_failure = -1; /* allocations that still succeed; below 0: all */

static bool fails(void)
{
	return until_failure >= 0 && until_failure-- == 0;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
	/* Shrinking may fail too, but callers may ignore that. */
	bool shrinks = block && size <= malloc_usable_size(block);
	return !shrinks && fails() ? NULL : __real_realloc(block, size);
}

#endif

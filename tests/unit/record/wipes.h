/* SPDX-License-Identifier: ISC
 *
 * For tests of forked children, which skip if this is false.
 */
#ifndef WEFT_TESTS_WIPES_H
#define WEFT_TESTS_WIPES_H

#include <stdbool.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Emulators may ignore the advice by which the kernel clears memory in a forked child. */
static inline bool system_wipes(void)
{
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	int status = 0;
	char *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(page != MAP_FAILED);
	*page = 1;
	madvise(page, size, MADV_WIPEONFORK);
	pid_t child = fork();
	if (child == 0)
		_exit(*page);
	assert_int_equal(waitpid(child, &status, 0), child);
	munmap(page, size);
	return status == 0;
}

#endif

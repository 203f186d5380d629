/* SPDX-License-Identifier: ISC
 *
 * Turns the SIGBUS of a truncated file into a page of zeros. The handler only reads a fixed table
 * and calls mmap, which is a plain system call; it neither allocates nor locks.
 */
#include "source/mapping.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <weft/source.h>

#include "base/export.h"

#define MAPPINGS_MAX 1024

/* `start` is 0 while the entry is free, 1 while it is being filled. */
static struct {
	atomic_uintptr_t start;
	atomic_size_t size;
} mappings[MAPPINGS_MAX];

static struct sigaction previous;
static uintptr_t page_bytes;

int weft__source_mapping_guard(void *address, size_t size)
{
	for (size_t i = 0; i < MAPPINGS_MAX; i++) {
		uintptr_t expected = 0;
		if (!atomic_compare_exchange_strong(&mappings[i].start, &expected, 1))
			continue;
		atomic_store(&mappings[i].size, size);
		atomic_store(&mappings[i].start, (uintptr_t)address);
		return 0;
	}
	return WEFT_ERROR_LIMIT;
}

void weft__source_mapping_release(void *address)
{
	for (size_t i = 0; i < MAPPINGS_MAX; i++) {
		uintptr_t expected = (uintptr_t)address;
		if (atomic_compare_exchange_strong(&mappings[i].start, &expected, 0))
			return;
	}
}

static int is_guarded(uintptr_t address)
{
	for (size_t i = 0; i < MAPPINGS_MAX; i++) {
		uintptr_t start = atomic_load(&mappings[i].start);
		if (start > 1 && address >= start && address - start < atomic_load(&mappings[i].size))
			return 1;
	}
	return 0;
}

static void on_sigbus(int signal, siginfo_t *info, void *context)
{
	(void)context;
	uintptr_t address = (uintptr_t)info->si_addr;
	void *page = (void *)(address & ~(page_bytes - 1));
	/* Writable, because `weft ctl` writes to a program's buffer. */
	const int rights = PROT_READ | PROT_WRITE, flags = MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS;
	if (is_guarded(address) && mmap(page, page_bytes, rights, flags, -1, 0) != MAP_FAILED)
		return;
	/* Not one of our mappings: the instruction faults again, now with the previous handler. */
	sigaction(signal, &previous, NULL);
}

WEFT__EXPORT int weft_source_survive_truncation(void)
{
	struct sigaction action;
	if (page_bytes)
		return 0;
	page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_sigbus;
	action.sa_flags = SA_SIGINFO;
	sigemptyset(&action.sa_mask);
	return sigaction(SIGBUS, &action, &previous) ? WEFT_ERROR_SYSTEM : 0;
}

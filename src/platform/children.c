/* SPDX-License-Identifier: ISC
 *
 * Keeps forked children away from their parent's ring: nothing of it is memory that both can write.
 *
 * A child may have other rights than its parent, for example a server's worker. So the ring is not
 * inherited (MADV_DONTFORK), but for its first page: the program's categories point at the levels
 * there, and a child that was made by clone(2) directly reads them before any of its code could be
 * told. In a child of fork(3) that page is replaced by a private copy, and the rest by private
 * memory, because the fork may have been called by a signal handler that returns into the middle of
 * an event. So the child keeps the levels of the moment of the fork until it has a ring of its own.
 *
 * A child of clone(2) or _Fork(3) shares the first page with its parent: it can spoil the trace,
 * but not the parent, which trusts nothing in the ring (record/region.h). A child of vfork(2) runs
 * in its parent's memory and can change all of it, with or without a ring.
 *
 * A child that can neither make a ring nor reach the run directory leaves the reason in a shared
 * page of its own, which its parent copies into its ring.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "platform/linux.h"
#include "record/atomics.h"
#include "record/recorder.h"

/* The latest ring. */
static struct {
	unsigned char *start; /* NULL: none */
	size_t size;
	size_t kept; /* of the first page */
} ring;

/* Written by children, which may be hostile; a child's pointer is its parent's until it has a ring.
 */
static struct refused {
	uint32_t count;
	uint64_t entries[WEFT_ABI_REFUSED];
} * refused;

static uint32_t refused_seen;

/* Replaces the ring by private memory with a copy of the first page. Without address space for
 * that, only the page is replaced; a child that returns into an event then ends by SIGSEGV. */
static void replace_ring(void)
{
	const int rights = PROT_READ | PROT_WRITE;
	const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
	size_t size = ring.size;
	void *memory = mmap(NULL, size, rights, how, -1, 0);
	if (memory == MAP_FAILED)
		memory = mmap(NULL, size = ring.kept, rights, how, -1, 0);
	if (memory == MAP_FAILED)
		return;
	memcpy(memory, ring.start, ring.kept);
	if (mremap(memory, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, ring.start) == MAP_FAILED)
		munmap(memory, size);
}

static void begin_child(void)
{
	int saved = errno;
	if (ring.start)
		replace_ring();
	ring.start = NULL;
	errno = saved;
}

static struct refused *share_page(void)
{
	void *page = mmap(
		NULL, sizeof(struct refused), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return page == MAP_FAILED ? NULL : page;
}

void weft__children_keep_off(void *buffer, size_t size)
{
	static uint32_t is_registered;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	ring.start = buffer;
	ring.size = size;
	ring.kept = page;
	if (!buffer)
		return;
	refused_seen = 0;
	weft__store_release(&refused, share_page());
	madvise((unsigned char *)buffer + page, size - page, MADV_DONTFORK);
	if (weft__compare_exchange(&is_registered, 0, 1))
		pthread_atfork(NULL, NULL, begin_child);
}

void weft__children_refuse(uint64_t entry)
{
	struct refused *page = weft__load_acquire(&refused);
	uint32_t index = page ? weft__fetch_add(&page->count, 1) : WEFT_ABI_REFUSED;
	if (index < WEFT_ABI_REFUSED)
		weft__store(&page->entries[index], entry);
}

void weft__children_collect(struct weft_abi_buffer *header)
{
	const struct refused *page = weft__load_acquire(&refused);
	uint32_t count = page ? weft__load(&page->count) : 0;
	if (count == weft__load(&refused_seen))
		return;
	weft__store(&refused_seen, count);
	for (uint32_t i = 0; i < WEFT_ABI_REFUSED; i++)
		weft__store(&header->refused[i], weft__load(&page->entries[i]));
	weft__store(&header->refused_count, count);
}

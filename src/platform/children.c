/* SPDX-License-Identifier: ISC
 *
 * Keeps forked children away from their parent's ring: nothing of it is memory that both can write.
 *
 * A child may have other rights than its parent, for example a server's worker. So the ring is not
 * inherited (MADV_DONTFORK), but for its first page: the program's categories point at the levels
 * there, and a child that was made by clone(2) directly reads them before any of its code could be
 * told. In a child of fork(3) that page is replaced by a private copy, and the rest by private
 * memory, because the fork may have been called by a signal handler that returns into the middle of
 * an event; only such a child inherits the ring, until it is replaced. So the child keeps the
 * levels of the moment of the fork until it has a ring of its own.
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

#include "kernel/call.h"
#include "platform/linux.h"
#include "record/atomics.h"
#include "record/recorder.h"

/* The latest ring. */
static struct {
	unsigned char *start; /* NULL: none */
	size_t size;
	size_t kept;       /* of the first page */
	int owner;         /* process id: a child may have a ring before begin_child() */
	bool is_inherited; /* all of it, by the child that is being made */
} ring;

/* Written by children, which may be hostile; a child's pointer is its parent's until it has a ring.
 */
static struct refused {
	uint32_t count;
	uint64_t entries[WEFT_ABI_REFUSED];
} * refused;

static uint32_t refused_seen;

/* Replaces shared memory at `start` by private memory with the same first page. False without
 * memory for that. */
static bool make_private(unsigned char *start, size_t size)
{
	void *memory = mmap(
		NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return false;
	memcpy(memory, start, ring.kept);
	if (mremap(memory, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, start) != MAP_FAILED)
		return true;
	munmap(memory, size);
	return false;
}

/* Maps private memory wherever there is none in the range. */
static void fill(unsigned char *start, size_t size)
{
	const int how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
	void *memory = mmap(start, size, PROT_READ | PROT_WRITE, how, -1, 0);
	if (memory == start)
		return;
	if (memory != MAP_FAILED) { /* kernels before 4.17 take the address for a hint */
		munmap(memory, size);
		errno = EEXIST;
	}
	size_t half = size / 2 / ring.kept * ring.kept;
	if (errno != EEXIST || half == 0)
		return;
	fill(start, half);
	fill(start + half, size - half);
}

/* In the parent, before a fork: a child that returns into the middle of an event gets the ring
 * until begin_child(), so that nothing else can be mapped there before. */
static void begin_fork(void)
{
	if (!ring.start || !weft__record_is_inside_event())
		return; /* another thread may be at its own fork, so the flag stays as it is */
	ring.is_inherited = true;
	madvise(ring.start + ring.kept, ring.size - ring.kept, MADV_DOFORK);
}

static void end_fork(void)
{
	if (ring.is_inherited)
		madvise(ring.start + ring.kept, ring.size - ring.kept, MADV_DONTFORK);
	ring.is_inherited = false;
}

/* Other handlers of the program may have run in the child before: they may have mapped memory or
 * begun threads where the ring is in the parent, and their events may have made the child's ring.
 */
static void begin_child(void)
{
	int saved = errno;
	if (ring.owner == weft__kernel_process())
		return;
	if (ring.is_inherited && !make_private(ring.start, ring.size))
		munmap(ring.start + ring.kept, ring.size - ring.kept);
	else if (ring.start && !ring.is_inherited && make_private(ring.start, ring.kept))
		fill(ring.start + ring.kept, ring.size - ring.kept);
	ring.start = NULL;
	ring.is_inherited = false;
	errno = saved;
}

static struct refused *share_page(void)
{
	void *page = mmap(
		NULL, sizeof(struct refused), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return page == MAP_FAILED ? NULL : page;
}

void weft__platform_children_keep_off(void *buffer, size_t size)
{
	static uint32_t is_registered;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	begin_child();
	ring.start = buffer;
	ring.size = size;
	ring.kept = page;
	ring.owner = weft__kernel_process();
	if (!buffer)
		return;
	refused_seen = 0;
	weft__store_release(&refused, share_page());
	madvise((unsigned char *)buffer + page, size - page, MADV_DONTFORK);
	if (weft__compare_exchange(&is_registered, 0, 1))
		pthread_atfork(begin_fork, end_fork, begin_child);
}

void weft__platform_children_refuse(uint64_t entry)
{
	struct refused *page = weft__load_acquire(&refused);
	uint32_t index = page ? weft__fetch_add(&page->count, 1) : WEFT_ABI_REFUSED;
	if (index < WEFT_ABI_REFUSED)
		weft__store(&page->entries[index], entry);
}

void weft__platform_children_collect(struct weft_abi_buffer *header)
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

/* SPDX-License-Identifier: ISC
 *
 * The page through which another process asks this one to record (abi/attach_abi.h), and behind it
 * the values of counters, which others read (abi/counter_abi.h), unless an agent collects those:
 * then they are in a file of their own (platform/region.c).
 *
 * Both are in shared memory (memory.c), which a forked child cannot write to. Calls look at a
 * second mapping, which children inherit; the file behind that is open for reading only, so
 * mprotect cannot change that. A child that was made by fork() gets a page of its own in the same
 * place.
 */
#include "platform/linux.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "abi/attach_abi.h"
#include "abi/counter_abi.h"
#include "abi/run_abi.h"
#include "kernel/call.h"
#include "kernel/clock.h"
#include "record/atomics.h"
#include "record/counters.h"
#include "record/recorder.h"

#define FILE_BYTES (WEFT_ABI_ATTACH_BYTES + WEFT_ABI_COUNTERS_BYTES)

/* On a page of its own, which the kernel clears in a forked child, whichever call forked it: there
 * the writable mapping is missing. */
static union {
	_Alignas(WEFT__PAGE_BYTES) struct {
		struct weft_abi_attach *page; /* writable; NULL: we own no page */
		pid_t owner; /* a child made by vfork runs in this memory, but is another process */
	};
	unsigned char rest[WEFT__PAGE_BYTES];
} own;

/* A forked child knows by this what it has inherited. */
static struct {
	const struct weft_abi_attach *view; /* the mapping that calls look at */
} offered;

static struct weft__shared_memory memory = {
	.name = WEFT_ABI_ATTACH_NAME, .bytes = FILE_BYTES, .fd = -1};

/* ---- The page ---- */

static void begin_page(struct weft_abi_attach *page)
{
	own.owner = weft__kernel_process();
	own.page = page;
	page->version = WEFT_ABI_ATTACH_VERSION;
	page->owner = (uint32_t)own.owner;
	weft__fence_release();
	memcpy(page->magic, WEFT_ABI_ATTACH_MAGIC, sizeof(page->magic));
}

/* Counters are in the file of an agent, if there is one, and else behind the page. Without random
 * bytes for a name an agent does not collect them. */
static void begin_counters(struct weft_abi_counters *counters)
{
	struct weft_abi_counters *named = NULL;
	if (weft__kernel_call(SYS_getrandom, (long)counters->region, sizeof(counters->region),
			GRND_NONBLOCK, 0, 0, 0) == sizeof(counters->region))
		named = weft__platform_region_make(counters->region);
	else
		memset(counters->region, 0, sizeof(counters->region));
	counters->is_elsewhere = named != NULL;
	weft__record_counters_share(named ? named : counters);
	weft__platform_region_begin(counters);
}

/* Makes a page, which calls see in place of what is mapped at `at`. False, and nothing has changed,
 * if that fails. */
static bool make_page(void *at)
{
	const int how = MAP_SHARED | (at ? MAP_FIXED : 0);
	struct weft_abi_attach *page = weft__platform_memory_make(&memory);
	if (!page)
		return false;
	void *view = mmap(at, WEFT_ABI_ATTACH_BYTES, PROT_READ, how, memory.fd, 0);
	if (view == MAP_FAILED) {
		weft__platform_memory_unmap(page, FILE_BYTES);
		weft__platform_memory_forget(&memory);
		return false;
	}
	begin_page(page);
	begin_counters((struct weft_abi_counters *)((char *)page + WEFT_ABI_ATTACH_BYTES));
	offered.view = view;
	return true;
}

/* The counters of a process that records and has no file beside a ring. */
static struct weft__shared_memory counted = {
	.name = WEFT_ABI_COUNTERS_NAME, .bytes = WEFT_ABI_COUNTERS_BYTES, .fd = -1};

/* Programs that are recorded by adapters alone get no descriptor, nor do their children. */
static bool is_linked;

static void count_nameless(void)
{
	struct weft_abi_counters *own_memory = weft__platform_memory_make(&counted);
	if (own_memory)
		begin_counters(own_memory);
}

/* Called by fork() in the child: see replace_in_child(). */
static void count_in_child(void)
{
	int saved = errno;
	if (weft__load(&weft__counters.own.shared) || !weft__platform_memory_may_replace())
		return;
	weft__platform_memory_forget(&counted);
	if (is_linked)
		count_nameless();
	errno = saved;
}

void weft__platform_attach_show_counters(void)
{
	const char *path = weft__platform_linux_beside(WEFT_ABI_RUN_COUNTERS);
	struct weft_abi_counters *beside = NULL;
	if (madvise(&weft__counters.own, sizeof(weft__counters.own), MADV_WIPEONFORK) != 0)
		return;
	is_linked = weft__platform_linux_is_linked();
	weft__platform_region_find();
	weft__platform_memory_begin();
	if (path)
		beside = weft__platform_region_make_at(path, WEFT_ABI_COUNTERS_BYTES);
	if (beside)
		begin_counters(beside);
	else if (is_linked)
		count_nameless();
	(void)pthread_atfork(NULL, NULL, count_in_child);
}

/* ---- Forked children ---- */

/* Called by fork() in the child, which may have one thread of many: so this allocates nothing and
 * waits for nothing. In a child that has got a filter of system calls it does nothing, because the
 * filter may kill: what is inherited then can be read, not written. */
static void replace_in_child(void)
{
	int saved = errno;
	if (own.page || !weft__platform_memory_may_replace())
		return; /* the first: the memory is shared, or was not cleared */
	bool keeps_descriptor = weft__platform_memory_forget(&memory);
	void *at = (void *)(uintptr_t)offered.view;
	if (!make_page(at)) /* the level stays 0 */
		mmap(at, WEFT_ABI_ATTACH_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	else if (!keeps_descriptor)
		weft__platform_memory_forget(&memory);
	errno = saved;
}

const uint8_t *weft__platform_attach_offer(void)
{
	if (madvise(&own, sizeof(own), MADV_WIPEONFORK) != 0)
		return NULL;
	weft__platform_region_find();
	weft__platform_memory_begin();
	if (!make_page(NULL))
		return NULL;
	/* Without it, a forked child has no page; that is all. */
	(void)pthread_atfork(NULL, NULL, replace_in_child);
	return &offered.view->level;
}

/* ---- Requests ---- */

bool weft__platform_attach_is_for_us(void)
{
	return own.page && weft__load(&own.page->level) && own.owner == weft__kernel_process();
}

static bool is_void(void)
{
	return weft__kernel_clock_ns(CLOCK_REALTIME) > weft__load(&own.page->until_unix_ns);
}

bool weft__platform_attach_take(struct weft__attach_request *ret_request)
{
	if (!weft__platform_attach_is_for_us())
		return false;
	ret_request->number = weft__load_acquire(&own.page->number);
	ret_request->ring_bytes = weft__load(&own.page->ring_bytes);
	if (!is_void())
		return true;
	weft__store(&own.page->level, 0);
	return false;
}

/* Stores a text and its NUL in `size` bytes. */
static void store_text(char *to, const char *from, size_t size)
{
	size_t length = strnlen(from, size - 1);
	for (size_t i = 0; i < length; i++)
		weft__store(&to[i], from[i]);
	weft__store(&to[length], '\0');
}

/* The level first: once another process sees the answer, it may store its next request. */
void weft__platform_attach_answer(uint32_t number, const char *directory, const char *reason)
{
	struct weft_abi_attach *page = own.page;
	store_text(page->directory, directory, sizeof(page->directory));
	store_text(page->reason, reason, sizeof(page->reason));
	weft__store(&page->level, 0);
	weft__store_release(&page->answered, number);
}

/* The environment of a set-user-ID program is its caller's, who must not make it write files. */
bool weft__platform_attach_is_wanted(void)
{
	const char *wanted = secure_getenv("WEFT_ATTACH");
	if (getauxval(AT_SECURE))
		return false;
	if (!wanted || !*wanted)
		return true;
	if (strcmp(wanted, "none") != 0)
		weft__platform_linux_report("WEFT_ATTACH", "the only value is none");
	return false;
}

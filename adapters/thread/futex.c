/* SPDX-License-Identifier: ISC
 *
 * Locks that are not libc's: GMutex and GCond of GLib, the locks of Rust, std::atomic::wait and
 * std::counting_semaphore of C++20. Where they have to wait, they ask the kernel by syscall(2): for
 * a futex, until another thread wakes it.
 *
 * A waiter reads the futex's task; the thread that wakes it signals that task, or the waiter itself
 * if there is only one. A lock that is free makes no such call.
 */
#include <linux/futex.h>
#include <sys/auxv.h>
#include <unistd.h>

#define WEFT_CATEGORY thread
#include "hooks/asked.h"
#include "thread/futex.h"
#include "kernel/call.h"
#include "thread/objects.h"

/* Bits of an entry of /proc/self/pagemap: the page is in memory; a file has it, or others share it.
 */
#define PAGE_PRESENT (UINT64_C(1) << 63)
#define PAGE_SHARED  (UINT64_C(1) << 61)

__thread struct weft__thread_futex_name weft__thread_futex_name;

/* The kernel does not wait either then. */
static bool has_changed(const struct weft__hooks_asked *it)
{
	const uint32_t *word = (const uint32_t *)it->argument[0];
	uint32_t is;
	return !word || (uintptr_t)word % sizeof(*word) || !weft__hooks_copy(&is, word, sizeof(is)) ||
		   is != (uint32_t)it->argument[2];
}

/* True if the page is memory that only this process has, as its heaps, stacks and variables are, by
 * the kernel's table of its pages. */
static WEFT__OWN_FRAME bool is_private(uintptr_t word)
{
	const uintptr_t page_bytes = getauxval(AT_PAGESZ);
	uint64_t entry = 0;
	if (!page_bytes || !weft__hooks_system_begin())
		return false;
	const int fd = weft__kernel_open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC, 0);
	const off_t at = (off_t)(word / page_bytes * sizeof(entry));
	const bool is_read =
		fd >= 0 && weft__kernel_read_at(fd, &entry, sizeof(entry), at) == sizeof(entry);
	if (fd >= 0)
		weft__kernel_close(fd);
	weft__hooks_system_end();
	return is_read && entry & PAGE_PRESENT && !(entry & PAGE_SHARED);
}

/* True if other processes may use the word. libstdc++ never says that only this one does, but what
 * lies in the program or its heap is no other process's. */
static bool may_be_shared(const struct weft__hooks_asked *it)
{
	const uintptr_t word = (uintptr_t)it->argument[0];
	return !(it->argument[1] & FUTEX_PRIVATE_FLAG) &&
		   (word < getauxval(AT_PHDR) || word >= (uintptr_t)sbrk(0)) && !is_private(word);
}

static struct weft__thread_origin origin_of(const void *word, const void *caller)
{
	const struct weft__thread_futex_name *name = &weft__thread_futex_name;
	if (!name->caller)
		return (struct weft__thread_origin){"futex", caller, WEFT_KIND_CONDITION, false};
	const char *kind = word == name->condition ? "condition" : "lock";
	return (struct weft__thread_origin){kind, name->caller, WEFT_KIND_CONDITION, false};
}

static long wait(const struct weft__hooks_asked *it)
{
	const void *word = (const void *)it->argument[0];
	if (!HOOKS_RECORD || has_changed(it))
		return weft__hooks_ask(it);
	int saved = weft__hooks_begin();
	const struct weft__thread_origin origin = origin_of(word, it->caller);
	struct weft__thread_object *object = weft__thread_object(word, &origin);
	struct weft__hooks_wait wait = {.waiter = WEFT_TASK_NONE};
	if (object && (it->argument[3] || may_be_shared(it)))
		weft__thread_wait_limited(object);
	if (object)
		wait = weft__thread_wait_begin(object, "futex");
	weft__hooks_end(saved);
	long result = weft__hooks_ask(it);
	saved = weft__hooks_begin();
	if (object)
		weft__thread_wait_end(object, &wait, result == 0);
	weft__hooks_end(saved);
	return result;
}

static long wake(const struct weft__hooks_asked *it)
{
	const void *word = (const void *)it->argument[0];
	if (weft__thread_is_busy(word) && HOOKS_RECORD) {
		int saved = weft__hooks_begin();
		weft__thread_wake(word);
		weft__hooks_end(saved);
	}
	return weft__hooks_ask(it);
}

HOOKS_ASKED(SYS_futex, ask_futex)
{
	switch (it->argument[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		return wait(it);
	case FUTEX_WAKE:
	case FUTEX_WAKE_BITSET:
		return wake(it);
	default:
		return weft__hooks_ask(it);
	}
}

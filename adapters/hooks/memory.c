/* SPDX-License-Identifier: ISC
 *
 * Reads the program's memory, which the program may pass wrongly, and which another thread or a
 * signal handler may unmap at any time. So the kernel copies it: where it cannot, the copy fails,
 * and no signal is raised. The call that the hook stands in front of fails then, too.
 *
 * A text is copied up to the end of its page, and then from the next one, as it may end in the
 * first.
 */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#define WEFT_CATEGORY always
#include "hooks/hooks.h"
#include "kernel/call.h"
#include "kernel/filter.h"

#define PAGE 4096u /* the smallest of all machines */

/* The kernel reads a set of signals before it refuses what to do with it. Filters allow this call,
 * because libc makes it for each thread. */
static bool is_mapped(uintptr_t address)
{
	return weft__kernel_call(SYS_rt_sigprocmask, -1, (long)(address & ~(uintptr_t)7), 0, 8, 0, 0) ==
		   -EINVAL;
}

/* The same where a filter may end the process at the call below: other threads can still unmap what
 * was just found. */
static size_t copy_mapped(char *to, size_t size, const struct iovec *from, size_t count)
{
	size_t copied = 0;
	for (size_t i = 0; i < count; i++) {
		const char *at = from[i].iov_base, *end = at + from[i].iov_len;
		while (at < end && copied < size) {
			size_t left = PAGE - (uintptr_t)at % PAGE;
			size_t part = (size_t)(end - at) < left ? (size_t)(end - at) : left;
			part = part < size - copied ? part : size - copied;
			if (!is_mapped((uintptr_t)at))
				return copied;
			memcpy(to + copied, at, part);
			copied += part;
			at += part;
		}
	}
	return copied;
}

/* How many bytes could be copied. errno stays. A child of vfork is another process than its
 * parent. The call writes `to` as the memory of another process, and reads `from` as the caller's
 * own: process_vm_readv() cannot read pages of a device, such as libxencall's buffers. */
static size_t copy(void *to, size_t size, const struct iovec *from, size_t count)
{
	struct iovec remote = {to, size};
	if (!weft__hooks_system_begin())
		return 0;
	long copied;
	if (weft__kernel_is_filtered())
		copied = (long)copy_mapped(to, size, from, count);
	else
		copied = weft__kernel_call(SYS_process_vm_writev, weft__kernel_process(), (long)from,
			(long)count, (long)&remote, 1, 0);
	weft__hooks_system_end();
	return copied > 0 ? (size_t)copied : 0;
}

bool weft__hooks_copy_parts(void *to, const struct iovec *parts, size_t count)
{
	size_t size = 0;
	for (size_t i = 0; i < count; i++)
		size += parts[i].iov_len;
	return copy(to, size, parts, count) == size;
}

bool weft__hooks_copy(void *to, const void *from, size_t size)
{
	struct iovec part = {(void *)(uintptr_t)from, size};
	return copy(to, size, &part, 1) == size;
}

void weft__hooks_append_copy(struct weft__hooks_text *text, const char *from)
{
	const size_t room = sizeof(text->bytes) - text->size;
	size_t first = PAGE - (uintptr_t)from % PAGE;
	char *to = text->bytes + text->size;
	struct iovec parts[2] = {{(void *)(uintptr_t)from, first < room ? first : room}};
	parts[1].iov_base = (char *)parts[0].iov_base + parts[0].iov_len;
	parts[1].iov_len = room - parts[0].iov_len;
	text->size += strnlen(to, copy(to, room, parts, parts[1].iov_len ? 2 : 1));
}

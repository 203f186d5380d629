/* SPDX-License-Identifier: ISC
 *
 * A call is a span that begins before the ioctl, so that a call that never returns is seen, too.
 * Its tags are the domain, the number of pages, the port and the error.
 *
 * The structs that the program passes are copied once, before the call. Only numbers that Xen
 * writes are copied after it: that of a new domain, and the result of a call in a multicall.
 */
#include <string.h>

#define WEFT_CATEGORY xen
#include "hooks/hooks.h"
#include "kernel/call.h"
#include "xen/call.h"
#include "xen/decode.h"

#define ERRNO_MAX 4095

/* ---- The device ---- */

/* "/dev/xen/privcmd", or "/proc/xen/privcmd", below any root. */
static bool ends_with(const char *path, size_t size, const char *end)
{
	const size_t length = strlen(end);
	return size >= length && memcmp(path + size - length, end, length) == 0;
}

static WEFT__OWN_FRAME bool is_device(int fd, enum weft__xen_device device)
{
	static const char *const ends[] = {
		[WEFT__XEN_PRIVCMD] = "/xen/privcmd",
		[WEFT__XEN_GNTDEV] = "/xen/gntdev",
		[WEFT__XEN_EVTCHN] = "/xen/evtchn",
	};
	struct weft__hooks_text link = {0};
	char path[128];
	if (!weft__hooks_system_begin())
		return false;
	weft__hooks_append(&link, "/proc/self/fd/");
	weft__hooks_append_number(&link, fd);
	link.bytes[link.size] = '\0';
	const long size = weft__kernel_readlink(link.bytes, path, sizeof(path));
	weft__hooks_system_end();
	return size > 0 && ends_with(path, (size_t)size, ends[device]);
}

/* ---- What it asks ---- */

static bool copy(void *to, uint64_t address, size_t size)
{
	return address && size && weft__hooks_copy(to, (const void *)(uintptr_t)address, size);
}

/* 0: not a multicall of a single call, or it cannot be read. */
static WEFT__OWN_FRAME uint64_t take_entry(uint64_t hypercall[static WEFT__XEN_ARGUMENTS])
{
	uint8_t bytes[WEFT__XEN_ENTRY_BYTES];
	const uint64_t entry = weft__xen_find_entry(hypercall);
	if (!copy(bytes, entry, sizeof(bytes)))
		return 0;
	weft__xen_take_entry(hypercall, bytes);
	return entry;
}

static WEFT__OWN_FRAME struct weft__xen_call decode_hypercall(
	const uint64_t hypercall[static WEFT__XEN_ARGUMENTS])
{
	uint8_t part[WEFT__XEN_PART_BYTES];
	const struct weft__xen_part where = weft__xen_find_part(hypercall);
	const bool is_copied = copy(part, where.address, where.size);
	return weft__xen_decode_hypercall(hypercall, is_copied ? part : NULL);
}

static WEFT__OWN_FRAME struct weft__xen_call decode(
	const struct weft__xen_request *request, const void *argument)
{
	uint64_t words[WEFT__XEN_BYTES_MAX / sizeof(uint64_t)];
	const bool is_copied = request->size && weft__hooks_copy(words, argument, request->size);
	if (!request->is_hypercall || !is_copied)
		return weft__xen_decode_request(request, is_copied ? (const uint8_t *)words : NULL);
	const uint64_t entry = take_entry(words);
	struct weft__xen_call call = decode_hypercall(words);
	call.entry = entry;
	return call;
}

/* ---- The span ---- */

/* The task with an open span, or WEFT_TASK_NONE. A handler of a signal may make a call, too, and
 * may leave the one that it has interrupted by a jump. */
struct open_span {
	uint64_t task;
	bool is_open;
};
static __thread struct open_span present __attribute__((tls_model("initial-exec")));

/* Also if the level is no longer recorded. */
static void close_span(void)
{
	(weft_end_as)(present.task);
	present.is_open = false;
}

static void leave(void)
{
	const int saved = weft__hooks_begin();
	if (present.is_open)
		close_span();
	weft__hooks_waits_no_longer();
	weft__hooks_end(saved);
}

static void tag(const char *name, int64_t value)
{
	if (value >= 0)
		weft_tag_value_as(present.task, name, value);
}

static void begin(const struct weft__xen_call *call)
{
	weft__hooks_thread_task();
	present = (struct open_span){weft_current(), weft_current() != WEFT_TASK_NONE};
	if (!present.is_open)
		return;
	weft_moment_begin();
	weft_begin_as(present.task, call->name);
	tag("number", call->number);
	tag("domain", call->domain);
	tag("count", call->count);
	tag("port", call->port);
	weft_moment_end();
	weft__hooks_waits(leave);
}

/* Where the program's memory has Xen's answers, which are only shown. */
struct answer {
	uint64_t domain, entry; /* addresses; 0: nowhere */
	bool is_port;           /* the result of the call is one */
};

static int32_t read_domain(const struct answer *answer)
{
	uint8_t bytes[2];
	return copy(bytes, answer->domain, sizeof(bytes)) ? weft__xen_domain(bytes) : -1;
}

/* The error of a call in a multicall, which itself succeeds; -1: none. */
static int64_t read_error(const struct answer *answer)
{
	int64_t result;
	const uint64_t address = answer->entry ? answer->entry + WEFT__XEN_ENTRY_RESULT : 0;
	const bool has_failed =
		copy(&result, address, sizeof(result)) && result < 0 && result >= -ERRNO_MAX;
	return has_failed ? -result : -1;
}

static void end(const struct answer *answer, int result, int error)
{
	if (!present.is_open)
		return;
	const int64_t failure = result < 0 ? error : read_error(answer);
	const int32_t domain = failure < 0 ? read_domain(answer) : -1;
	weft_moment_begin();
	tag("domain", domain);
	tag("port", answer->is_port ? result : -1);
	tag("error", failure);
	close_span();
	weft_moment_end();
	weft__hooks_waits_no_longer();
}

/* ---- The call ---- */

/* False: not a call of Xen, or not recorded. A frame of its own, which is gone during the call. */
static WEFT__OWN_FRAME bool try_to_begin(
	int fd, unsigned long number, const void *argument, struct answer *ret_answer)
{
	const struct weft__xen_request request = weft__xen_find_request(number);
	if (!request.name)
		return false;
	const int saved = weft__hooks_begin();
	const bool is_xen = is_device(fd, request.device);
	if (is_xen) {
		const struct weft__xen_call call = decode(&request, argument);
		*ret_answer = (struct answer){call.answer, call.entry, call.gives_port};
		begin(&call);
	}
	weft__hooks_end(saved);
	return is_xen;
}

int weft__xen_ioctl(int fd, unsigned long number, void *argument)
{
	const struct open_span before = present;
	struct answer answer;
	if (!HOOKS_RECORD || !try_to_begin(fd, number, argument, &answer))
		return NEXT(ioctl)(fd, number, argument);
	const int result = NEXT(ioctl)(fd, number, argument);
	const int saved = weft__hooks_begin();
	end(&answer, result, saved);
	present = before;
	weft__hooks_end(saved);
	return result;
}

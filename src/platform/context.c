/* SPDX-License-Identifier: ISC
 *
 * For trace contexts, from the system: random numbers, memory that a forked child finds empty,
 * and the environment.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "kernel/call.h"
#include "record/atomics.h"
#include "record/context.h"
#include "record/recorder.h"

/* On pages of its own, which the kernel clears in a child, whichever call forked it. */
static union {
	_Alignas(WEFT__PAGE_BYTES) struct weft__contexts contexts;
	unsigned char rest[(sizeof(struct weft__contexts) + WEFT__PAGE_BYTES - 1) / WEFT__PAGE_BYTES *
					   WEFT__PAGE_BYTES];
} own;

enum clearing {
	CLEARING_UNKNOWN,
	CLEARING_WORKS,
	CLEARING_FAILS
};

/* Without that, a child finds another process's number there. */
static struct weft__contexts *contexts_of_this_process(void)
{
	static struct weft__contexts contexts;
	static pid_t owner;
	const pid_t process = weft__kernel_process();
	if (weft__load(&owner) != process) {
		memset(&contexts, 0, sizeof(contexts));
		weft__store(&owner, process);
	}
	return &contexts;
}

struct weft__contexts *weft__platform_contexts_known;

struct weft__contexts *weft__platform_contexts(void)
{
	static uint32_t clearing;
	uint32_t known = weft__load(&clearing);
	if (WEFT__UNLIKELY(known == CLEARING_UNKNOWN)) {
		const long error = weft__kernel_call(
			SYS_madvise, (long)(uintptr_t)&own, sizeof(own), MADV_WIPEONFORK, 0, 0, 0);
		known = error ? CLEARING_FAILS : CLEARING_WORKS;
		weft__store(&clearing, known);
		if (known == CLEARING_WORKS)
			weft__store(&weft__platform_contexts_known, &own.contexts);
	}
	return known == CLEARING_WORKS ? &own.contexts : contexts_of_this_process();
}

uint64_t weft__platform_random(void)
{
	uint64_t number = 0;
	const long size = weft__kernel_call(
		SYS_getrandom, (long)(uintptr_t)&number, sizeof(number), GRND_NONBLOCK, 0, 0, 0);
	return size == sizeof(number) ? number : 0;
}

WEFT__EXPORT bool weft_context_from_environment(struct weft_context *ret_context)
{
	const char *text = secure_getenv("TRACEPARENT");
	*ret_context = (struct weft_context){0};
	return text && weft_context_parse(text, strlen(text), ret_context);
}

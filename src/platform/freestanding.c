/* SPDX-License-Identifier: ISC
 *
 * Without an operating system: the caller of weft_start provides memory, clock and identity.
 */
#include <weft/error.h>

#include "record/context.h"
#include "record/metrics.h"
#include "record/recorder.h"

const struct weft_platform *weft__platform_default(void)
{
	return NULL;
}

int weft__platform_prepare(const struct weft__region *region, const struct weft_platform *platform)
{
	(void)region;
	(void)platform;
	return 0;
}

bool weft__platform_clock(unsigned clock, uint64_t *ret_ns)
{
	(void)clock;
	(void)ret_ns;
	return false;
}

struct weft__self *weft__record_self(void)
{
	static struct weft__self only = {.ticket = WEFT__OUTSIDE};
	const struct weft_platform *platform = weft__record_platform();
	if (!platform || !platform->thread_memory)
		return &only;
	struct weft__self *self = platform->thread_memory(platform->context);
	if (self->ticket == 0) /* fresh from the caller */
		self->ticket = WEFT__OUTSIDE;
	return self;
}

void weft__platform_metrics_begin(bool is_late)
{
	(void)is_late;
}

int weft__platform_metrics_reserve(uint32_t count)
{
	(void)count;
	return WEFT_ERROR_UNSUPPORTED;
}

struct weft__contexts *weft__platform_contexts_known;

struct weft__contexts *weft__platform_contexts(void)
{
	static struct weft__contexts contexts;
	return &contexts;
}

uint64_t weft__platform_random(void)
{
	return 0;
}

WEFT__EXPORT bool weft_context_from_environment(struct weft_context *ret_context)
{
	*ret_context = (struct weft_context){0};
	return false;
}

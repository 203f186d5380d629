/* SPDX-License-Identifier: ISC
 *
 * A follower as the source of a refresh.
 */
#include "base/export.h"

#include <weft/follow.h>

static int next(void *follow, struct weft_event *ret_event)
{
	return weft_follow_next(follow, ret_event);
}

static const struct weft_trace_description *describe(void *follow)
{
	return weft_follow_describe(follow);
}

static struct weft_diagnostics *diagnostics(void *follow)
{
	return weft_follow_diagnostics(follow);
}

/* At the end the mark is no time. */
static uint64_t now_ns(void *follow)
{
	uint64_t mark = weft_follow_mark(follow);
	return mark == UINT64_MAX ? 0 : mark;
}

WEFT__EXPORT struct weft_refresh_source weft_follow_source(struct weft_follow *follow)
{
	return (struct weft_refresh_source){next, describe, diagnostics, now_ns, NULL, follow};
}

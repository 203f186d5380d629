/* SPDX-License-Identifier: ISC
 *
 * A buffer in a file that a running program may be recording into: its mapping, its program.
 */
#ifndef WEFT_FOLLOW_LIVE_H
#define WEFT_FOLLOW_LIVE_H

#include <stddef.h>
#include <stdint.h>

#include "follow/process.h"

struct weft__live {
	struct weft__process process;
	void *bytes; /* read-only */
	size_t size;
	uint32_t clock; /* enum weft_abi_clock */
	void *page;     /* the header, to be written; NULL: we may not */
};

/* 0, or an error as of weft_follow_open, errno saying why; then too, close is wanted. */
int weft__live_open(struct weft__live *live, const char *path);
/* The same of an open file, which stays the caller's; the header is written if the descriptor is
 * for writing too. */
int weft__live_open_descriptor(struct weft__live *live, int fd);
void weft__live_close(struct weft__live *live);

/* Until that many packets more are claimed, or so long, at most 20 ms; or until a signal comes:
 * false. If it can't ask to be woken it waits as long as it may. */
bool weft__live_wait(const struct weft__live *live, uint32_t claims, uint64_t ns);

/* Waits for so long that what a processor had stored before is seen by all others: see weft_mark.c.
 */
void weft__live_wait_slack(void);

/* CLOCK_MONOTONIC. */
uint64_t weft__live_now_ns(void);

#endif

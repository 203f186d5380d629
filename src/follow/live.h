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
};

/* 0, or an error as of weft_follow_open, errno saying why; then too, close is wanted. */
int weft__live_open(struct weft__live *live, const char *path);
void weft__live_close(struct weft__live *live);

/* CLOCK_MONOTONIC. */
uint64_t weft__live_now_ns(void);

#endif

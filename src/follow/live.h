/* SPDX-License-Identifier: ISC
 *
 * A buffer in a file into which a running program may record: its mapping, and its program.
 */
#ifndef WEFT_FOLLOW_LIVE_H
#define WEFT_FOLLOW_LIVE_H

#include <stddef.h>
#include <stdint.h>

#include "follow/process.h"

struct weft__live_ring {
	struct weft__process process;
	void *bytes; /* read-only */
	size_t size;
	uint32_t clock; /* enum weft_abi_clock */
	void *page;     /* the writable header; NULL: not permitted */
};

/* Opens the file. 0, or an error of weft_follow_open with errno; call close in both cases. */
int weft__live_open(struct weft__live_ring *live, const char *path);
/* The same for an open file, which stays the caller's; the header is writable if the descriptor is.
 */
int weft__live_open_descriptor(struct weft__live_ring *live, int fd);
void weft__live_close(struct weft__live_ring *live);

/* Waits until `claims` more packets are claimed, or for `ns`, at most 20 ms; false if a signal
 * came. Without a writable header nothing can wake it, and it waits for the whole time or until the
 * process ends. */
bool weft__live_wait(const struct weft__live_ring *live, uint32_t claims, uint64_t ns);

/* Waits until stores in any processor's store buffer are visible to all: see weft_mark.c. */
void weft__live_wait_slack(void);

/* CLOCK_MONOTONIC. */
uint64_t weft__live_now_ns(void);

#endif

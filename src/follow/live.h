/* SPDX-License-Identifier: ISC
 *
 * A buffer in a file into which a running program may record: its mapping, and its program.
 */
#ifndef WEFT_FOLLOW_LIVE_H
#define WEFT_FOLLOW_LIVE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "abi/buffer_abi.h"
#include "follow/process.h"
#include "format/weft/guest_facts.h"

struct weft_guest;

struct weft__live_ring {
	struct weft__process process;
	struct weft_guest *guest; /* the buffer of a guest of Xen, which has no process here; or NULL */
	void *bytes;              /* read-only */
	size_t size;
	uint32_t clock; /* enum weft_abi_clock */
	void *page;     /* the writable header; NULL: not permitted */
};

/* Opens the file. 0, or an error of weft_follow_open with errno; call close in both cases. */
int weft__follow_live_open(struct weft__live_ring *live, const char *path);
/* The same for an open file, which stays the caller's; the header is writable if the descriptor is.
 */
int weft__follow_live_open_descriptor(struct weft__live_ring *live, int fd);
/* The same for a guest's buffer, which stays the caller's. */
int weft__follow_live_open_guest(struct weft__live_ring *live, struct weft_guest *guest);
void weft__follow_live_close(struct weft__live_ring *live);

/* Where the buffer is, if that is not here; false: here. */
bool weft__follow_live_guest_facts(
	const struct weft__live_ring *live, struct weft__guest_facts *ret_facts);

/* Compares the host's clocks again if that is due, or at once, for a guest whose facts are known.
 * True if they have changed. */
bool weft__follow_live_compare(
	const struct weft__live_ring *live, bool at_once, struct weft__guest_facts *facts);

/* True if nothing more will be recorded there. Once true, it stays true. */
bool weft__follow_live_has_ended(struct weft__live_ring *live);
/* How it ended then, if the program has not stored that itself. */
enum weft_abi_ending weft__follow_live_ending(struct weft__live_ring *live);

/* Reads the buffer's clock. False if only the program can read it. */
bool weft__follow_live_read_clock(const struct weft__live_ring *live, uint64_t *ret_ticks);

/* The buffer's clock and the system's clocks now. If only the program can read its clock, the
 * reading has `latest` instead, and no other times. */
struct weft_abi_clock_reading weft__follow_live_take_clock(
	const struct weft__live_ring *live, uint64_t latest);

/* Waits until `claims` more packets are claimed, or for `ns`, at most 20 ms; false if a signal
 * came. Without a writable header nothing can wake it, and it waits for the whole time or until the
 * process ends. */
bool weft__follow_live_wait(const struct weft__live_ring *live, uint32_t claims, uint64_t ns);

/* Maps an open file that is large enough for a buffer, with these rights (PROT_READ, PROT_WRITE),
 * and protects the mapping. 0, or an error of weft_follow_open with errno; the caller unmaps
 * `*ret_bytes` in both cases unless it is NULL. */
int weft__follow_live_map(
	int fd, const struct stat *status, int rights, void **ret_bytes, size_t *ret_size);

/* Waits until stores in any processor's store buffer are visible to all: see weft/follow/mark.c. */
void weft__follow_live_wait_slack(void);

/* CLOCK_MONOTONIC. */
uint64_t weft__follow_live_now_ns(void);

#endif

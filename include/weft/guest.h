/* SPDX-License-Identifier: ISC
 *
 * The buffers that Xen guests share with this domain, normally dom0: finding them in XenStore and
 * mapping their pages, for reading only; weft_control_open_guest() also maps the header for
 * writing. docs/xen.md says what a guest announces.
 *
 *     weft_host_open → weft_guest_open → weft_follow_open_guest or weft_stream_open_guest → …
 *
 * Xen's libraries are loaded by weft_host_open: a program that calls it runs without them, too.
 *
 * A guest may be hostile: it may announce anything, and change its pages at any time. That leads to
 * an error or to damage in its own trace. A buffer has at most 65,536 pages, a domain 64 buffers.
 *
 * A mapping remains when its domain crashes or is destroyed; what is left of a destroyed domain
 * stays in the machine until the mapping is closed.
 *
 * A host and its guests belong to one thread at a time. The host outlives its guests.
 */
#ifndef WEFT_GUEST_H
#define WEFT_GUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The connection to Xen. */
struct weft_host;

/* A buffer of a guest, mapped. */
struct weft_guest;

/* Room for a sentence that says why something was refused. */
#define WEFT_GUEST_REASON_BYTES 256

/* 0; or an error with a reason: this is not a domain of Xen, or it may not read other domains. */
int weft_host_open(struct weft_host **ret_host, char reason[WEFT_GUEST_REASON_BYTES]);
void weft_host_close(struct weft_host *host);

/* ---- The host itself ---- */

/* One time on several clocks. */
struct weft_host_clocks {
	uint64_t hz;           /* of the processors' counter */
	uint64_t cycles;       /* this counter, as this domain reads it */
	uint64_t xen_ns;       /* Xen's system time */
	uint64_t monotonic_ns; /* CLOCK_MONOTONIC of this domain */
};

/* Reads the clocks, to a microsecond. WEFT_ERROR_STATE if Xen does not tell this domain, or for
 * processors but x86. */
int weft_host_read_clocks(struct weft_host *host, struct weft_host_clocks *ret_clocks);

/* Turns Xen's own trace off, as its tool xentrace does at its end. False if Xen refuses. */
bool weft_host_end_trace(struct weft_host *host);

/* Gives Xen's own trace buffers of this many pages for each pCPU, and returns true also if they
 * have that size. Xen makes them when they are used first, and keeps them until the host is booted
 * again: false, with EINVAL in errno, if they have another size. */
bool weft_host_size_trace(struct weft_host *host, uint32_t pages);

/* ---- Which buffers there are ---- */

/* A buffer that a domain announces; it may turn out to be invalid when it is opened. */
struct weft_guest_name {
	uint32_t domain;
	char domain_name[64]; /* "" if it has none */
	char buffer[33];      /* the id of the buffer in its domain */
	uint64_t
		mark; /* 0: it is not complete, or withdrawn; another mark: another buffer with its id */
};

/* Finds the buffers of a domain, given by name or number, or of all domains but this one ("all").
 * 0 and a list, which the caller frees; or an error with a reason, if there is no such domain.
 * `domain` may end in "/BUFFER", which selects one. */
int weft_host_find(struct weft_host *host, const char *domain, struct weft_guest_name **ret_list,
	size_t *ret_count, char reason[WEFT_GUEST_REASON_BYTES]);

/* False if the domain has ended, though it may be preserved. */
bool weft_host_runs(struct weft_host *host, uint32_t domain);

/* Lets weft_host_has_changed notice when domains come and go, and when one announces a buffer. */
int weft_host_watch(struct weft_host *host);
bool weft_host_has_changed(struct weft_host *host);

/* ---- One buffer ---- */

/* Maps a buffer. 0; WEFT_ERROR_STATE with a reason: it is not complete yet, or withdrawn; or
 * another error with a reason. */
int weft_guest_open(struct weft_host *host, const struct weft_guest_name *name,
	struct weft_guest **ret_guest, char reason[WEFT_GUEST_REASON_BYTES]);
/* The same for the only buffer of a domain, by name as for weft_host_find. */
int weft_guest_open_only(struct weft_host *host, const char *domain, struct weft_guest **ret_guest,
	char reason[WEFT_GUEST_REASON_BYTES]);

/* Unmaps the buffer, which lets go of a destroyed domain. */
void weft_guest_close(struct weft_guest *guest);

const struct weft_guest_name *weft_guest_describe(const struct weft_guest *guest);

/* The mapped pages. True: they hold the CTF of mirage-profile instead of a buffer of weft. */
bool weft_guest_bytes(const struct weft_guest *guest, const void **ret_bytes, size_t *ret_size);

enum weft_guest_state {
	WEFT_GUEST_OPEN,
	WEFT_GUEST_CLOSED,  /* its process has ended, or the guest announces another buffer instead */
	WEFT_GUEST_CRASHED, /* its domain has crashed, and is preserved */
	WEFT_GUEST_SHUT,    /* its domain has shut down */
	WEFT_GUEST_GONE,    /* its domain was destroyed, or has moved to another machine */
};

/* The state now, at most 100 ms old; a second for what the guest announces. Once it is not OPEN, it
 * stays the same, and the content of the pages has stopped changing, unless CLOSED. */
enum weft_guest_state weft_guest_look(struct weft_guest *guest);

#ifdef __cplusplus
}
#endif
#endif

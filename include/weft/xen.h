/* SPDX-License-Identifier: ISC
 *
 * For guests of Xen: lets another domain, normally dom0, read this program's buffer while it
 * records and after it crashed. docs/xen.md describes what is written to XenStore.
 *
 * A unikernel passes four functions that it has anyway, and a buffer of whole pages:
 *
 *     static const struct weft_xen_guest guest = {NULL, frame_of, grant, xenstore_write, clocks};
 *     static const struct weft_xen_share share = {.buffer = pages, .size = sizeof(pages)};
 *     weft_xen_start(&guest, &share);
 *
 * The functions are called by the thread that calls weft_xen_start, weft_xen_close or weft_stop,
 * except for `clocks`, which is called by any thread that records. Nothing is allocated.
 */
#ifndef WEFT_XEN_H
#define WEFT_XEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/kinds.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_XEN_PAGE_BYTES 4096

/* The services that a unikernel provides. */
struct weft_xen_guest {
	void *context;

	/* The frame of a page of memory, as `grant` takes it: the machine's frame in a paravirtualised
	 * guest, the guest's own frame otherwise. */
	uint64_t (*frame)(void *context, const void *page);

	/* Lets the domain map the frame: for reading only, or if `is_writable`, for writing, too, as it
	 * is for the first page of the buffer, where that domain sets levels. Returns the grant
	 * reference; 0: there is no free entry in the table. */
	uint32_t (*grant)(void *context, uint16_t domain, uint64_t frame, bool is_writable);

	/* Writes a key of XenStore; its path is relative to the domain's own. 0: done. */
	int (*write)(void *context, const char *path, const char *value);

	/* Xen's system time, and ns since 1970 (0: unknown), at one instant. */
	void (*clocks)(void *context, uint64_t *ret_system_ns, uint64_t *ret_unix_ns);
};

/* The buffer, and who may read it. */
struct weft_xen_share {
	void *buffer; /* aligned to a page */
	size_t size;  /* whole pages, at least 64 KiB */

	/* For buffers of more than about 4,000 pages: memory aligned to a page, whole pages, 4 bytes
	 * for each page of the buffer. It is granted too, and XenStore has only its own references.
	 * NULL: XenStore has all references. */
	uint32_t *directory;

	const char *id;   /* at most 32 letters, digits, '-' and '_'; NULL: "0" */
	const char *name; /* for people, at most 63 bytes; NULL: none */
	uint16_t domain;  /* the reader; 0: dom0 */

	/* 0: events are stamped with Xen's system time. Otherwise with the processor's counter, which
	 * has this rate and must not be emulated. */
	uint64_t tsc_hz;
};

/* Starts recording into the buffer, then grants its pages and publishes them. 0 or an error, with
 * which the other functions' effects remain (granted pages stay granted) but nothing is recorded:
 * WEFT_ERROR_ARGUMENT, WEFT_ERROR_STATE if recording is on, WEFT_ERROR_LIMIT if no grant is free,
 * WEFT_ERROR_SYSTEM if XenStore refuses a key. `guest` must stay valid while recording is on. */
int weft_xen_start(const struct weft_xen_guest *guest, const struct weft_xen_share *share);

/* Stops recording, and says in XenStore that the buffer is complete, as weft_stop() does too. Call
 * this before the grants are revoked. Its pages may stay mapped by the reader, so they should not
 * be used again. */
void weft_xen_close(const struct weft_xen_guest *guest, const struct weft_xen_share *share);

/* In a process of a Linux guest: starts recording into a new buffer of `size` bytes, whole pages,
 * which the domain may read, and control as weft-ctl(1) does, until the process has ended. Needs
 * the kernel's gntalloc, which is for root and limits the pages (1,024, see its parameter `limit`),
 * and libxengnttab.so.1 and libxenstore.so.4; with libxencall.so.1 the trace has Xen's system time.
 * A forked child does not record. 0 or an error: WEFT_ERROR_UNSUPPORTED if a library is missing,
 * WEFT_ERROR_SYSTEM (errno) if there is no memory or no XenStore. weft_stop() ends the recording.
 * It can begin again in a new buffer; the old one's pages are not freed. */
int weft_xen_record(uint16_t domain, size_t size);

/* For guests that are saved and restored, or moved to another host: their grants are void then, and
 * nobody can read the buffer. Call this now and then; it asks XenStore. If the guest was moved, it
 * begins to record into a new buffer of the same size and publishes that. 0, WEFT_ERROR_STATE if
 * this process does not record by weft_xen_record, or an error of weft_xen_record, after which
 * nothing is recorded. */
int weft_xen_renew(void);

/* In a process of Linux, of dom0 or of a guest whose processes may call Xen: writes the calling
 * thread's trace context (weft_context_current() in weft/context.h) into Xen's own trace, or that
 * it has none. What the thread asks of Xen from then on is a part of that span for readers of both
 * traces, up to the next call, or until the kernel runs another thread on its processor. So call it
 * right before the work, and after the context changes. It makes a hypercall, and costs nothing but
 * that if Xen records nothing. 0, WEFT_ERROR_UNSUPPORTED without libxencall.so.1, or
 * WEFT_ERROR_SYSTEM (errno) if the kernel or Xen refuses. */
int weft_xen_context(void);

/* Instead of the number of the domain: this one. */
#define WEFT_XEN_SELF 0x7ff0

/* The key of the messages of an event channel. A guest that handles an event of its port calls
 * weft_receive(weft_xen_channel(WEFT_XEN_SELF, port)). The edge comes from the program that called
 * weft_send() with the receiver's domain and port before it notified; or, if Xen's own trace is
 * opened together with the guest's, from the vCPU or interrupt that raised the event.
 *
 * For ports to which another domain or an interrupt sends, not for the guest's own timer and the
 * like; and for a unikernel or a kernel that handles all events before it blocks. */
static inline uint64_t weft_xen_channel(uint16_t domain, uint32_t port)
{
	return WEFT_KEY_CHANNEL | (uint64_t)domain << 32 | port;
}

#ifdef __cplusplus
}
#endif
#endif

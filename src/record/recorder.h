/* SPDX-License-Identifier: ISC
 *
 * The process's one recorder: where the buffer is, which clock counts, and whether it is on.
 *
 * A thread that records holds a slot of the buffer, found through its own 16 bytes (struct
 * weft__self). Each start has its own generation, so that a slot of an earlier buffer is never
 * mistaken for one of this.
 */
#ifndef WEFT_RECORD_RECORDER_H
#define WEFT_RECORD_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEFT__FUNCTIONS /* they are defined here, not called */
#include <weft/weft.h>

#include "abi/buffer_abi.h"
#include "abi/packet_abi.h"
#include "record/atomics.h"

struct weft__copy;

struct weft__recorder {
	struct weft_abi_buffer *buffer;
	const struct weft_platform *platform;
	uint32_t starts;
	/* Makes this process a buffer of its own after a fork; NULL if that is not wanted. Counts what
	 * is lost meanwhile. */
	bool (*resume)(bool for_event);
	/* Whose levels the next buffer begins with; NULL: nobody's. */
	const struct weft_abi_buffer *parent;
	/* Other copies of this code in the process, see copy.h. */
	struct weft__copy *leader; /* NULL: this one leads */
	struct weft__copy *followers;
	bool is_barred; /* it cannot follow, and records nothing */
};

extern struct weft__recorder weft__recorder WEFT__HIDDEN;

/* The largest page that the processor can have; only x86 has one size. */
#if defined(__x86_64__) || defined(__i386__)
#define WEFT__PAGE_BYTES 4096
#else
#define WEFT__PAGE_BYTES 65536
#endif

/* On a page of its own, which a forked child finds zeroed (the platform sees to it): a child never
 * writes into its parent's buffer, whatever call made it. */
struct weft__live {
	_Alignas(WEFT__PAGE_BYTES) uint64_t generation; /* a multiple of 4; 0: off */
	uint32_t is_starting;
	uint32_t has_resumed; /* 1: is at it, 2: has, or could not */
	uint32_t visitors;    /* who look at the objects of categories */
	uint32_t missed;      /* events before the buffer of a child was there */
	unsigned char rest[WEFT__PAGE_BYTES - 24];
};

/* Added to a generation that the hot path must not take for its own: all events go the slow way. */
#define WEFT__SLOWLY 1u
/* Added to the ticket of a thread whose events share a stamp, to the same end. */
#define WEFT__IN_MOMENT 2u

extern struct weft__live weft__live WEFT__HIDDEN;

/* A thread's own. */
struct weft__self {
	uint64_t ticket; /* the generation that `slot` belongs to, or one of those below */
	struct weft_abi_slot *slot;
};

#define WEFT__OUTSIDE 1 /* nothing yet; no generation, not even that of "off" */
#define WEFT__ENTERING \
	UINT64_MAX /* looking for a slot; one less for each event refused meanwhile */

/* There was no slot for the thread in this generation, and so many events are lost before it looks
 * again: that costs system calls. */
#define WEFT__REFUSED(generation, left) (((uint64_t)1 << 63) + ((generation) << 8) + (left))
#define WEFT__LOOK_INTERVAL             64

/* A guard that refused so many events was left behind, by a siglongjmp out of a handler or the
 * like: no handler records so much. */
#define WEFT__NESTED_MAX 65536

#ifdef WEFT_FREESTANDING
struct weft__self *weft__self(void);
#else
/* Of this model whatever the file is compiled with: another calls malloc at a thread's first touch.
 */
extern _Thread_local struct weft__self weft__self_here WEFT__HIDDEN
	__attribute__((tls_model("initial-exec")));
static inline struct weft__self *weft__self(void)
{
	return &weft__self_here;
}
#endif

/* The generation that the thread has entered, if any. */
static inline uint64_t weft__entered_generation(const struct weft__self *self)
{
	return self->ticket & ~(uint64_t)WEFT__IN_MOMENT;
}

/* The slot is of the generation that the ticket says; a thread that was refused keeps an older one.
 */
static inline bool weft__has_entered(const struct weft__self *self)
{
	return !(self->ticket >> 63) && self->ticket != WEFT__OUTSIDE;
}

static inline uint64_t weft__generation(void)
{
	return __atomic_load_n(&weft__live.generation, __ATOMIC_ACQUIRE) & ~(uint64_t)WEFT__SLOWLY;
}

/* Off, and no child that will make itself a buffer: nothing to do. */
static inline bool weft__is_off(void)
{
	return !weft__load(&weft__live.generation) && !weft__load(&weft__recorder.resume);
}

/* The buffer that recording goes to now. A thread that has a slot asks that for its buffer instead:
 * recording may be stopped and started elsewhere while the thread is in the middle of an event. */
static inline struct weft_abi_buffer *weft__header(void)
{
	/* Acquire: all of its header. Who asks may know the generation before this one only. */
	return weft__load_acquire(&weft__recorder.buffer);
}

static inline struct weft_abi_buffer *weft__header_of(const struct weft_abi_slot *slot)
{
	return (struct weft_abi_buffer *)((uintptr_t)slot - (uintptr_t)weft__load(&slot->header));
}

static inline const struct weft_platform *weft__platform(void)
{
	return weft__load(&weft__recorder.platform);
}

/* Lays out a buffer and fills what doesn't depend on the platform. */
int weft__buffer_lay_out(void *buffer, size_t size);

/* The operating system's platform; NULL in a build without one. */
const struct weft_platform *weft__default_platform(void);
/* What the platform has to say of a buffer before it goes live: identity, clock. */
int weft__platform_prepare(struct weft_abi_buffer *header, const struct weft_platform *platform);

/* This moment on every clock that the platform has. */
struct weft_abi_moment weft__moment(const struct weft_platform *platform);

#endif

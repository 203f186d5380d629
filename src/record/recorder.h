/* SPDX-License-Identifier: ISC
 *
 * The process's recorder: the buffer, the clock, and whether recording is on.
 *
 * A recording thread holds a slot of the buffer, which it finds through its own 16 bytes (struct
 * weft__record_self). Each start has its own generation, so that a slot of an earlier buffer is
 * never mistaken for one of the present buffer.
 */
#ifndef WEFT_RECORD_RECORDER_H
#define WEFT_RECORD_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEFT__FUNCTIONS /* functions are defined here, so no macros */
#include <weft/weft.h>

#include "abi/buffer_abi.h"
#include "abi/packet_abi.h"
#include "record/atomics.h"
#include "record/region.h"

struct weft__copy;
struct weft__counters;
struct weft__metrics;

struct weft__recorder {
	const struct weft__region *region; /* of the buffer; never NULL */
	struct weft__regions *regions;     /* the leader's list */
	struct weft__counters *counters;   /* the leader's */
	struct weft__metrics *metrics;     /* the leader's */
	const struct weft_platform *platform;
	uint32_t starts;
	/* Makes a buffer for this process, after a fork or because another process has asked for it;
	 * NULL if neither can happen. `for_event`: an event that cannot be recorded meanwhile counts as
	 * lost. */
	bool (*resume)(bool for_event);
	/* While this byte is 0, `resume` is not to be called. NULL: it always is. */
	const uint8_t *idle;
	/* The value of `idle` whenever recording stops; NULL: no process can ask for recording. */
	const uint8_t *offered;
	/* The header from which the next buffer takes its levels; NULL: none. */
	const struct weft_abi_buffer *parent;
	/* Other copies of this code in the process, see copy.h. */
	struct weft__copy *leader; /* NULL: this copy leads */
	struct weft__copy *followers;
	bool is_barred; /* it cannot follow the leader, and records nothing */
	/* In the leader: where the search for slots of ended threads goes on. */
	uint32_t search_from;
	/* In the leader: ids given to tasks up to the last stop, or since it while recording is off. */
	uint64_t unrecorded;
	/* In the leader: spaces of ids that are taken. */
	uint64_t spaces;
};

extern struct weft__recorder weft__recorder WEFT__HIDDEN;

/* The largest page size of the processor; x86 has only one size. */
#if defined(__x86_64__) || defined(__i386__)
#define WEFT__PAGE_BYTES 4096
#else
#define WEFT__PAGE_BYTES 65536
#endif

/* On a page of its own, which is zeroed in a forked child (by the platform): so a child never
 * writes into its parent's buffer, whichever call forked it. */
struct weft__live_page {
	_Alignas(WEFT__PAGE_BYTES) uint64_t generation; /* a multiple of 4; 0: off */
	uint32_t is_starting;
	uint32_t has_resumed; /* 1: being done; 2: done, or failed */
	uint32_t visitors;    /* threads that read the objects of categories */
	uint32_t missed;      /* events lost before a child's buffer existed */
	unsigned char rest[WEFT__PAGE_BYTES - 24];
};

/* Flag in the generation: makes it differ from what the fast path expects, so that all events take
 * the slow path. */
#define WEFT__SLOWLY 1u
/* Flag in the ticket of a thread inside a moment, for the same purpose. */
#define WEFT__IN_MOMENT 2u

extern struct weft__live_page weft__live WEFT__HIDDEN;

/* A thread's own state. */
struct weft__self {
	uint64_t ticket; /* the generation that `slot` belongs to, or a value below */
	struct weft_abi_slot *slot;
};

#define WEFT__OUTSIDE  1          /* no slot yet; not a valid generation, not even that of "off" */
#define WEFT__ENTERING UINT64_MAX /* looking for a slot; less 1 for each event refused by then */

/* There was no slot for the thread in this generation: back off for `left` events, which are lost,
 * because looking again costs system calls. */
#define WEFT__REFUSED(generation, left) (((uint64_t)1 << 63) + ((generation) << 8) + (left))
#define WEFT__LOOK_INTERVAL             64

/* A guard that refused this many events was left behind, for example by a siglongjmp out of a
 * signal handler: no handler records that much. */
#define WEFT__NESTED_MAX 65536

#ifdef WEFT_FREESTANDING
struct weft__self *weft__record_self(void);
#else
/* The initial-exec model, whatever the compiler's options are: other models call malloc at a
 * thread's first access. */
extern _Thread_local struct weft__self weft__self_here WEFT__HIDDEN
	__attribute__((tls_model("initial-exec")));
static inline struct weft__self *weft__record_self(void)
{
	struct weft__self *self = &weft__self_here;
#ifdef __SANITIZE_ADDRESS__
	/* With the sanitizer, gcc tests the address for NULL by the flags of the addition that computes
	 * it; but ld replaces that addition by lea, which sets no flags. */
	__asm__("" : "+r"(self));
#endif
	return self;
}
#endif

/* The generation that the thread has entered, if any. */
static inline uint64_t weft__record_entered_generation(const struct weft__self *self)
{
	return self->ticket & ~(uint64_t)WEFT__IN_MOMENT;
}

/* True if the slot belongs to the ticket's generation; a thread that was refused keeps an older
 * slot. */
static inline bool weft__record_has_entered(const struct weft__self *self)
{
	return !(self->ticket >> 63) && self->ticket != WEFT__OUTSIDE;
}

static inline uint64_t weft__record_generation(void)
{
	return __atomic_load_n(&weft__live.generation, __ATOMIC_ACQUIRE) & ~(uint64_t)WEFT__SLOWLY;
}

/* True if `resume` would make no buffer. */
static inline bool weft__record_is_idle(void)
{
	const uint8_t *idle = weft__load(&weft__recorder.idle);
	return !weft__load(&weft__recorder.resume) || (idle && !weft__load(idle));
}

/* True if recording is off, and the next event does not make a buffer. */
static inline bool weft__record_is_off(void)
{
	return !weft__load(&weft__live.generation) && weft__record_is_idle();
}

static inline const struct weft__region *weft__record_region(void)
{
	/* Acquire: makes the whole region and header visible, even to a caller that has seen only the
	 * generation before. */
	return weft__load_acquire(&weft__recorder.region);
}

/* The current buffer. A thread with a slot uses its slot's buffer instead, because recording may be
 * stopped and started elsewhere while the thread is in the middle of an event. */
static inline struct weft_abi_buffer *weft__record_header(void)
{
	return weft__record_region()->header;
}

/* The region of the slot's buffer. */
static inline const struct weft__region *weft__record_region_of(const struct weft_abi_slot *slot)
{
	const struct weft__region *region = weft__record_region();
	return WEFT__LIKELY(weft__record_region_has(region, slot)) ? region
															   : weft__record_region_search(slot);
}

static inline struct weft_abi_buffer *weft__record_header_of(const struct weft_abi_slot *slot)
{
	return weft__record_region_of(slot)->header;
}

static inline const struct weft_platform *weft__record_platform(void)
{
	return weft__load(&weft__recorder.platform);
}

/* True if only a thread's first event in the buffer may make system calls. */
static inline bool weft__record_is_quiet(const struct weft_abi_buffer *header)
{
	return weft__load(&header->is_quiet);
}

/* Checks the arguments of weft_start(). */
int weft__record_buffer_check(const void *buffer, size_t size);
/* Fills everything in a new buffer that doesn't depend on the platform. `is_zero`: the memory is
 * zero already, so its pages need not be touched. */
void weft__record_buffer_prepare(const struct weft__region *region, bool is_zero);

/* The operating system's platform; NULL in a build without one. */
const struct weft_platform *weft__platform_default(void);
/* Lets the platform fill in identity and clock before a buffer goes live. */
int weft__platform_prepare(const struct weft__region *region, const struct weft_platform *platform);

/* Reads a clock of the operating system (enum weft_clock_number), in ns. False if there is none. */
bool weft__platform_clock(unsigned clock, uint64_t *ret_ns);

/* The time for which the calling thread has had no processor, from some time on. False: unknown. */
bool weft__platform_off_cpu(uint64_t *ret_ns);

/* Reads every clock of the platform at one instant. */
struct weft_abi_clock_reading weft__record_read_clocks(const struct weft_platform *platform);

/* From the next stop on, or if nothing records now: no event makes a buffer unless another process
 * asks for it. */
void weft__record_rest(void);

/* Lets the next weft_stop() of this copy call a function when recording has stopped. NULL: none. */
void weft__record_at_stop(void (*action)(void));

/* True if the calling thread is inside an event, so that the caller is its signal handler. */
bool weft__record_is_inside_event(void);

/* Stores in the header that the record ends now, and why. */
void weft__record_end_record(struct weft_abi_buffer *header, enum weft_abi_ending ending);

#endif

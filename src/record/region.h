/* SPDX-License-Identifier: ISC
 *
 * Regions: where the parts of each buffer are, in memory of this process alone.
 *
 * Other processes may write into a buffer: a forked child, the user's other programs, whatever has
 * the file. So the recorder reads nothing from it that decides which memory it touches. A region is
 * computed from the buffer's address and size when recording starts, and never changes; what comes
 * from the buffer is at most a number, which is compared with the region's before it is used.
 *
 *     header                       slots      names   tables   packets    ── span ──▶
 *     ┌──────────────────┬─────────┬──────────┬───────┬────────┬──────────┬───┬──────────┐
 *     │ struct weft_abi_buffer     │ slots    │ names │ tables │ packet 0 │ … │ the last │
 *     └──────────────────┴─────────┴──────────┴───────┴────────┴──────────┴───┴──────────┘
 *
 * A process remembers the regions of its earlier buffers, too: a thread may still be in the middle
 * of an event there.
 */
#ifndef WEFT_RECORD_REGION_H
#define WEFT_RECORD_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/buffer_abi.h"
#include "abi/packet_abi.h"

struct weft__region {
	struct weft_abi_buffer *header;
	uint64_t size;
	struct weft_abi_slot *slots;
	unsigned char *names;
	unsigned char *tables; /* of WEFT_ABI_TABLES_BYTES */
	unsigned char *packets;
	uint64_t
		span; /* 1 + the bytes from the first packet's start to the last one's; 0: no packets */
	uint32_t packet_bytes; /* a power of two */
	uint32_t limit;        /* the same, for where events may end; other limits are masked with it */
	uint32_t packet_count;
	uint32_t slot_count;
	uint32_t names_bytes; /* index and entries */
	uint32_t names_index; /* buckets of the index, a power of two */
};

/* Computes where the parts of a buffer of that size are; touches no memory. */
void weft__record_region_lay_out(struct weft__region *ret_region, void *buffer, uint64_t size);

/* The region of a new buffer, which is remembered from now on. For one thread at a time. */
const struct weft__region *weft__record_region_add(void *buffer, uint64_t size);

/* The regions of a process, of which the leading copy of the recorder has the list. The oldest one
 * is forgotten after this many buffers at different places: a thread that is still in an event
 * there loses it. */
#ifdef WEFT_FREESTANDING
#define WEFT__REGIONS 16
#else
#define WEFT__REGIONS 256
#endif

struct weft__regions {
	uint32_t count; /* of all that were ever added */
	struct weft__region list[WEFT__REGIONS];
};

/* Stands for the buffer while there is none: no slots, no packets, and a header that nobody reads.
 */
extern const struct weft__region weft__region_none __attribute__((visibility("hidden")));

/* The region in which the slot is; weft__region_none if it is forgotten. */
const struct weft__region *weft__record_region_search(const struct weft_abi_slot *slot);

static inline bool weft__record_region_has(
	const struct weft__region *region, const struct weft_abi_slot *slot)
{
	return (uintptr_t)slot - (uintptr_t)region->slots <
		   (uintptr_t)region->slot_count * sizeof(struct weft_abi_slot);
}

/* Finds the packet that begins so many bytes behind the slot, a number from the buffer. False if
 * that is outside of the packets. If the number is wrong, the result is perhaps not where a packet
 * begins, but it is aligned as one, and a packet's size fits there. */
static inline bool weft__record_region_find_packet(const struct weft__region *region,
	const struct weft_abi_slot *slot, uint64_t distance, struct weft_abi_packet **ret_packet)
{
	uintptr_t at = (uintptr_t)slot + ((uintptr_t)distance & ~(uintptr_t)63);
	*ret_packet = (struct weft_abi_packet *)at;
	return at - (uintptr_t)region->packets < region->span;
}

/* Packet `index`, which is below the count. */
static inline struct weft_abi_packet *weft__record_region_packet_at(
	const struct weft__region *region, uintptr_t index)
{
	return (struct weft_abi_packet *)(void *)(region->packets + index * region->packet_bytes);
}

/* A packet's `committed`, made one that it can have. */
static inline uint32_t weft__record_region_committed(
	const struct weft__region *region, uint32_t committed)
{
	uint32_t least = sizeof(struct weft_abi_packet);
	committed &= ~7u;
	return committed < least                  ? least
		   : committed > region->packet_bytes ? region->packet_bytes
											  : committed;
}

#endif

/* SPDX-License-Identifier: ISC
 *
 * A priority queue of packets, ordered by the time of each one's next event: a binary heap.
 */
#ifndef WEFT_FORMAT_WEFT_QUEUE_H
#define WEFT_FORMAT_WEFT_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

/* Entries with equal times are in the order in which their packets were claimed. A stream may have
 * several parts of one packet; these are in the order of the stream. */
struct weft__queue_entry {
	uint64_t time_ns, sequence;
	uint64_t offset; /* of the packet in the input */
	uint32_t followed;
};

struct weft__queue {
	struct weft__queue_entry *entries; /* the earliest first */
	uint32_t count;
	uint64_t second_ns; /* the earliest time of the others; UINT64_MAX: there are none */
};

bool weft__format_queue_comes_before(
	const struct weft__queue_entry *a, const struct weft__queue_entry *b);

void weft__format_queue_finish(struct weft__queue *queue);

/* Adds an entry. The owner has grown `entries` to make room for it. */
void weft__format_queue_push(struct weft__queue *queue, struct weft__queue_entry entry);
void weft__format_queue_remove_first(struct weft__queue *queue);

/* Restore the order: after the first entry has changed; after any entries have. */
void weft__format_queue_settle_first(struct weft__queue *queue);
void weft__format_queue_settle(struct weft__queue *queue);

#endif

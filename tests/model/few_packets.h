/* SPDX-License-Identifier: ISC
 *
 * Lets the recorder use a part of its buffer only: a few packets, and a few bytes of each for
 * events.
 */
#ifndef WEFT_TESTS_MODEL_FEW_PACKETS_H
#define WEFT_TESTS_MODEL_FEW_PACKETS_H

#include "record/recorder.h"

static inline void use_few_packets(uint32_t count, uint32_t events_bytes)
{
	/* The list of regions is not constant, only the pointers to it are. */
	struct weft__region *region = (struct weft__region *)(uintptr_t)weft__recorder.region;
	region->packet_count = count;
	region->span = (count - 1) * (uint64_t)region->packet_bytes + 1;
	region->limit = (uint32_t)sizeof(struct weft_abi_packet) + events_bytes;
	region->header->packet_count = count;
}

#endif

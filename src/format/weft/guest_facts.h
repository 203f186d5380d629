/* SPDX-License-Identifier: ISC
 *
 * Where a buffer's program runs, as its reader knows it. A guest of Xen cannot know the host that
 * it runs on, or might lie.
 */
#ifndef WEFT_FORMAT_WEFT_GUEST_FACTS_H
#define WEFT_FORMAT_WEFT_GUEST_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/buffer_abi.h"

struct weft__guest_facts {
	uint8_t boot_id[16]; /* of the host */
	char host[64];
	char process[64]; /* for people: the domain */
	uint32_t pid;     /* of a buffer that has none: the domain's number */
	uint32_t domain;
	bool has_counter; /* the domain reads the host's counter */
	/* The clocks of the host were compared so often; 0: Xen does not say its time. */
	uint32_t comparison_count;
	struct weft_abi_comparison comparisons[WEFT_ABI_COMPARISONS];
};

/* Stores the facts in a copy of a buffer's header. */
void weft__format_guest_facts_store(
	const struct weft__guest_facts *facts, struct weft_abi_buffer *header);

#endif

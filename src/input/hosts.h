/* SPDX-License-Identifier: ISC
 *
 * The hosts of an input, and their clocks.
 */
#ifndef WEFT_INPUT_HOSTS_H
#define WEFT_INPUT_HOSTS_H

#include <weft/input.h>

#include "format/shift.h"
#include "format/weft/identity.h"

struct weft__input_host {
	struct weft_input_host about;
	char name[80];
	struct weft__shared_readings readings; /* convert the ticks of the host's files */
	struct weft__shift shift;
	bool is_placed;
	uint64_t first_ns, last_ns; /* of its events, by its own clock */
};

/* A file of a host. */
struct weft__input_part {
	struct weft_decoder *decoder; /* finished, and for this alone */
	uint32_t host;
};

/* Finds the clocks of the hosts, of which the readings are known, by that of the first one. With
 * `aligns` it reads all events of the parts for messages between hosts. 0 or WEFT_ERROR_MEMORY. */
int weft__input_align(struct weft__input_host *hosts, uint32_t count,
	const struct weft__input_part *parts, size_t part_count, bool aligns);

#endif

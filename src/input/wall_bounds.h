/* SPDX-License-Identifier: ISC
 *
 * Bounds of a host's clock from what is known of its wall clock's error, and of that of a host
 * whose place is known.
 */
#ifndef WEFT_INPUT_WALL_BOUNDS_H
#define WEFT_INPUT_WALL_BOUNDS_H

#include "input/clock_fit.h"
#include "input/hosts.h"

/* Two for each of the host's notes, so the list has room for 2 * WEFT__SHARED_WALL_NOTES. Returns
 * their number; 0: one of the hosts has no notes. */
size_t weft__input_wall_bounds(const struct weft__input_host *host,
	const struct weft__input_host *placed, struct weft__clock_bound *ret_list);

#endif

/* SPDX-License-Identifier: ISC
 *
 * The clocks that a follower of a guest's buffer needs.
 */
#ifndef WEFT_XEN_GUEST_H
#define WEFT_XEN_GUEST_H

#include <weft/guest.h>

/* Xen's system time now, on which guests stamp their events. False if Xen does not say. */
bool weft__guest_now(const struct weft_guest *guest, uint64_t *ret_ns);

/* The difference to add to Xen's system time for CLOCK_MONOTONIC of this domain. */
bool weft__guest_offset(const struct weft_guest *guest, int64_t *ret_offset_ns);

#endif

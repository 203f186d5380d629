/* SPDX-License-Identifier: ISC
 *
 * For followers of a guest's buffer: the clocks, and the header for writing.
 */
#ifndef WEFT_XEN_GUEST_H
#define WEFT_XEN_GUEST_H

#include <weft/guest.h>

#include "abi/buffer_abi.h"

/* The header of the buffer, mapped for writing, too, until the guest is closed. NULL: the guest
 * does not let this domain write, or what recorded has ended. */
struct weft_abi_buffer *weft__xen_guest_header(struct weft_guest *guest);

/* Xen's system time now, on which guests stamp their events. False if Xen does not say. */
bool weft__xen_guest_now(const struct weft_guest *guest, uint64_t *ret_ns);

/* Compares the clocks of Xen and of this domain if that is due, or at once. */
void weft__xen_guest_compare(const struct weft_guest *guest, bool at_once);

/* True if the guest reads the same counter of the processor as this domain. */
bool weft__xen_guest_has_counter(const struct weft_guest *guest);

/* The comparisons so far, in order of time. Returns their number. */
uint32_t weft__xen_guest_comparisons(
	const struct weft_guest *guest, const struct weft_abi_comparison **ret_list);

#endif

/* SPDX-License-Identifier: ISC
 *
 * The keys that a guest writes to XenStore about its buffer.
 */
#ifndef WEFT_GUEST_PUBLISH_H
#define WEFT_GUEST_PUBLISH_H

#include <stdbool.h>

#include <weft/xen.h>

#define WEFT__GUEST_ID_BYTES 33 /* of a buffer's id, with the NUL */

struct weft__publication {
	const struct weft_xen_guest *guest;
	const struct weft_xen_share *share;
	uint32_t alive_ref; /* of the page that says whether the process lives; 0: none */
};

/* False: the arguments are invalid. */
bool weft__guest_can_publish(const struct weft_xen_share *share);

/* 0 or an error. */
int weft__guest_publish(const struct weft__publication *publication);
void weft__guest_unpublish(const struct weft__publication *publication);

#endif

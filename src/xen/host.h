/* SPDX-License-Identifier: ISC
 *
 * The connection to Xen, and what its reader knows of this machine.
 */
#ifndef WEFT_XEN_HOST_H
#define WEFT_XEN_HOST_H

#include <weft/guest.h>

#include "xen/access.h"
#include "xen/comparisons.h"

struct weft_host {
	struct weft__xen_access access;
	/* The watched domains, in no order; NULL: weft_host_watch was not called. */
	uint32_t *watched;
	size_t watched_count;
	bool is_watching;
	struct weft__comparisons comparisons; /* of the clocks since it was opened */
};

/* Makes a host of an access, which it takes over. NULL if memory is short. */
struct weft_host *weft__xen_host_create(const struct weft__xen_access *access);

/* Like weft_host_find; `ret_domain` is the domain if it is one. */
int weft__xen_host_find(struct weft_host *host, const char *domain,
	struct weft_guest_name **ret_list, size_t *ret_count, struct weft_guest_name *ret_domain,
	char reason[WEFT_GUEST_REASON_BYTES]);

/* True if XenStore has the domain. */
bool weft__xen_host_has_domain(struct weft_host *host, uint32_t domain);

#endif

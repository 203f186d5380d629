/* SPDX-License-Identifier: ISC
 *
 * The domains of this machine, and what each uses, whether or not it records.
 */
#ifndef WEFT_XEN_DOMAINS_H
#define WEFT_XEN_DOMAINS_H

#include <weft/guest.h>

#include "xen/access.h"

struct weft__xen_domain_name {
	uint32_t domain;
	char name[64]; /* "" if it has none */
};

/* The number that a text is, or UINT32_MAX. */
uint32_t weft__xen_domains_number(const char *text);

/* Lists all domains that this one may see, which the caller frees. Returns their number. */
size_t weft__xen_domains_list(struct weft_host *host, struct weft__xen_domain_name **ret_list);

/* As in access.h. */
bool weft__xen_domains_measure(
	struct weft_host *host, uint32_t domain, struct weft__xen_usage *ret_usage);
bool weft__xen_domains_measure_vcpu(
	struct weft_host *host, uint32_t domain, uint32_t vcpu, struct weft__xen_vcpu *ret_vcpu);

#endif

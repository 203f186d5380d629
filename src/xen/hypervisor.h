/* SPDX-License-Identifier: ISC
 *
 * Questions to the hypervisor, as hypercalls: how a domain is, what time it is, how fast its
 * processors count; and an order, to end its trace.
 */
#ifndef WEFT_XEN_HYPERVISOR_H
#define WEFT_XEN_HYPERVISOR_H

#include <stdbool.h>
#include <stdint.h>

#include "xen/access.h"

/* Makes a hypercall with two arguments. 0, or -1 with errno. */
typedef int weft__xen_hypervisor_call(
	void *context, unsigned operation, uint64_t first, uint64_t second);

/* Asks how a domain is. `buffer` has a page. `version` is kept between calls, and 0 at first. */
enum weft__xen_domain weft__xen_hypervisor_look(weft__xen_hypervisor_call *call, void *context,
	void *buffer, uint32_t domain, uint32_t *version);

/* Asks how much a domain, or its vCPU of that number, has used. False: there is none, or Xen does
 * not say. `version` as above. */
bool weft__xen_hypervisor_measure(weft__xen_hypervisor_call *call, void *context, void *buffer,
	uint32_t domain, uint32_t *version, struct weft__xen_usage *ret_usage);
bool weft__xen_hypervisor_measure_vcpu(weft__xen_hypervisor_call *call, void *context, void *buffer,
	uint32_t domain, uint32_t vcpu, uint32_t *version, struct weft__xen_vcpu *ret_vcpu);

/* Asks for Xen's system time. False if Xen does not say. */
bool weft__xen_hypervisor_now(
	weft__xen_hypervisor_call *call, void *context, void *buffer, uint64_t *ret_ns);

/* Asks whether a domain reads the processors' counter as it is, as this domain does. False if Xen
 * does not say. */
bool weft__xen_hypervisor_has_counter(weft__xen_hypervisor_call *call, void *context, void *buffer,
	uint32_t domain, uint32_t *version);

/* Asks for the rate of the processors' counter. `version` is kept between calls, and 0 at first.
 * False if Xen does not say. */
bool weft__xen_hypervisor_rate(weft__xen_hypervisor_call *call, void *context, void *buffer,
	uint32_t *version, uint64_t *ret_hz);

/* Turns Xen's trace off. False if Xen refuses. */
bool weft__xen_hypervisor_end_trace(
	weft__xen_hypervisor_call *call, void *context, void *buffer, uint32_t *version);

/* Gives Xen's trace buffers of this many pages for each pCPU. False with errno if Xen refuses, as
 * it does once they have another size. */
bool weft__xen_hypervisor_size_trace(weft__xen_hypervisor_call *call, void *context, void *buffer,
	uint32_t *version, uint32_t pages);

#endif

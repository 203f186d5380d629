/* SPDX-License-Identifier: ISC
 *
 * The structs are those of Xen's public interface. A call about a domain names the version
 * of its interface, which Xen raises when any of them changes, and Xen refuses all other versions.
 * The few fields used here have been the same in all of them, so each version is tried.
 */
#include "xen/hypervisor.h"

#include <errno.h>
#include <string.h>

enum {
	HVM_OPERATION = 34, /* of all kinds of domains, in spite of its name */
	GET_TIME = 10,

	DOMAIN_CONTROL = 36,
	GET_DOMAIN_INFO = 5,
	VERSION_FIRST = 0x0c, /* Xen 4.7 */
	VERSION_LAST = 0x30,

	IS_DYING = 1 << 0,
	IS_SHUT_DOWN = 1 << 2,
	REASON_SHIFT = 16,
	REASON_MASK = 255,
	REASON_SUSPEND = 2,
	REASON_CRASH = 3,
	REASON_WATCHDOG = 4,
};

struct domain_control {
	uint32_t command, version;
	uint16_t domain, padding[3];
	uint16_t found, padding2;
	uint32_t flags;
	uint8_t rest[120];
};

static int ask(weft__hypervisor_call *call, void *context, struct domain_control *control,
	uint32_t domain, uint32_t version)
{
	memset(control, 0, sizeof(*control));
	control->command = GET_DOMAIN_INFO;
	control->version = version;
	control->domain = (uint16_t)domain;
	return call(context, DOMAIN_CONTROL, (uint64_t)(uintptr_t)control, 0);
}

static enum weft__xen_domain state_of(uint32_t flags)
{
	uint32_t reason = flags >> REASON_SHIFT & REASON_MASK;
	if (flags & IS_DYING)
		return WEFT__XEN_GONE;
	if (!(flags & IS_SHUT_DOWN) || reason == REASON_SUSPEND)
		return WEFT__XEN_RUNS;
	return reason == REASON_CRASH || reason == REASON_WATCHDOG ? WEFT__XEN_CRASHED : WEFT__XEN_SHUT;
}

enum weft__xen_domain weft__hypervisor_look(
	weft__hypervisor_call *call, void *context, void *buffer, uint32_t domain, uint32_t *version)
{
	struct domain_control *control = buffer;
	int result = -1;
	errno = EACCES; /* Xen's answer to another version than its own */
	if (*version)
		result = ask(call, context, control, domain, *version);
	for (uint32_t v = VERSION_FIRST; !*version && v <= VERSION_LAST; v++) {
		result = ask(call, context, control, domain, v);
		if (result == 0 || errno != EACCES)
			*version = v;
	}
	if (result != 0)
		return errno == ESRCH ? WEFT__XEN_GONE : WEFT__XEN_UNKNOWN;
	/* Xen before 4.18 answers with the next domain if there is none with that number. */
	return control->found == domain ? state_of(control->flags) : WEFT__XEN_GONE;
}

bool weft__hypervisor_now(
	weft__hypervisor_call *call, void *context, void *buffer, uint64_t *ret_ns)
{
	uint64_t *now = buffer;
	*now = 0;
	if (call(context, HVM_OPERATION, GET_TIME, (uint64_t)(uintptr_t)buffer) != 0)
		return false;
	*ret_ns = *now;
	return *now != 0;
}

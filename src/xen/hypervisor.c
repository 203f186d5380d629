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

	SYSTEM_CONTROL = 35,
	TRACE_BUFFERS = 2,
	TRACE_SIZE = 3,
	TRACE_DISABLE = 5,
	TRACE_PAGES = 10, /* this word is the size */
	PHYSICAL_INFO = 3,

	DOMAIN_CONTROL = 36,
	GET_DOMAIN_INFO = 5,
	GET_VCPU_INFO = 14,
	GET_COUNTER_INFO = 59,
	VERSION_FIRST = 0x0c, /* Xen 4.7 */
	VERSION_LAST = 0x30,

	IS_DYING = 1 << 0,
	IS_VIRTUAL_MACHINE = 1 << 1, /* whose counter has an offset */
	IS_SHUT_DOWN = 1 << 2,
	REASON_SHIFT = 16,
	REASON_MASK = 255,
	REASON_SUSPEND = 2,
	REASON_CRASH = 3,
	REASON_WATCHDOG = 4,

	COUNTER_DEFAULT = 0, /* emulated if the machine's is not reliable, or has another rate */
	COUNTER_NATIVE = 2,
};

#define COUNTER_NEAR_NS UINT64_C(100000000)

struct domain_control {
	uint32_t command, version;
	uint16_t domain, padding[3];
	uint16_t found, padding2;
	uint32_t flags;
	uint64_t pages, pages_max, others[4];
	uint64_t cpu_ns;
	uint32_t online, vcpu_last; /* UINT32_MAX: it has no vCPU */
	uint8_t rest[56];
};

struct vcpu_control {
	uint32_t command, version;
	uint16_t domain, padding[3];
	uint32_t vcpu;
	uint8_t is_online, is_blocked, is_running, padding2;
	uint64_t cpu_ns;
	uint8_t rest[112];
};

_Static_assert(sizeof(struct domain_control) == 144, "Xen copies 144 bytes");
_Static_assert(sizeof(struct vcpu_control) == 144, "Xen copies 144 bytes");

struct counter_control {
	uint32_t command, version;
	uint16_t domain, padding[3];
	uint32_t mode, khz, moves, padding2;
	uint64_t ns; /* of the domain's counter */
	uint8_t rest[104];
};

/* About the machine, or about Xen itself. */
struct system_control {
	uint32_t command, version;
	uint32_t words[32]; /* of PHYSICAL_INFO: word 6 is the processors' rate in kHz */
};

static int ask(weft__xen_hypervisor_call *call, void *context, struct domain_control *control,
	uint32_t command, uint32_t domain, uint32_t version)
{
	memset(control, 0, sizeof(*control));
	control->command = command;
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

enum weft__xen_domain weft__xen_hypervisor_look(weft__xen_hypervisor_call *call, void *context,
	void *buffer, uint32_t domain, uint32_t *version)
{
	struct domain_control *control = buffer;
	int result = -1;
	errno = EACCES; /* Xen's answer to another version than its own */
	if (*version)
		result = ask(call, context, control, GET_DOMAIN_INFO, domain, *version);
	for (uint32_t v = VERSION_FIRST; !*version && v <= VERSION_LAST; v++) {
		result = ask(call, context, control, GET_DOMAIN_INFO, domain, v);
		if (result == 0 || errno != EACCES)
			*version = v;
	}
	if (result != 0)
		return errno == ESRCH ? WEFT__XEN_GONE : WEFT__XEN_UNKNOWN;
	/* Xen before 4.18 answers with the next domain if there is none with that number. */
	return control->found == domain ? state_of(control->flags) : WEFT__XEN_GONE;
}

/* ---- What a domain uses ---- */

/* So many pages are more than any machine has. */
#define PAGES_MAX (UINT64_C(1) << 40)

bool weft__xen_hypervisor_measure(weft__xen_hypervisor_call *call, void *context, void *buffer,
	uint32_t domain, uint32_t *version, struct weft__xen_usage *ret_usage)
{
	const struct domain_control *control = buffer;
	switch (weft__xen_hypervisor_look(call, context, buffer, domain, version)) {
	case WEFT__XEN_UNKNOWN:
	case WEFT__XEN_GONE:
		return false;
	case WEFT__XEN_RUNS:
	case WEFT__XEN_SHUT:
	case WEFT__XEN_CRASHED:
		break;
	}
	if (control->pages >= PAGES_MAX)
		return false;
	*ret_usage = (struct weft__xen_usage){.cpu_ns = control->cpu_ns,
		.memory_bytes = control->pages * WEFT__XEN_PAGE_BYTES,
		.memory_max_bytes =
			control->pages_max < PAGES_MAX ? control->pages_max * WEFT__XEN_PAGE_BYTES : 0,
		.vcpu_end = control->vcpu_last + 1};
	return true;
}

bool weft__xen_hypervisor_measure_vcpu(weft__xen_hypervisor_call *call, void *context, void *buffer,
	uint32_t domain, uint32_t vcpu, uint32_t *version, struct weft__xen_vcpu *ret_vcpu)
{
	struct vcpu_control *control = buffer;
	if (!*version)
		return false;
	*control = (struct vcpu_control){
		.command = GET_VCPU_INFO, .version = *version, .domain = (uint16_t)domain, .vcpu = vcpu};
	if (call(context, DOMAIN_CONTROL, (uint64_t)(uintptr_t)control, 0) != 0)
		return false;
	ret_vcpu->cpu_ns = control->cpu_ns;
	ret_vcpu->state = !control->is_online   ? WEFT__XEN_VCPU_OFFLINE
					  : control->is_running ? WEFT__XEN_VCPU_RUNNING
					  : control->is_blocked ? WEFT__XEN_VCPU_BLOCKED
											: WEFT__XEN_VCPU_RUNNABLE;
	return true;
}

/* The processor's counter; 0: unknown. */
static uint64_t read_counter(void)
{
#if defined(__x86_64__) || defined(__i386__)
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

/* In the default mode Xen does not say whether it emulates the domain's counter. An emulated one
 * begins at the domain's creation, the machine's at its reset, seconds before any domain. */
static bool is_machines(const struct counter_control *counter)
{
	uint64_t cycles = read_counter(), khz = counter->khz;
	if (!khz)
		return false;
	uint64_t ns = cycles / khz * 1000000 + cycles % khz * 1000000 / khz;
	return (ns > counter->ns ? ns - counter->ns : counter->ns - ns) < COUNTER_NEAR_NS;
}

static bool is_paravirtual(weft__xen_hypervisor_call *call, void *context, void *buffer,
	uint32_t domain, uint32_t *version)
{
	const struct domain_control *control = buffer;
	return weft__xen_hypervisor_look(call, context, buffer, domain, version) != WEFT__XEN_UNKNOWN &&
		   control->found == domain && !(control->flags & IS_VIRTUAL_MACHINE);
}

bool weft__xen_hypervisor_has_counter(weft__xen_hypervisor_call *call, void *context, void *buffer,
	uint32_t domain, uint32_t *version)
{
	const struct counter_control *counter = buffer;
	const uint32_t own = 0; /* only dom0 gets answers about others */
	if (!read_counter() || !is_paravirtual(call, context, buffer, own, version) ||
		!is_paravirtual(call, context, buffer, domain, version) ||
		ask(call, context, buffer, GET_COUNTER_INFO, domain, *version) != 0)
		return false;
	return counter->mode == COUNTER_NATIVE ||
		   (counter->mode == COUNTER_DEFAULT && is_machines(counter));
}

bool weft__xen_hypervisor_now(
	weft__xen_hypervisor_call *call, void *context, void *buffer, uint64_t *ret_ns)
{
	uint64_t *now = buffer;
	*now = 0;
	if (call(context, HVM_OPERATION, GET_TIME, (uint64_t)(uintptr_t)buffer) != 0)
		return false;
	*ret_ns = *now;
	return *now != 0;
}

/* ---- The machine ---- */

static int control(weft__xen_hypervisor_call *call, void *context, struct system_control *buffer,
	const struct system_control *wanted, uint32_t *version)
{
	int result = -1;
	errno = EACCES; /* Xen's answer to another version than its own */
	for (uint32_t v = *version ? *version : VERSION_FIRST; v <= VERSION_LAST; v++) {
		*buffer = *wanted;
		buffer->version = v;
		result = call(context, SYSTEM_CONTROL, (uint64_t)(uintptr_t)buffer, 0);
		if (result == 0 || errno != EACCES || *version)
			break;
	}
	if (result == 0)
		*version = buffer->version;
	return result;
}

bool weft__xen_hypervisor_rate(weft__xen_hypervisor_call *call, void *context, void *buffer,
	uint32_t *version, uint64_t *ret_hz)
{
	struct system_control *answer = buffer;
	const struct system_control wanted = {.command = PHYSICAL_INFO};
	if (control(call, context, answer, &wanted, version) != 0 || !answer->words[6])
		return false;
	*ret_hz = answer->words[6] * UINT64_C(1000);
	return true;
}

bool weft__xen_hypervisor_end_trace(
	weft__xen_hypervisor_call *call, void *context, void *buffer, uint32_t *version)
{
	const struct system_control wanted = {.command = TRACE_BUFFERS, .words = {TRACE_DISABLE}};
	return control(call, context, buffer, &wanted, version) == 0;
}

/* Xen takes one size, and refuses others then: that one with EBUSY, because the buffers exist. */
bool weft__xen_hypervisor_size_trace(
	weft__xen_hypervisor_call *call, void *context, void *buffer, uint32_t *version, uint32_t pages)
{
	const struct system_control wanted = {
		.command = TRACE_BUFFERS, .words = {TRACE_SIZE, [TRACE_PAGES] = pages}};
	return control(call, context, buffer, &wanted, version) == 0 || errno == EBUSY;
}

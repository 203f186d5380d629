/* SPDX-License-Identifier: ISC
 *
 * Clocks, waiting, and the end. No events are delivered by upcalls: the guest polls the ports that
 * it waits for.
 */
#include "guest.h"

#include <xen/event_channel.h>
#include <xen/sched.h>

#define SECOND_NS 1000000000u

static uint64_t counter(void)
{
	uint32_t low, high;
	__asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

uint64_t time_now(void)
{
	const volatile vcpu_time_info_t *time = &guest_shared->vcpu_info[0].time;
	uint32_t version;
	uint64_t now;
	do {
		version = __atomic_load_n(&time->version, __ATOMIC_ACQUIRE);
		uint64_t ticks = counter() - time->tsc_timestamp;
		ticks = time->tsc_shift < 0 ? ticks >> -time->tsc_shift : ticks << time->tsc_shift;
		now = time->system_time +
			  (uint64_t)((unsigned __int128)ticks * time->tsc_to_system_mul >> 32);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while ((version & 1) || version != time->version);
	return now;
}

uint64_t time_unix(uint64_t now)
{
	const volatile shared_info_t *shared = guest_shared;
	uint32_t version;
	uint64_t at_start;
	do {
		version = __atomic_load_n(&shared->wc_version, __ATOMIC_ACQUIRE);
		at_start =
			((uint64_t)shared->wc_sec_hi << 32 | shared->wc_sec) * SECOND_NS + shared->wc_nsec;
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while ((version & 1) || version != shared->wc_version);
	return at_start + now;
}

uint64_t time_tsc_hz(void)
{
	const vcpu_time_info_t *time = &guest_shared->vcpu_info[0].time;
	uint64_t hz = ((uint64_t)SECOND_NS << 32) / time->tsc_to_system_mul;
	return time->tsc_shift < 0 ? hz << -time->tsc_shift : hz >> time->tsc_shift;
}

bool time_await(uint32_t port, uint64_t until)
{
	xen_ulong_t *word = &guest_shared->evtchn_pending[port / 64];
	const xen_ulong_t bit = (xen_ulong_t)1 << port % 64;
	sched_poll_t poll = {.nr_ports = 1, .timeout = until};
	set_xen_guest_handle(poll.ports, &port);
	hypercall(__HYPERVISOR_sched_op, SCHEDOP_poll, (uintptr_t)&poll, 0, 0);
	return __atomic_fetch_and(word, ~bit, __ATOMIC_ACQ_REL) & bit;
}

void time_sleep(uint64_t ns)
{
	sched_poll_t poll = {.nr_ports = 0, .timeout = time_now() + ns};
	hypercall(__HYPERVISOR_sched_op, SCHEDOP_poll, (uintptr_t)&poll, 0, 0);
}

uint32_t time_listen(uint16_t domain)
{
	evtchn_alloc_unbound_t channel = {.dom = DOMID_SELF, .remote_dom = domain};
	hypercall(__HYPERVISOR_event_channel_op, EVTCHNOP_alloc_unbound, (uintptr_t)&channel, 0, 0);
	return channel.port;
}

uint32_t time_connect(uint16_t domain, uint32_t its_port)
{
	evtchn_bind_interdomain_t channel = {.remote_dom = domain, .remote_port = its_port};
	hypercall(__HYPERVISOR_event_channel_op, EVTCHNOP_bind_interdomain, (uintptr_t)&channel, 0, 0);
	return channel.local_port;
}

void time_notify(uint32_t port)
{
	evtchn_send_t send = {.port = port};
	hypercall(__HYPERVISOR_event_channel_op, EVTCHNOP_send, (uintptr_t)&send, 0, 0);
}

_Noreturn void time_end(unsigned reason)
{
	sched_shutdown_t shutdown = {.reason = reason};
	for (;;)
		hypercall(__HYPERVISOR_sched_op, SCHEDOP_shutdown, (uintptr_t)&shutdown, 0, 0);
}

/* SPDX-License-Identifier: ISC
 *
 * Calls of Xen, as the adapter reads them from the structs of Xen's own headers, as far
 * as these are installed, and from bytes.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <cmocka.h>

#include "xen/decode.h"

#define SELF 0x7ff0u

static struct weft__xen_call decode(const uint64_t hypercall[static WEFT__XEN_ARGUMENTS])
{
	const struct weft__xen_part part = weft__xen_find_part(hypercall);
	uint8_t bytes[WEFT__XEN_PART_BYTES];
	assert_true(part.size <= sizeof(bytes));
	if (part.size)
		memcpy(bytes, (const void *)(uintptr_t)part.address, part.size);
	return weft__xen_decode_hypercall(hypercall, part.size ? bytes : NULL);
}

static void check(struct weft__xen_call call, const char *name, int64_t number, int32_t domain)
{
	assert_string_equal(call.name, name);
	assert_int_equal(call.number, number);
	assert_int_equal(call.domain, domain);
}

static void numbers_without_a_name(void **state)
{
	static const uint32_t future[3] = {999, 0x15, 7};
	const uint64_t address = (uint64_t)(uintptr_t)future;
	(void)state;
	check(decode((const uint64_t[6]){11}), "hypercall", 11, -1);
	check(decode((const uint64_t[6]){UINT64_MAX}), "hypercall", UINT32_MAX, -1);
	check(decode((const uint64_t[6]){36, address}), "domctl", 999, 7);
	check(decode((const uint64_t[6]){29, 77}), "sched_op", 77, -1);
	check(decode((const uint64_t[6]){23}), "iret", -1, -1);
}

/* The call will fail, and what it asks for cannot be known. */
static void buffers_that_cannot_be_read(void **state)
{
	const uint64_t domctl[6] = {36, 8}, memory[6] = {12, 6, 8};
	(void)state;
	check(weft__xen_decode_hypercall(domctl, NULL), "domctl", -1, -1);
	check(weft__xen_decode_hypercall(memory, NULL), "memory_op populate_physmap", -1, -1);
}

static void domains_in_arguments(void **state)
{
	static const uint32_t pin[4] = {3};
	(void)state;
	check(decode((const uint64_t[6]){1, 0, 1, 0, 5}), "mmu_update", -1, 5);
	check(decode((const uint64_t[6]){1, 0, 1, 0, SELF}), "mmu_update", -1, -1);
	check(decode((const uint64_t[6]){26, (uint64_t)(uintptr_t)pin, 1, 0, 5}),
		"mmuext_op pin_l4_table", -1, 5);
	check(decode((const uint64_t[6]){41, 5, 1}), "dm_op", -1, 5);
}

/* As xencall2L makes them. */
static void multicalls_of_one_call(void **state)
{
	static const uint64_t entry[8] = {12, 0, 6, 77};
	const uint64_t one[6] = {13, 1000, 1}, two[6] = {13, 1000, 2};
	uint64_t inner[6];
	uint8_t bytes[WEFT__XEN_ENTRY_BYTES];
	(void)state;
	assert_int_equal(weft__xen_find_entry(one), 1000);
	assert_int_equal(weft__xen_find_entry(two), 0);
	assert_int_equal(weft__xen_find_entry(entry), 0);
	assert_int_equal(weft__xen_decode_hypercall(two, NULL).count, 2);
	memcpy(bytes, entry, sizeof(bytes));
	weft__xen_take_entry(inner, bytes);
	assert_int_equal(weft__xen_find_part(inner).address, 77);
	check(weft__xen_decode_hypercall(inner, NULL), "memory_op populate_physmap", -1, -1);
}

static void requests_of_other_devices(void **state)
{
	(void)state;
	assert_null(weft__xen_find_request(0).name);
	assert_null(weft__xen_find_request(0x5421).name); /* FIONBIO */
	assert_null(weft__xen_find_request(_IOC(_IOC_NONE, 'P', 4, 24)).name);
	assert_null(weft__xen_find_request(_IOC(_IOC_READ, 'P', 4, 32)).name);
}

/* Xen's headers refuse to be compiled without extensions. */
#undef __STRICT_ANSI__
#if __has_include(<xen/domctl.h>) && __has_include(<xen/sys/privcmd.h>) && defined(__LP64__)
#define __XEN_TOOLS__             1
#define __XEN_INTERFACE_VERSION__ __XEN_LATEST_INTERFACE_VERSION__
#include <xen/xen.h>
#include <xen/domctl.h>
#include <xen/event_channel.h>
#include <xen/grant_table.h>
#include <xen/hvm/hvm_op.h>
#include <xen/memory.h>
#include <xen/physdev.h>
#include <xen/platform.h>
#include <xen/sched.h>
#include <xen/sys/evtchn.h>
#include <xen/sys/gntdev.h>
#include <xen/sys/privcmd.h>
#include <xen/sysctl.h>
#include <xen/xsm/flask_op.h>

/* Hypercalls whose first argument is the struct, and those that have a number before it. */
#define BUFFER(op, it, name, domain) \
	check(decode((const uint64_t[6]){op, (uint64_t)(uintptr_t) & (it)}), name, -1, domain)
#define NUMBERED(op, number, it, name, domain)                                                \
	check(decode((const uint64_t[6]){op, number, (uint64_t)(uintptr_t) & (it), 1}), name, -1, \
		domain)

static void structs_of_tools(void **state)
{
	struct xen_domctl domctl = {.cmd = XEN_DOMCTL_max_mem, .interface_version = 1, .domain = 5};
	struct xen_sysctl sysctl = {.cmd = XEN_SYSCTL_physinfo};
	struct xen_platform_op platform = {.cmd = XENPF_get_cpuinfo};
	struct xen_flask_op flask = {.cmd = FLASK_GETENFORCE};
	(void)state;
	BUFFER(__HYPERVISOR_domctl, domctl, "domctl max_mem", 5);
	BUFFER(__HYPERVISOR_sysctl, sysctl, "sysctl physinfo", -1);
	BUFFER(__HYPERVISOR_platform_op, platform, "platform_op get_cpuinfo", -1);
	BUFFER(__HYPERVISOR_xsm_op, flask, "xsm_op getenforce", -1);
}

/* Before the call, a new domain has no number, and one that is asked for may be another one. */
static void domains_in_answers(void **state)
{
	struct xen_domctl domctl = {.cmd = XEN_DOMCTL_createdomain, .domain = DOMID_INVALID};
	const uint64_t hypercall[6] = {__HYPERVISOR_domctl, (uint64_t)(uintptr_t)&domctl};
	(void)state;
	struct weft__xen_call call = decode(hypercall);
	check(call, "domctl createdomain", -1, -1);
	assert_int_equal(call.answer, (uint64_t)(uintptr_t)&domctl.domain);
	domctl.domain = 12;
	assert_int_equal(weft__xen_domain((const uint8_t *)(uintptr_t)call.answer), 12);
	domctl.cmd = XEN_DOMCTL_getdomaininfo;
	call = decode(hypercall);
	check(call, "domctl getdomaininfo", -1, -1);
	assert_int_equal(call.answer, (uint64_t)(uintptr_t)&domctl.domain);
	domctl.cmd = XEN_DOMCTL_pausedomain;
	assert_int_equal(decode(hypercall).answer, 0);
}

static void structs_of_memory(void **state)
{
	struct xen_memory_reservation some = {.domid = 5};
	struct xen_memory_exchange exchange = {.in = {.domid = 5}};
	struct xen_add_to_physmap add = {.domid = 5};
	struct xen_foreign_memory_map map = {.domid = 5};
	struct xen_pod_target target = {.domid = 5};
	struct xen_mem_access_op access = {.op = XENMEM_access_op_set_access, .domid = 5};
	struct xen_mem_acquire_resource resource = {.domid = 5};
	domid_t domain = 5;
	(void)state;
	NUMBERED(__HYPERVISOR_memory_op, XENMEM_populate_physmap | 3 << 6, some,
		"memory_op populate_physmap", 5);
	NUMBERED(__HYPERVISOR_memory_op, XENMEM_claim_pages, some, "memory_op claim_pages", 5);
	NUMBERED(__HYPERVISOR_memory_op, XENMEM_exchange, exchange, "memory_op exchange", 5);
	NUMBERED(__HYPERVISOR_memory_op, XENMEM_add_to_physmap, add, "memory_op add_to_physmap", 5);
	NUMBERED(__HYPERVISOR_memory_op, XENMEM_set_memory_map, map, "memory_op set_memory_map", 5);
	NUMBERED(__HYPERVISOR_memory_op, XENMEM_set_pod_target, target, "memory_op set_pod_target", 5);
	NUMBERED(__HYPERVISOR_memory_op, XENMEM_access_op, access, "memory_op access_op", 5);
	NUMBERED(
		__HYPERVISOR_memory_op, XENMEM_acquire_resource, resource, "memory_op acquire_resource", 5);
	NUMBERED(__HYPERVISOR_memory_op, XENMEM_maximum_gpfn, domain, "memory_op maximum_gpfn", 5);
}

static void structs_of_guests(void **state)
{
	struct xen_hvm_param param = {.domid = 5};
	struct xen_hvm_altp2m_op altp2m = {.domain = 5};
	struct evtchn_alloc_unbound unbound = {.dom = 5, .remote_dom = 0};
	struct evtchn_status status = {.dom = 5};
	struct evtchn_send send = {.port = 3};
	struct gnttab_map_grant_ref grant = {.ref = 9, .dom = 5};
	struct gnttab_query_size size = {.dom = 5};
	struct gnttab_get_status_frames frames = {.nr_frames = 9, .dom = 5};
	struct sched_remote_shutdown remote = {.domain_id = 5};
	struct physdev_map_pirq pirq = {.domid = 5};
	(void)state;
	NUMBERED(__HYPERVISOR_hvm_op, HVMOP_set_param, param, "hvm_op set_param", 5);
	NUMBERED(__HYPERVISOR_hvm_op, HVMOP_altp2m, altp2m, "hvm_op altp2m", 5);
	NUMBERED(__HYPERVISOR_event_channel_op, EVTCHNOP_alloc_unbound, unbound,
		"event_channel_op alloc_unbound", 5);
	NUMBERED(__HYPERVISOR_event_channel_op, EVTCHNOP_status, status, "event_channel_op status", 5);
	NUMBERED(__HYPERVISOR_event_channel_op, EVTCHNOP_send, send, "event_channel_op send", -1);
	NUMBERED(__HYPERVISOR_grant_table_op, GNTTABOP_map_grant_ref, grant,
		"grant_table_op map_grant_ref", 5);
	NUMBERED(
		__HYPERVISOR_grant_table_op, GNTTABOP_query_size, size, "grant_table_op query_size", 5);
	NUMBERED(__HYPERVISOR_grant_table_op, GNTTABOP_get_status_frames, frames,
		"grant_table_op get_status_frames", 5);
	NUMBERED(__HYPERVISOR_sched_op, SCHEDOP_remote_shutdown, remote, "sched_op remote_shutdown", 5);
	NUMBERED(__HYPERVISOR_physdev_op, PHYSDEVOP_map_pirq, pirq, "physdev_op map_pirq", 5);
}

static void check_request(unsigned long number, const void *it, const char *name, int32_t domain,
	int64_t count, int64_t port)
{
	const struct weft__xen_request request = weft__xen_find_request(number);
	assert_non_null(request.name);
	assert_int_equal(request.size, _IOC_SIZE(number));
	const struct weft__xen_call call = weft__xen_decode_request(&request, it);
	check(call, name, -1, domain);
	assert_int_equal(call.count, count);
	assert_int_equal(call.port, port);
}

static void requests_of_devices(void **state)
{
	privcmd_mmapbatch_v2_t batch = {.num = 7, .dom = 5};
	privcmd_mmap_resource_t resource = {.dom = 5, .num = 7};
	privcmd_dm_op_t dm_op = {.dom = 5, .num = 2};
	struct ioctl_gntdev_map_grant_ref map = {.count = 7, .refs = {{.domid = 5, .ref = 9}}};
	struct ioctl_gntdev_unmap_grant_ref unmap = {.count = 7};
	struct ioctl_evtchn_bind_interdomain bind = {.remote_domain = 5, .remote_port = 3};
	struct ioctl_evtchn_notify notify = {.port = 3};
	(void)state;
	assert_true(weft__xen_find_request(IOCTL_PRIVCMD_HYPERCALL).is_hypercall);
	assert_int_equal(
		weft__xen_find_request(IOCTL_PRIVCMD_HYPERCALL).size, sizeof(privcmd_hypercall_t));
	assert_int_equal(sizeof(privcmd_hypercall_t), sizeof(uint64_t[WEFT__XEN_ARGUMENTS]));
	check_request(IOCTL_PRIVCMD_MMAPBATCH_V2, &batch, "privcmd mmapbatch_v2", 5, 7, -1);
	check_request(IOCTL_PRIVCMD_MMAP_RESOURCE, &resource, "privcmd mmap_resource", 5, 7, -1);
	check_request(IOCTL_PRIVCMD_DM_OP, &dm_op, "dm_op", 5, -1, -1);
	check_request(IOCTL_GNTDEV_MAP_GRANT_REF, &map, "gntdev map_grant_ref", 5, 7, -1);
	check_request(IOCTL_GNTDEV_UNMAP_GRANT_REF, &unmap, "gntdev unmap_grant_ref", -1, 7, -1);
	check_request(IOCTL_EVTCHN_BIND_INTERDOMAIN, &bind, "evtchn bind_interdomain", 5, -1, -1);
	check_request(IOCTL_EVTCHN_NOTIFY, &notify, "evtchn notify", -1, -1, 3);
	check_request(IOCTL_EVTCHN_NOTIFY, NULL, "evtchn notify", -1, -1, -1);
	assert_true(weft__xen_find_request(IOCTL_EVTCHN_BIND_VIRQ).size == 4);
	assert_non_null(weft__xen_find_request(IOCTL_EVTCHN_RESET).name);
}

static void entries_of_multicalls(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct multicall_entry), WEFT__XEN_ENTRY_BYTES);
	assert_int_equal(offsetof(struct multicall_entry, result), WEFT__XEN_ENTRY_RESULT);
	assert_int_equal(offsetof(struct multicall_entry, args), 16);
}
#define HAS_HEADERS 1
#endif

#ifndef HAS_HEADERS
static void structs_of_xens_headers(void **state)
{
	(void)state;
	print_message("# skipped: Xen's headers (libxen-dev) are not installed\n");
	skip();
}
#endif

int main(void)
{
	/* clang-format off */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_without_a_name),
		cmocka_unit_test(buffers_that_cannot_be_read),
		cmocka_unit_test(domains_in_arguments),
		cmocka_unit_test(multicalls_of_one_call),
		cmocka_unit_test(requests_of_other_devices),
#ifndef HAS_HEADERS
		cmocka_unit_test(structs_of_xens_headers),
#else
		cmocka_unit_test(structs_of_tools),
		cmocka_unit_test(domains_in_answers),
		cmocka_unit_test(structs_of_memory),
		cmocka_unit_test(structs_of_guests),
		cmocka_unit_test(requests_of_devices),
		cmocka_unit_test(entries_of_multicalls),
#endif
	};
	/* clang-format on */
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

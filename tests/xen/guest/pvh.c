/* SPDX-License-Identifier: ISC
 *
 * A PVH guest is a virtual machine: it gets from hypercalls the pages and words that a
 * paravirtualised guest finds ready at its start.
 */
#include "guest.h"

#include <string.h>
#include <xen/arch-x86/cpuid.h>
#include <xen/arch-x86/hvm/start_info.h>
#include <xen/hvm/hvm_op.h>
#include <xen/hvm/params.h>
#include <xen/memory.h>

bool guest_is_pvh;

static start_info_t info;

static void ask_processor(uint32_t leaf, uint32_t ret_words[4])
{
	__asm__ volatile(
		"cpuid"
		: "=a"(ret_words[0]), "=b"(ret_words[1]), "=c"(ret_words[2]), "=d"(ret_words[3])
		: "a"(leaf), "c"(0));
}

/* Xen fills the page when its address is written to a register, whose number it tells. */
static void enable_hypercalls(void)
{
	extern char hypercall_page[];
	uint32_t words[4];
	ask_processor(XEN_CPUID_FIRST_LEAF + 2, words);
	__asm__ volatile("wrmsr" : : "c"(words[1]), "a"((uint32_t)(uintptr_t)hypercall_page), "d"(0));
}

static uint64_t parameter(uint32_t index)
{
	xen_hvm_param_t asked = {.domid = DOMID_SELF, .index = index};
	hypercall(__HYPERVISOR_hvm_op, HVMOP_get_param, (uintptr_t)&asked, 0, 0);
	return asked.value;
}

void pvh_map(void *page, unsigned space, uint64_t index)
{
	xen_add_to_physmap_t wanted = {
		.domid = DOMID_SELF, .space = space, .idx = index, .gpfn = (uintptr_t)page / PAGE_BYTES};
	hypercall(__HYPERVISOR_memory_op, XENMEM_add_to_physmap, (uintptr_t)&wanted, 0, 0);
}

static void take_command_line(const char *line)
{
	for (size_t i = 0; line[i] && i < sizeof(info.cmd_line) - 1; i++)
		info.cmd_line[i] = (int8_t)line[i];
}

void guest_start(const start_info_t *info);
void guest_start_pvh(const struct hvm_start_info *found);
void guest_start_pvh(const struct hvm_start_info *found)
{
	guest_is_pvh = true;
	enable_hypercalls();
	if (found->cmdline_paddr)
		take_command_line((const char *)found->cmdline_paddr);
	info.store_mfn = parameter(HVM_PARAM_STORE_PFN);
	info.store_evtchn = (uint32_t)parameter(HVM_PARAM_STORE_EVTCHN);
	guest_start(&info);
}

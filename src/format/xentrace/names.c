/* SPDX-License-Identifier: ISC
 *
 * Tables of names. Numbers are those of Xen's public headers and of the processors' manuals.
 */
#include "format/xentrace/names.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/search.h"
#include "format/xentrace/ids.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

uint32_t weft__format_xentrace_kind(uint32_t id)
{
	switch (id >> 16) {
	case 0x002:
		return (id & 0xff00f) == WEFT__XENTRACE_RUNSTATE ? (uint32_t)WEFT__XENTRACE_RUNSTATE : id;
	case 0x008:
		return id & ~0x500u;
	case 0x020:
		return id & ~WEFT__XENTRACE_64;
	case 0x040:
		return id & ~0xf00u; /* levels of the guest's page tables */
	case 0x800:
		return WEFT__XENTRACE_GUEST;
	default:
		return id;
	}
}

struct record_name {
	uint32_t id;
	const char *name;
};

static bool has_lower_id(const void *records, uint32_t row, uint64_t id)
{
	return ((const struct record_name *)records)[row].id < id;
}

const char *weft__format_xentrace_name(uint32_t kind)
{
	static const struct record_name records[] = {
#define RECORD(id, name) {id, name},
#include "format/xentrace/names.def"
#undef RECORD
	};
	uint32_t row = weft__search(records, 0, COUNT(records), has_lower_id, kind);
	return row < COUNT(records) && records[row].id == kind ? records[row].name : "unknown";
}

/* clang-format off */
static const char *const hypercalls[] = {
	"set_trap_table", "mmu_update", "set_gdt", "stack_switch", "set_callbacks", "fpu_taskswitch",
	"sched_op_compat", "platform_op", "set_debugreg", "get_debugreg", "update_descriptor", NULL,
	"memory_op", "multicall", "update_va_mapping", "set_timer_op", "event_channel_op_compat",
	"xen_version", "console_io", "physdev_op_compat", "grant_table_op", "vm_assist",
	"update_va_mapping_otherdomain", "iret", "vcpu_op", "set_segment_base", "mmuext_op", "xsm_op",
	"nmi_op", "sched_op", "callback_op", "xenoprof_op", "event_channel_op", "physdev_op", "hvm_op",
	"sysctl", "domctl", "kexec_op", "tmem_op", "argo_op", "xenpmu_op", "dm_op", "hypfs_op", NULL, NULL,
	NULL, NULL, NULL, "mca", "paging_domctl",
};

static const char *const traps[] = {
	"divide_error", "debug", "nmi", "int3", "overflow", "bounds", "invalid_op", "no_device",
	"double_fault", "copro_seg", "invalid_tss", "no_segment", "stack_error", "gp_fault", "page_fault",
	"spurious_int", "copro_error", "alignment_check", "machine_check", "simd_error", "virtualisation",
	"control_protection",
};

static const char *const vmx_exits[] = {
	"exception_nmi", "external_interrupt", "triple_fault", "init", "sipi", "io_smi", "other_smi",
	"pending_virt_intr", "pending_virt_nmi", "task_switch", "cpuid", "getsec", "hlt", "invd", "invlpg",
	"rdpmc", "rdtsc", "rsm", "vmcall", "vmclear", "vmlaunch", "vmptrld", "vmptrst", "vmread",
	"vmresume", "vmwrite", "vmxoff", "vmxon", "cr_access", "dr_access", "io_instruction", "msr_read",
	"msr_write", "invalid_guest_state", "msr_loading", NULL, "mwait_instruction", "monitor_trap_flag",
	NULL, "monitor_instruction", "pause_instruction", "mce_during_vmentry", NULL,
	"tpr_below_threshold", "apic_access", "eoi_induced", "access_gdtr_or_idtr", "access_ldtr_or_tr",
	"ept_violation", "ept_misconfig", "invept", "rdtscp", "vmx_preemption_timer_expired", "invvpid",
	"wbinvd", "xsetbv", "apic_write", "rdrand", "invpcid", "vmfunc", "encls", "rdseed", "pml_full",
	"xsaves", "xrstors", NULL, NULL, "umwait", "tpause", NULL, NULL, NULL, NULL, NULL, "bus_lock",
	"notify",
};

/* From 0x60 on. Below are accesses to control and debug registers, and exceptions. */
static const char *const svm_exits[] = {
	"intr", "nmi", "smi", "init", "vintr", "cr0_sel_write", "idtr_read", "gdtr_read", "ldtr_read",
	"tr_read", "idtr_write", "gdtr_write", "ldtr_write", "tr_write", "rdtsc", "rdpmc", "pushf", "popf",
	"cpuid", "rsm", "iret", "swint", "invd", "pause", "hlt", "invlpg", "invlpga", "ioio", "msr",
	"task_switch", "ferr_freeze", "shutdown", "vmrun", "vmmcall", "vmload", "vmsave", "stgi", "clgi",
	"skinit", "rdtscp", "icebp", "wbinvd", "monitor", "mwait", "mwait_conditional", "xsetbv", "rdpru",
};
/* clang-format on */

static const char *name_at(const char *const *names, size_t count, uint32_t number)
{
	return number < count ? names[number] : NULL;
}

const char *weft__format_xentrace_hypercall(uint32_t op)
{
	return name_at(hypercalls, COUNT(hypercalls), op);
}

const char *weft__format_xentrace_trap(uint32_t number)
{
	return name_at(traps, COUNT(traps), number);
}

const char *weft__format_xentrace_exit(uint32_t reason, bool is_svm)
{
	if (!is_svm)
		return name_at(vmx_exits, COUNT(vmx_exits), reason & 0xffff);
	if (reason < 0x10)
		return "cr_read";
	if (reason < 0x20)
		return "cr_write";
	if (reason < 0x40)
		return reason < 0x30 ? "dr_read" : "dr_write";
	if (reason < 0x60)
		return weft__format_xentrace_trap(reason - 0x40);
	if (reason == 0x400)
		return "npf";
	return name_at(svm_exits, COUNT(svm_exits), reason - 0x60);
}

/* SPDX-License-Identifier: ISC
 *
 * Ids of the records that have a meaning for the reader, as Xen's public header trace.h numbers
 * them. The comments have the words.
 */
#ifndef WEFT_FORMAT_XENTRACE_IDS_H
#define WEFT_FORMAT_XENTRACE_IDS_H

/* clang-format off */
enum weft__xentrace_id {
	WEFT__XENTRACE_RUNSTATE      = 0x21001,  /* bits 4-7 new state, 8-11 old; u16 vCPU, u16 domain */
	WEFT__XENTRACE_CONTINUE      = 0x21002,  /* u16 vCPU, u16 domain */
	WEFT__XENTRACE_CREDIT_SCHEDULE  = 0x22009,
	WEFT__XENTRACE_CREDIT2_TICKLE   = 0x22206, /* pCPU */
	WEFT__XENTRACE_CREDIT2_SCHEDULE = 0x22215, /* u16 pCPU, u16 queue; bits 24-31: it was tickled */
	WEFT__XENTRACE_ARINC653_SCHEDULE = 0x22601,
	WEFT__XENTRACE_RTDS_TICKLE      = 0x22801, /* u16 pCPU */
	WEFT__XENTRACE_RTDS_SCHEDULE    = 0x22806, /* u16 pCPU; bits 24-27: it was tickled */
	WEFT__XENTRACE_NULL_SCHEDULE    = 0x22a05,
	WEFT__XENTRACE_DOMAIN_ADD    = 0x28001,  /* domain */
	WEFT__XENTRACE_DOMAIN_REMOVE = 0x28002,  /* domain */
	WEFT__XENTRACE_WAKE          = 0x28004,  /* domain, vCPU */
	WEFT__XENTRACE_SHUTDOWN      = 0x28007,  /* domain, vCPU, reason */
	WEFT__XENTRACE_SWITCH_PREV   = 0x2800e,  /* domain, vCPU, ns that it ran */
	WEFT__XENTRACE_CREATE        = 0x41001,  /* domain */
	WEFT__XENTRACE_DESTROY       = 0x41002,  /* domain */
	WEFT__XENTRACE_ENTRY         = 0x81001,
	WEFT__XENTRACE_EXIT          = 0x81002,  /* reason, u32 or u64 instruction pointer */
	WEFT__XENTRACE_EXIT_SVM      = 0x81003,  /* the same, from Xen 4.19 on */
	WEFT__XENTRACE_INJECT        = 0x82003,  /* exception, error code */
	WEFT__XENTRACE_VMMCALL       = 0x82012,  /* hypercall */
	WEFT__XENTRACE_HVM_TRAP      = 0x82023,  /* exception */
	WEFT__XENTRACE_GRANT_MAP     = 0x10f001, /* domain */
	WEFT__XENTRACE_GRANT_UNMAP   = 0x10f002, /* domain */
	WEFT__XENTRACE_GRANT_TRANSFER = 0x10f003, /* domain */
	WEFT__XENTRACE_HYPERCALL_OLD = 0x201001, /* u32 or u64 instruction pointer, hypercall */
	WEFT__XENTRACE_TRAP          = 0x201003, /* u32 or u64 instruction pointer, bits 0-14 number */
	WEFT__XENTRACE_PAGE_FAULT    = 0x201004,
	WEFT__XENTRACE_HYPERCALL     = 0x20100d, /* bits 0-19 number, 20-31 arguments; arguments */
	WEFT__XENTRACE_SUBCALL       = 0x20200e, /* the same */
	WEFT__XENTRACE_IRQ           = 0x802008, /* irq, u32 cycles at its start, u32 at its end */
	WEFT__XENTRACE_GUEST         = 0x800f000, /* any of a guest's own, whose words have its meaning */
};

enum weft__xentrace_runstate {
	WEFT__XENTRACE_RUNNING,
	WEFT__XENTRACE_RUNNABLE,
	WEFT__XENTRACE_BLOCKED,
	WEFT__XENTRACE_OFFLINE,
};
/* clang-format on */

/* In the id of a record of PV guests and of exits: addresses have 64 bits. */
#define WEFT__XENTRACE_64 0x100u

#endif

/* SPDX-License-Identifier: ISC
 *
 * Pages and frames. Pages of others (the shared information, the grant table) are mapped in place
 * of pages of the image, whose page tables exist.
 */
#include "guest.h"

#include <xen/grant_table.h>
#include <xen/memory.h>

#define GRANT_FRAMES 16
#define GRANTS       (GRANT_FRAMES * PAGE_BYTES / sizeof(grant_entry_v1_t))
#define GRANTS_TAKEN 8 /* by Xen's tools */

/* Present, writable, accessible to the guest, accessed, dirty. */
#define PAGE_FLAGS 0x67

static _Alignas(PAGE_BYTES) char shared_page[PAGE_BYTES];
static _Alignas(PAGE_BYTES) char grant_pages[GRANT_FRAMES][PAGE_BYTES];
static uint32_t next_grant = GRANTS_TAKEN;

shared_info_t *guest_shared = (shared_info_t *)shared_page;

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
	char *t = to;
	const char *f = from;
	for (size_t i = 0; i < size; i++)
		t[i] = f[i];
	return to;
}

void *memmove(void *to, const void *from, size_t size)
{
	char *t = to;
	const char *f = from;
	if (t <= f)
		return memcpy(to, from, size);
	while (size-- > 0)
		t[size] = f[size];
	return to;
}

void *memset(void *to, int byte, size_t size)
{
	char *t = to;
	for (size_t i = 0; i < size; i++)
		t[i] = (char)byte;
	return to;
}

int memcmp(const void *left, const void *right, size_t size)
{
	const unsigned char *l = left, *r = right;
	for (size_t i = 0; i < size; i++)
		if (l[i] != r[i])
			return l[i] < r[i] ? -1 : 1;
	return 0;
}

uint64_t memory_frame(const void *page)
{
	const uint64_t *frames = (const uint64_t *)guest_info->mfn_list;
	if (guest_is_pvh)
		return (uintptr_t)page / PAGE_BYTES;
	return frames[(uintptr_t)page / PAGE_BYTES];
}

void *memory_page(uint64_t frame)
{
	const uint64_t *pages = (const uint64_t *)MACH2PHYS_VIRT_START;
	if (guest_is_pvh)
		return (void *)(frame * PAGE_BYTES);
	return (void *)(pages[frame] * PAGE_BYTES);
}

static void map(void *page, uint64_t frame)
{
	hypercall(__HYPERVISOR_update_va_mapping, (uintptr_t)page, frame * PAGE_BYTES | PAGE_FLAGS,
		UVMF_INVLPG, 0);
}

static void map_pages_of_pvh(void)
{
	pvh_map(shared_page, XENMAPSPACE_shared_info, 0);
	for (unsigned i = 0; i < GRANT_FRAMES; i++)
		pvh_map(grant_pages[i], XENMAPSPACE_grant_table, i);
}

void memory_init(void)
{
	if (guest_is_pvh) {
		map_pages_of_pvh();
		return;
	}
	xen_pfn_t frames[GRANT_FRAMES];
	gnttab_setup_table_t setup = {.dom = DOMID_SELF, .nr_frames = GRANT_FRAMES};
	set_xen_guest_handle(setup.frame_list, frames);
	map(shared_page, guest_info->shared_info / PAGE_BYTES);
	hypercall(__HYPERVISOR_grant_table_op, GNTTABOP_setup_table, (uintptr_t)&setup, 1, 0);
	for (int i = 0; i < GRANT_FRAMES; i++)
		map(grant_pages[i], frames[i]);
}

uint32_t memory_grant(uint16_t domain, uint64_t frame, bool is_writable)
{
	grant_entry_v1_t *entries = (grant_entry_v1_t *)grant_pages;
	uint32_t ref = next_grant;
	if (ref >= GRANTS)
		return 0;
	next_grant++;
	entries[ref].domid = domain;
	entries[ref].frame = (uint32_t)frame;
	/* Xen may look at the entry as soon as it has flags. */
	uint16_t flags = GTF_permit_access | (is_writable ? 0 : GTF_readonly);
	__atomic_store_n(&entries[ref].flags, flags, __ATOMIC_RELEASE);
	return ref;
}

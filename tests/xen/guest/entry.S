/* SPDX-License-Identifier: ISC
 *
 * The entries of a paravirtualised guest and of a PVH guest, and the notes by which Xen's tools load it.
 */
#include <xen/elfnote.h>

	.macro note type, value:vararg
	.section .note.Xen, "a", @note
	.balign 4
	.long 2f - 1f, 4f - 3f, \type
1:	.asciz "Xen"
2:	.balign 4
3:	\value
4:	.balign 4
	.endm

	note XEN_ELFNOTE_GUEST_OS, .asciz "weft's guest"
	note XEN_ELFNOTE_XEN_VERSION, .asciz "xen-3.0"
	note XEN_ELFNOTE_LOADER, .asciz "generic"
	note XEN_ELFNOTE_PAE_MODE, .asciz "yes"
	note XEN_ELFNOTE_VIRT_BASE, .quad 0
	note XEN_ELFNOTE_PADDR_OFFSET, .quad 0
	note XEN_ELFNOTE_ENTRY, .quad _start
	note XEN_ELFNOTE_HYPERCALL_PAGE, .quad hypercall_page
	note XEN_ELFNOTE_PHYS32_ENTRY, .long start_pvh

	.text
	.global _start, hypercall_page
_start:
	cld
	lea stack_end(%rip), %rsp
	mov %rsi, %rdi
	call guest_start
	ud2

/* PVH: the processor has 32 bits and no page tables yet. They map the first 4 GiB to themselves. */
	.code32
start_pvh:
	cld
	mov $stack_end, %esp
	movl $page_directories_of_1g + 7, page_root
	mov $page_directories + 7, %eax
	mov $page_directories_of_1g, %edi
	mov $4, %ecx
1:	mov %eax, (%edi)
	add $4096, %eax
	add $8, %edi
	loop 1b
	mov $0x87, %eax /* present, writable, accessible, 2 MiB */
	mov $page_directories, %edi
	mov $2048, %ecx
2:	mov %eax, (%edi)
	add $0x200000, %eax
	add $8, %edi
	loop 2b
	mov $page_root, %eax
	mov %eax, %cr3
	mov $0x620, %eax /* long page tables, and the registers of SSE, which compilers use */
	mov %eax, %cr4
	mov $0xc0000080, %ecx
	rdmsr
	or $0x100, %eax /* 64 bits */
	wrmsr
	mov $0x80000003, %eax
	mov %eax, %cr0
	lgdt segments_pointer
	ljmp $8, $start_pvh_64
	.code64
start_pvh_64:
	xor %eax, %eax
	mov %eax, %ds
	mov %eax, %es
	mov %eax, %ss
	mov %ebx, %edi
	call guest_start_pvh
	ud2

	.balign 8
segments:
	.quad 0, 0x00af9b000000ffff
segments_pointer:
	.word 15
	.long segments

	.balign 4096
hypercall_page:
	.skip 4096

	.bss
	.balign 4096
page_root:
	.skip 4096
page_directories_of_1g:
	.skip 4096
page_directories:
	.skip 4 * 4096
	.skip 65536
stack_end:

	.section .note.GNU-stack, "", @progbits

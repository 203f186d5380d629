/* SPDX-License-Identifier: ISC
 *
 * The entry of a paravirtualised guest, and the notes by which Xen's tools load it.
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

	.text
	.global _start, hypercall_page
_start:
	cld
	lea stack_end(%rip), %rsp
	mov %rsi, %rdi
	call guest_start
	ud2

	.balign 4096
hypercall_page:
	.skip 4096

	.bss
	.balign 4096
	.skip 65536
stack_end:

	.section .note.GNU-stack, "", @progbits

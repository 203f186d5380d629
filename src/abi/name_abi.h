/* SPDX-License-Identifier: ISC
 *
 * The table of names: text that events refer to by a 16-bit id. Names are never removed, so they
 * outlive any number of wraps of the packets.
 *
 *     0                   names_index × 4                            names_bytes
 *     ┌───────────────────┬──────────────┬──────────────┬───┬────────┐
 *     │ index (u32 each)  │ entry id 1   │ entry id 4   │ … │ free   │
 *     └───────────────────┴──────────────┴──────────────┴───┴────────┘
 *
 * An entry's id is its distance from the entries' start in units of 16 bytes, plus one. The index
 * is an open hash table: hash & 0xffff0000 | id, 0 where empty, probed one by one from
 * hash % names_index. A reader needs the entries only.
 */
#ifndef WEFT_ABI_NAME_H
#define WEFT_ABI_NAME_H

#include <stdint.h>

#define WEFT_ABI_NAME_UNIT      16u
#define WEFT_ABI_NAME_MAX_BYTES 1024u

/* The name of a kind begins with these bytes: text of programs does not. The kind's number is that
 * of the name plus WEFT_ABI_KIND_NAMED. The name of a category may follow:
 * "\1kind\0NAME\0CATEGORY", to which then all tasks of this number belong. */
#define WEFT_ABI_KIND_PREFIX       "\1kind"
#define WEFT_ABI_KIND_PREFIX_BYTES 6u /* with the NUL */
#define WEFT_ABI_KIND_NAMED        256u
#define WEFT_ABI_KIND_MAX          65278u /* readers use the numbers above for named kinds */

/* Where a label's code is, "\1code\0NAME\0FILE\0ADDRESS": a function, the ELF file that has it, and
 * the address that the linker gave it, in hexadecimal. `weft record` looks its line up when it
 * saves the trace, and appends "\1line\0NAME\0FILE:LINE". */
#define WEFT_ABI_CODE_PREFIX       "\1code"
#define WEFT_ABI_LINE_PREFIX       "\1line"
#define WEFT_ABI_CODE_PREFIX_BYTES 6u /* of both, with the NUL */

/* A fact about what the adapters could not record, "\1unseen\0KEY\0WHAT": a key of unseen.def, and
 * the file, call or number that it is about. A key after "-" takes back the same fact, wherever it
 * stands: the program was not executed after all. */
#define WEFT_ABI_UNSEEN_PREFIX       "\1unseen"
#define WEFT_ABI_UNSEEN_PREFIX_BYTES 8u /* with the NUL */

/* The calls in which a task waits, innermost first: "\1stack\tMODULE:ADDRESS MODULE:ADDRESS …", in
 * hexadecimal. ADDRESS is that of the last byte of the call, as the linker counted; MODULE is the
 * id of the name "\1module\tFILE\tBUILD ID", of an ELF file. A last word "+": further calls are
 * left out. `weft record` looks the calls up when it saves the trace, and appends
 * "\1frame\0MODULE:ADDRESS\0FUNCTION (FILE:LINE)". */
#define WEFT_ABI_STACK_PREFIX        "\1stack\t"
#define WEFT_ABI_STACK_PREFIX_BYTES  7u
#define WEFT_ABI_MODULE_PREFIX       "\1module\t"
#define WEFT_ABI_MODULE_PREFIX_BYTES 8u
#define WEFT_ABI_FRAME_PREFIX        "\1frame"
#define WEFT_ABI_FRAME_PREFIX_BYTES  7u /* with the NUL */

/* Before the text, which is padded with NULs to a multiple of 8 bytes. */
struct weft_abi_name {
	uint32_t hash;
	uint32_t size; /* of the text */
};

/* The size of all entries together: 16-bit ids cannot refer to more. */
#define WEFT_ABI_NAMES_MAX_BYTES \
	(65535u * WEFT_ABI_NAME_UNIT + (uint32_t)sizeof(struct weft_abi_name) + WEFT_ABI_NAME_MAX_BYTES)

_Static_assert(sizeof(struct weft_abi_name) == 8, "name");
_Static_assert(WEFT_ABI_NAMES_MAX_BYTES % 8 == 0, "names");

#endif

/* SPDX-License-Identifier: ISC
 *
 * The page through which another process asks a linked process to record: a memfd of this name,
 * which the process maps at its start and leaves open. Calls that do not record read `level`.
 *
 *     0      8         12      64      128                 2048
 *     ┌──────┬─────────┬───────┬───────┬───────────────────┬─────────────────────────────────────┐
 *     │ magic│ version │ owner │ level │ request: number … │ answer: number, reason, directory   │
 *     └──────┴─────────┴───────┴───────┴───────────────────┴─────────────────────────────────────┘
 *
 * The asking process locks the memfd (flock), stores a request, then its number, and then the
 * level. The owner's next call sees the level. It makes a run directory and a buffer in it, both by
 * its own rules; then it stores its answer and clears the level.
 *
 * A page has one owner, which alone has it mapped writable. What a forked child inherits of it can
 * only be read. So a request comes from a process that may open the owner's descriptors in /proc,
 * as ptrace may.
 *
 * Each side may be hostile to the other: both load what they use once, and check it.
 */
#ifndef WEFT_ABI_ATTACH_H
#define WEFT_ABI_ATTACH_H

#include <stddef.h>
#include <stdint.h>

#include "abi/buffer_abi.h"

#define WEFT_ABI_ATTACH_NAME    "weft-attach"
#define WEFT_ABI_ATTACH_MAGIC   "\x89WEFTatt"
#define WEFT_ABI_ATTACH_VERSION 2
#define WEFT_ABI_ATTACH_BYTES   4096

struct weft_abi_attach {
	char magic[8]; /* without a NUL; stored last */
	uint32_t version;
	uint32_t owner; /* the process that answers, in its own PID namespace */
	uint32_t reserved1[12];

	uint8_t level; /* 0: no request; else the level up to which calls look at it */
	uint8_t reserved2[63];

	uint32_t number; /* of the request, stored after the rest of it */
	uint32_t reserved3;
	uint64_t until_unix_ns; /* later the request is void: its process was killed */
	uint64_t ring_bytes;    /* the wanted size of the buffer; 0: it depends on the free room */
	uint8_t reserved4[1896];

	uint32_t answered;    /* the number of the answered request, stored after the rest */
	char reason[252];     /* why there is no buffer; "": there is one */
	char directory[1024]; /* the run directory as the owner sees it, with a slash at its end */
	uint8_t reserved5[768];
};

WEFT_ABI_AT(weft_abi_attach, level, 64);
WEFT_ABI_AT(weft_abi_attach, number, 128);
WEFT_ABI_AT(weft_abi_attach, ring_bytes, 144);
WEFT_ABI_AT(weft_abi_attach, answered, 2048);
WEFT_ABI_AT(weft_abi_attach, directory, 2304);
_Static_assert(sizeof(struct weft_abi_attach) == WEFT_ABI_ATTACH_BYTES, "attach page");

#endif

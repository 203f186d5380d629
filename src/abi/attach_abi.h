/* SPDX-License-Identifier: ISC
 *
 * The page through which another process asks a linked process to record: a memfd of this name,
 * which the process maps at its start and leaves open. Calls that do not record read `level`.
 *
 *     0      8         64      128                          2048
 *     ┌──────┬─────────┬───────┬─────────────────────────────┬──────────────────────┐
 *     │ magic│ version │ level │ request: number … directory │ answer: number, text │
 *     └──────┴─────────┴───────┴─────────────────────────────┴──────────────────────┘
 *
 * The asking process locks the memfd (flock), stores a request, then its number, and then the
 * level. The next call of any process that has the page mapped, forked children included, sees the
 * level. The process that the request names makes its buffer, stores its answer and clears the
 * level; the others go on.
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
#define WEFT_ABI_ATTACH_VERSION 1
#define WEFT_ABI_ATTACH_BYTES   4096

struct weft_abi_attach {
	char magic[8]; /* without a NUL; stored last */
	uint32_t version;
	uint32_t reserved1[13];

	uint8_t level; /* 0: no request; else the level up to which calls look at it */
	uint8_t reserved2[63];

	uint32_t number;        /* of the request, stored after the rest of it */
	uint32_t pid;           /* the process that it names, in that process's PID namespace */
	uint64_t until_unix_ns; /* later the request is void: its process was killed */
	uint64_t ring_bytes;    /* the size of the buffer; 0: it depends on the free room */
	char directory[1024];   /* the run directory, with a slash at its end and a NUL */
	uint8_t reserved3[872];

	uint32_t answered; /* the number of the answered request, stored after `reason` */
	char reason[252];  /* why there is no buffer; "": there is one */
	uint8_t reserved4[1792];
};

WEFT_ABI_AT(weft_abi_attach, level, 64);
WEFT_ABI_AT(weft_abi_attach, number, 128);
WEFT_ABI_AT(weft_abi_attach, directory, 152);
WEFT_ABI_AT(weft_abi_attach, answered, 2048);
_Static_assert(sizeof(struct weft_abi_attach) == WEFT_ABI_ATTACH_BYTES, "attach page");

#endif

/* SPDX-License-Identifier: ISC
 *
 * The values of a process's counters, which other processes may read at any time, whether or not
 * anything is recorded. They follow the attach page in its file (attach_abi.h).
 *
 *     0        8         12      16           128    4224   20608                54400
 *     ┌────────┬─────────┬───────┬──────┬─────┬──────┬──────┬─────────┬───┬────────┬──────┐
 *     │ magic  │ version │ owner │ used │     │ rows │ text │ shard 0 │ … │        │ real │
 *     └────────┴─────────┴───────┴──────┴─────┴──────┴──────┴─────────┴───┴────────┴──────┘
 *
 * Where an agent collects counters (weft-agent(1)), they are in a file of their own instead, which
 * begins with the same header and has a name, so that it outlives the process:
 *
 *     FOLDER/0123456789abcdef0123456789abcdef.counters      `region` in hexadecimal
 *
 * The agent removes it when the process has ended and the values are in its ledger. The metrics of
 * a program that is recorded have a second name there, from before the first change on, which stays
 * until they are in the trace:
 *
 *     FOLDER/0123456789abcdef0123456789abcdef.kept
 *
 * The header behind the attach page then has the same `region`, and no rows. A program that records
 * from its start on has no such page: what would be behind it is in a file beside its ring
 * (run_abi.h), or if that is in no run directory, and in a forked child, in a memfd.
 *
 * A counter's value is the sum of its cells in all shards, as a signed number, and of its cell of
 * `real`, which has the bits of a double. Rows are only added, and never change. The owner reads
 * nothing here but the cells: another process of its user may write, too, and so spoil the values,
 * but nothing else. A child that inherited the file's descriptor is not its owner.
 */
#ifndef WEFT_ABI_COUNTER_H
#define WEFT_ABI_COUNTER_H

#include <stddef.h>
#include <stdint.h>

#include "abi/buffer_abi.h"

#define WEFT_ABI_COUNTERS_NAME    "weft-counters"
#define WEFT_ABI_COUNTERS_MAGIC   "\x89WEFTcnt"
#define WEFT_ABI_COUNTERS_VERSION 1

/* Freestanding programs, of which nobody reads this, have fewer (record/counters.h). */
#ifndef WEFT_ABI_COUNTERS
#define WEFT_ABI_COUNTERS       256
#define WEFT_ABI_COUNTER_TEXT   16384
#define WEFT_ABI_COUNTER_SHARDS 16
/* So that the cells of one counter do not lie at the same place of each page of the cache. */
#define WEFT_ABI_COUNTER_PAD_BYTES 64
#endif

struct weft_abi_counter_row {
	uint32_t text;       /* offset of its name */
	uint16_t size;       /* of its name */
	uint8_t is_there;    /* stored last */
	uint8_t begins_at_0; /* it was 0 when the process's present record began */
	uint8_t reserved[8];
};

struct weft_abi_counter_cells {
	struct {
		uint64_t cell[WEFT_ABI_COUNTERS];
		unsigned char rest[WEFT_ABI_COUNTER_PAD_BYTES];
	} shard[WEFT_ABI_COUNTER_SHARDS];
	uint64_t real[WEFT_ABI_COUNTERS]; /* the bits of a double */
};

struct weft_abi_counters {
	char magic[8]; /* without a NUL; stored last */
	uint32_t version;
	uint32_t owner;     /* the process, in its own PID namespace */
	uint32_t rows_used; /* at most WEFT_ABI_COUNTERS */
	uint32_t reserved[8];
	uint32_t is_elsewhere; /* the counters are in the file of that name */
	uint8_t region[16];    /* random: of this memory alone */
	uint64_t born_unix_ns; /* when the process began to use this memory */
	char program[48];      /* its name, cut off, with a NUL */
	struct weft_abi_counter_row row[WEFT_ABI_COUNTERS];
	char text[WEFT_ABI_COUNTER_TEXT];
	struct weft_abi_counter_cells cells;
};

#ifndef WEFT_FREESTANDING

/* The folder of files of the system's agent. That of a user's is weft/agent in XDG_RUNTIME_DIR;
 * the environment variable has another one, or "none". */
#define WEFT_ABI_AGENT_FOLDER      "/run/weft/agent"
#define WEFT_ABI_AGENT_USER_FOLDER "/weft/agent"
#define WEFT_ABI_AGENT_VARIABLE    "WEFT_AGENT"
#define WEFT_ABI_AGENT_SUFFIX      ".counters"
#define WEFT_ABI_AGENT_KEPT_SUFFIX ".kept"
#define WEFT_ABI_AGENT_NAME_BYTES  42 /* of a file's name, with a NUL */

WEFT_ABI_AT(weft_abi_counters, is_elsewhere, 52);
WEFT_ABI_AT(weft_abi_counters, region, 56);
WEFT_ABI_AT(weft_abi_counters, born_unix_ns, 72);
WEFT_ABI_AT(weft_abi_counters, program, 80);
WEFT_ABI_AT(weft_abi_counters, row, 128);
WEFT_ABI_AT(weft_abi_counters, text, 4224);
WEFT_ABI_AT(weft_abi_counters, cells.shard, 20608);
WEFT_ABI_AT(weft_abi_counters, cells.real, 54400);

#define WEFT_ABI_COUNTERS_BYTES 57344 /* in whole pages */
_Static_assert(sizeof(struct weft_abi_counters) <= WEFT_ABI_COUNTERS_BYTES, "counters");
#endif

#endif

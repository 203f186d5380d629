/* SPDX-License-Identifier: ISC
 *
 * The values of a process's metrics (weft/metrics.h), which other processes may read at any time:
 * a memfd, made when the program has its first metric.
 *
 *     0        192    rows × 64   text          shards × (cells × 8 + 64)
 *     ┌────────┬──────┬───────────┬─────────┬─────────┬───┬──────────┐
 *     │ header │ rows │ text      │ shard 0 │ shard 1 │ … │ shard 15 │
 *     └────────┴──────┴───────────┴─────────┴─────────┴───┴──────────┘
 *
 * A row is a metric without labels, or one label more than the row that it lies below. Its value is
 * the sum of its cells in all shards and of the values of the rows below it. A histogram has a cell
 * for each size, and one for the sum of the values. Rows are only added, and never change.
 *
 * A trace has a packed copy (table_abi.h): parts of just the size that is used, and one shard,
 * whose cells are the sums.
 *
 * Children come and go. They lie in a memfd of their own, if the program wants any:
 *
 *     ┌────────┬─────────┬─────────┬───┐
 *     │ header │ child 0 │ child 1 │ … │
 *     └────────┴─────────┴─────────┴───┘
 *
 * What a child counts, its row counts, too: so its own value is a detail, and no total needs it. A
 * child that ends keeps its cell; the next one in its place begins there, at `base`.
 *
 * The owner reads nothing here but cells: see counter_abi.h.
 */
#ifndef WEFT_ABI_METRIC_H
#define WEFT_ABI_METRIC_H

#include <stddef.h>
#include <stdint.h>

#include "abi/buffer_abi.h"

#define WEFT_ABI_METRICS_NAME    "weft-metrics"
#define WEFT_ABI_METRICS_MAGIC   "\x89WEFTmet"
#define WEFT_ABI_METRICS_VERSION 1

/* Freestanding programs have fewer, in memory of any size. */
#ifdef WEFT_FREESTANDING
#define WEFT_ABI_METRIC_ROWS   64
#define WEFT_ABI_METRIC_TEXT   4096
#define WEFT_ABI_METRIC_SHARDS 1
#else
#define WEFT_ABI_METRIC_ROWS   512
#define WEFT_ABI_METRIC_TEXT   32768
#define WEFT_ABI_METRIC_SHARDS 16
#endif
#define WEFT_ABI_METRIC_CELLS     8192 /* at most */
#define WEFT_ABI_METRIC_TEXT_MAX  255  /* bytes of one text, without its NUL */
#define WEFT_ABI_METRIC_DEPTH_MAX 8    /* levels above a row */

/* A histogram's cell i counts values of at most 2^(first_exponent + i/8), the last one all larger
 * ones; one more cell has the sum of the values. */
#define WEFT_ABI_METRIC_CELLS_OF(first, last) (((uint32_t)(last) - (first)) * 8 + 2)

enum weft_abi_metric_kind {
	WEFT_ABI_METRIC_NONE,
#define METRIC_TYPE(number, id, name) WEFT_ABI_METRIC_##id = number,
#include "abi/metric_types.def"
#undef METRIC_TYPE
	WEFT_ABI_METRIC_KINDS
};

#define WEFT_ABI_METRIC_BILLABLE 1 /* a flag */

/* A large value of late, or one that the program pointed out, and where it was. The owner stores
 * `begun`, the members above it, and `done` last: a copy from the begin to the end is whole if both
 * are equal. 0: there is none. */
struct weft_abi_exemplar {
	uint32_t done;
	uint32_t reserved1;
	uint64_t value;
	uint64_t monotonic_ns; /* CLOCK_MONOTONIC, as in the process's traces */
	uint64_t task;         /* that ran; UINT64_MAX: none, or nothing was recorded */
	uint32_t reserved2;
	uint32_t begun;
};

struct weft_abi_metric_row {
	/* Texts, each ended by a NUL: of a metric without labels its name, unit and help; else the
	 * label's key and value. */
	uint32_t text;
	uint16_t below; /* 1 + the row that this one is below, an earlier one; 0: none */
	uint8_t kind;
	uint8_t flags;
	int8_t scale;
	uint8_t first_exponent, last_exponent; /* of a histogram */
	uint8_t is_there;                      /* stored last */
	uint32_t cell;                         /* the first */
	uint64_t created_unix_ns;              /* 0: unknown */
	struct weft_abi_exemplar exemplar;
};

struct weft_abi_metrics {
	char magic[8]; /* without a NUL; stored last */
	uint32_t version;
	uint32_t owner; /* the process, in its own PID namespace */
	uint32_t row_count, text_bytes, cell_count, shard_count;
	uint32_t rows_offset, text_offset, cells_offset, shard_bytes;
	/* The metrics are in the file of an agent, see counter_abi.h, or in that beside the ring into
	 * which the process records, see run_abi.h. */
	uint32_t is_elsewhere;
	uint8_t reserved1[12];

	uint32_t rows_used;
	uint32_t reserved2;
	uint64_t refused;           /* levels, and children, that found no room */
	uint64_t stale;             /* changes of children that had ended */
	uint8_t region[16];         /* random: of this memory alone */
	uint64_t born_unix_ns;      /* when the process began to use this memory */
	char program[48];           /* its name, cut off, with a NUL */
	uint64_t born_monotonic_ns; /* the same time; 0: unknown */
	uint8_t reserved3[24];
};

/* ---- Children ---- */

#define WEFT_ABI_CHILDREN_NAME  "weft-children"
#define WEFT_ABI_CHILDREN_MAGIC "\x89WEFTchi"
#define WEFT_ABI_CHILDREN_MAX   (1u << 20)
#define WEFT_ABI_CHILD_TEXT     87

struct weft_abi_child {
	uint64_t cell;
	uint64_t base;           /* of the cell when the child began */
	uint32_t sequence;       /* odd: the child is there. Stored last, and first at the end */
	uint32_t below;          /* 1 + the child that this one is below; 0: a row */
	uint32_t below_sequence; /* that one's: another one is in its place now */
	uint16_t row;
	uint16_t reserved;
	uint64_t created_unix_ns; /* 0: unknown */
	uint8_t text_size;        /* of the label's key and value, each ended by a NUL */
	char text[WEFT_ABI_CHILD_TEXT];
};

struct weft_abi_children {
	char magic[8];    /* without a NUL; stored last */
	uint32_t version; /* WEFT_ABI_METRICS_VERSION */
	uint32_t owner;
	uint32_t count;
	uint32_t used; /* from here on none was ever there */
	uint8_t reserved[40];
};

WEFT_ABI_AT(weft_abi_metrics, rows_used, 64);
_Static_assert(sizeof(struct weft_abi_metric_row) == 64, "metric row");
_Static_assert(sizeof(struct weft_abi_metrics) == 192, "metrics");
_Static_assert(sizeof(struct weft_abi_child) == 128, "child");
_Static_assert(sizeof(struct weft_abi_children) == 64, "children");

/* In a hosted process all parts have fixed sizes. */
#ifndef WEFT_FREESTANDING
#define WEFT_ABI_AGENT_METRICS_SUFFIX ".metrics" /* as WEFT_ABI_AGENT_SUFFIX for counters */
#define WEFT_ABI_METRIC_SHARD_BYTES   (8u * WEFT_ABI_METRIC_CELLS + 64)
#define WEFT_ABI_METRICS_BYTES                                          \
	((192 + 64 * WEFT_ABI_METRIC_ROWS + WEFT_ABI_METRIC_TEXT +          \
		 WEFT_ABI_METRIC_SHARDS * WEFT_ABI_METRIC_SHARD_BYTES + 4095) / \
		4096 * 4096)
#endif

#endif

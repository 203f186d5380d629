/* SPDX-License-Identifier: ISC
 *
 * Metrics (weft/metrics.h): rows, cells and children.
 *
 *     row       what the handle of a level leads to: its texts, kind, first cell, the row above
 *     cells     values of rows, in several shards as those of counters (counters.h)
 *     children  16 bytes of our own each, and what other processes see of it
 *
 * Rows and our part of children are private, and kept by a forked child, so that handles stay valid
 * there. Cells are not: a forked child begins with zeros. What lies in memory that other processes
 * read (abi/metric_abi.h) is a copy, of which nothing is read back but cells.
 */
#ifndef WEFT_RECORD_METRICS_H
#define WEFT_RECORD_METRICS_H

#include <weft/metrics.h>

#include "abi/metric_abi.h"
#include "record/counters.h"
#include "record/recorder.h"

struct weft__metric_row {
	uint32_t hash;
	uint32_t text;  /* see weft_abi_metric_row */
	uint16_t size;  /* of the part of the text that distinguishes it, with its NULs */
	uint16_t below; /* 1 + a row; 0: none */
	uint16_t cell;
	uint8_t kind, flags;
	int8_t scale;
	uint8_t first_exponent, last_exponent;
	uint8_t is_there;   /* a bucket leads here; 2: and others can see it */
	uint8_t has_levels; /* a row lies below this one */
};

struct weft__metric_child {
	uint32_t sequence;       /* odd: it is there */
	uint32_t below;          /* 1 + a child; 0: none. Of an unused one: the next unused one */
	uint32_t below_sequence; /* of that child */
	uint16_t row;
	uint16_t unused;
};

/* See weft_abi_exemplar. */
struct weft__metric_exemplar {
	uint64_t monotonic_ns;
	uint32_t sequence; /* odd: it is being changed */
};

#define WEFT__METRIC_BUCKETS (2 * WEFT_ABI_METRIC_ROWS)

struct weft__metrics {
	/* On pages of its own, which are cleared in a forked child (by the platform). */
	struct weft__metrics_of_process {
		_Alignas(WEFT__COUNTER_ALIGNMENT) struct weft_abi_metrics *shared; /* or NULL */
		uint64_t *cells;                    /* of it; NULL: those below are in use */
		struct weft_abi_children *children; /* or NULL: there is no room for children */
		_Alignas(8) uint64_t exemplar_value[WEFT_ABI_METRIC_ROWS];
		struct weft__metric_exemplar exemplar[WEFT_ABI_METRIC_ROWS];
#ifndef WEFT_FREESTANDING
		_Alignas(8) uint64_t private_cells[WEFT_ABI_METRIC_CELLS]; /* one shard */
#endif
	} own;
	_Alignas(WEFT__COUNTER_ALIGNMENT) uint32_t rows_used;
	uint32_t has_begun, is_reserving;
	uint32_t text_used, cells_used;
#ifdef WEFT_FREESTANDING
	uint32_t cell_count; /* cells in a shard; 0: there is no memory */
#endif
	struct weft__metric_child *child;
	uint32_t child_count;
	uint32_t children_used;                /* from here on none was ever there */
	_Alignas(8) uint64_t unused_child;     /* count of changes << 32 | 1 + the first of a list */
	uint16_t bucket[WEFT__METRIC_BUCKETS]; /* 1 + a row; 0: free. Open addressing by the hash */
	struct weft__metric_row row[WEFT_ABI_METRIC_ROWS];
	char text[WEFT_ABI_METRIC_TEXT];
};

extern struct weft__metrics weft__metrics WEFT__HIDDEN;

static inline struct weft__metrics *weft__record_metrics(void)
{
	return weft__load(&weft__recorder.metrics);
}

/* ---- Handles ----
 *
 *     63      46       40        34     32         16      0
 *     ┌───────┬────────┬─────────┬──────┬──────────┬───────┐
 *     │ 0     │ last   │ first   │ kind │ 1 + row  │ cell  │   exponents: of a histogram
 *     ├───────┼────────┴─────────┴──────┼──────────┴───────┤
 *     │ 1     │ sequence                │ index            │   of a child
 *     └───────┴─────────────────────────┴──────────────────┘
 *
 * So a change of a level reads nothing of its row.
 *
 * Bit 62 in addition: the handle stands for a child that found no room, so its end is not that of
 * what it leads to. */
#define WEFT__METRIC_CHILD    ((uint64_t)1 << 63)
#define WEFT__METRIC_INSTEAD  ((uint64_t)1 << 62)
#define WEFT__METRIC_SEQUENCE 0x3fffffffu

static inline weft_metric weft__record_metric_of_row(const struct weft__metrics *m, uint32_t row)
{
	const struct weft__metric_row *it = &m->row[row];
	const uint64_t range = it->kind == WEFT_METRIC_HISTOGRAM
							   ? (uint64_t)(it->last_exponent << 6 | it->first_exponent) << 34
							   : 0;
	return range | (uint64_t)it->kind << 32 | (uint64_t)(row + 1) << 16 | it->cell;
}

/* True for a level's handle of that other kind. */
static inline bool weft__record_metric_is_level_of(weft_metric metric, unsigned kind)
{
	return WEFT__LIKELY(metric >> 32 == kind);
}

/* The row of a level's handle; WEFT_ABI_METRIC_ROWS: none. */
static inline uint32_t weft__record_metric_row(const struct weft__metrics *m, weft_metric metric)
{
	const uint32_t row = (uint32_t)(metric >> 16 & 0xffff) - 1;
	const bool is_row = row < WEFT_ABI_METRIC_ROWS && weft__load_acquire(&m->row[row].is_there) &&
						weft__record_metric_of_row(m, row) == (metric & ~WEFT__METRIC_INSTEAD);
	return is_row ? row : WEFT_ABI_METRIC_ROWS;
}

/* The level below one, by another label. */
weft_metric weft__record_metric_level(
	weft_metric above, const struct weft_metric_type *type, const char *key, const char *value);

/* The child of a handle; NULL if it has ended. */
struct weft__metric_child *weft__record_metric_find_child(
	const struct weft__metrics *m, weft_metric metric);

/* Changes a child by a number: its row, the children above it, and itself last. */
void weft__record_metric_change_child(struct weft__metrics *m,
	const struct weft__metric_child *child, uint32_t row, uint64_t change, bool and_itself);
void weft__record_metric_set_child(
	struct weft__metrics *m, const struct weft__metric_child *child, uint64_t value);
uint64_t weft__record_metric_value_of_child(
	const struct weft__metrics *m, const struct weft__metric_child *child);

/* ---- Cells ---- */

/* The cell of a histogram, whose exponents those are, that counts a value; from 0 on. */
uint32_t weft__record_metric_histogram_cell(uint32_t first, uint32_t last, uint64_t value);

static inline uint32_t weft__record_metric_cell_count(const struct weft__metrics *m)
{
#ifdef WEFT_FREESTANDING
	return weft__load(&m->cell_count);
#else
	(void)m;
	return WEFT_ABI_METRIC_CELLS;
#endif
}

/* A cell of a row in a shard; NULL: there is no memory. */
static inline uint64_t *weft__record_metric_cell(
	struct weft__metrics *m, uint32_t cell, uint32_t shard)
{
	uint64_t *cells = weft__load(&m->own.cells);
	const uint32_t at = cell % WEFT_ABI_METRIC_CELLS;
#ifdef WEFT_FREESTANDING
	(void)shard;
	return WEFT__LIKELY(cells && at < m->cell_count) ? cells + at : NULL;
#else
	if (WEFT__LIKELY(cells))
		return cells + shard * (WEFT_ABI_METRIC_SHARD_BYTES / 8) + at;
	return &m->own.private_cells[at];
#endif
}

/* Makes a value the exemplar of a row, if it is larger than the present one or that is old; in any
 * case if it is `chosen`. */
void weft__record_metric_show(struct weft__metrics *m, uint32_t row, uint64_t value, bool chosen);

/* Moves to the shared cells, if there are some, what was counted before. */
void weft__record_metric_fold(struct weft__metrics *m);

static inline void weft__record_metric_add_to(struct weft__metrics *m, uint32_t cell, uint64_t n)
{
	uint64_t *at = weft__record_metric_cell(m, cell, weft__record_counter_shard());
	if (WEFT__LIKELY(at))
		weft__fetch_add(at, n);
#ifndef WEFT_FREESTANDING
	/* Either we see the shared cells now, or the thread that made them sees this. */
	if (WEFT__UNLIKELY(at == &m->own.private_cells[cell % WEFT_ABI_METRIC_CELLS]))
		weft__record_metric_fold(m);
#endif
}

/* Counts in the shared memory, if there is some, that a level or a child found no room. */
void weft__record_metric_refuse(struct weft__metrics *m);

/* ---- The platform's part ---- */

#ifndef WEFT_FREESTANDING
/* Writes the header of memory that is zero. */
void weft__record_metrics_begin_memory(struct weft_abi_metrics *memory, uint32_t owner);

/* Moves the process's values into such memory, which others may read. Values that other threads are
 * just adding to the private cells follow when the next row is made. */
void weft__record_metrics_share(struct weft_abi_metrics *memory);
#endif

/* Takes memory for children, both parts zero. `own` is NULL in a forked child, which has its
 * parent's; `count` is then the parent's. */
void weft__record_metrics_share_children(struct weft_abi_children *memory, uint32_t owner,
	struct weft__metric_child *own, uint32_t count);

/* Shares the values, if others may read them. Called before the first row is made; `is_late`: by
 * weft__metrics_share(). */
void weft__platform_metrics_begin(bool is_late);

/* See weft__metrics_prepare(). */
void weft__platform_metrics_prepare(void);

/* Gets memory for children. 0 or an error. */
int weft__platform_metrics_reserve(uint32_t count);

#endif

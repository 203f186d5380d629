/* SPDX-License-Identifier: ISC
 *
 * Changing and reading metrics.
 *
 * A change of a child goes first to its row, from which totals are made, then to the children above
 * it, and last to itself. So whenever the program is killed, no total is too low by more than what
 * its threads were about to add.
 */
#include "record/metrics.h"

#include <weft/error.h>

/* ---- Changes ---- */

/* Adds to a child, to those above it, and to their row. */
static WEFT__OUT_OF_LINE void add_below(weft_metric metric, unsigned kind, uint64_t change)
{
	struct weft__metrics *m = weft__record_metrics();
	if (!(metric & WEFT__METRIC_CHILD)) {
		const uint32_t row = weft__record_metric_row(m, metric);
		if (row < WEFT_ABI_METRIC_ROWS && m->row[row].kind == kind)
			weft__record_metric_add_to(m, m->row[row].cell, change);
		return;
	}
	struct weft__metric_child *child = weft__record_metric_find_child(m, metric);
	if (!child)
		return;
	/* It may end here, and another one of another level may be in its place. */
	const uint32_t row = weft__load(&child->row);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (m->row[row].kind == kind && weft__record_metric_find_child(m, metric))
		weft__record_metric_change_child(m, child, row, change, true);
}

WEFT__EXPORT void weft_metric_add(weft_metric counter, uint64_t count)
{
	if (!weft__record_metric_is_level_of(counter, WEFT_METRIC_COUNTER)) {
		add_below(counter, WEFT_METRIC_COUNTER, count);
		return;
	}
	weft__record_metric_add_to(weft__record_metrics(), counter & 0xffff, count);
}

WEFT__EXPORT void weft_metric_change(weft_metric gauge, int64_t change)
{
	if (!weft__record_metric_is_level_of(gauge, WEFT_METRIC_GAUGE)) {
		add_below(gauge, WEFT_METRIC_GAUGE, (uint64_t)change);
		return;
	}
	weft__record_metric_add_to(weft__record_metrics(), gauge & 0xffff, (uint64_t)change);
}

/* The shards but the first may have parts of the value. */
static void set_row(struct weft__metrics *m, uint32_t cell, uint64_t value)
{
	for (uint32_t shard = 1; shard < WEFT_ABI_METRIC_SHARDS; shard++) {
		const uint64_t *at =
			weft__load(&m->own.cells) ? weft__record_metric_cell(m, cell, shard) : NULL;
		value -= at ? weft__load(at) : 0;
	}
#ifndef WEFT_FREESTANDING
	if (weft__load(&m->own.cells)) /* it will be moved */
		value -= weft__load(&m->own.private_cells[cell % WEFT_ABI_METRIC_CELLS]);
#endif
	uint64_t *first = weft__record_metric_cell(m, cell, 0);
	if (first)
		weft__store(first, value);
}

WEFT__EXPORT void weft_metric_set(weft_metric gauge, int64_t value)
{
	struct weft__metrics *m = weft__record_metrics();
	/* A child that found no room is a part of what this leads to: setting that would be wrong. */
	if (gauge & WEFT__METRIC_INSTEAD)
		return;
	if (gauge & WEFT__METRIC_CHILD) {
		struct weft__metric_child *child = weft__record_metric_find_child(m, gauge);
		if (child && m->row[child->row].kind == WEFT_METRIC_GAUGE)
			weft__record_metric_set_child(m, child, (uint64_t)value);
		return;
	}
	const uint32_t row = weft__record_metric_row(m, gauge);
	if (row < WEFT_ABI_METRIC_ROWS && m->row[row].kind == WEFT_METRIC_GAUGE)
		set_row(m, m->row[row].cell, (uint64_t)value);
}

/* ---- Histograms ---- */

/* The bounds 2^(1/8) … 2^(7/8), as fractions of 2^64 above 1. */
static const uint64_t bounds[8] = {UINT64_C(0x172b83c7d517adcd), UINT64_C(0x306fe0a31b7152de),
	UINT64_C(0x4bfdad5362a271d4), UINT64_C(0x6a09e667f3bcc908), UINT64_C(0x8ace5422aa0db5ba),
	UINT64_C(0xae89f995ad3ad5e8), UINT64_C(0xd5818dcfba48725d), UINT64_MAX};

/* The number of the smallest power of 2^(1/8) that is at least `value`, which is not 0. */
static inline uint32_t step_of(uint64_t value)
{
	const uint32_t exponent = 63 - (uint32_t)__builtin_clzll(value);
	/* The bits behind the first one; two shifts, because one by 64 is none. */
	const uint64_t rest = value << (63 - exponent) << 1;
	/* Each eighth of the range has one bound in it. */
	const uint32_t step = (uint32_t)(rest >> 61);
	return 8 * exponent + step + (rest > 0) + (rest > bounds[step]);
}

static inline uint32_t cell_of(uint32_t first, uint32_t last, uint64_t value)
{
	const uint32_t lowest = 8 * first, highest = 8 * last;
	const uint32_t step = value ? step_of(value) : 0;
	const uint32_t above = step > lowest ? step - lowest : 0;
	return above < highest - lowest + 1 ? above : highest - lowest + 1;
}

uint32_t weft__record_metric_histogram_cell(uint32_t first, uint32_t last, uint64_t value)
{
	return cell_of(first, last, value);
}

/* The cells of a level's handle that a value changes: of its size, and of the sum. */
struct touched {
	uint32_t count, sum;
};

static inline struct touched touched_by(weft_metric histogram, uint64_t value)
{
	const uint32_t cell = histogram & 0xffff;
	const uint32_t first = histogram >> 34 & 63, last = histogram >> 40 & 63;
	return (struct touched){
		cell + cell_of(first, last, value), cell + WEFT_ABI_METRIC_CELLS_OF(first, last)};
}

/* The values are not shared, or the handle stands for a level that found no room and leads to the
 * one above it. */
static WEFT__OUT_OF_LINE void record_slowly(weft_metric metric, uint64_t value)
{
	struct weft__metrics *m = weft__record_metrics();
	const uint32_t row = weft__record_metric_row(m, metric);
	if (row >= WEFT_ABI_METRIC_ROWS || m->row[row].kind != WEFT_METRIC_HISTOGRAM)
		return;
	const struct touched at = touched_by(metric, value);
	weft__record_metric_add_to(m, at.count, 1);
	weft__record_metric_add_to(m, at.sum, value);
}

/* ---- Exemplars ---- */

/* The clock is read for so many first values of each size, and for one in so many later: an
 * exemplar that has become old is replaced by one of these at the latest. */
#define OFTEN 64

#define OLD_NS UINT64_C(10000000000)

#ifndef WEFT_FREESTANDING /* its histograms show none by themselves */
/* True for the handle of a histogram; others need a second look. */
static inline bool is_histogram(weft_metric metric)
{
	return WEFT__LIKELY((metric >> 32 & ~(uint64_t)0x3ffc) == WEFT_METRIC_HISTOGRAM);
}

static inline bool is_larger(weft_metric histogram, uint64_t value)
{
	const struct weft__metrics *m = weft__record_metrics();
	const uint32_t row = ((uint32_t)(histogram >> 16) - 1) % WEFT_ABI_METRIC_ROWS;
	return value > weft__load(&m->own.exemplar_value[row]);
}

static WEFT__OUT_OF_LINE void show(weft_metric metric, uint64_t value)
{
	struct weft__metrics *m = weft__record_metrics();
	const uint32_t row = weft__record_metric_row(m, metric);
	if (row < WEFT_ABI_METRIC_ROWS)
		weft__record_metric_show(m, row, value, false);
}
#endif

/* One that was left in the middle, by a jump out of a handler, is taken over once it is old. */
void weft__record_metric_show(struct weft__metrics *m, uint32_t row, uint64_t value, bool chosen)
{
	struct weft_abi_metrics *shared = weft__load(&m->own.shared);
	struct weft__metric_exemplar *it = &m->own.exemplar[row];
	const uint32_t sequence = weft__load(&it->sequence), begun = (sequence + 2) | 1;
	uint64_t now_ns = 0;
	(void)weft__platform_clock(WEFT_CLOCK_MONOTONIC, &now_ns);
	const bool is_old = now_ns - weft__load(&it->monotonic_ns) > OLD_NS;
	if (!shared ||
		(!is_old &&
			(sequence & 1 || (!chosen && value <= weft__load(&m->own.exemplar_value[row])))) ||
		!weft__compare_exchange(&it->sequence, sequence, begun))
		return;
	struct weft_abi_metric_row *rows = (struct weft_abi_metric_row *)(void *)(shared + 1);
	struct weft_abi_exemplar *to = &rows[row].exemplar;
	weft__store(&it->monotonic_ns, now_ns);
	weft__store(&m->own.exemplar_value[row], value);
	weft__store(&to->begun, begun + 1);
	weft__fence_release();
	weft__store(&to->value, value);
	weft__store(&to->monotonic_ns, now_ns);
	weft__store(&to->task, weft_current());
	weft__store_release(&to->done, begun + 1);
	weft__store_release(&it->sequence, begun + 1);
}

WEFT__EXPORT void weft_metric_exemplar(weft_metric metric, uint64_t value)
{
	struct weft__metrics *m = weft__record_metrics();
	uint32_t row = weft__record_metric_row(m, metric);
	if (metric & WEFT__METRIC_CHILD) {
		const struct weft__metric_child *child = weft__record_metric_find_child(m, metric);
		row = child ? weft__load(&child->row) : WEFT_ABI_METRIC_ROWS;
	}
	if (row < WEFT_ABI_METRIC_ROWS)
		weft__record_metric_show(m, row, value, true);
}

/* ---- Counting in histograms ---- */

WEFT__EXPORT void weft_metric_record(weft_metric histogram, uint64_t value)
{
#ifndef WEFT_FREESTANDING
	uint64_t *cells = weft__load(&weft__record_metrics()->own.cells);
	if (WEFT__LIKELY(is_histogram(histogram) && cells)) {
		const struct touched at = touched_by(histogram, value);
		cells += weft__record_counter_shard() * (WEFT_ABI_METRIC_SHARD_BYTES / 8);
		const uint64_t before = weft__fetch_add(&cells[at.count % WEFT_ABI_METRIC_CELLS], 1);
		weft__fetch_add(&cells[at.sum % WEFT_ABI_METRIC_CELLS], value);
		if (WEFT__UNLIKELY(!(before / OFTEN && before % OFTEN) || is_larger(histogram, value)))
			show(histogram, value);
		return;
	}
#endif
	record_slowly(histogram, value);
}

/* ---- Values ---- */

/* The sum of a cell in all shards. */
static uint64_t sum_of_shards(struct weft__metrics *m, uint32_t cell)
{
	uint64_t sum = 0;
#ifndef WEFT_FREESTANDING
	if (!weft__load(&m->own.cells))
		return weft__load(&m->own.private_cells[cell % WEFT_ABI_METRIC_CELLS]);
#endif
	for (uint32_t shard = 0; shard < WEFT_ABI_METRIC_SHARDS; shard++) {
		const uint64_t *at = weft__record_metric_cell(m, cell, shard);
		sum += at ? weft__load(at) : 0;
	}
	return sum;
}

static void add_row(
	struct weft__metrics *m, const struct weft__metric_row *it, struct weft_metric_value *value)
{
	if (it->kind != WEFT_METRIC_HISTOGRAM) {
		value->value += (int64_t)sum_of_shards(m, it->cell);
		return;
	}
	const uint32_t cells = WEFT_ABI_METRIC_CELLS_OF(it->first_exponent, it->last_exponent);
	for (uint32_t i = 0; i < cells; i++)
		value->value += (int64_t)sum_of_shards(m, it->cell + i);
	value->sum += sum_of_shards(m, it->cell + cells);
}

/* Rows that lie below a row come after it. */
static struct weft_metric_value read_row(struct weft__metrics *m, uint32_t top)
{
	struct weft_metric_value value = {0, 0};
	uint64_t is_below[(WEFT_ABI_METRIC_ROWS + 63) / 64] = {0};
	const uint32_t rows = m->row[top].has_levels ? weft__load(&m->rows_used) : top + 1;
	for (uint32_t row = top; row < rows; row++) {
		const struct weft__metric_row *it = &m->row[row];
		const uint32_t above = weft__load_acquire(&it->is_there) ? it->below : 0;
		if (row != top && (!above || !(is_below[(above - 1) / 64] >> (above - 1) % 64 & 1)))
			continue;
		is_below[row / 64] |= (uint64_t)1 << row % 64;
		add_row(m, it, &value);
	}
	return value;
}

WEFT__EXPORT bool weft_metric_read(weft_metric metric, struct weft_metric_value *ret_value)
{
	struct weft__metrics *m = weft__record_metrics();
	const uint32_t row = weft__record_metric_row(m, metric);
	if (metric & WEFT__METRIC_CHILD) {
		struct weft__metric_child *child = weft__record_metric_find_child(m, metric);
		*ret_value = (struct weft_metric_value){
			child ? (int64_t)weft__record_metric_value_of_child(m, child) : 0, 0};
		return child;
	}
	*ret_value = (struct weft_metric_value){0, 0};
	if (row >= WEFT_ABI_METRIC_ROWS)
		return false;
	*ret_value = read_row(m, row);
	return true;
}

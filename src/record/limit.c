/* SPDX-License-Identifier: ISC
 *
 * Limits of counters. Each shard gets some of the room that is left, within which nobody needs to
 * look at the others.
 */
#include "record/metrics.h"

_Static_assert(WEFT_METRIC_SHARDS >= WEFT_ABI_METRIC_SHARDS, "a bound for each shard");

/* Set in `next` while it is looked whether there is that much room. */
#define ASKED ((uint64_t)1 << 63)

/* True if the limit holds, whatever is counted within the room that has been given. */
static bool holds(struct weft__metrics *m, uint32_t cell, const struct weft_limit *limit)
{
	uint64_t most = 0;
	for (uint32_t shard = 0; shard < WEFT_ABI_METRIC_SHARDS; shard++) {
		const uint64_t next = weft__load(&limit->next[shard]) & ~ASKED;
		const uint64_t here = weft__load(weft__record_metric_cell(m, cell, shard));
		const uint64_t more = next > here ? next : here;
		if (most > limit->most || more > limit->most - most)
			return false;
		most += more;
	}
	return true;
}

/* Others that ask at the same time see this room, or we see theirs; we may have been interrupted
 * since we looked. */
static void give(
	struct weft__metrics *m, uint32_t cell, struct weft_limit *limit, uint32_t own, uint64_t next)
{
	if (next & ASKED)
		return;
	weft__store(&limit->next[own], next | ASKED);
	weft__fence();
	(void)weft__compare_exchange(&limit->next[own], next | ASKED, holds(m, cell, limit) ? next : 0);
}

/* Up to the values in `next`, which is a bound for what one shard counts, nobody needs to look at
 * the others. All such room that has been given is taken as used, so that the limit holds; if that
 * leaves too little, it is taken back. */
static bool look(struct weft__metrics *m, uint32_t row, struct weft_limit *limit, uint64_t count)
{
	const uint32_t cell = m->row[row].cell, own = weft__record_counter_shard();
	const bool is_searched = m->row[row].has_levels || !weft__load(&m->own.cells);
	struct weft_metric_value total;
	(void)weft_metric_read(weft__record_metric_of_row(m, row), &total);
	const uint64_t value = (uint64_t)total.value;
	uint64_t given = 0;
	for (uint32_t shard = 0; shard < WEFT_ABI_METRIC_SHARDS && !is_searched; shard++) {
		uint64_t next = weft__load(&limit->next[shard]) & ~ASKED;
		uint64_t here = weft__load(weft__record_metric_cell(m, cell, shard));
		given += shard != own && next > here ? next - here : 0;
	}
	if (value > limit->most || count > limit->most - value)
		return false;
	const uint64_t left = limit->most - value - count;
	for (uint32_t shard = 0; shard < WEFT_ABI_METRIC_SHARDS && given > left; shard++)
		weft__store(&limit->next[shard], 0);
	if (!is_searched && given <= left)
		give(m, cell, limit, own,
			weft__load(weft__record_metric_cell(m, cell, own)) + count +
				(left - given) / (2 * WEFT_ABI_METRIC_SHARDS));
	return true;
}

/* True if this shard has room of its own for it. What is counted in levels below is not seen here.
 */
static inline bool is_within(
	struct weft__metrics *m, uint32_t row, const struct weft_limit *limit, uint64_t count)
{
	const uint32_t shard = weft__record_counter_shard();
	const uint64_t next = weft__load(&limit->next[shard]);
	const uint64_t *cell =
		next && !(next & ASKED) ? weft__record_metric_cell(m, m->row[row].cell, shard) : NULL;
	const uint64_t here = cell ? weft__load(cell) : UINT64_MAX;
	return WEFT__LIKELY(
		here < next && count <= next - here && !weft__load(&m->row[row].has_levels));
}

WEFT__EXPORT bool weft_limit_allows(struct weft_limit *limit, uint64_t count)
{
	struct weft__metrics *m = weft__record_metrics();
	const uint32_t row = weft__record_metric_row(m, limit->counter);
	if (row < WEFT_ABI_METRIC_ROWS && m->row[row].kind == WEFT_METRIC_COUNTER)
		return is_within(m, row, limit, count) || look(m, row, limit, count);
	struct weft__metric_child *child = weft__record_metric_find_child(m, limit->counter);
	const uint64_t value = child ? weft__record_metric_value_of_child(m, child) : 0;
	return !child || (value <= limit->most && count <= limit->most - value);
}

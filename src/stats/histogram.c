/* SPDX-License-Identifier: ISC
 *
 * Lifetimes in buckets of a logarithmic scale: 1, 2, 5, 10, 20, 50 ns and so on, or only powers of
 * ten if these are too many.
 */
#include "base/export.h"
#include "stats/stats.h"

/* The bucket's limit after `ns`; UINT64_MAX if it does not fit 64 bits. */
static uint64_t next_limit(uint64_t ns, bool is_coarse)
{
	uint64_t power = 1, next;
	while (power <= ns / 10)
		power *= 10;
	if (ns == 0)
		return 1;
	uint64_t factor = is_coarse || ns / power >= 5 ? 10 : ns / power >= 2 ? 5 : 2;
	return __builtin_mul_overflow(power, factor, &next) ? UINT64_MAX : next;
}

/* The highest limit that is not above `ns`. */
static uint64_t first_limit(uint64_t ns, bool is_coarse)
{
	uint64_t limit = 0, next;
	while ((next = next_limit(limit, is_coarse)) <= ns && next != UINT64_MAX)
		limit = next;
	return limit;
}

static uint64_t life_of(
	const struct weft_stats *stats, const struct weft_stats_row *row, uint32_t i)
{
	const struct weft_stats_member *member = &stats->members[row->first + i];
	return member->end - member->start;
}

static uint32_t count_limits(uint64_t from, uint64_t to)
{
	uint32_t count = 1;
	while ((from = next_limit(from, false)) <= to && from != UINT64_MAX)
		count++;
	return count;
}

WEFT__EXPORT uint32_t weft_stats_histogram(const struct weft_stats *stats,
	const struct weft_stats_row *row, struct weft_stats_bucket buckets[WEFT_STATS_BUCKETS])
{
	if (!row->ended)
		return 0;
	uint64_t least = life_of(stats, row, 0), most = row->max_ns;
	bool is_coarse = count_limits(first_limit(least, false), most) > WEFT_STATS_BUCKETS;
	uint64_t from = first_limit(least, is_coarse);
	uint32_t count = 0, member = 0;
	while (member < row->ended && count < WEFT_STATS_BUCKETS) {
		uint64_t to = next_limit(from, is_coarse);
		struct weft_stats_bucket bucket = {.from_ns = from, .to_ns = to, .first = member};
		while (member < row->ended && (life_of(stats, row, member) < to || to == UINT64_MAX))
			member++;
		bucket.count = member - bucket.first;
		buckets[count++] = bucket;
		from = to;
	}
	return count;
}

/* SPDX-License-Identifier: ISC
 *
 * Rows and cells of counters, see counters.h. Lock-free like names (name.c): a row is written into
 * space that no other thread has, then published by one compare-and-exchange.
 */
#include "record/counters.h"

#include <string.h>

#include "abi/event_abi.h"
#include "abi/name_abi.h"
#include "record/compose.h"
#include "record/name.h"
#include "record/put.h"

/* After so many packets at most the totals are written again. */
#define ROUND_PACKETS_MAX 64

struct weft__counters weft__counters;

/* ---- Rows ---- */

static bool is_named(
	const struct weft__counters *c, uint32_t row, uint32_t hash, const char *name, uint32_t size)
{
	const struct weft__counter_row *it = &c->row[row];
	return it->hash == hash && it->size == size && memcmp(c->text + it->text, name, size) == 0;
}

/* A new row, not published; WEFT_ABI_COUNTERS if there is no room. */
static uint32_t write_row(struct weft__counters *c, uint32_t hash, const char *name, uint32_t size)
{
	uint32_t row, text;
	if (!weft__record_take_room(&c->text_used, size, WEFT_ABI_COUNTER_TEXT, &text) ||
		!weft__record_take_room(&c->rows_used, 1, WEFT_ABI_COUNTERS, &row))
		return WEFT_ABI_COUNTERS;
	memcpy(c->text + text, name, size);
	c->row[row] = (struct weft__counter_row){.hash = hash,
		.text = (uint16_t)text,
		.size = (uint16_t)size,
		.begins_at_0 = weft__load(&c->is_begun)};
	return row;
}

#ifdef WEFT_FREESTANDING
static void share_row(struct weft__counters *c, uint32_t row)
{
	(void)c, (void)row;
}
#else
/* Copies the row to the shared memory, if there is some. Names are there at the same offsets. */
static void share_row(struct weft__counters *c, uint32_t row)
{
	struct weft_abi_counters *shared = weft__load(&c->own.shared);
	const struct weft__counter_row *it = &c->row[row];
	if (!shared)
		return;
	for (uint32_t i = 0; i < it->size; i++)
		weft__store(&shared->text[it->text + i], c->text[it->text + i]);
	weft__store(&shared->row[row].text, (uint32_t)it->text);
	weft__store(&shared->row[row].size, it->size);
	weft__store(&shared->row[row].begins_at_0, it->begins_at_0);
	weft__store_release(&shared->row[row].is_there, 1);
	/* If threads do this at the same time, the last one stores the newest. */
	uint32_t used;
	do {
		used = weft__load(&c->rows_used);
		weft__store_release(&shared->rows_used, used);
		weft__fence();
	} while (used != weft__load(&c->rows_used));
}

void weft__record_counters_share(struct weft_abi_counters *memory)
{
	struct weft__counters *c = &weft__counters;
	struct weft_abi_counter_cells *own = &c->own.cells;
	struct weft_abi_counter_cells *shared = &memory->cells;
	const uint32_t rows = weft__load(&c->rows_used);
	for (uint32_t row = 0; row < rows; row++) {
		uint64_t sum = 0;
		for (uint32_t shard = 0; shard < WEFT_ABI_COUNTER_SHARDS; shard++)
			sum += own->shard[shard].cell[row];
		if (sum)
			weft__store(&shared->shard[0].cell[row], sum);
		if (own->real[row])
			weft__store(&shared->real[row], own->real[row]);
	}
	weft__store(&c->own.shared, memory);
	for (uint32_t row = 0; row < rows; row++)
		if (weft__load_acquire(&c->row[row].is_there))
			share_row(c, row);
	weft__store_release(&c->own.shared_cells, shared);
}
#endif

/* Gives the row's name to a buffer. */
static void give_name(
	struct weft__counters *c, const struct weft__region *region, uint32_t row, uint64_t generation)
{
	const struct weft__counter_row *it = &c->row[row];
	uint16_t id = weft__record_name_find_or_add(region, c->text + it->text, it->size);
	weft__store(&c->row[row].name, generation << 16 | id);
}

/* The counter's row, which `is_wanted` makes if there is none; else WEFT_ABI_COUNTERS. */
static uint32_t find_row(struct weft__counters *c, const char *name, uint32_t size, bool is_wanted)
{
	const struct weft__name_part part = {name, size};
	const uint32_t hash = weft__record_name_hash(&(struct weft__name){&part, 1, size});
	uint32_t written = WEFT_ABI_COUNTERS;
	for (uint32_t probe = 0; probe < WEFT__COUNTER_BUCKETS; probe++) {
		uint16_t *bucket = &c->bucket[(hash + probe) % WEFT__COUNTER_BUCKETS];
		uint16_t known = weft__load_acquire(bucket);
		if (!known && !is_wanted)
			return WEFT_ABI_COUNTERS;
		if (!known && written == WEFT_ABI_COUNTERS)
			written = write_row(c, hash, name, size);
		if (!known && written == WEFT_ABI_COUNTERS)
			return WEFT_ABI_COUNTERS;
		if (!known && weft__compare_exchange(bucket, 0, (uint16_t)(written + 1))) {
			weft__store_release(&c->row[written].is_there, 1);
			share_row(c, written);
			if (weft__record_generation())
				give_name(c, weft__record_region(), written, weft__record_generation());
			return written;
		}
		known = weft__load_acquire(bucket);
		if (is_named(c, known - 1u, hash, name, size))
			return known - 1u;
	}
	return WEFT_ABI_COUNTERS;
}

static void remember(uint64_t *cache, uint32_t row)
{
	const uint64_t others = ~(uint64_t)0xffff0000u;
	if (cache)
		weft__store(cache, (weft__load(cache) & others) | (uint64_t)(row + 1) << 16);
}

/* Also in the row, so that a later set asks all shards for their parts. */
static void remember_adding(struct weft__counters *c, uint64_t *cache, uint32_t row)
{
	weft__store(&c->row[row].is_added, 1);
	if (cache)
		weft__store(cache, weft__load(cache) | (uint64_t)WEFT__COUNTER_ADDS << 16);
}

/* The row of a call's counter; WEFT_ABI_COUNTERS if it is not to have one. */
static uint32_t row_of(struct weft__counters *c, uint64_t *cache, const char *name, uint32_t most)
{
	uint32_t row =
		cache ? (weft__record_counter_cached(cache) & ~WEFT__COUNTER_ADDS) - 1 : WEFT_ABI_COUNTERS;
	if (row < WEFT_ABI_COUNTERS)
		return row;
	uint32_t size = name ? weft__record_measure_name(name, most) : UINT32_MAX;
	if (size > WEFT_ABI_NAME_MAX_BYTES)
		return WEFT_ABI_COUNTERS; /* the event is refused, too */
	row = find_row(c, name, size, true);
	if (row < WEFT_ABI_COUNTERS)
		remember(cache, row);
	else if (weft__record_generation())
		weft__fetch_add(&weft__record_header()->losses[WEFT_ABI_LOSS_METRICS_FULL], 1);
	return row;
}

/* ---- Cells ---- */

static double real_of(uint64_t bits)
{
	double real;
	memcpy(&real, &bits, sizeof(real));
	return real;
}

static uint64_t bits_of(double real)
{
	uint64_t bits;
	memcpy(&bits, &real, sizeof(bits));
	return bits;
}

/* A value that is none would stay for ever; readers ignore such changes, too. */
static bool is_finite(double real)
{
	return real - real == 0;
}

/* The integers in the shards from one on. */
static uint64_t sum_from(struct weft__counters *c, uint32_t row, uint32_t shard)
{
	const struct weft_abi_counter_cells *cells = weft__record_counter_cells(c);
	uint64_t sum = 0;
	for (; shard < WEFT_ABI_COUNTER_SHARDS; shard++)
		sum += weft__load(&cells->shard[shard].cell[row]);
	return sum;
}

static void add_change(struct weft__counters *c, uint32_t row, uint64_t change)
{
	weft__fetch_add(
		&weft__record_counter_cells(c)->shard[weft__record_counter_shard()].cell[row], change);
}

static void set(struct weft__counters *c, uint32_t row, uint64_t value)
{
	if (weft__load(&c->row[row].is_added))
		value -= sum_from(c, row, 1);
	if (weft__load(&c->row[row].is_real))
		weft__store(&weft__record_counter_cells(c)->real[row], 0);
	weft__store(&weft__record_counter_cells(c)->shard[0].cell[row], value);
}

static void add_real(struct weft__counters *c, uint32_t row, double change)
{
	uint64_t *cell = &weft__record_counter_cells(c)->real[row], before;
	weft__store(&c->row[row].is_real, 1);
	do
		before = weft__load(cell);
	while (!weft__compare_exchange(cell, before, bits_of(real_of(before) + change)));
}

static void set_real(struct weft__counters *c, uint32_t row, double value)
{
	double integers = (double)(int64_t)sum_from(c, row, 0);
	weft__store(&c->row[row].is_real, 1);
	weft__store(&weft__record_counter_cells(c)->real[row], bits_of(value - integers));
}

WEFT__OUT_OF_LINE void weft__record_counter_change(
	unsigned kind, uint64_t *cache, const char *name, uint32_t size, uint64_t value)
{
	struct weft__counters *c = weft__load(&weft__recorder.counters);
	uint32_t row = row_of(c, cache, name, size);
	if (row >= WEFT_ABI_COUNTERS)
		return;
	if (kind == WEFT_ABI_COUNTER) {
		remember_adding(c, cache, row);
		add_change(c, row, value);
	} else if (kind == WEFT_ABI_COUNTER_SET) {
		set(c, row, value);
	} else if (is_finite(real_of(value))) {
		if (kind == WEFT_ABI_COUNTER_F64)
			add_real(c, row, real_of(value));
		else
			set_real(c, row, real_of(value));
	}
}

/* ---- Values ---- */

struct total {
	unsigned kind; /* of the event */
	uint64_t value;
};

WEFT__ALWAYS_INLINE struct total total_of(struct weft__counters *c, uint32_t row)
{
	uint64_t integers = sum_from(c, row, 0);
	if (!weft__load(&c->row[row].is_real))
		return (struct total){WEFT_ABI_TOTAL, integers};
	double real =
		real_of(weft__load(&weft__record_counter_cells(c)->real[row])) + (double)(int64_t)integers;
	return (struct total){WEFT_ABI_TOTAL_F64, bits_of(real)};
}

int64_t weft__record_counter_value(const char *name, uint32_t most)
{
	struct weft__counters *c = weft__load(&weft__recorder.counters);
	uint32_t size = name ? weft__record_measure_name(name, most) : UINT32_MAX;
	uint32_t row =
		size <= WEFT_ABI_NAME_MAX_BYTES ? find_row(c, name, size, false) : WEFT_ABI_COUNTERS;
	if (row >= WEFT_ABI_COUNTERS)
		return 0;
	const struct total total = total_of(c, row);
	if (total.kind == WEFT_ABI_TOTAL)
		return (int64_t)total.value;
	double real = real_of(total.value);
	return real >= 0x1p63 ? INT64_MAX : real > -0x1p63 ? (int64_t)real : INT64_MIN;
}

WEFT__EXPORT int64_t weft_counter_read(const char *name)
{
	return weft__record_counter_value(name, WEFT__C_STRING);
}

/* ---- Totals ---- */

/* The id of the row's name in the present buffer; 0: it has none there. */
static inline uint16_t name_of(const struct weft__counters *c, uint32_t row)
{
	const uint64_t name = weft__load(&c->row[row].name);
	return name >> 16 == weft__record_generation() ? (uint16_t)name : 0;
}

WEFT__ALWAYS_INLINE void put(
	struct weft__counters *c, uint32_t row, uint16_t name, const struct weft__room *room)
{
	const struct total total = total_of(c, row);
	weft__store(&room->at[0], WEFT_ABI_HEAD(total.kind, 2, name) | room->stamp);
	weft__store(&room->at[1], total.value);
	weft__record_publish_record(room, 2);
}

/* The packets from one round of totals to the next. A buffer that has wrapped then has each of them
 * several times; and a gap, or a part that is cut out, is soon followed by one. */
static uint32_t packets_of_round(const struct weft__region *region)
{
	uint32_t quarter = region->packet_count / 4;
	return quarter < 1 ? 1 : quarter < ROUND_PACKETS_MAX ? quarter : ROUND_PACKETS_MAX;
}

/* A number that changes when changes of counters may be missing: events were lost, other than by
 * being overwritten, or a level has changed. */
static uint64_t count_gaps(const struct weft_abi_buffer *header)
{
	uint64_t gaps = weft__load(&header->changes_count);
	for (unsigned cause = 0; cause < WEFT_ABI_LOSSES; cause++)
		if (cause != WEFT_ABI_LOSS_OVERWRITTEN && cause != WEFT_ABI_LOSS_NAMES_FULL &&
			cause != WEFT_ABI_LOSS_METRICS_FULL)
			gaps += weft__load(&header->losses[cause]);
	return gaps;
}

/* True if a round of totals begins. */
static bool is_due(const struct weft__counters *c, const struct weft__region *region, uint64_t gaps)
{
	return weft__load(&c->totals_gaps) != gaps ||
		   weft__load(&region->header->hand) - weft__load(&c->totals_at) >=
			   packets_of_round(region);
}

/* Threads that open packets at the same time may write some totals twice. A round that does not fit
 * into a quarter of the packet goes on in the next one, and does so to its end: if each packet
 * began another round, the last counters would have no totals. */
void weft__record_counters_put_some(struct weft_abi_slot *slot, uint32_t words, uint64_t ticks)
{
	struct weft__counters *c = weft__load(&weft__recorder.counters);
	const struct weft__region *region = weft__record_region();
	const uint32_t rows = weft__load(&c->rows_used);
	struct weft__room room = {.slot = slot, .stamp = (uint32_t)ticks};
	if (WEFT__LIKELY(rows == 0) || !weft__record_region_has(region, slot))
		return;
	const uint64_t gaps = count_gaps(region->header), at = weft__load(&c->totals_at);
	uint32_t row = weft__load(&c->totals_next), last = row + region->packet_bytes / 4 / 16;
	if ((row == 0 && !is_due(c, region, gaps)) ||
		!weft__compare_exchange(&c->totals_at, at, weft__load(&region->header->hand)))
		return;
	if (row == 0)
		weft__store(&c->totals_gaps, gaps);
	for (; row < rows && row < last; row++) {
		uint16_t name = name_of(c, row);
		if (name && !weft__record_room_fits(region, &room, 2 + words, (uint32_t)(ticks >> 32)))
			break;
		if (name)
			put(c, row, name, &room);
	}
	weft__store(&c->totals_next, row < rows ? row : 0);
}

/* ---- The begin and the end of a buffer ---- */

static void note_begin(struct weft__counters *c, uint32_t row, bool begins_at_0)
{
	struct weft_abi_counters *shared = weft__load(&c->own.shared);
	weft__store(&c->row[row].begins_at_0, begins_at_0);
	if (shared)
		weft__store(&shared->row[row].begins_at_0, begins_at_0);
}

/* The first packet has totals: a reader knows from them with what the counters began. */
void weft__record_counters_begin(const struct weft__region *region, uint64_t generation)
{
	struct weft__counters *c = weft__load(&weft__recorder.counters);
	weft__store(&c->totals_at, (uint64_t)0 - ROUND_PACKETS_MAX);
	weft__store(&c->totals_next, 0);
	weft__store(&c->is_begun, 0);
	for (uint32_t row = 0; row < weft__load(&c->rows_used); row++)
		if (weft__load_acquire(&c->row[row].is_there)) {
			note_begin(c, row, total_of(c, row).value == 0);
			give_name(c, region, row, generation);
		}
}

/* Rows that are made from now on have no changes without an event. */
void weft__record_counters_begun(void)
{
	struct weft__counters *c = weft__load(&weft__recorder.counters);
	weft__store(&c->is_begun, 1);
	for (uint32_t row = 0; row < weft__load(&c->rows_used); row++)
		if (weft__load_acquire(&c->row[row].is_there) && total_of(c, row).value != 0)
			note_begin(c, row, false);
}

void weft__record_counters_put_all(void)
{
	struct weft__counters *c = weft__load(&weft__recorder.counters);
	const uint32_t rows = weft__load(&c->rows_used);
	const struct weft__self *self = rows ? weft__record_looked() : NULL;
	for (uint32_t row = 0; self && row < rows; row++) {
		uint16_t name = name_of(c, row);
		struct weft__room room = {.slot = NULL};
		if (name)
			room = weft__record_reserve_in(self->slot, 2);
		if (!room.slot)
			continue;
		put(c, row, name, &room);
		weft__record_withdraw(&room);
	}
}

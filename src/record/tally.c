/* SPDX-License-Identifier: ISC
 *
 * Counts the calls of categories at the level "count", in the buffer's table `counted`: a row for
 * each category and event. Rows are claimed by one compare-and-exchange, and never go away. A row
 * is found by an index of this process; what another process writes into the table can spoil the
 * counts, but nothing else.
 */
#include <weft/weft_macros.h>

#include "abi/event_abi.h"
#include "record/category.h"
#include "record/name.h"
#include "record/recorder.h"
#include "record/side_tables.h"

#define EVENTS 64
#define ROWS                                                        \
	(sizeof(((struct weft__side_tables_layout *)0)->counted_rows) / \
		sizeof(struct weft_abi_counted_row))
#define ALL_REST 0xffffffffu /* the last row's key, if it has what found no row */

_Static_assert(WEFT__COUNTING_AT == offsetof(struct weft_abi_buffer, counting) -
										offsetof(struct weft_abi_buffer, levels),
	"where calls look");

static const char *const names[EVENTS] = {
#define EVENT(number, id, name, ...) [number] = name,
#include <weft/events.def>
#undef EVENT
};

#define EVENT(number, id, name, ...) _Static_assert((number) < EVENTS, name);
#include <weft/events.def>
#undef EVENT

static uint8_t found[WEFT_ABI_LEVELS][EVENTS]; /* 1 + a row, which may be another buffer's */

/* True if the row has that key, now or already. */
static bool claim(struct weft_abi_counted_row *it, uint32_t key)
{
	const uint32_t known = weft__load(&it->key);
	return known == key ||
		   (!known && (weft__compare_exchange(&it->key, 0, key) || weft__load(&it->key) == key));
}

static uint16_t name_event(const struct weft__region *region, unsigned event)
{
	uint32_t size = 0;
	while (names[event] && names[event][size])
		size++;
	return size ? weft__record_name_find_or_add(region, names[event], size) : 0;
}

/* Rows are in use from the first on: readers see those below the count. */
static void show(struct weft__side_tables_layout *tables, uint32_t count)
{
	uint32_t shown;
	do
		shown = weft__load(&tables->counted.count);
	while (shown < count && !weft__compare_exchange(&tables->counted.count, shown, count));
}

static WEFT__OUT_OF_LINE struct weft_abi_counted_row *find(
	const struct weft__region *region, uint32_t number, unsigned event, uint32_t key)
{
	struct weft__side_tables_layout *tables = weft__record_side_tables_layout(region);
	uint32_t at = 0;
	while (at < ROWS - 1 && !claim(&tables->counted_rows[at], key))
		at++;
	struct weft_abi_counted_row *it = &tables->counted_rows[at];
	if (at == ROWS - 1) {
		weft__store(&it->key, ALL_REST);
	} else {
		weft__store(&it->category, (uint16_t)weft__load(&region->header->categories[number]));
		weft__store(&it->event, name_event(region, event));
		weft__store(&found[number][event], (uint8_t)(at + 1));
	}
	show(tables, at + 1);
	return it;
}

WEFT__EXPORT void weft__tally(struct weft_category *category, unsigned event)
{
	/* A forked child may have no buffer yet; it does not make one for this. */
	if (!weft__record_generation())
		return;
	const struct weft__region *region = weft__record_region();
	const uintptr_t number =
		(uintptr_t)weft__load(&category->level) - (uintptr_t)region->header->levels;
	if (number >= WEFT_ABI_LEVELS || event >= EVENTS)
		return;
	const uint32_t key = 1u << 31 | (uint32_t)number << 16 | event;
	struct weft_abi_counted_row *rows = weft__record_side_tables_layout(region)->counted_rows;
	struct weft_abi_counted_row *it = &rows[(weft__load(&found[number][event]) - 1u) % ROWS];
	if (WEFT__UNLIKELY(weft__load(&it->key) != key))
		it = find(region, (uint32_t)number, event, key);
	weft__fetch_add(&it->count, 1);
}

/* SPDX-License-Identifier: ISC
 *
 * Each program reads the processor's counter and CLOCK_MONOTONIC at its start and its end. Two
 * programs converted by their own readings may differ by a microsecond at one instant, so that an
 * effect could come before its cause. Converted by the same readings they cannot.
 */
#include "format/weft/identity.h"

#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "format/weft/buffer.h"
#include "format/weft/tables.h"
#include "format/xentrace/look.h"

/* The kernel changes the rate of CLOCK_MONOTONIC by at most 0.05 % to follow the time of day. */
#define SLEW_PART 1000

/* The first and the last row. */
static void take_wall_notes(
	const uint8_t *rows, uint32_t count, size_t row_bytes, struct weft__identity *identity)
{
	struct weft_abi_wall_clock_row row;
	identity->wall_note_count = 0;
	for (uint32_t i = 0; i < count && i < WEFT__WALL_NOTES; i++) {
		memcpy(&row, rows + (i ? count - 1 : 0) * row_bytes, sizeof(row));
		identity->wall_notes[identity->wall_note_count++] =
			(struct weft__wall_note){row.monotonic_ns, row.wall_ns, row.error_ns};
	}
}

/* A stream, such as a cut, has its tables in chunks, which were read; other traces have them in
 * their bytes. */
static void read_wall_notes(const struct weft__buffer *b, struct weft__identity *identity)
{
	struct weft__live_table tables[WEFT_ABI_TABLES_MAX];
	struct weft_abi_table table;
	const size_t bytes = sizeof(struct weft_abi_wall_clock_row);
	const uint8_t *rows = weft__format_tables_rows(b, WEFT_ABI_TABLE_wall_clock, bytes, &table);
	if (rows)
		take_wall_notes(rows, table.count, table.row_bytes, identity);
	const uint32_t count = b->stream ? 0 : weft__format_tables_find(b, tables);
	for (uint32_t i = 0; i < count; i++) {
		const struct weft_abi_table *entry = &tables[i].entry;
		if (entry->number == WEFT_ABI_TABLE_wall_clock && entry->row_bytes >= bytes &&
			entry->growth == WEFT_ABI_TABLE_GROWS)
			take_wall_notes(
				tables[i].rows, weft__format_table_count(&tables[i]), entry->row_bytes, identity);
	}
}

bool weft__format_identify_trace(
	const void *bytes, size_t size, struct weft__identity *ret_identity)
{
	struct weft_diagnostics diagnostics = {0};
	struct weft_trace_description description = {0};
	struct weft__buffer buffer;
	const struct weft__input input = {
		.bytes = bytes, .size = size, .diagnostics = &diagnostics, .description = &description};
	if (weft__format_xentrace_probe(bytes, size))
		return !weft__format_xentrace_look(bytes, size, ret_identity);
	if (!weft__format_buffer_probe(bytes, size) || weft__format_buffer_init_any(&buffer, &input))
		return false;
	*ret_identity = (struct weft__identity){
		.offset_ns = description.clock.offset_ns,
		.pid = buffer.pid,
		.series = buffer.about.series,
		.piece = weft__format_buffer_piece(&buffer),
		.is_monotonic = description.clock.epoch == WEFT_EPOCH_MONOTONIC,
		.has_counter = weft__format_buffer_has_counter(&buffer),
		.readings = buffer.readings,
		.end_ns = buffer.readings.last.ns,
	};
	if (buffer.guest_clock.offset_ns) {
		ret_identity->guest = buffer.about.guest;
		ret_identity->guest_clock = buffer.guest_clock;
	}
	if (buffer.about.ending == WEFT_ENDING_CUT)
		ret_identity->end_ns = buffer.about.end_ns;
	memcpy(ret_identity->boot_id, buffer.about.boot_id, sizeof(ret_identity->boot_id));
	memcpy(ret_identity->host, buffer.host, sizeof(ret_identity->host) - 1);
	memcpy(ret_identity->uuid, buffer.about.uuid, sizeof(ret_identity->uuid));
	ret_identity->comparison_count =
		weft__format_buffer_comparisons(&buffer, ret_identity->comparisons);
	read_wall_notes(&buffer, ret_identity);
	weft__format_buffer_finish(&buffer);
	return true;
}

static bool agrees(const struct weft__ticks *clock, const struct weft__reading *reading)
{
	return weft__format_ticks_agree(clock, reading->ticks, reading->ns, SLEW_PART);
}

static struct weft__readings share_counter(const struct weft__identity *identities, size_t count)
{
	struct weft__readings all = {.first.ticks = UINT64_MAX};
	const struct weft__readings none = {.last.ticks = 0};
	struct weft__ticks clock;
	size_t counters = 0;
	bool has_others = false;
	for (size_t i = 0; i < count; i++) {
		const struct weft__readings *own = &identities[i].readings;
		has_others |= identities[i].is_hypervisor || identities[i].comparison_count;
		if (!identities[i].has_counter)
			continue;
		counters++;
		if (own->first.ticks < all.first.ticks)
			all.first = own->first;
		if (own->last.ticks > all.last.ticks)
			all.last = own->last;
	}
	if (counters < (has_others ? 1 : 2) || all.last.ticks <= all.first.ticks ||
		all.last.ns <= all.first.ns)
		return none;
	weft__format_ticks_init(&clock, all.first.ticks, all.first.ns, all.last.ticks - all.first.ticks,
		all.last.ns - all.first.ns);
	for (size_t i = 0; i < count; i++) {
		const struct weft__readings *own = &identities[i].readings;
		if (identities[i].has_counter &&
			!(agrees(&clock, &own->first) && agrees(&clock, &own->last)))
			return none;
	}
	return all;
}

/* Each copy of a guest's buffer has comparisons of its own. With the same ones for all, an effect
 * in one guest never comes before its cause in another. */
static int share_host(
	const struct weft__identity *identities, size_t count, struct weft__host_clock *ret_clock)
{
	size_t used = 0;
	struct weft_abi_comparison *all = malloc((count * WEFT_ABI_COMPARISONS + 1) * sizeof(*all));
	if (!all)
		return WEFT_ERROR_MEMORY;
	for (size_t i = 0; i < count; i++) {
		memcpy(all + used, identities[i].comparisons, sizeof(identities[i].comparisons));
		used += identities[i].comparison_count;
	}
	weft__format_host_clock_init(ret_clock, all, used);
	free(all);
	return 0;
}

/* The clock with the least error, of each guest. */
static void share_guests(
	const struct weft__identity *identities, size_t count, struct weft__shared_readings *shared)
{
	memset(shared->guests, 0, sizeof(shared->guests));
	for (size_t i = 0; i < count; i++) {
		uint32_t guest = identities[i].guest, at = 0;
		while (
			guest && at < WEFT__SHARED_GUESTS && shared->guests[at] && shared->guests[at] != guest)
			at++;
		if (!guest || at == WEFT__SHARED_GUESTS)
			continue;
		if (!shared->guests[at] ||
			identities[i].guest_clock.error_ns < shared->guest_clocks[at].error_ns)
			shared->guest_clocks[at] = identities[i].guest_clock;
		shared->guests[at] = guest;
	}
}

struct weft__guest_clock weft__format_share_guest_clock(
	const struct weft__shared_readings *shared, uint32_t guest, struct weft__guest_clock own)
{
	for (uint32_t i = 0; i < WEFT__SHARED_GUESTS && shared->guests[i]; i++)
		if (shared->guests[i] == guest)
			return shared->guest_clocks[i];
	return own;
}

/* Programs of dom0 read the counter more exactly than it is compared. */
static void share_cycles(struct weft__shared_readings *shared)
{
	const struct weft__reading *first = &shared->counter.first, *last = &shared->counter.last;
	shared->cycles = (struct weft__ticks){0};
	if (shared->host.count && shared->host.has_counter)
		shared->cycles = shared->host.counter[0];
	if (!last->ticks)
		return;
	weft__format_ticks_init(
		&shared->cycles, first->ticks, first->ns, last->ticks - first->ticks, last->ns - first->ns);
	shared->host.counter[0] = shared->cycles;
	shared->host.has_counter = shared->host.count;
}

static void share_wall_notes(
	const struct weft__identity *identities, size_t count, struct weft__shared_readings *shared)
{
	shared->wall_note_count = 0;
	for (size_t i = 0; i < count; i++)
		for (uint32_t k = 0;
			 k < identities[i].wall_note_count && shared->wall_note_count < WEFT__SHARED_WALL_NOTES;
			 k++)
			shared->wall_notes[shared->wall_note_count++] = identities[i].wall_notes[k];
}

int weft__format_share_readings(const struct weft__identity *identities, size_t count,
	struct weft__shared_readings *ret_readings)
{
	ret_readings->counter = share_counter(identities, count);
	ret_readings->offset_ns = 0;
	for (size_t i = count; i-- > 0;)
		if (identities[i].offset_ns)
			ret_readings->offset_ns = identities[i].offset_ns;
	share_guests(identities, count, ret_readings);
	share_wall_notes(identities, count, ret_readings);
	int error = share_host(identities, count, &ret_readings->host);
	share_cycles(ret_readings);
	return error;
}

/* The trace estimates its rate to 1 %. Its counter is 0 at the machine's reset, long before any
 * program could read CLOCK_MONOTONIC. */
bool weft__format_identity_fits(
	const struct weft__identity *hypervisor, const struct weft__shared_readings *readings)
{
	const struct weft__ticks *cycles = &readings->cycles;
	if (!cycles->multiplier)
		return false;
	uint64_t start = weft__format_ticks_to_ns(cycles, hypervisor->first_cycles);
	uint64_t second =
		weft__format_ticks_to_ns(cycles, hypervisor->first_cycles + hypervisor->hz) - start;
	return start && (!hypervisor->hz || (second > 990000000 && second < 1010000000));
}

/* SPDX-License-Identifier: ISC
 *
 * Where a buffer's parts are, and which buffers this process has had.
 */
#include "record/region.h"

#include "abi/table_abi.h"
#include "record/atomics.h"
#include "record/recorder.h"

#define SLOTS_MIN 80
/* Each thread needs a slot, and a packet while it records. */
#define SLOTS_MAX   16384
#define PACKETS_MAX 16384

/* Memory that is as good as a buffer's header, for threads whose region is forgotten. */
static struct weft_abi_buffer nowhere;

const struct weft__region weft__region_none = {
	.header = &nowhere,
	.slots = (void *)&nowhere,
	.names = (void *)&nowhere,
	.tables = (void *)&nowhere,
	.packets = (void *)&nowhere,
};

static uint64_t power_of_two_up_to(uint64_t n)
{
	return n ? (uint64_t)1 << (63 - __builtin_clzll(n)) : 0;
}

/* The largest power of two up to `n`, within bounds. */
static uint64_t power_between(uint64_t least, uint64_t n, uint64_t most)
{
	uint64_t power = power_of_two_up_to(n);
	return power < least ? least : power > most ? most : power;
}

void weft__record_region_lay_out(struct weft__region *ret_region, void *buffer, uint64_t size)
{
	unsigned char *bytes = buffer;
	/* Even in the smallest buffer, 64 idle threads leave some slots. */
	uint64_t slots =
		size / 4096 < SLOTS_MIN ? SLOTS_MIN : power_between(64, size / 4096, SLOTS_MAX);
	uint64_t names = power_between(4096, size / 32, 1 << 20);
	uint64_t packet =
		power_between(WEFT_ABI_PACKET_MIN_BYTES, size / PACKETS_MAX, WEFT_ABI_PACKET_MAX_BYTES);
	uint64_t names_offset = sizeof(struct weft_abi_buffer) +
							slots * (sizeof(struct weft_abi_slot) + WEFT_ABI_NAME_BYTES);
	uint64_t packets_offset = names_offset + names + WEFT_ABI_TABLES_BYTES;
	uint64_t packets = (size - packets_offset) >> __builtin_ctz((unsigned)packet);
	*ret_region = (struct weft__region){
		.header = buffer,
		.size = size,
		.slots = (void *)(bytes + sizeof(struct weft_abi_buffer)),
		.names = bytes + names_offset,
		.tables = bytes + names_offset + names,
		.packets = bytes + packets_offset,
		.slot_count = (uint32_t)slots,
		.names_bytes = (uint32_t)names,
		/* A quarter of the table is the index: 4 bytes for each 16 of the table, so that entries
		 * fill it at most to 3/4. */
		.names_index = (uint32_t)(names / 16),
		.packet_bytes = (uint32_t)packet,
		.limit = (uint32_t)packet,
		.packet_count = (uint32_t)packets,
		.span = (packets - 1) * packet + 1,
	};
}

static struct weft__region *entry(struct weft__regions *regions, uint32_t number)
{
	return &regions->list[number % WEFT__REGIONS];
}

static uint32_t oldest(uint32_t count)
{
	return count > WEFT__REGIONS ? count - WEFT__REGIONS : 0;
}

static bool is_same(const struct weft__region *a, const struct weft__region *b)
{
	return a->header == b->header && a->size == b->size && a->span == b->span;
}

static bool overlap(const struct weft__region *a, const struct weft__region *b)
{
	uintptr_t from = (uintptr_t)a->header, other = (uintptr_t)b->header;
	return from < other + b->size && other < from + a->size;
}

/* The newest region in that memory, if it is the very same. */
static const struct weft__region *find_same(
	struct weft__regions *regions, const struct weft__region *wanted)
{
	for (uint32_t i = regions->count; i > oldest(regions->count); i--) {
		const struct weft__region *known = entry(regions, i - 1);
		if (overlap(known, wanted))
			return is_same(known, wanted) ? known : NULL;
	}
	return NULL;
}

const struct weft__region *weft__record_region_add(void *buffer, uint64_t size)
{
	struct weft__regions *regions = weft__recorder.regions;
	struct weft__region wanted;
	weft__record_region_lay_out(&wanted, buffer, size);
	const struct weft__region *same = find_same(regions, &wanted);
	if (same)
		return same;
	struct weft__region *added = entry(regions, regions->count);
	*added = wanted;
	/* Release: a thread that searches the list finds the region whole. */
	weft__store_release(&regions->count, regions->count + 1);
	return added;
}

WEFT__COLD const struct weft__region *weft__record_region_search(const struct weft_abi_slot *slot)
{
	struct weft__regions *regions = weft__load(&weft__recorder.regions);
	uint32_t count = weft__load_acquire(&regions->count);
	for (uint32_t i = count; i > oldest(count); i--)
		if (weft__record_region_has(entry(regions, i - 1), slot))
			return entry(regions, i - 1);
	return &weft__region_none;
}

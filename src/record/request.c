/* SPDX-License-Identifier: ISC
 *
 * What a program asks of whoever watches it: to save the moments before now.
 *
 * A request is one word, its count and its reason together, so that a watcher reads both of one
 * request. If somebody listens, the past is held until they had the time to copy it; who asks again
 * before the answer holds it no longer.
 */
#include "record/atomics.h"
#include "record/clock.h"
#include "record/name.h"
#include "record/reserve.h"

static void hold(struct weft_abi_buffer *header)
{
	uint64_t now = weft__ticks(weft__platform());
	if (now < weft__load(&header->snapshots.listen_until))
		weft__store(&header->hold_until, now + weft__load(&header->snapshots.hold_ticks));
}

WEFT__EXPORT void weft_snapshot_request(const char *reason)
{
	static const char *const names[] = {"snapshot", "reason"};
	static uint64_t cache;
	const struct weft__self *self = weft__entered();
	if (!self)
		return;
	const struct weft__value value = {.type = WEFT_ABI_VALUE_TEXT, .is.text = reason};
	struct weft_abi_buffer *header = weft__header_of(self->slot);
	struct weft_abi_snapshots *snapshots = &header->snapshots;
	uint16_t name = weft__name_intern_text(self->slot, reason);
	weft__mark(WEFT_TASK_CURRENT, &cache, names, 1, &value);
	uint64_t before, after;
	do {
		before = weft__load(&snapshots->requests);
		after = ((before >> 32) + 1) << 32 | name;
	} while (!weft__compare_exchange(&snapshots->requests, before, after));
	if ((uint32_t)weft__load(&snapshots->served) == (uint32_t)(before >> 32))
		hold(header);
}

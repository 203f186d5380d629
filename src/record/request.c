/* SPDX-License-Identifier: ISC
 *
 * Requests of a program to its watcher: save a snapshot, now or when a rule fires. Also the other
 * direction: a request to the program to write its living tasks.
 *
 * A request is one word, with its count and its reason, so that a watcher reads both consistently.
 * If a watcher listens, the past is held for the time that it needs to copy it; further requests
 * before the answer do not extend the hold.
 */
#include "record/atomics.h"
#include "record/category.h"
#include "record/clock.h"
#include "record/compose.h"
#include "record/name.h"
#include "record/packet.h"
#include "record/reserve.h"
#include "record/text.h"

static void hold(struct weft_abi_buffer *header)
{
	uint64_t now = weft__record_ticks(weft__record_platform());
	if (now < weft__load(&header->snapshots.listen_until))
		weft__store(&header->hold_until, now + weft__load(&header->snapshots.hold_ticks));
}

void weft__record_request_snapshot(const char *reason, uint32_t size)
{
	static const char *const names[] = {"snapshot", "reason"};
	static uint64_t cache;
	struct weft__self self;
	if (!weft__record_entered_now(&self))
		return;
	const struct weft_value value = {.type = WEFT_VALUE_TEXT, .size = size, .is.text = reason};
	struct weft_abi_buffer *header = weft__record_header_of(self.slot);
	struct weft_abi_snapshots *snapshots = &header->snapshots;
	uint16_t name = weft__record_name_intern_text(self.slot, reason, size);
	weft__mark(WEFT_TASK_CURRENT, &cache, names, 1, &value);
	uint64_t before, after;
	do {
		before = weft__load(&snapshots->requests);
		after = ((before >> 32) + 1) << 32 | name;
	} while (!weft__compare_exchange(&snapshots->requests, before, after));
	if ((uint32_t)weft__load(&snapshots->served) == (uint32_t)(before >> 32))
		hold(header);
}

WEFT__EXPORT void weft_snapshot_request(const char *reason)
{
	weft__record_request_snapshot(reason, WEFT__C_STRING);
}

void weft__record_add_trigger(const char *rule, uint32_t size)
{
	const struct weft__self *self = weft__record_looked();
	if (!self)
		return;
	const struct weft_abi_slot *slot = self->slot;
	struct weft_abi_snapshots *snapshots = &weft__record_header_of(slot)->snapshots;
	uint16_t name = weft__record_name_intern_text(slot, rule, size);
	uint32_t count = weft__load(&snapshots->rule_count);
	for (uint32_t i = 0; i < count && i < WEFT_ABI_RULES; i++)
		if (weft__load(&snapshots->rules[i]) == name)
			return;
	if (!name || count >= WEFT_ABI_RULES)
		return;
	uint32_t index = weft__fetch_add(&snapshots->rule_count, 1);
	if (index < WEFT_ABI_RULES)
		weft__store(&snapshots->rules[index], name);
}

WEFT__EXPORT void weft_trigger(const char *rule)
{
	weft__record_add_trigger(rule, WEFT__C_STRING);
}

WEFT__EXPORT bool weft_rundown_wanted(uint32_t *seen)
{
	if (!weft__record_generation())
		return false;
	uint32_t wanted = weft__load(&weft__record_header()->rundown);
	bool is_new = wanted != *seen;
	*seen = wanted;
	return is_new;
}

void weft__record_alive(const struct weft_category *category, const struct weft__living *living,
	const char *label, uint32_t size)
{
	const struct weft__self *self = weft__record_entered();
	if (!self)
		return;
	uint64_t name = category ? weft__record_category_name(self->slot, category) : 0;
	WEFT__DRAFT(draft, 5, 1);
	weft__record_draft_begin(&draft, WEFT_ABI_ALIVE, living->task);
	weft__record_draft_word(&draft, living->age_ns);
	weft__record_draft_word(&draft, living->waits_for);
	weft__record_draft_word(&draft, name << 16); /* a label made at run time is not a name: 0 */
	weft__record_draft_name(&draft, 0, label, size);
	draft.words[0] |= (uint64_t)living->kind << 48;
	weft__record_draft_put_in(self->slot, &draft);
}

WEFT__EXPORT void weft__rundown_in(const struct weft_category *category, uint64_t task,
	uint16_t kind, const char *label, uint64_t age_ns, uint64_t waits_for)
{
	const struct weft__living living = {task, age_ns, waits_for, kind};
	weft__record_alive(category, &living, label, WEFT__C_STRING);
}

WEFT__EXPORT void weft_rundown_task(
	uint64_t task, uint16_t kind, const char *label, uint64_t age_ns, uint64_t waits_for)
{
	weft__rundown_in(&weft_category_program, task, kind, label, age_ns, waits_for);
}

WEFT__EXPORT void weft__left_by_jump(void)
{
	struct weft__self *self = weft__record_self();
	if (self->ticket > WEFT__ENTERING - WEFT__NESTED_MAX)
		self->ticket = WEFT__OUTSIDE;
	else if (weft__record_generation() &&
			 weft__record_entered_generation(self) == weft__record_generation())
		weft__record_packet_repair(self->slot);
}

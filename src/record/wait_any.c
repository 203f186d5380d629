/* SPDX-License-Identifier: ISC
 *
 * A wait for any of several sources: an event for each source, with one stamp, that become visible
 * together. So a reader never sees a part of the set, and needs no kind of record with several
 * sources.
 */
#include "record/put.h"

/* Sources in one reservation, which may have as many words as the largest record. */
#define AT_ONCE (WEFT_ABI_WORDS_MAX / 3)

/* The sources of one call that are left, and the task that waits. */
struct sources {
	uint64_t task;
	const uint64_t *list;
	uint32_t count;
};

static uint32_t words_of(const struct sources *s)
{
	return s->task == WEFT_TASK_CURRENT ? 2 : 3;
}

static uint64_t head_of(const struct sources *s)
{
	return s->task == WEFT_TASK_CURRENT
			   ? WEFT_ABI_HEAD(WEFT_ABI_WAIT_ANY, 2, 0)
			   : WEFT_ABI_HEAD(WEFT_ABI_WAIT_ANY | WEFT_ABI_EXPLICIT, 3, 0);
}

/* Fills the room with events, and commits all of them at once. */
static void put_part(const struct weft__room *room, const struct sources *s, uint32_t count)
{
	struct weft_abi_slot *slot = room->slot;
	const uint32_t words = words_of(s);
	struct weft__room one = *room;
	for (uint32_t i = 0; i < count; i++, one.at += words) {
		weft__record_store_head(&one, head_of(s));
		if (words > 2)
			weft__store(&one.at[1], s->task);
		weft__store(&one.at[words - 1], s->list[i]);
	}
	weft__store(&slot->surplus, weft__load(&slot->surplus) + (words - 2) * count);
	weft__record_publish(room, words * count);
	/* Release, as in weft__record_commit. */
	weft__store_release(room->guard, room->clear);
}

/* The refused reservation counts as one lost event. The others are tried one by one, so that each
 * of them is recorded or counted, too. */
static WEFT__COLD void put_singly(const struct sources *s, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		const uint64_t first = s->task == WEFT_TASK_CURRENT ? s->list[i] : s->task;
		weft__record_put_slowly(head_of(s), first, s->list[i], WEFT_TASK_CURRENT);
	}
}

static void put_all(struct sources s)
{
	while (s.count > 0 && !weft__record_is_off()) {
		uint32_t part = s.count < AT_ONCE ? s.count : AT_ONCE;
		struct weft__room room = weft__record_reserve(part * words_of(&s));
		if (room.slot)
			put_part(&room, &s, part);
		else
			put_singly(&s, part);
		s.list += part;
		s.count -= part;
	}
}

/* Further reservations need a moment for the same stamp; the caller's own serves as well. */
WEFT__EXPORT void weft_wait_any_as(uint64_t task, unsigned count, const uint64_t *sources)
{
	bool needs_moment = count > AT_ONCE && !weft__record_is_in_moment(weft__record_self());
	if (needs_moment)
		weft_moment_begin();
	put_all((struct sources){task, sources, count});
	if (needs_moment)
		weft_moment_end();
}

WEFT__EXPORT void weft_wait_any(unsigned count, const uint64_t *sources)
{
	weft_wait_any_as(WEFT_TASK_CURRENT, count, sources);
}

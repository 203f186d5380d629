/* SPDX-License-Identifier: ISC
 *
 * Finds the low-water mark: the time up to which all recorded events are visible. Threads stamp an
 * event first and commit it later, so a thread's latest commit proves nothing about the events of
 * others.
 *
 * A thread's sequence is odd from before it reads the clock until it has committed. The follower
 *
 *     1. reads the clock: T
 *     2. waits a slack
 *     3. reads each sequence (acquire)
 *     4. reads the commits
 *
 * Even in 3: events that the thread begins later have a stamp of at least T, and events that it
 * ended before are seen in 4. The slack ensures the former: a processor may read the clock while
 * the store of the odd sequence still waits in its store buffer, which no fence of the follower can
 * drain (a fence in the writer would cost more than the event). 10 us is far longer than a store
 * waits; without the slack, a look in 2,000 was found wrong, by up to 546 ns. The latter holds
 * because the even sequence is stored with release, after the commit.
 *
 * Odd in 3: the event that is being written began after the last reading that found another value,
 * and so is not older than that reading's T. If that value was odd, too, its event has ended
 * meanwhile and may be older than that T. It is seen in 4: although an odd sequence is a relaxed
 * store, it continues the release sequence that the same thread's even store before it began.
 *
 * A thread that takes a slot raises the count of slots before its first event. So a slot that was
 * not counted was even.
 *
 * During a moment (events that share one stamp), the sequence is odd from before the stamp is read
 * until the end, so the mark treats the moment as one event. tests/model runs this code against the
 * recorder's in every order of their steps.
 */
#include "format/weft/follow/mark.h"

#include <stdlib.h>
#include <string.h>

#include "abi/buffer_abi.h"

struct weft__mark_slot {
	uint64_t clear;    /* ticks up to which all of the thread's events are visible */
	uint64_t since_ns; /* active_ns when this sequence was first seen */
	uint32_t sequence;
};

/* More than libweft ever makes. */
static const uint32_t SLOTS_MAX = 1 << 20;

/* Active time that one look adds at most: after a long pause between looks, it is unknown how much
 * of the pause was active. */
static const uint64_t ACTIVE_MAX_NS = 100000000;

int weft__format_mark_init(struct weft__mark *m, const struct weft__buffer *buffer, size_t size)
{
	const struct weft_abi_buffer *live = (const void *)buffer->bytes;
	struct weft_abi_buffer header;
	memcpy(&header, buffer->header, offsetof(struct weft_abi_buffer, uuid)); /* the layout */
	uint64_t offset = header.slots_offset;
	*m = (struct weft__mark){
		.slot_bytes = header.slot_bytes,
		.slot_count = header.slot_count,
		.used = (const uint8_t *)&live->slots_used,
	};
	if (offset > size || offset % 8 || m->slot_bytes % 8 ||
		m->slot_bytes < sizeof(struct weft_abi_slot) || m->slot_count > SLOTS_MAX ||
		(uint64_t)m->slot_bytes * m->slot_count > size - offset)
		return WEFT_ERROR_DAMAGED;
	m->first = buffer->bytes + offset;
	m->slots = calloc(m->slot_count + (size_t)1, sizeof(*m->slots));
	return m->slots ? 0 : WEFT_ERROR_MEMORY;
}

void weft__format_mark_finish(struct weft__mark *m)
{
	free(m->slots);
	m->slots = NULL;
}

static uint32_t load_sequence(const struct weft__mark *m, uint32_t index)
{
	const struct weft_abi_slot *slot = (const void *)(m->first + (uint64_t)index * m->slot_bytes);
	/* Acquire: loads after this one see all that the thread committed before it stored this
	 * value. */
	return __atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE);
}

/* True if the thread has recorded since the last look. */
static bool look_at_packet(struct weft__mark *m, uint32_t index, uint64_t ticks)
{
	struct weft__mark_slot *slot = &m->slots[index];
	uint32_t sequence = load_sequence(m, index);
	bool changed = sequence != slot->sequence;
	bool is_held = m->active_ns - slot->since_ns > WEFT__MARK_HOLD_NS;
	if (!(sequence & 1) || (!changed && is_held))
		slot->clear = ticks;
	else if (changed)
		slot->clear = m->previous_ticks;
	if (changed || !(sequence & 1))
		slot->since_ns = m->active_ns;
	slot->sequence = sequence;
	return changed;
}

void weft__format_mark_look(struct weft__mark *m, uint64_t ticks, const struct weft__ticks *clock)
{
	uint32_t used = __atomic_load_n((const uint32_t *)(const void *)m->used, __ATOMIC_ACQUIRE);
	uint64_t clear = ticks;
	bool is_active = false;
	for (uint32_t i = 0; i < used && i < m->slot_count; i++) {
		is_active |= look_at_packet(m, i, ticks);
		if (m->slots[i].clear < clear)
			clear = m->slots[i].clear;
	}
	if (is_active && m->has_looked && ticks > m->previous_ticks) {
		uint64_t passed = weft__format_ticks_to_ns(clock, ticks) -
						  weft__format_ticks_to_ns(clock, m->previous_ticks);
		m->active_ns += passed < ACTIVE_MAX_NS ? passed : ACTIVE_MAX_NS;
	}
	/* The mark never moves back, whatever a hostile buffer says now. */
	if (clear > m->ticks)
		m->ticks = clear;
	m->previous_ticks = ticks;
	m->has_looked = true;
}

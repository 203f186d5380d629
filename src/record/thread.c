/* SPDX-License-Identifier: ISC
 *
 * Slots: finds a slot for each recording thread.
 *
 * The recorder is not notified when a thread ends; another thread finds out when it needs a slot or
 * packet. A new thread takes over the slot of an ended one, and continues in its packet, so that
 * many short threads fill packets instead of leaving each nearly empty. If the operating system
 * reuses a thread's number, the former thread must have ended: its successor takes that slot
 * without a check.
 */
#include "record/atomics.h"
#include "record/compose.h"
#include "record/copy.h"
#include "record/packet.h"
#include "record/recorder.h"
#include "record/reserve.h"
#include "record/text.h"

/* Limits for checks whether other threads have ended, each of which is a system call. A free slot
 * is cheaper than many of them; without one, the thread finds the slots of ended threads a part at
 * a time, however many threads there are. */
#define DEATH_CHECKS_MAX  32
#define DEATH_CHECKS_FULL 128

/* Slots among which a thread looks for one of an ended thread with its own number: only while there
 * are few, because a new thread would otherwise read the slots of all others. */
#define NAMESAKES_MAX 256

/* Asks the platform for the calling thread's number and name. */
static uint32_t ask_self(union weft__thread_name *ret_name)
{
	const struct weft_platform *platform = weft__record_platform();
	*ret_name = (union weft__thread_name){.words = {0, 0}};
	return platform->self ? platform->self(platform->context, ret_name->text) : 1;
}

static void store_name(const struct weft__region *region, const struct weft_abi_slot *slot,
	const union weft__thread_name *name)
{
	if (!weft__record_region_has(region, slot))
		return;
	uint64_t *to = weft__record_slot_name(region, slot);
	weft__store(&to[0], name->words[0]);
	weft__store(&to[1], name->words[1]);
}

/* Takes a slot; acquires what the previous owner wrote. */
static bool take_slot(struct weft_abi_slot *slot, uint64_t owner, uint32_t tid)
{
	return weft__compare_exchange(&slot->owner, owner, ((owner >> 32) + 1) << 32 | tid);
}

/* Resets the slot for a thread without events. */
static void reset(const struct weft__region *region, struct weft_abi_slot *slot)
{
	const struct weft_abi_packet *packet = weft__record_packet_of(region, slot);
	bool has_packet = packet && weft__record_packet_is_held(slot);
	if (!has_packet)
		weft__record_packet_close(slot); /* a packet that its last owner had begun to close */
	weft__store(&slot->inherited, has_packet ? weft__record_packet_events(slot, packet) : 0);
	weft__store(&slot->number, 0);
	weft__store(&slot->lost, 0);
	weft__store(&slot->refuse, 0);
	weft__store(&slot->task, WEFT_TASK_NONE);
	weft__store(&slot->thread, (uint32_t)weft__fetch_add(&region->header->threads, 1) + 1);
	if (has_packet)
		weft__record_packet_inherit(slot);
	else
		weft__store(&slot->packet, 0);
}

/* Prepares a slot that the caller has just taken. */
static void renew(const struct weft__region *region, struct weft_abi_slot *slot,
	const union weft__thread_name *name)
{
	store_name(region, slot, name);
	weft__record_packet_repair(slot);
	/* Guarded like an event, so that no thread takes the packet meanwhile. */
	uint32_t sequence = weft__load(&slot->sequence);
	weft__store(&slot->sequence, sequence + 1);
	weft__signal_fence();
	reset(region, slot);
	weft__store_release(&slot->sequence, sequence + 2);
}

static bool has_ended(uint32_t tid)
{
	const struct weft_platform *platform = weft__record_platform();
	return platform->has_ended && platform->has_ended(platform->context, tid);
}

static struct weft_abi_slot *take_namesake(const struct weft__region *region, uint32_t tid)
{
	uint32_t used = weft__record_slots_used(region);
	for (uint32_t i = 0; i < used && i < NAMESAKES_MAX; i++) {
		struct weft_abi_slot *slot = &region->slots[i];
		uint64_t owner = weft__load(&slot->owner);
		if ((uint32_t)owner == tid && take_slot(slot, owner, tid))
			return slot;
	}
	return NULL;
}

/* Finds a free slot among the used ones, or one whose thread has ended. */
static struct weft_abi_slot *take_left(
	const struct weft__region *region, uint32_t tid, uint32_t checks)
{
	/* Each search goes on where the last one ended, so that over time all slots are checked. */
	uint32_t *from = &weft__recorder.search_from;
	uint32_t used = weft__record_slots_used(region), first = weft__load(from);
	for (uint32_t i = 0; i < used && checks > 0; i++) {
		struct weft_abi_slot *slot = &region->slots[(first + i) % used];
		uint64_t owner = weft__load(&slot->owner);
		bool is_free = (uint32_t)owner == 0;
		/* An ended thread with our own number is our predecessor. */
		bool is_left = is_free || (uint32_t)owner == tid || has_ended((uint32_t)owner);
		checks -= !is_free;
		weft__store(from, first + i + !is_left);
		if (is_left && take_slot(slot, owner, tid))
			return slot;
	}
	return NULL;
}

static struct weft_abi_slot *take_fresh(const struct weft__region *region, uint32_t tid)
{
	uint32_t *slots_used = &region->header->slots_used, used;
	/* Each round takes a slot, also if another process resets the number again and again. */
	for (uint32_t i = 0; i < region->slot_count; i++) {
		used = weft__record_slots_used(region);
		if (used == region->slot_count)
			break;
		if (weft__compare_exchange(slots_used, used, used + 1)) {
			struct weft_abi_slot *slot = &region->slots[used];
			/* Another thread may have freed it already. */
			if (take_slot(slot, 0, tid))
				return slot;
		}
	}
	return NULL;
}

static struct weft_abi_slot *find_slot(const struct weft__region *region)
{
	union weft__thread_name name;
	uint32_t tid = ask_self(&name);
	if (tid == 0)
		return NULL;
	struct weft_abi_slot *slot = take_namesake(region, tid);
	if (!slot)
		slot = take_left(region, tid, DEATH_CHECKS_MAX);
	if (!slot)
		slot = take_fresh(region, tid);
	if (!slot)
		slot = take_left(region, tid, DEATH_CHECKS_FULL);
	if (slot)
		renew(region, slot, &name);
	return slot;
}

/* Re-entered from a signal handler, or still backing off after a failed lookup. */
static bool is_refused(const struct weft__self *self, uint64_t generation, unsigned *ret_cause)
{
	bool is_nested = self->ticket > WEFT__ENTERING - WEFT__NESTED_MAX;
	*ret_cause = is_nested ? WEFT_ABI_LOSS_NESTED : WEFT_ABI_LOSS_FULL;
	/* With 0 left the thread looks again: unsigned, 0 - 1 is far above the interval. */
	return is_nested || self->ticket - WEFT__REFUSED(generation, 1) < WEFT__LOOK_INTERVAL;
}

/* Without a slot the thread keeps that of an earlier generation: if this runs in a signal handler,
 * the interrupted code may have checked its ticket and be about to load the slot. */
static bool settle(struct weft__self *self, struct weft_abi_slot *slot, uint64_t good, uint64_t bad)
{
	if (slot)
		self->slot = slot;
	weft__signal_fence();
	self->ticket = slot ? good : bad;
	return slot;
}

/* Asks the leading copy for a slot; if it refuses, it has counted that. */
static bool ask_leader(
	const struct weft__copy *leader, struct weft__self *self, uint64_t generation, bool for_event)
{
	return settle(self, leader->enter(generation, for_event), generation, WEFT__OUTSIDE);
}

static bool find(struct weft__self *self, uint64_t generation, bool for_event)
{
	struct weft_abi_slot *slot = find_slot(weft__record_region());
	uint64_t refused = WEFT__REFUSED(generation, WEFT__LOOK_INTERVAL - for_event);
	if (settle(self, slot, generation, refused))
		return true;
	if (for_event)
		weft__record_count_loss(NULL, WEFT_ABI_LOSS_FULL);
	return false;
}

static bool enter(struct weft__self *self, bool for_event)
{
	uint64_t generation = weft__record_generation();
	bool (*resume)(bool for_event) = weft__load(&weft__recorder.resume);
	if (generation == 0 && !weft__record_is_idle() && resume && resume(for_event))
		generation = weft__record_generation();
	if (generation == 0)
		return false;
	unsigned cause;
	if (is_refused(self, generation, &cause)) {
		/* In a quiet buffer a thread without a slot never looks again: this is not its first event.
		 */
		if (cause == WEFT_ABI_LOSS_NESTED || !weft__record_is_quiet(weft__record_header()))
			self->ticket -= for_event;
		if (for_event)
			weft__record_count_loss(NULL, cause);
		return false;
	}
	const struct weft__copy *leader = weft__load(&weft__recorder.leader);
	self->ticket = WEFT__ENTERING;
	weft__signal_fence();
	return leader ? ask_leader(leader, self, generation, for_event)
				  : find(self, generation, for_event);
}

WEFT__COLD bool weft__record_enter(struct weft__self *self)
{
	return enter(self, true);
}

WEFT__COLD bool weft__record_look(struct weft__self *self)
{
	return enter(self, false);
}

WEFT__COLD void weft__record_thread_reap(const struct weft_abi_slot *own)
{
	const struct weft__region *region = weft__record_region_of(own);
	uint32_t used = weft__record_is_quiet(region->header) ? 0 : weft__record_slots_used(region);
	uint32_t tid = (uint32_t)weft__load(&own->owner);
	uint32_t count = used < DEATH_CHECKS_FULL ? used : DEATH_CHECKS_FULL;
	uint32_t first = weft__fetch_add(&weft__recorder.search_from, count);
	for (uint32_t i = 0; i < count; i++) {
		struct weft_abi_slot *slot = &region->slots[(first + i) % used];
		uint64_t owner = weft__load(&slot->owner);
		if (slot == own || (uint32_t)owner == 0 || !weft__record_has_packet(slot))
			continue;
		if (!has_ended((uint32_t)owner) || !take_slot(slot, owner, tid))
			continue;
		weft__record_packet_repair(slot);
		weft__record_packet_close(slot);
		weft__store_release(&slot->owner, weft__load(&slot->owner) & ~(uint64_t)UINT32_MAX);
	}
}

/* Inside the guard, as an event that closes its packet would be. */
static void begin_packet(struct weft_abi_slot *slot)
{
	struct weft__room room;
	uint64_t ticks;
	if (!weft__record_begin(slot, &room, &ticks))
		return;
	weft__record_packet_close(slot);
	weft__record_withdraw(&room);
}

void weft__record_name_thread(const char *name, uint32_t size)
{
	const struct weft__self *self = weft__record_looked();
	union weft__thread_name own;
	if (!self)
		return;
	if (name) {
		own = (union weft__thread_name){.words = {0, 0}};
		for (unsigned i = 0; i < sizeof(own.text) - 1 && i < size && name[i]; i++)
			own.text[i] = name[i];
	} else {
		ask_self(&own);
	}
	store_name(weft__record_region_of(self->slot), self->slot, &own);
	/* Names are in the headers of packets. */
	begin_packet(self->slot);
}

WEFT__EXPORT void weft_thread_name(const char *name)
{
	weft__record_name_thread(name, WEFT__C_STRING);
}

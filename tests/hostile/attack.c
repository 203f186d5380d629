/* SPDX-License-Identifier: ISC
 *
 * Damages a ring at random while others read it.
 *
 * A reader refuses a ring that is damaged everywhere, and then nothing else is tested. So for a
 * while only some types of damage are done, and often undone, so that readers get far before they
 * meet damage.
 */
#include "writer.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

#include "abi/buffer_abi.h"
#include "abi/event_abi.h"
#include "abi/name_abi.h"
#include "abi/packet_abi.h"

#define HEADER(field) offsetof(struct weft_abi_buffer, field)
#define PACKET(field) offsetof(struct weft_abi_packet, field)
#define WATCH(field)  (HEADER(snapshots) + offsetof(struct weft_abi_snapshots, field))

static struct {
	struct ring *ring;
	struct weft_abi_buffer valid; /* the header, as it was */
	size_t length;                /* of the file, now */
	uint64_t state, count, sequence;
	uint32_t allowed; /* sorts of damage in this run, a bit each */
	uint32_t mood;    /* those of the moment */
	unsigned mood_left;
	bool is_fast; /* no pauses */
} attack;

uint64_t attack_random(void)
{
	attack.state ^= attack.state << 13;
	attack.state ^= attack.state >> 7;
	attack.state ^= attack.state << 17;
	return attack.state * 0x2545f4914f6cdd1dull >> 11;
}

static uint64_t below(uint64_t limit)
{
	return limit ? attack_random() % limit : 0;
}

uint64_t attack_count(void)
{
	return attack.count;
}

static void pause_us(uint64_t us)
{
	const struct timespec time = {0, (long)us * 1000};
	nanosleep(&time, NULL);
}

/* A number that has revealed bugs before, or a random one. */
static uint64_t number(void)
{
	static const uint64_t edges[] = {0, 1, 2, 3, 4, 7, 8, 15, 16, 63, 64, 127, 128, 255, 256, 1023,
		1024, 4095, 4096, 4097, 65535, 65536, 65537, INT32_MAX, 1ull << 31, UINT32_MAX - 7,
		UINT32_MAX, 1ull << 32, 1ull << 53, 1ull << 62, INT64_MAX, 1ull << 63, UINT64_MAX - 7,
		UINT64_MAX - 1, UINT64_MAX};
	switch (below(4)) {
	case 0:
	case 1:
		return edges[below(sizeof(edges) / sizeof(edges[0]))];
	case 2:
		return attack_random() << 11 >> below(64);
	default:
		return attack.ring->size - below(64) * 8 + below(3);
	}
}

static uint8_t *at(uint64_t offset, size_t size)
{
	bool is_there = offset <= attack.length && size <= attack.length - offset &&
					offset <= attack.ring->size && size <= attack.ring->size - offset;
	attack.count += is_there;
	return is_there ? attack.ring->bytes + offset : NULL;
}

/* `size` is 1, 4 or 8; the offset is aligned to it. */
static void put(uint64_t offset, size_t size, uint64_t value)
{
	uint8_t *bytes = at(offset / size * size, size);
	if (!bytes)
		return;
	if (size == 1)
		__atomic_store_n(bytes, (uint8_t)value, __ATOMIC_RELAXED);
	else if (size == 4)
		__atomic_store_n((uint32_t *)(void *)bytes, (uint32_t)value, __ATOMIC_RELAXED);
	else
		__atomic_store_n((uint64_t *)(void *)bytes, value, __ATOMIC_RELEASE);
}

static void put_any(uint64_t offset)
{
	put(offset, below(2) ? 4 : 8, number());
}

static void restore(uint64_t offset, size_t size)
{
	uint8_t *bytes = at(offset, size);
	if (bytes)
		memcpy(bytes, attack.ring->template + offset, size);
}

/* Changes a word between two values as fast as possible, for readers that load it twice. */
static void flip(uint64_t offset, size_t size, uint64_t one, uint64_t other)
{
	for (uint64_t times = 50 + below(5000); times > 0; times--) {
		put(offset, size, one);
		put(offset, size, other);
	}
}

static uint64_t word_of_template(uint64_t offset)
{
	uint64_t word = 0;
	offset = offset / 8 * 8;
	if (offset + 8 <= attack.ring->size)
		memcpy(&word, attack.ring->template + offset, 8);
	return word;
}

/* ---- Sorts of damage ---- */

/* The fields that say where the parts are. */
static void damage_geometry(void)
{
	uint64_t offset = HEADER(version) + below(HEADER(uuid) - HEADER(version)) / 4 * 4;
	put_any(offset);
	if (below(3)) {
		pause_us(below(3) * 100);
		restore(0, HEADER(hand));
	}
}

static void flip_geometry(void)
{
	uint64_t offset = HEADER(version) + below(HEADER(uuid) - HEADER(version)) / 8 * 8;
	uint64_t valid = word_of_template(offset);
	flip(offset, 8, number(), valid);
}

static void damage_header(void)
{
	static const uint32_t words[] = {HEADER(clock), HEADER(clock_hz), HEADER(start), HEADER(second),
		HEADER(end), HEADER(pid), HEADER(hand), HEADER(threads), HEADER(next_task),
		HEADER(names_used), HEADER(slots_used), HEADER(stop_reason), HEADER(waiters),
		HEADER(hold_until), HEADER(rundown), HEADER(changes_count), HEADER(stream), HEADER(stopped),
		HEADER(refused_count)};
	if (below(2))
		put_any(words[below(sizeof(words) / sizeof(words[0]))] + below(3) * 8);
	else
		put_any(below(HEADER(stopped) + 128));
}

static uint64_t any_packet(void)
{
	return attack.valid.packets_offset +
		   below(attack.valid.packet_count) * attack.valid.packet_bytes;
}

static void damage_packet_header(void)
{
	uint64_t packet = any_packet(), offset = packet + below(sizeof(struct weft_abi_packet));
	if (below(3))
		put_any(offset);
	else
		flip(offset, 8, number(), word_of_template(offset));
}

static void damage_state(void)
{
	uint64_t packet = any_packet(), state = below(4);
	uint64_t newest = attack.valid.hand;
	uint8_t *hand = at(HEADER(hand), 8);
	if (hand)
		memcpy(&newest, hand, 8);
	put(packet, 8, (below(3) ? newest + below(5) - 2 : number()) << 2 | state);
}

static void damage_sizes(void)
{
	uint64_t packet = any_packet(), bytes = attack.valid.packet_bytes;
	uint64_t committed = below(3) ? below(bytes + 64) : number();
	if (below(2))
		put(packet + PACKET(committed), 4, committed);
	else
		flip(packet + PACKET(committed), 4, committed, below(bytes));
}

/* A head of an event, or an operand. */
static void damage_event(void)
{
	uint64_t offset = any_packet() + sizeof(struct weft_abi_packet);
	uint64_t room = attack.valid.packet_bytes - sizeof(struct weft_abi_packet);
	uint64_t head = WEFT_ABI_HEAD(below(2) ? below(32) : 90 + below(40), below(9), below(70));
	offset += below(2) ? below(room) : below(256);
	switch (below(4)) {
	case 0:
		put(offset, 8, number());
		break;
	case 1:
		flip(offset, 8, head, word_of_template(offset));
		break;
	default:
		put(offset, 8, head | (below(2) ? below(1u << 20) : number() & UINT32_MAX));
	}
}

static void damage_times(void)
{
	uint64_t packet = any_packet();
	uint64_t valid = word_of_template(packet + PACKET(base_ticks));
	uint64_t shifted =
		below(2) ? valid + (below(2) ? 1 : -1) * (attack_random() >> below(50)) : number();
	static const uint32_t words[] = {
		PACKET(base_ticks), PACKET(reading_ticks), PACKET(reading_ns), PACKET(opened_ticks)};
	put(packet + words[below(4)], 8, shifted);
}

static uint64_t any_name(void)
{
	return attack.valid.names_offset + attack.valid.names_index * 4 +
		   below(64) * WEFT_ABI_NAME_UNIT;
}

static void damage_name_sizes(void)
{
	uint64_t size = any_name() + offsetof(struct weft_abi_name, size);
	if (below(2))
		put(size, 4, number());
	else
		flip(size, 4, number(), below(100));
}

/* Writes bytes that are special to a terminal, JSON, XML or printf. */
static void damage_text(void)
{
	static const char orders[] = "\x1b[31m%-+ #0n*s\\\"\n\r\b\x7f\x9b\xc2\x9b\xe2\x80\xae\xe2\x81"
								 "\xa6\xe2\x80\xa8<>&'\xf0\xff";
	uint64_t offset = any_name() + sizeof(struct weft_abi_name) + below(96);
	uint8_t order = (uint8_t)orders[below(sizeof(orders) - 1)];
	if (below(2))
		put(offset, 1, order);
	else
		flip(offset, 1, order, 'a' + below(26));
}

static void damage_process_text(void)
{
	put(HEADER(program) + below(HEADER(reserved6) - HEADER(program)), 1, below(256));
}

static void damage_slot(void)
{
	uint64_t slot = attack.valid.slots_offset +
					below(attack.valid.slot_count) % 16 * sizeof(struct weft_abi_slot);
	put_any(slot + below(sizeof(struct weft_abi_slot)));
}

static void damage_levels(void)
{
	if (below(2))
		put(HEADER(levels) + below(WEFT_ABI_LEVELS), 1, below(8));
	else
		put_any(HEADER(changes) + below(sizeof(attack.valid.changes)));
	put_any(HEADER(categories) + below(sizeof(attack.valid.categories)));
}

/* Requests for snapshots, and rules. */
static void damage_watch(void)
{
	uint64_t requests = below(1000) << 32 | below(3000);
	switch (below(6)) {
	case 0:
		put(WATCH(requests), 8, below(2) ? requests : number());
		break;
	case 1:
		put(WATCH(rule_count), 4, below(2) ? below(80) : number());
		break;
	case 2:
		put(WATCH(rules) + below(WEFT_ABI_RULES * 2), 4, below(2) ? below(4000) : number());
		break;
	default:
		put_any(WATCH(requests) + below(sizeof(struct weft_abi_snapshots)));
	}
}

static void damage_losses(void)
{
	put_any(HEADER(losses) + below(sizeof(attack.valid.losses)));
	put_any(any_packet() + (below(2) ? PACKET(before) : PACKET(written)));
}

/* Makes each packet look as if it had been claimed and filled again, more often than any program
 * could. */
static void claim_again(void)
{
	for (uint64_t packets = 1 + below(64); packets > 0; packets--) {
		uint64_t packet = any_packet(), body = PACKET(state) + 8;
		attack.sequence += 1 + below(3);
		put(packet, 8, attack.sequence << 2 | WEFT_ABI_PACKET_OPENING);
		restore(packet + body, attack.valid.packet_bytes - body);
		put(packet + PACKET(number), 8, attack.sequence * 50 + below(50));
		put(packet, 8,
			attack.sequence << 2 | (below(4) ? WEFT_ABI_PACKET_CLOSED : WEFT_ABI_PACKET_OPEN));
		put(HEADER(hand), 8, attack.sequence);
	}
}

static void repair(void)
{
	restore(0, below(4) ? HEADER(hand) : sizeof(attack.valid));
	restore(attack.valid.names_offset, attack.valid.names_bytes);
	if (below(3) == 0)
		claim_again();
}

static void (*const sorts[])(void) = {damage_geometry, flip_geometry, damage_header,
	damage_packet_header, damage_state, damage_sizes, damage_event, damage_times, damage_name_sizes,
	damage_text, damage_process_text, damage_slot, damage_levels, damage_watch, damage_losses,
	claim_again};

enum {
	SORTS = sizeof(sorts) / sizeof(sorts[0])
};

/* ---- Actions ---- */

void attack_init(struct ring *ring, uint64_t seed)
{
	attack.ring = ring;
	attack.length = ring->size;
	memcpy(&attack.valid, ring->template, sizeof(attack.valid));
	attack.sequence = attack.valid.hand + 1000;
	attack.state = (seed + 1) * 0x9e3779b97f4a7c15ull | 1;
	for (int i = 0; i < 8; i++)
		attack_random();
	attack.allowed = (uint32_t)(attack_random() | attack_random());
	attack.is_fast = below(4) == 0;
}

static void choose_mood(void)
{
	attack.mood_left = 1 + (unsigned)below(30);
	attack.mood = (uint32_t)(attack_random() & attack_random());
	attack.mood |= 1u << below(SORTS);
	attack.mood &= attack.allowed;
}

void attack_rewrite(void)
{
	static const uint32_t pauses_us[] = {0, 0, 0, 20, 100, 500, 2000, 10000};
	if (attack.mood_left-- == 0)
		choose_mood();
	for (uint64_t writes = 1 + (below(3) ? below(8) : below(200)); writes > 0; writes--) {
		unsigned sort = (unsigned)below(SORTS);
		if (attack.mood >> sort & 1)
			sorts[sort]();
	}
	uint64_t us = pauses_us[below(sizeof(pauses_us) / sizeof(pauses_us[0]))];
	if (us && !attack.is_fast)
		pause_us(us);
	if (below(8) == 0)
		repair();
}

static uint64_t any_length(void)
{
	const struct weft_abi_buffer *valid = &attack.valid;
	const uint64_t edges[] = {0, 1, 64, 4095, 4096, 4097, valid->slots_offset, valid->names_offset,
		valid->packets_offset, valid->packets_offset + 128, attack.ring->size - 1,
		attack.ring->size - 4096};
	switch (below(8)) {
	case 0:
	case 1:
	case 2:
		return edges[below(sizeof(edges) / sizeof(edges[0]))];
	case 3:
		return attack.ring->size * (2 + below(30)) + below(5000);
	case 4:
		return below(8) ? attack.ring->size : 1ull << 37; /* without blocks */
	default:
		return below(attack.ring->size);
	}
}

static void resize(uint64_t length)
{
	if (ftruncate(attack.ring->fd, (off_t)length) == 0)
		attack.length = length;
	attack.count++;
}

void attack_cut(void)
{
	resize(any_length());
	pause_us(below(4) ? below(2000) : below(20000));
	for (uint64_t times = below(4); times > 0; times--)
		attack_rewrite();
	if (below(3) == 0)
		return;
	resize(attack.ring->size);
	if (below(8))
		restore(0, attack.ring->size);
	pause_us(below(below(3) ? 5000 : 50000));
}

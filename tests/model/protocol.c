/* SPDX-License-Identifier: ISC
 *
 * Runs the buffer's protocol in every order of its steps: the code of src/record with two writers,
 * a reader, which may use the low-water mark of src/format, and a machine (machine.h) that tries
 * all orders.
 *
 * Each scenario must hold. Then each is run with one planted bug – a weaker memory order, two steps
 * swapped, an exchange torn in two, a check left out – and must fail, which shows that it can find
 * such bugs.
 *
 * There are few packets, and only a part of each is used, such as two events of two words.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

#include "abi/buffer_abi.h"
#include "abi/event_abi.h"
#include "abi/name_abi.h"
#include "abi/packet_abi.h"
#include "format/weft/follow/mark.h"
#include "few_packets.h"
#include "hooks.h"
#include "record/recorder.h"

#define TID          100 /* of thread 0 */
#define EVENTS_BYTES 64  /* in a packet: four events of 16 bytes, or a thread record and one */
#define PACKET_WORDS ((sizeof(struct weft_abi_packet) + EVENTS_BYTES) / 8)

enum fault {
	NONE,
	COMMIT_BEFORE_WORDS,
	COMMIT_NOT_RELEASED,
	OPEN_NOT_RELEASED,
	OPENING_NOT_PUBLISHED,
	OPENING_NOT_FENCED,
	CLAIM_TORN,
	CLOSE_NOT_RELEASED,
	CLAIM_NOT_ACQUIRED,
	SLOT_TORN,
	ALIVE_TAKEN,
	NAME_TORN,
	NAME_NOT_ACQUIRED,
	TAKEN_WITHOUT_BARRIER,
	TAKEN_IN_AN_EVENT,
	TAKEN_WITH_ROOM,
	TAKEN_TORN,
	TAKEN_NOT_ACQUIRED,
	GUARD_NOT_RELEASED,
	READER_NO_RECHECK,
	READER_NO_FENCE,
	READER_FIRST_LOOK_RELAXED,
	READER_COMMITTED_RELAXED,
	MARK_WITHOUT_SLACK,
	MARK_OF_NOW,
	MARK_AFTER_COMMITS,
	MARK_NOT_ACQUIRED,
	MARK_OF_FEWER_SLOTS,
	GUARD_LATE,
	GUARD_NEVER_ODD,
	MOMENT_ASKED_BEFORE,
	MOMENT_GUARD_NEVER_ODD,
};

static _Alignas(64) unsigned char buffer[WEFT_ABI_BUFFER_MIN_BYTES];
static struct weft__self selves[MACHINE_THREADS];
static uint64_t attempted[MACHINE_THREADS]; /* events of a writer */
static bool is_mortal;
static uint64_t clock_now;
static enum fault fault;
static bool is_marked;        /* a mark is taken, so the order of clock and memory matters */
static unsigned prepared_for; /* the thread that a scenario prepares for */

/* The running thread. */
static unsigned own(void)
{
	return machine_self() + prepared_for;
}

static struct weft_abi_buffer *header(void)
{
	return (struct weft_abi_buffer *)(void *)buffer;
}

static unsigned char *packet_at(unsigned index)
{
	return buffer + header()->packets_offset + (size_t)index * header()->packet_bytes;
}

/* The functions of the recorder's platform. */

uint64_t model_ticks(void)
{
	if (is_marked)
		machine_step();
	return ++clock_now;
}

struct weft__stamp model_stamp(void)
{
	return (struct weft__stamp){(uint32_t)model_ticks(), 0};
}

static uint32_t platform_self(void *context, char ret_name[16])
{
	(void)context;
	memcpy(ret_name, "writer", 7);
	return TID + own();
}

static bool platform_has_ended(void *context, uint32_t thread)
{
	(void)context;
	return fault == ALIVE_TAKEN || machine_has_ended(thread - TID);
}

static void *platform_memory(void *context)
{
	(void)context;
	return &selves[own()];
}

static bool platform_barrier(void *context)
{
	(void)context;
	machine_barrier();
	return true;
}

static struct weft_platform platform = {
	.self = platform_self,
	.has_ended = platform_has_ended,
	.thread_memory = platform_memory,
};

/* Faults. */

#define IN(type, field) (at == offsetof(struct type, field))

/* Plants a bug in the taking of another thread's packet. */
static void spoil_taking(struct machine_access *access, size_t at)
{
	static const uint32_t zero;
	bool loads = access->operation == MACHINE_LOAD;
	if (IN(weft_abi_slot, sequence) && loads && fault == TAKEN_IN_AN_EVENT)
		access->address = &zero;
	if (IN(weft_abi_slot, limit) && loads && fault == TAKEN_WITH_ROOM)
		access->address = &zero;
	if (IN(weft_abi_slot, sequence) && fault == TAKEN_NOT_ACQUIRED)
		access->order = MACHINE_RELAXED;
	if (IN(weft_abi_slot, taken) && access->operation == MACHINE_EXCHANGE)
		access->is_torn = fault == TAKEN_TORN;
}

static void spoil_slot(struct machine_access *access, size_t at)
{
	bool stores = access->operation == MACHINE_STORE;
	const unsigned char *slot = (const unsigned char *)selves[own()].slot;
	if ((const unsigned char *)access->address - at != slot)
		spoil_taking(access, at);
	if (IN(weft_abi_slot, sequence) && stores && fault == GUARD_NOT_RELEASED)
		access->order = MACHINE_RELAXED;
	if (IN(weft_abi_slot, sequence) && stores && access->value & 1) {
		access->is_late = fault == GUARD_LATE;
		access->value += fault == GUARD_NEVER_ODD;
	}
	if (IN(weft_abi_slot, sequence) && !stores && fault == MARK_NOT_ACQUIRED)
		access->order = MACHINE_RELAXED;
	if (IN(weft_abi_slot, owner) && fault == SLOT_TORN)
		access->is_torn = true;
}

/* Plants a bug in the state of a moment that handlers see. */
static void spoil_moment(struct machine_access *access, size_t at)
{
	static uint32_t was_in_moment;
	bool stores = access->operation == MACHINE_STORE;
	if (machine_handles())
		return;
	/* Without the guard, which is the planted bug. */
	if (IN(weft_abi_slot, moment_events) && !stores)
		was_in_moment = selves[own()].slot->is_in_moment;
	if (IN(weft_abi_slot, is_in_moment) && !stores && fault == MOMENT_ASKED_BEFORE)
		access->address = &was_in_moment;
	if (IN(weft_abi_slot, moment_events) && stores && access->value & 1)
		access->value -= fault == MOMENT_GUARD_NEVER_ODD;
}

/* The reader has no slot. */
static bool self_writes(void)
{
	return selves[own()].slot;
}

static void spoil_packet(struct machine_access *access, size_t at)
{
	bool stores = access->operation == MACHINE_STORE;
	unsigned state = access->value & WEFT_ABI_PACKET_STATE;
	bool is_state = IN(weft_abi_packet, state), is_commit = IN(weft_abi_packet, committed);
	if (fault == COMMIT_BEFORE_WORDS && at >= sizeof(struct weft_abi_packet) && stores)
		access->is_late = true;
	if (fault == COMMIT_NOT_RELEASED && is_commit)
		access->order = MACHINE_RELAXED;
	if (is_state && stores && state == WEFT_ABI_PACKET_OPEN && fault == OPEN_NOT_RELEASED)
		access->order = MACHINE_RELAXED;
	if (is_state && stores && state == WEFT_ABI_PACKET_CLOSED && fault == CLOSE_NOT_RELEASED)
		access->order = MACHINE_RELAXED;
	if (is_state && fault == CLAIM_NOT_ACQUIRED && self_writes())
		access->order &= ~(unsigned)MACHINE_ACQUIRE;
	if (is_state && access->operation == MACHINE_EXCHANGE) {
		access->is_torn = fault == CLAIM_TORN;
		if (fault == OPENING_NOT_PUBLISHED)
			access->value += WEFT_ABI_PACKET_OPEN - WEFT_ABI_PACKET_OPENING;
	}
}

static void spoil_names(struct machine_access *access, size_t at)
{
	if (at >= header()->names_index * 4)
		return;
	if (access->operation == MACHINE_EXCHANGE)
		access->is_torn = fault == NAME_TORN;
	else if (fault == NAME_NOT_ACQUIRED)
		access->order = MACHINE_RELAXED;
}

static void filter(struct machine_access *access)
{
	const struct weft_abi_buffer *h = header();
	size_t at = (size_t)((const unsigned char *)access->address - buffer);
	if (fault == NONE)
		return;
	if (access->operation == MACHINE_BARRIER) {
		access->is_left_out = fault == TAKEN_WITHOUT_BARRIER;
	} else if (access->operation == MACHINE_FENCE) {
		if (fault == OPENING_NOT_FENCED && access->order == MACHINE_RELEASE)
			access->order = MACHINE_RELAXED;
	} else if (at >= sizeof(buffer)) {
		return;
	} else if (at >= h->packets_offset) {
		spoil_packet(access, (at - h->packets_offset) % h->packet_bytes);
	} else if (at >= h->names_offset) {
		spoil_names(access, at - h->names_offset);
	} else if (at >= h->slots_offset && at < h->slots_offset + h->slot_count * h->slot_bytes) {
		spoil_slot(access, (at - h->slots_offset) % h->slot_bytes);
		spoil_moment(access, (at - h->slots_offset) % h->slot_bytes);
	}
}

/* The content of a packet; it is checked in the same way by a concurrent reader and at the end. */

struct copy {
	uint64_t words[PACKET_WORDS];
	uint32_t end; /* words */
};

static uint64_t field(const struct copy *copy, size_t offset)
{
	return copy->words[offset / 8];
}

#define FIELD(copy, name) field(copy, offsetof(struct weft_abi_packet, name))

/* An event's operand: the writer, and the number among its events. */
static unsigned writer_of(uint64_t operand)
{
	return (unsigned)(operand >> 32) - 1;
}

/* The handler of thread 0 counts as one more writer. */
#define HANDLER (MACHINE_THREADS - 1)

static unsigned thread_of(unsigned writer)
{
	return writer == HANDLER ? 0 : writer;
}

/* Calls `see` for each event; `is_first`: of its thread in the packet. Returns their number. */
static unsigned each_event(const struct copy *copy,
	void (*see)(uint64_t operand, uint64_t head, bool is_first, bool adopted))
{
	unsigned count = 0, writer = 0;
	bool is_first = true, adopted = false;
	for (uint32_t at = sizeof(struct weft_abi_packet) / 8; at < copy->end;) {
		uint64_t head = copy->words[at];
		unsigned size = head >> 40 & 0xff;
		if (size == 0 || size > copy->end - at) {
			machine_fail("an event that is none");
			return count;
		}
		if ((head >> 32 & 0x7f) == WEFT_ABI_THREAD) {
			is_first = adopted = true;
		} else {
			uint64_t operand = copy->words[at + size - 1];
			if (writer_of(operand) >= MACHINE_THREADS ||
				(uint32_t)operand >= attempted[writer_of(operand)])
				machine_fail("an event that nobody wrote");
			else if (!is_first && thread_of(writer_of(operand)) != writer)
				machine_fail("two writers in a packet that is one's");
			else if (see)
				see(operand, head, is_first, adopted);
			writer = thread_of(writer_of(operand));
			is_first = false;
			count++;
		}
		at += size;
	}
	return count;
}

/* The reader that docs/buffer.md describes, in a thread of its own. */

static const struct copy *reading;
static uint64_t expected; /* the next operand of the packet's thread; 0: any */

static void see_name(uint64_t head)
{
	const struct weft_abi_buffer *h = header();
	unsigned id = head >> 48;
	const unsigned char *entry =
		buffer + h->names_offset + h->names_index * 4 + (size_t)(id - 1) * WEFT_ABI_NAME_UNIT;
	uint64_t text = 0;
	memcpy(&text, "job", 3);
	if (machine_load(entry, 8, MACHINE_RELAXED) >> 32 != 3 ||
		machine_load(entry + 8, 8, MACHINE_RELAXED) != text)
		machine_fail("an event with a name that is not there yet");
}

static void see_in_order(uint64_t operand, uint64_t head, bool is_first, bool adopted)
{
	uint64_t number = FIELD(reading, number);
	if (is_first)
		expected = adopted ? operand : (operand >> 32 << 32) + number;
	if (operand != expected)
		machine_fail("a packet with somebody else's events");
	expected = operand + 1;
	if (head >> 48)
		see_name(head);
}

static uint64_t look(unsigned char *packet, unsigned order)
{
	return machine_load(packet + offsetof(struct weft_abi_packet, state), 8, order);
}

static void copy_packet(unsigned char *packet, struct copy *copy)
{
	uint32_t end = (uint32_t)machine_load(packet + offsetof(struct weft_abi_packet, committed), 4,
		fault == READER_COMMITTED_RELAXED ? MACHINE_RELAXED : MACHINE_ACQUIRE);
	copy->end = end / 8;
	if (copy->end > PACKET_WORDS) {
		machine_fail("more committed than the packet has");
		copy->end = PACKET_WORDS;
	}
	copy->words[offsetof(struct weft_abi_packet, number) / 8] =
		machine_load(packet + offsetof(struct weft_abi_packet, number), 8, MACHINE_RELAXED);
	for (uint32_t i = sizeof(struct weft_abi_packet) / 8; i < copy->end; i++)
		copy->words[i] = machine_load(packet + (size_t)i * 8, 8, MACHINE_RELAXED);
}

static void read_packet(unsigned index)
{
	unsigned char *packet = packet_at(index);
	struct copy copy;
	/* Acquire: what "open" was stored after is there. */
	uint64_t state =
		look(packet, fault == READER_FIRST_LOOK_RELAXED ? MACHINE_RELAXED : MACHINE_ACQUIRE);
	if (state == 0 || (state & WEFT_ABI_PACKET_STATE) == WEFT_ABI_PACKET_OPENING)
		return;
	copy_packet(packet, &copy);
	if (fault != READER_NO_FENCE)
		machine_fence(MACHINE_ACQUIRE);
	if (fault != READER_NO_RECHECK && look(packet, MACHINE_RELAXED) >> 2 != state >> 2)
		return;
	reading = &copy;
	each_event(&copy, see_in_order);
	reading = NULL;
}

static void read_first(void)
{
	read_packet(0);
}

/* The writers. */

static uint64_t next_operand(void)
{
	uint64_t writer = (machine_handles() ? HANDLER : own()) + 1;
	return writer << 32 | attempted[writer - 1]++;
}

static void write_one(void)
{
	weft_resolve(next_operand());
}

static void write_two(void)
{
	write_one();
	write_one();
}

static void write_three(void)
{
	write_two();
	write_one();
}

/* Two moments; the beginning of the second ends the first. */
static void write_moments(void)
{
	weft_moment_begin();
	write_two();
	weft_moment_begin();
	write_one();
	weft_moment_end();
}

static void write_moment(void)
{
	weft_moment_begin();
	write_two();
	weft_moment_end();
	write_one();
}

static void write_short_moment(void)
{
	weft_moment_begin();
	write_one();
	weft_moment_end();
}

/* Three words, so that a death in the middle leaves a count to be repaired. */
static void write_long(void)
{
	uint64_t operand = next_operand();
	weft_resolve_as(1, operand);
}

static uint64_t caches[MACHINE_THREADS];

static void write_named(void)
{
	weft__tag_value(WEFT_TASK_CURRENT, &caches[own()], "job", (int64_t)next_operand());
}

/* A reader of the low-water mark that docs/buffer.md describes. After a mark was returned, no older
 * event may become visible that was not seen by the reading of commits that belongs to the mark:
 * the past never changes.
 *
 * C11 has no notion of the slack. The model only assumes that stores which any thread had made when
 * the clock was read are seen by loads that come a slack later. (And of the clock: a thread's stamp
 * is not earlier than its store of the guard. A processor may read its counter before it has stored
 * what stands before; that is as if the store had waited in its store buffer, and the slack covers
 * it.) */

#define EVENTS_MAX 8 /* of a thread */
#define LOOKS_MAX  4

static struct look {
	uint64_t ticks;   /* the mark */
	uint64_t visible; /* a bit an event */
} looks[LOOKS_MAX];
static unsigned look_count;
static struct weft__mark mark;
static uint64_t visible;                                      /* in this reading */
static uint64_t stamps[MACHINE_THREADS * EVENTS_MAX];         /* of the events that were visible */
static const struct weft__ticks ns_clock = {.multiplier = 1}; /* a tick is a nanosecond */

static void see_stamp(uint64_t operand, uint64_t head, bool is_first, bool adopted)
{
	unsigned bit = writer_of(operand) * EVENTS_MAX + (uint32_t)operand;
	(void)is_first;
	(void)adopted;
	stamps[bit] = (uint32_t)head; /* the packet's base is 0 */
	visible |= (uint64_t)1 << bit;
}

/* Reads how much of the packet is visible and copies that at once. Other scenarios check that the
 * words are visible, and that they still belong to this content. */
static void read_commit(unsigned index)
{
	unsigned char *packet = packet_at(index);
	struct copy copy;
	uint64_t state = look(packet, MACHINE_ACQUIRE);
	if (state == 0 || (state & WEFT_ABI_PACKET_STATE) == WEFT_ABI_PACKET_OPENING)
		return;
	uint32_t end = (uint32_t)machine_load(
		packet + offsetof(struct weft_abi_packet, committed), 4, MACHINE_ACQUIRE);
	memcpy(copy.words, packet, sizeof(copy.words));
	copy.end = end / 8;
	if (copy.end > PACKET_WORDS)
		machine_fail("more committed than the packet has");
	else if (copy.words[0] >> 2 == state >> 2)
		each_event(&copy, see_stamp);
}

static void read_commits(void)
{
	visible = 0;
	for (unsigned i = 0; i < header()->packet_count; i++)
		read_commit(i);
}

static void check_past(void)
{
	for (unsigned i = 0; i < look_count; i++)
		for (unsigned bit = 0; bit < MACHINE_THREADS * EVENTS_MAX; bit++)
			if (visible >> bit & 1 && !(looks[i].visible >> bit & 1) &&
				stamps[bit] < looks[i].ticks)
				machine_fail("the past has changed");
}

static void follow_once(void)
{
	uint64_t ticks = model_ticks();
	if (fault != MARK_WITHOUT_SLACK)
		machine_settle();
	if (fault == MARK_AFTER_COMMITS)
		read_commits();
	if (fault == MARK_OF_NOW)
		mark.previous_ticks = ticks;
	weft__format_mark_look(&mark, ticks, &ns_clock);
	if (fault != MARK_AFTER_COMMITS)
		read_commits();
	check_past();
	looks[look_count++] = (struct look){mark.ticks, visible};
}

static void follow_twice(void)
{
	follow_once();
	follow_once();
}

/* Called at the end, when the mark must have reached the clock. */
static void check_mark(void)
{
	if (!is_marked)
		return;
	is_marked = false;
	follow_once();
	if (mark.ticks != clock_now && !is_mortal)
		machine_fail("the mark stays behind");
	weft__format_mark_finish(&mark);
}

static void start_mark(void)
{
	static struct weft__buffer view;
	static uint32_t used_before;
	machine_reuse(NULL, 0); /* the mark has memory of its own */
	view.bytes = buffer;
	memcpy(view.header, buffer, offsetof(struct weft_abi_buffer, uuid)); /* the places */
	if (weft__format_mark_init(&mark, &view, sizeof(buffer)))
		machine_fail("there is nothing to follow");
	used_before = header()->slots_used;
	if (fault == MARK_OF_FEWER_SLOTS)
		mark.used = (const uint8_t *)&used_before;
	memset(looks, 0, sizeof(looks));
	look_count = 0;
	is_marked = true;
}

/* At the end. */

static uint64_t seen[MACHINE_THREADS];   /* events */
static uint64_t newest[MACHINE_THREADS]; /* the highest number, plus 1 */
static uint64_t oldest[MACHINE_THREADS];

static void see_at_end(uint64_t operand, uint64_t head, bool is_first, bool adopted)
{
	unsigned writer = writer_of(operand);
	uint64_t number = (uint32_t)operand;
	(void)head;
	(void)is_first;
	(void)adopted;
	seen[writer]++;
	newest[writer] = number >= newest[writer] ? number + 1 : newest[writer];
	oldest[writer] = number < oldest[writer] ? number : oldest[writer];
}

static uint64_t count_events(void)
{
	uint64_t overwritten = 0;
	for (unsigned i = 0; i < header()->packet_count; i++) {
		struct copy copy;
		memcpy(copy.words, packet_at(i), sizeof(copy.words));
		if (copy.words[0] == 0)
			continue;
		bool is_opening = (copy.words[0] & WEFT_ABI_PACKET_STATE) == WEFT_ABI_PACKET_OPENING;
		overwritten += is_opening ? FIELD(&copy, written) : FIELD(&copy, before);
		copy.end = is_opening ? 0 : (uint32_t)FIELD(&copy, committed) / 8;
		if (copy.end > PACKET_WORDS) {
			machine_fail("more committed than the packet has");
			continue;
		}
		unsigned count = each_event(&copy, see_at_end);
		if ((copy.words[0] & WEFT_ABI_PACKET_STATE) == WEFT_ABI_PACKET_CLOSED &&
			FIELD(&copy, before) + count != FIELD(&copy, written))
			machine_fail("a closed packet that counts its events wrongly");
	}
	return overwritten;
}

static uint64_t other_losses(void)
{
	uint64_t sum = 0;
	for (unsigned cause = 0; cause < WEFT_ABI_LOSSES; cause++)
		sum += cause == WEFT_ABI_LOSS_NAMES_FULL ? 0 : header()->losses[cause];
	return sum;
}

static void check_names(void)
{
	for (unsigned i = 1; i < MACHINE_THREADS; i++)
		if (caches[0] && caches[i] && caches[0] != caches[i])
			machine_fail("one text with two ids");
}

static void check(void)
{
	uint64_t wanted = 0, found = 0;
	memset(seen, 0, sizeof(seen));
	memset(newest, 0, sizeof(newest));
	memset(oldest, 0xff, sizeof(oldest));
	uint64_t overwritten = count_events(), lost = other_losses();
	for (unsigned i = 0; i < MACHINE_THREADS; i++) {
		wanted += attempted[i];
		found += seen[i];
		if (seen[i] && newest[i] - oldest[i] != seen[i] && lost == 0)
			machine_fail("a gap between a thread's events, or one of them twice");
	}
	uint64_t known = found + overwritten + lost;
	/* A thread that dies inside an event has not recorded it. */
	if (known != wanted && !(is_mortal && known + 1 == wanted))
		machine_fail("events found, overwritten and lost are not those that were written");
	check_names();
	check_mark();
}

/* An event's first word is stored in halves. */
static bool is_event(const void *address)
{
	const struct weft_abi_buffer *h = header();
	size_t at = (size_t)((const unsigned char *)address - buffer);
	return at >= h->packets_offset && at < sizeof(buffer) &&
		   (at - h->packets_offset) % h->packet_bytes >= sizeof(struct weft_abi_packet);
}

/* Describes an address for the message of a failure. */
static const char *describe(const void *address)
{
	static char text[64];
	const struct weft_abi_buffer *h = header();
	unsigned at = (unsigned)((const unsigned char *)address - buffer);
	if (at >= sizeof(buffer))
		return "a cache";
	if (at >= h->packets_offset) {
		at -= (unsigned)h->packets_offset;
		snprintf(text, sizeof(text), "packet %u + %u", at / h->packet_bytes, at % h->packet_bytes);
	} else if (at >= h->names_offset) {
		snprintf(text, sizeof(text), "names + %u", at - (unsigned)h->names_offset);
	} else if (at >= h->slots_offset) {
		at -= (unsigned)h->slots_offset;
		snprintf(text, sizeof(text), "slot %u + %u", at / h->slot_bytes, at % h->slot_bytes);
	} else {
		snprintf(text, sizeof(text), "header + %u", at);
	}
	return text;
}

/* Scenarios. */

static void start(unsigned packets, uint32_t bytes)
{
	static const struct machine_memory plain[] = {{selves, sizeof(selves)},
		{attempted, sizeof(attempted)}, {caches, sizeof(caches)}, {&clock_now, sizeof(clock_now)}};
	machine_reuse(plain, sizeof(plain) / sizeof(*plain));
	weft_stop();
	memset(selves, 0, sizeof(selves));
	memset(attempted, 0, sizeof(attempted));
	memset(caches, 0, sizeof(caches));
	clock_now = 0;
	is_mortal = is_marked = false;
	platform.barrier = NULL;
	if (weft_start(buffer, sizeof(buffer), &platform))
		machine_fail("recording does not start");
	use_few_packets(packets, bytes);
}

static void one_packet_full(void)
{
	start(1, 32);
	write_two();
}

static void two_packets(void)
{
	start(2, 16);
}

static void three_packets(void)
{
	start(3, 16);
}

static void two_packets_one_full(void)
{
	start(2, 16);
	write_one();
}

static void room_to_inherit(void)
{
	start(2, 64);
	is_mortal = true;
	write_one();
}

static void nothing_but_the_dead_ones(void)
{
	start(1, 16);
	is_mortal = true;
	write_one();
}

/* The packet belongs to the first thread, which is between two events. */
static void one_packet_held(void)
{
	start(1, 48);
	platform.barrier = platform_barrier;
	write_one();
}

static void one_packet_to_open_again(void)
{
	start(1, 32);
	platform.barrier = platform_barrier;
	write_two();
}

static void two_packets_to_share(void)
{
	start(2, 32);
	platform.barrier = platform_barrier;
	write_one();
}

static void one_packet_held_by_a_mortal(void)
{
	one_packet_held();
	is_mortal = true;
}

static void three_packets_and_signals(void)
{
	three_packets();
	machine_signal(write_short_moment, 2);
}

static void nothing_yet_and_signals(void)
{
	start(2, 32);
	machine_signal(write_short_moment, 2);
}

static void one_packet_held_and_a_signal(void)
{
	one_packet_held();
	machine_signal(write_short_moment, 1);
}

static void names(void)
{
	start(2, 64);
}

static void two_writers_to_follow(void)
{
	start(2, 64);
	write_one();
	prepared_for = 1;
	write_one();
	prepared_for = 0;
	start_mark();
}

static void one_writer_to_follow(void)
{
	start(1, 64);
	write_one();
	start_mark();
}

static void a_packet_to_spare_to_follow(void)
{
	start(2, 64);
	write_one();
	start_mark();
}

static void one_packet_held_to_follow(void)
{
	one_packet_held();
	start_mark();
}

static void room_to_inherit_to_follow(void)
{
	room_to_inherit();
	start_mark();
}

static const struct scenario {
	const char *name;
	struct machine_test test;
} scenarios[] = {
	{"a packet is overwritten while it is read",
		{2, {write_three, read_first}, one_packet_full, check, filter, is_event, describe, true,
			false, 3, 1}},
	{"two writers claim packets from each other",
		{2, {write_two, write_two}, two_packets, check, filter, is_event, describe, true, false, 2,
			1}},
	{"two writers and a reader", {3, {write_two, write_one, read_first}, two_packets_one_full,
									 check, filter, is_event, describe, true, false, 2, 0}},
	{"two writers with packets to spare", {2, {write_two, write_one}, three_packets, check, filter,
											  is_event, describe, true, false, 2, 1}},
	{"two threads want what a dead one left",
		{3, {write_long, write_one, write_one}, room_to_inherit, check, filter, is_event, describe,
			true, true, 1, 1}},
	{"a thread goes on in a packet that is read",
		{3, {write_one, write_one, read_first}, room_to_inherit, check, filter, is_event, describe,
			true, true, 3, 2}},
	{"the only packet is a dead thread's",
		{3, {write_one, write_one, write_one}, nothing_but_the_dead_ones, check, filter, is_event,
			describe, true, true, 1, 0}},
	{"two threads give one text its name", {2, {write_named, write_named}, names, check, filter,
											   is_event, describe, true, false, 2, 1}},
	{"a name is read that two threads give",
		{3, {write_named, write_named, read_first}, names, check, filter, is_event, describe, true,
			false, 1, 2}},
	{"a packet is taken from a thread that goes on",
		{2, {write_two, write_one}, one_packet_held, check, filter, is_event, describe, true, false,
			2, 1}},
	{"a packet is wanted while it is opened",
		{2, {write_two, write_one}, one_packet_to_open_again, check, filter, is_event, describe,
			true, false, 3, 0}},
	{"two threads take a packet from a third",
		{3, {write_one, write_one, write_one}, one_packet_held, check, filter, is_event, describe,
			true, false, 2, 0}},
	{"three threads share two packets", {3, {write_two, write_two, write_one}, two_packets_to_share,
											check, filter, is_event, describe, true, false, 1, 1}},
	{"a packet is taken while it is read",
		{3, {write_one, write_one, read_first}, one_packet_held, check, filter, is_event, describe,
			true, false, 2, 0}},
	{"a packet is taken from a thread that may die",
		{2, {write_long, write_one}, one_packet_held_by_a_mortal, check, filter, is_event, describe,
			true, true, 2, 0}},
	{"a mark between one thread's events",
		{2, {write_two, follow_twice}, one_writer_to_follow, check, filter, is_event, describe,
			true, false, 4, 2}},
	{"a mark over two threads", {3, {write_one, write_one, follow_twice}, two_writers_to_follow,
									check, filter, is_event, describe, true, false, 3, 1}},
	{"a mark while a thread enters",
		{3, {write_one, write_one, follow_twice}, a_packet_to_spare_to_follow, check, filter,
			is_event, describe, true, false, 2, 1}},
	{"a mark while a packet is taken",
		{3, {write_one, write_one, follow_twice}, one_packet_held_to_follow, check, filter,
			is_event, describe, true, false, 2, 0}},
	{"a mark while a thread is in a moment",
		{2, {write_moments, follow_twice}, one_writer_to_follow, check, filter, is_event, describe,
			true, false, 3, 1}},
	{"a mark over a moment and an event",
		{3, {write_moments, write_one, follow_twice}, two_writers_to_follow, check, filter,
			is_event, describe, true, false, 2, 1}},
	{"a mark while a thread may die",
		{3, {write_one, write_one, follow_twice}, room_to_inherit_to_follow, check, filter,
			is_event, describe, true, true, 1, 1}},
	{"two handlers record moments in a moment",
		{1, {write_moment}, three_packets_and_signals, check, filter, NULL, describe, true, false,
			0, 0}},
	{"a handler records a moment while its thread enters",
		{1, {write_short_moment}, nothing_yet_and_signals, check, filter, NULL, describe, true,
			false, 0, 0}},
	{"a packet is taken while a handler records a moment",
		{2, {write_short_moment, write_one}, one_packet_held_and_a_signal, check, filter, NULL,
			describe, true, false, 1, 0}},
};

/* The planted bugs, each with the scenario that must find it. */
static const struct {
	enum fault fault;
	const char *name;
	unsigned scenario;
} faults[] = {
	{COMMIT_BEFORE_WORDS, "the commit comes before the words", 0},
	{COMMIT_NOT_RELEASED, "the commit is not release", 0},
	{OPEN_NOT_RELEASED, "open is not stored with release", 0},
	{OPENING_NOT_PUBLISHED, "a packet is open from its claim on", 0},
	{OPENING_NOT_FENCED, "no fence behind the claim", 0},
	{READER_NO_RECHECK, "the reader does not look again", 0},
	{READER_NO_FENCE, "the reader looks again without a fence", 0},
	{READER_FIRST_LOOK_RELAXED, "the reader's first look does not acquire", 0},
	{READER_COMMITTED_RELAXED, "the reader does not acquire the commit", 0},
	{CLAIM_TORN, "a claim by load and store", 1},
	{CLOSE_NOT_RELEASED, "closed is not stored with release", 1},
	{CLAIM_NOT_ACQUIRED, "a claim does not acquire", 1},
	{SLOT_TORN, "a slot is taken by load and store", 4},
	{ALIVE_TAKEN, "the slot of a living thread is taken", 4},
	{NAME_TORN, "a name enters the index by load and store", 7},
	{NAME_NOT_ACQUIRED, "an index is not acquired", 7},
	{TAKEN_WITHOUT_BARRIER, "a packet is taken without a barrier", 9},
	{TAKEN_IN_AN_EVENT, "a packet is taken in the middle of an event", 9},
	{TAKEN_WITH_ROOM, "the limit is not looked at again", 10},
	{TAKEN_TORN, "a packet is taken by load and store", 9},
	{TAKEN_NOT_ACQUIRED, "a clear guard is not acquired", 9},
	{GUARD_NOT_RELEASED, "the guard is not cleared with release", 9},
	{MARK_WITHOUT_SLACK, "no slack", 15},
	{MARK_OF_NOW, "an odd sequence gives the time of this look", 15},
	{MARK_AFTER_COMMITS, "the commits are read before the sequences", 15},
	{MARK_NOT_ACQUIRED, "the sequences are not acquired", 15},
	{GUARD_LATE, "the guard is stored behind the stamp", 15},
	{GUARD_NEVER_ODD, "the guard is never set", 15},
	{GUARD_NOT_RELEASED, "the guard is not cleared with release", 15},
	{MARK_WITHOUT_SLACK, "no slack", 16},
	{MARK_WITHOUT_SLACK, "no slack", 17},
	{MARK_OF_FEWER_SLOTS, "the new slot is not counted", 17},
	{MARK_WITHOUT_SLACK, "no slack", 19},
	{GUARD_NEVER_ODD, "the guard is not set in a moment", 19},
	{GUARD_NOT_RELEASED, "the guard is not cleared with release", 19},
	{MARK_OF_NOW, "an odd sequence gives the time of this look", 20},
	{MOMENT_ASKED_BEFORE, "a guard is set in a moment that has ended", 22},
	{MOMENT_GUARD_NEVER_ODD, "the moment's guard is never set", 22},
	{MOMENT_ASKED_BEFORE, "a guard is set in a moment that has ended", 24},
};

static unsigned cases, failures;

static void tap(
	bool is_ok, const char *name, const char *spoilt, const struct machine_result *result)
{
	cases++;
	failures += !is_ok;
	printf("%sok %u - %s%s%s\n", is_ok ? "" : "not ", cases, name, spoilt ? ", spoilt: " : "",
		spoilt ? spoilt : "");
	printf("# %llu executions, %u shared words: %s\n", (unsigned long long)result->executions,
		result->words, result->failure ? result->failure : "it holds");
	fflush(stdout);
}

/* In a process of its own, because a planted bug may crash, which counts as found. */
static struct machine_result run_spoilt(const struct scenario *scenario, enum fault what)
{
	struct machine_result result = {0, 0, NULL};
	int ends[2], status;
	if (pipe(ends))
		return result;
	pid_t child = fork();
	if (child == 0) {
		struct machine_test test = scenario->test;
		test.verbose = false;
		fault = what;
		result = machine_run(&test);
		ssize_t written = write(ends[1], &result, sizeof(result));
		_exit(written != sizeof(result));
	}
	close(ends[1]);
	ssize_t got = read(ends[0], &result, sizeof(result)); /* its texts are constants here too */
	close(ends[0]);
	if (child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status) && got == 0)
		result.failure = "a crash";
	return result;
}

/* Arguments: only cases whose names contain the first. */
int main(int count, char **arguments)
{
	const char *only = count > 1 ? arguments[1] : "";
	const unsigned scenario_count = sizeof(scenarios) / sizeof(*scenarios);
	const unsigned fault_count = sizeof(faults) / sizeof(*faults);
	printf("1..%u\n", scenario_count + fault_count);
	for (unsigned i = 0; i < scenario_count; i++) {
		if (!strstr(scenarios[i].name, only))
			continue;
		struct machine_result result = machine_run(&scenarios[i].test);
		tap(!result.failure, scenarios[i].name, NULL, &result);
	}
	for (unsigned i = 0; i < fault_count; i++) {
		if (!strstr(scenarios[faults[i].scenario].name, only))
			continue;
		struct machine_result result = run_spoilt(&scenarios[faults[i].scenario], faults[i].fault);
		tap(result.failure, scenarios[faults[i].scenario].name, faults[i].name, &result);
	}
	return failures != 0;
}

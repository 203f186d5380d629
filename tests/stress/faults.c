/* SPDX-License-Identifier: ISC
 *
 * Planted bugs in steps of the recorder. The location of an access in the buffer shows which step
 * it is.
 */
#include "faults.h"

#include "abi/buffer_abi.h"
#include "abi/packet_abi.h"
#include "delay.h"
#include "record/recorder.h"

enum stress_fault stress_fault;

static struct {
	unsigned char *buffers;
	size_t buffer_bytes;
	unsigned count;
} watched;

void stress_watch(unsigned char *buffers, size_t buffer_bytes, unsigned count)
{
	watched.buffers = buffers;
	watched.buffer_bytes = buffer_bytes;
	watched.count = count;
}

enum part {
	ELSEWHERE,
	SLOT,
	NAME_INDEX,
	PACKET
};

struct location {
	enum part part;
	size_t at; /* in the slot or packet */
	bool is_own;
};

static struct location locate(const volatile void *address)
{
	uintptr_t distance = (uintptr_t)address - (uintptr_t)watched.buffers;
	if (distance >= watched.buffer_bytes * watched.count)
		return (struct location){ELSEWHERE, 0, false};
	size_t at = distance % watched.buffer_bytes;
	const struct weft_abi_buffer *header = (const void *)((const char *)address - at);
	if (at >= header->packets_offset)
		return (struct location){
			PACKET, (at - header->packets_offset) % header->packet_bytes, false};
	if (at >= header->names_offset)
		return (struct location){
			at < header->names_offset + header->names_index * 4 ? NAME_INDEX : ELSEWHERE, 0, false};
	if (at < header->slots_offset ||
		at >= header->slots_offset + (size_t)header->slot_count * header->slot_bytes)
		return (struct location){ELSEWHERE, 0, false};
	at = (at - header->slots_offset) % header->slot_bytes;
	const void *slot = (const char *)address - at;
	return (struct location){SLOT, at, slot == weft__record_self()->slot};
}

#define IS(location, kind, type, field) \
	((location).part == (kind) && (location).at == offsetof(struct type, field))

static void store(volatile void *address, size_t size, uint64_t value)
{
	switch (size) {
	case 1:
		__atomic_store_n((volatile uint8_t *)address, (uint8_t)value, __ATOMIC_RELEASE);
		break;
	case 2:
		__atomic_store_n((volatile uint16_t *)address, (uint16_t)value, __ATOMIC_RELEASE);
		break;
	case 4:
		__atomic_store_n((volatile uint32_t *)address, (uint32_t)value, __ATOMIC_RELEASE);
		break;
	default:
		__atomic_store_n((volatile uint64_t *)address, value, __ATOMIC_RELEASE);
	}
}

static uint64_t load(const volatile void *address, size_t size)
{
	switch (size) {
	case 1:
		return __atomic_load_n((const volatile uint8_t *)address, __ATOMIC_ACQUIRE);
	case 2:
		return __atomic_load_n((const volatile uint16_t *)address, __ATOMIC_ACQUIRE);
	case 4:
		return __atomic_load_n((const volatile uint32_t *)address, __ATOMIC_ACQUIRE);
	default:
		return __atomic_load_n((const volatile uint64_t *)address, __ATOMIC_ACQUIRE);
	}
}

/* Stores of the thread that wait, as in a processor's store buffer. */
#define LATE_MAX 8

static _Thread_local struct {
	struct {
		volatile void *address;
		size_t size;
		uint64_t value;
	} list[LATE_MAX];
	unsigned count;
} late;

static void make_late_stores(void)
{
	unsigned count = late.count;
	late.count = 0;
	if (count)
		stress_wait();
	for (unsigned i = 0; i < count; i++)
		store(late.list[i].address, late.list[i].size, late.list[i].value);
}

static bool be_late(volatile void *address, size_t size, uint64_t value)
{
	if (late.count == LATE_MAX)
		make_late_stores();
	late.list[late.count].address = address;
	late.list[late.count].size = size;
	late.list[late.count++].value = value;
	return true;
}

uint64_t stress_load(const volatile void *address, size_t size, bool acquires)
{
	struct location location = locate(address);
	/* Only a thread that takes a packet loads it with acquire order. */
	if (stress_fault == STRESS_TAKEN_IN_AN_EVENT && IS(location, SLOT, weft_abi_slot, sequence) &&
		acquires)
		return 0;
	uint64_t value = load(address, size);
	/* A processor may do this: the limit is loaded before others see the guard. */
	if (stress_fault == STRESS_TAKEN_WITHOUT_BARRIER && IS(location, SLOT, weft_abi_slot, limit) &&
		location.is_own)
		make_late_stores();
	return value;
}

bool stress_store(volatile void *address, size_t size, uint64_t value)
{
	struct location location = locate(address);
	if (stress_fault == STRESS_COMMIT_BEFORE_WORDS && location.part == PACKET) {
		if (location.at >= sizeof(struct weft_abi_packet))
			return be_late(address, size, value);
		store(address, size, value);
		if (location.at == offsetof(struct weft_abi_packet, committed))
			make_late_stores();
		return true;
	}
	if (stress_fault == STRESS_TAKEN_WITHOUT_BARRIER && location.is_own &&
		IS(location, SLOT, weft_abi_slot, sequence)) {
		late.count = 0;
		return value % 2 && stress_next() % 16 == 0 && be_late(address, size, value);
	}
	if (stress_fault == STRESS_MOMENT_UNGUARDED && location.is_own &&
		IS(location, SLOT, weft_abi_slot, moment_events)) {
		store(address, size, value & ~(uint64_t)1);
		return true;
	}
	return false;
}

static bool is_torn(struct location location)
{
	switch (stress_fault) {
	case STRESS_CLAIM_TORN:
		return IS(location, PACKET, weft_abi_packet, state);
	case STRESS_TAKEN_TORN:
		return IS(location, SLOT, weft_abi_slot, taken);
	case STRESS_SLOT_TORN:
		return IS(location, SLOT, weft_abi_slot, owner);
	case STRESS_NAME_TORN:
		return location.part == NAME_INDEX;
	case STRESS_SOUND:
	case STRESS_COMMIT_BEFORE_WORDS:
	case STRESS_OPENING_NOT_PUBLISHED:
	case STRESS_TAKEN_WITHOUT_BARRIER:
	case STRESS_TAKEN_IN_AN_EVENT:
	case STRESS_ALIVE_TAKEN:
	case STRESS_MOMENT_UNGUARDED:
	case STRESS_FAULTS:
		break;
	}
	return false;
}

bool stress_exchange(volatile void *address, size_t size, uint64_t expected, uint64_t desired)
{
	struct location location = locate(address);
	if (is_torn(location)) {
		if (load(address, size) != expected)
			return false;
		stress_wait();
		store(address, size, desired);
		return true;
	}
	if (stress_fault == STRESS_OPENING_NOT_PUBLISHED &&
		IS(location, PACKET, weft_abi_packet, state))
		desired += WEFT_ABI_PACKET_OPEN - WEFT_ABI_PACKET_OPENING;
	if (size == 4) {
		uint32_t old = (uint32_t)expected;
		return __atomic_compare_exchange_n((volatile uint32_t *)address, &old, (uint32_t)desired, 0,
			__ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	}
	return __atomic_compare_exchange_n(
		(volatile uint64_t *)address, &expected, desired, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

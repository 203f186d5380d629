/* SPDX-License-Identifier: ISC
 *
 * A ring in which another process writes whatever it likes, while threads record into it: the
 * recorder stays within the ring. The ring lies between pages without access, and the values are
 * chosen to be taken for addresses, sizes and counts.
 */
#include <pthread.h>
#include <sys/mman.h>

#include "record_trace.h"

#include "record/recorder.h"

#define RING_BYTES ((size_t)128 << 10)
#define GUARD      ((size_t)64 << 10)
#define RECORDERS  3
#define EVENTS     20000

static unsigned char *ring;
static uint64_t private_memory[64]; /* of this process; its address is written into the ring */
static uint32_t recorders_left;

static uint32_t lot(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static uint64_t hostile_value(uint32_t *state)
{
	const uint64_t values[] = {0, 1, 8, 127, 4096, 65536, RING_BYTES, UINT32_MAX, UINT32_MAX - 7,
		(uint64_t)1 << 32, UINT64_MAX, UINT64_MAX - 7, INT64_MAX, (uintptr_t)private_memory,
		(uintptr_t)private_memory - (uintptr_t)ring, (uintptr_t)ring,
		(uintptr_t)ring + RING_BYTES - 8};
	uint32_t chosen = lot(state) % (sizeof(values) / sizeof(values[0]) + 4);
	return chosen < sizeof(values) / sizeof(values[0]) ? values[chosen] : lot(state);
}

/* The header, the slots, the names' index, or the header of a packet. */
static size_t hostile_place(uint32_t *state)
{
	const struct weft__region *region = weft__record_region();
	size_t packets = (size_t)(region->packets - ring);
	switch (lot(state) % 4) {
	case 0:
		return lot(state) % 4096;
	case 1:
		return 4096 + lot(state) % (8 * sizeof(struct weft_abi_slot));
	case 2:
		return 4096 + lot(state) % (packets - 4096);
	default:
		return packets + lot(state) % region->packet_count * region->packet_bytes +
			   lot(state) % 128;
	}
}

static void *attack(void *unused)
{
	uint32_t state = 1;
	(void)unused;
	while (__atomic_load_n(&recorders_left, __ATOMIC_RELAXED) > 0) {
		/* Some events go well in between, so that packets are filled, too. */
		for (volatile uint32_t pause = lot(&state) % 65536; pause > 0; pause--)
			continue;
		size_t at = hostile_place(&state) & ~(size_t)7;
		if (at == offsetof(struct weft_abi_buffer, hold_until))
			continue; /* this would stop the recording */
		at += lot(&state) % 2 * 4;
		if (at % 8 == 0 && lot(&state) % 2)
			__atomic_store_n(
				(uint64_t *)(void *)(ring + at), hostile_value(&state), __ATOMIC_RELAXED);
		else
			__atomic_store_n(
				(uint32_t *)(void *)(ring + at), (uint32_t)hostile_value(&state), __ATOMIC_RELAXED);
	}
	return NULL;
}

static void *record(void *number)
{
	char text[40];
	uint64_t cache = 0;
	for (unsigned i = 0; i < EVENTS; i++) {
		snprintf(text, sizeof(text), "text %u of %u", i, (unsigned)(uintptr_t)number);
		weft_set_level("*", WEFT_LEVEL_INFO); /* else the attack soon turns all calls off */
		uint64_t task = weft_create(WEFT_KIND_TASK);
		weft_label_as(task, text);
		weft_counter_add("count", 1);
		weft_mark("mark", "number", i, "text", text);
		weft__kind(&cache, text);
		weft_resolve(task);
		weft_moment_begin();
		weft_switch(task);
		weft_moment_end();
		if (i % 64 == 0)
			weft_snapshot_request(text);
	}
	__atomic_fetch_sub(&recorders_left, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void map_ring(void)
{
	unsigned char *memory =
		mmap(NULL, RING_BYTES + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(memory, MAP_FAILED);
	ring = memory + GUARD;
	assert_int_equal(mprotect(ring, RING_BYTES, PROT_READ | PROT_WRITE), 0);
}

static void the_recorder_stays_in_its_ring(void **state)
{
	pthread_t threads[RECORDERS], attacker;
	(void)state;
	map_ring();
	assert_int_equal(weft_start(ring, RING_BYTES, NULL), 0);
	recorders_left = RECORDERS;
	for (uintptr_t i = 0; i < RECORDERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, record, (void *)i), 0);
	assert_int_equal(pthread_create(&attacker, NULL, attack, NULL), 0);
	for (unsigned i = 0; i < RECORDERS; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(pthread_join(attacker, NULL), 0);
	assert_true(weft__record_generation() != 0);
	weft_stop();
	for (unsigned i = 0; i < sizeof(private_memory) / 8; i++)
		assert_int_equal(private_memory[i], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_recorder_stays_in_its_ring),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

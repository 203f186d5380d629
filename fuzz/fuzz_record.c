/* SPDX-License-Identifier: ISC
 *
 * The recorder's view of its ring: the input is a script of events by a few threads, and of what
 * another process writes into the ring between them. The ring lies between pages without access, so
 * an access outside of it ends the run, as does one at an address that the script has stored.
 *
 * The recorder is the one without an operating system: threads and the clock are numbers here.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <weft/weft.h>

#include "abi/buffer_abi.h"
#include "reader.h"
#include "record/recorder.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#define THREADS    4
#define RING_BYTES (128 << 10)
#define GUARD      65536 /* not less than a page */
#define STEPS_MAX  4096

static unsigned char *ring;
static uint64_t memories[THREADS + 1][2];
static uint32_t thread = 1;
static uint64_t now;

static uint64_t ticks(void *context)
{
	(void)context;
	return now += 100;
}

static uint32_t self(void *context, char ret_name[16])
{
	(void)context;
	memcpy(ret_name, "fuzzed", 7);
	return thread;
}

static bool has_ended(void *context, uint32_t other)
{
	(void)context;
	return other > THREADS || other % 2 == now / 4096 % 2;
}

static void *thread_memory(void *context)
{
	(void)context;
	return memories[thread];
}

static bool barrier(void *context)
{
	(void)context;
	return true;
}

static const struct weft_platform platform = {.ticks = ticks,
	.ticks_hz = 1000000000,
	.self = self,
	.has_ended = has_ended,
	.thread_memory = thread_memory,
	.barrier = barrier};

/* The bytes of the script that are left. */
struct script {
	const uint8_t *at, *end;
};

static uint64_t take(struct script *script, size_t bytes)
{
	uint64_t value = 0;
	size_t left = (size_t)(script->end - script->at);
	memcpy(&value, script->at, bytes < left ? bytes : left);
	script->at += bytes < left ? bytes : left;
	return value;
}

/* Mostly where the recorder looks: the second half of the header, the first slots, the beginnings
 * of the names and of each packet. */
static size_t place(const struct weft__region *region, uint64_t kind, uint64_t number)
{
	const unsigned char *start = (const unsigned char *)region->header;
	size_t slots = (size_t)((const unsigned char *)region->slots - start);
	size_t names = (size_t)(region->names - start), packets = (size_t)(region->packets - start);
	size_t entries = names + region->names_index * 4;
	switch (kind % 6) {
	case 0:
		return offsetof(struct weft_abi_buffer, hand) + number % 1024;
	case 1:
		return slots + number % (THREADS * sizeof(struct weft_abi_slot));
	case 2:
		return names + number % (region->names_index * 4);
	case 3:
		return entries + number % 1024;
	case 4:
		return packets + number / 128 % region->packet_count * region->packet_bytes + number % 128;
	default:
		return number * 8 % RING_BYTES;
	}
}

/* As another process would: also while the recorder uses the value. */
static void poke(struct script *script)
{
	uint64_t kind = take(script, 1), number = take(script, 2), value = take(script, 8);
	size_t bytes = kind & 0x80 ? 4 : 8,
		   at = place(weft__record_region(), kind, number) & ~(bytes - 1);
	if (kind & 0x40) /* a small number, or one around 2^32 and 2^64 */
		value = (uint64_t)(int64_t)(int8_t)value;
	if (at + bytes <= RING_BYTES)
		memcpy(ring + at, &value, bytes);
}

static void record(struct script *script)
{
	static uint64_t task;
	const struct weft_value value = {.type = WEFT_VALUE_U64, .is.u64 = 7};
	static const char *const names[] = {"mark", "field"};
	char text[200];
	unsigned kind = (unsigned)take(script, 1), size = (unsigned)take(script, 1) % sizeof(text);
	memset(text, 'a' + kind % 26, size);
	text[size ? size - 1 : 0] = '\0';
	switch (kind % 16) {
	case 0:
		task = weft_create(WEFT_KIND_TASK);
		break;
	case 1:
		weft_label_n(text, size);
		break;
	case 2:
		weft_switch(task);
		break;
	case 3:
		weft__counter_set(WEFT_TASK_CURRENT, NULL, text, 1);
		break;
	case 4:
		weft_moment_begin();
		break;
	case 5:
		weft_moment_end();
		break;
	case 6:
		weft_resolve(task);
		break;
	case 7:
		weft__mark(WEFT_TASK_CURRENT, NULL, names, 1, &value);
		break;
	case 8:
		weft_thread_name(text);
		break;
	case 9:
		weft_snapshot_request(text);
		break;
	case 10:
		weft_trigger(text);
		break;
	case 11:
		weft_set_level(size % 2 ? "*" : text, (enum weft_level)(size % 6));
		break;
	case 12:
		now += (uint64_t)size << 28; /* the stamps' base changes */
		break;
	case 13:
		for (unsigned i = 0; i < size * 4; i++)
			weft_resolve_as(i, task); /* fills packets */
		break;
	case 14:
		task = weft__create_in(&weft_category_program, WEFT_TASK_CURRENT,
			weft__kind_in(&weft_category_program, NULL, text));
		break;
	default:
		weft_enter(task);
		weft_leave();
		break;
	}
}

static void map_ring(void)
{
	unsigned char *memory = mmap(NULL, RING_BYTES + 2 * GUARD, PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	require(memory != MAP_FAILED);
	ring = memory + GUARD;
	require(mprotect(ring, RING_BYTES, PROT_READ | PROT_WRITE) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct script script = {bytes, bytes + size};
	if (!ring)
		map_ring();
	memset(memories, 0, sizeof(memories));
	require(weft_start(ring, RING_BYTES, &platform) == 0);
	for (unsigned i = 0; i < STEPS_MAX && script.at < script.end; i++) {
		unsigned step = (unsigned)take(&script, 1);
		thread = 1 + step / 4 % THREADS;
		if (step % 4 == 0)
			poke(&script);
		else
			record(&script);
	}
	weft_stop();
	return 0;
}

/* SPDX-License-Identifier: ISC
 *
 * The facts of plain events, which are made from the words of packets, are those of the same events
 * read one by one: in random traces, whatever is lost or damaged.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "abi/buffer_abi.h"
#include "abi/stream_abi.h"
#include "same_facts.h"
#include "cut_parts.h"
#include "random_events.h"

enum {
	TRACES = 60,
	EVENTS = 1500,
};

/* Names that come again, on which the short way depends; categories; states that are described. */
static void change(struct weft_event *event, uint64_t *seed)
{
	static const char *const names[] = {"one", "two", "three", ""};
	const bool has_text = event->type == WEFT_EVENT_LABEL || event->type == WEFT_EVENT_NOTE ||
						  event->type == WEFT_EVENT_BEGIN || event->type == WEFT_EVENT_FAIL ||
						  event->type == WEFT_EVENT_TAG;
	if (has_text && next_random(seed) % 4)
		event->text = text_of(names[next_random(seed) % 4]);
	if (event->type == WEFT_EVENT_CREATE && next_random(seed) % 4 == 0)
		event->category = text_of(next_random(seed) % 2 ? "io" : "thread");
	if (event->type == WEFT_EVENT_EXPECT && next_random(seed) % 2) {
		event->type = WEFT_EVENT_ALIVE;
		event->is_rundown = event->has_value = true;
		event->value = 5;
	}
	event->is_rundown |= next_random(seed) % 16 == 0;
}

/* A trace of three threads, in which tasks are created again and many times are equal. */
static struct weft_text random_trace(uint64_t *seed)
{
	struct weft_text part = {0};
	struct weft_field fields[16];
	struct weft_cut *cut = begin(&all, &part);
	uint64_t now = 1000;
	for (int i = 0; i < EVENTS; i++) {
		struct weft_event event = random_event(seed, fields);
		change(&event, seed);
		event.time_ns = now += next_random(seed) % 3 / 2;
		if (next_random(seed) % 8)
			event.thread = 0;
		add(cut, &event);
	}
	assert_int_equal(weft_cut_finish(cut, &description), 0);
	weft_cut_destroy(cut);
	return part;
}

/* Takes a packet out, so that its events are lost. */
static void lose_packet(struct weft_text *part, uint64_t *seed)
{
	for (size_t at = sizeof(struct weft_abi_buffer); at < part->size;) {
		const struct weft_abi_chunk *chunk = (const void *)(part->bytes + at);
		const size_t size = sizeof(*chunk) + chunk->bytes;
		if (chunk->kind == WEFT_ABI_CHUNK_PACKET && next_random(seed) % 4 == 0) {
			memmove(part->bytes + at, part->bytes + at + size, part->size - at - size);
			part->size -= size;
			return;
		}
		at += size;
	}
}

/* Changes bytes, some of them the length in the head of an event. */
static void damage(struct weft_text *part, uint64_t *seed)
{
	const size_t first = sizeof(struct weft_abi_buffer);
	for (uint32_t i = next_random(seed) % 30; i > 0; i--) {
		const size_t at = first + next_random(seed) % (part->size - first);
		const bool is_length = next_random(seed) % 2;
		part->bytes[is_length ? (at & ~(size_t)7) + 5 : at] = (char)(next_random(seed) % 4);
	}
}

/* Returns how many facts were made by the short way. */
static uint64_t compare(const struct weft_text *part, uint64_t seed)
{
	static const uint32_t most[] = {64, 1, 7};
	uint64_t plain;
	const bool is_same = has_same_facts(part->bytes, part->size, most[seed % 3], seed % 2, &plain);
	if (!is_same)
		print_error("the trace of seed %u\n", (unsigned)seed);
	assert_true(is_same);
	return plain;
}

static void plain_facts_are_those_of_events(void **state)
{
	(void)state;
	uint64_t plain = 0;
	for (uint64_t seed = 1; seed <= TRACES; seed++) {
		uint64_t random = seed;
		struct weft_text part = random_trace(&random);
		plain += compare(&part, seed);
		lose_packet(&part, &random);
		compare(&part, seed);
		damage(&part, &random);
		compare(&part, seed);
		weft_text_finish(&part);
	}
	assert_in_range(plain, TRACES * EVENTS / 4, TRACES * EVENTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_facts_are_those_of_events),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

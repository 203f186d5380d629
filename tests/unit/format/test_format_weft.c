/* SPDX-License-Identifier: ISC
 *
 * The decoder of weft's own buffer, on buffers made by hand: content that no recorder writes, or
 * only in a race. The recorder's tests check that its buffers can be read.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <weft/buffer.h>
#include <weft/decoder.h>

#include "abi/buffer_abi.h"
#include "abi/event_abi.h"
#include "abi/name_abi.h"
#include "abi/packet_abi.h"
#include "format/weft/event.h"

enum {
	PACKET_BYTES = 4096,
	PACKETS = 4,
	NAMES_INDEX = 16,
	NAMES_BYTES = 1024,
	PACKETS_OFFSET = 4096 + NAMES_BYTES,
	BUFFER_BYTES = PACKETS_OFFSET + PACKETS * PACKET_BYTES,
};

static _Alignas(8) unsigned char buffer[BUFFER_BYTES];

static struct weft_abi_buffer *header(void)
{
	return (struct weft_abi_buffer *)(void *)buffer;
}

static struct weft_abi_packet *packet(unsigned index)
{
	return (struct weft_abi_packet *)(void *)(buffer + PACKETS_OFFSET + index * PACKET_BYTES);
}

/* An empty buffer whose clock ticks twice a nanosecond. */
static int set_up(void **state)
{
	struct weft_abi_buffer *h = header();
	(void)state;
	memset(buffer, 0, sizeof(buffer));
	memcpy(h->magic, WEFT_ABI_MAGIC, sizeof(h->magic));
	h->version = WEFT_ABI_VERSION;
	h->header_bytes = sizeof(*h);
	h->buffer_bytes = BUFFER_BYTES;
	h->packet_bytes = PACKET_BYTES;
	h->packet_count = PACKETS;
	h->packets_offset = PACKETS_OFFSET;
	h->names_offset = sizeof(*h);
	h->names_bytes = NAMES_BYTES;
	h->names_index = NAMES_INDEX;
	h->clock = WEFT_ABI_CLOCK_TSC;
	h->start = (struct weft_abi_clock_reading){1000, 500, 1000000000000000500};
	h->end = (struct weft_abi_clock_reading){1000 + 20000000, 500 + 10000000, 0};
	h->pid = 77;
	strcpy(h->program, "maker");
	return 0;
}

static uint16_t add_name_bytes(const char *text, uint32_t size)
{
	static const unsigned char *entries = buffer + sizeof(struct weft_abi_buffer) + NAMES_INDEX * 4;
	uint32_t used = header()->names_used;
	struct weft_abi_name entry = {0, size};
	memcpy((void *)(uintptr_t)(entries + used), &entry, sizeof(entry));
	memcpy((void *)(uintptr_t)(entries + used + sizeof(entry)), text, size);
	header()->names_used = used + (size + 8 + 15) / 16 * 16;
	return (uint16_t)(used / WEFT_ABI_NAME_UNIT + 1);
}

static uint16_t add_name(const char *text)
{
	return add_name_bytes(text, (uint32_t)strlen(text));
}

static void open_packet(unsigned index, uint64_t sequence, uint32_t thread, uint64_t base_ticks)
{
	struct weft_abi_packet *p = packet(index);
	memset(p, 0, PACKET_BYTES);
	p->state = sequence << 2 | WEFT_ABI_PACKET_OPEN;
	p->committed = sizeof(*p);
	p->thread = thread;
	p->tid = 100 + thread;
	p->base_ticks = base_ticks;
	p->task = WEFT_TASK_NONE;
	snprintf(p->name, sizeof(p->name), "thread-%u", thread);
}

static void put(unsigned index, uint32_t ticks, unsigned kind, unsigned small, unsigned count,
	const uint64_t *operands)
{
	struct weft_abi_packet *p = packet(index);
	uint64_t *at = (uint64_t *)(void *)((unsigned char *)p + p->committed);
	at[0] = WEFT_ABI_HEAD(kind, count + 1, small) | ticks;
	for (unsigned i = 0; i < count; i++)
		at[i + 1] = operands[i];
	p->committed += (count + 1) * 8;
}

static void put_switch(unsigned index, uint32_t ticks, uint64_t task)
{
	put(index, ticks, WEFT_ABI_SWITCH, 0, 1, &task);
}

struct reading {
	struct weft_decoder *decoder;
	struct weft_event events[32];
	char texts[32][64];
	unsigned count;
	int status;
};

static struct reading *read_bytes(const void *bytes, size_t size)
{
	struct reading *r = calloc(1, sizeof(*r));
	assert_int_equal(weft_decoder_create(&r->decoder), 0);
	assert_int_equal(weft_decoder_feed_borrowed(r->decoder, bytes, size), 0);
	r->status = weft_decoder_finish(r->decoder);
	while (r->status == 0) {
		struct weft_event *e = &r->events[r->count];
		assert_true(r->count < 32);
		r->status = weft_decoder_next(r->decoder, e);
		if (r->status != WEFT_OK)
			break;
		snprintf(r->texts[r->count], 64, "%.*s", (int)e->text.size, e->text.bytes);
		r->count++;
	}
	return r;
}

static struct reading *read_buffer(void)
{
	return read_bytes(buffer, sizeof(buffer));
}

static size_t diagnostics(const struct reading *r)
{
	return weft_decoder_diagnostics(r->decoder)->count;
}

static uint64_t losses(const struct reading *r, enum weft_loss cause)
{
	return weft_decoder_describe(r->decoder)->losses[cause];
}

static void done(struct reading *r)
{
	weft_decoder_destroy(r->decoder);
	free(r);
}

static void a_buffer_without_events_is_an_empty_trace(void **state)
{
	(void)state;
	struct reading *r = read_buffer();
	assert_int_equal(r->status, WEFT_END);
	assert_int_equal(diagnostics(r), 0);
	done(r);
}

static void packets_are_merged_by_time_then_sequence(void **state)
{
	(void)state;
	open_packet(0, 7, 2, 1000); /* the ring started over: 0 is newer than 3 */
	open_packet(1, 5, 1, 1000);
	open_packet(3, 4, 2, 1000);
	put_switch(3, 10, 30);
	put_switch(3, 50, 31);
	put_switch(1, 20, 10);
	put_switch(1, 60, 11);
	put_switch(0, 60, 32);
	put_switch(0, 70, WEFT_TASK_NONE);
	struct reading *r = read_buffer();
	static const uint64_t tasks[] = {30, 10, 31, 11, 32, WEFT_TASK_NONE};
	static const uint64_t times[] = {505, 510, 525, 530, 530, 535};
	static const uint32_t threads[] = {1, 0, 1, 0, 1, 1};
	assert_int_equal(r->status, WEFT_END);
	assert_int_equal(r->count, 6);
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(r->events[i].task, tasks[i]);
		assert_int_equal(r->events[i].time_ns, times[i]);
		assert_int_equal(r->events[i].thread, threads[i]);
	}
	const struct weft_trace_description *d = weft_decoder_describe(r->decoder);
	assert_int_equal(d->thread_count, 2);
	assert_string_equal(d->threads[1].name, "thread-2");
	assert_string_equal(d->buffers[d->threads[1].buffer].process, "maker");
	assert_int_equal(d->threads[1].tid, 102);
	assert_int_equal(d->clock.hz, 2000000000);
	assert_int_equal(d->clock.offset_ns, 1000000000000000000);
	done(r);
}

#define FAR "a time more than 2^58 ns (9 years) from the rest of the trace; it is limited"

/* A damaged packet header, and a damaged time record in the middle of a packet. */
static void times_centuries_away_are_held(void **state)
{
	(void)state;
	const uint64_t far = UINT64_MAX / 2;
	open_packet(0, 4, 1, 1000);
	open_packet(1, 5, 2, 2000);
	open_packet(3, 6, 3, far);
	put_switch(0, 10, 10);
	put(0, 0, WEFT_ABI_TIME, 0, 1, &far);
	put_switch(0, 20, 11);
	put_switch(1, 30, 20);
	put_switch(3, 40, 30);
	struct reading *r = read_buffer();
	static const uint64_t tasks[] = {10, 11, 20, 30}, times[] = {505, 505, 1015, 1015};
	assert_int_equal(r->count, 4);
	for (unsigned i = 0; i < 4; i++)
		for (unsigned j = 0; j < 4; j++)
			if (r->events[i].task == tasks[j])
				assert_true(r->events[i].time_ns <= times[j] && r->events[i].time_ns >= 505);
	const struct weft_diagnostics *d = weft_decoder_diagnostics(r->decoder);
	uint64_t count = 0;
	for (size_t i = 0; i < d->count; i++)
		count += strcmp(d->list[i].message, FAR) == 0 ? d->list[i].count : 0;
	assert_int_equal(count, 3);
	done(r);
}

static void the_current_task_acts(void **state)
{
	(void)state;
	open_packet(0, 1, 1, 1000);
	put_switch(0, 1, 5);
	put(0, 2, WEFT_ABI_READ, 1, 1, (uint64_t[]){6});
	put(0, 3, WEFT_ABI_READ | WEFT_ABI_EXPLICIT, 0, 2, (uint64_t[]){7, 6}); /* switches */
	put(0, 4, WEFT_ABI_RESOLVE, 0, 1, (uint64_t[]){8});
	put(0, 5, WEFT_ABI_SIGNAL, 1, 1, (uint64_t[]){9}); /* switches */
	put(0, 6, WEFT_ABI_EXPECT, 0, 0, NULL);
	put(0, 7, WEFT_ABI_CREATE | WEFT_ABI_EXPLICIT, WEFT_KIND_BIND, 2, (uint64_t[]){1, 2});
	put(0, 8, WEFT_ABI_SIGNAL, 0, 1, (uint64_t[]){3});
	struct reading *r = read_buffer();
	assert_int_equal(r->count, 8);
	assert_int_equal(r->events[1].task, 5);
	assert_true(r->events[1].flag);
	assert_int_equal(r->events[2].task, 7);
	assert_int_equal(r->events[3].task, 7);
	assert_int_equal(r->events[4].task, 9);
	assert_int_equal(r->events[4].other, 7);
	assert_int_equal(r->events[5].task, 9);
	assert_int_equal(r->events[6].task, 1);
	assert_int_equal(r->events[6].kind, WEFT_KIND_BIND);
	assert_int_equal(r->events[7].other, 9);
	assert_false(r->events[7].flag);
	done(r);
}

static uint64_t words(const char *text)
{
	uint64_t word = 0;
	memcpy(&word, text, strlen(text));
	return word;
}

static void text_is_a_name_or_follows(void **state)
{
	(void)state;
	uint16_t name = add_name("a name of more than one unit"), other = add_name("second");
	open_packet(0, 1, 1, 1000);
	put(0, 1, WEFT_ABI_LABEL, name, 0, NULL);
	put(0, 2, WEFT_ABI_NOTE, 0, 1, (uint64_t[]){words("inline")});
	put(0, 3, WEFT_ABI_COUNTER_SET, other, 1, (uint64_t[]){(uint64_t)-5});
	put(0, 4, WEFT_ABI_TAG_VALUE, other, 1, (uint64_t[]){9});
	put(0, 5, WEFT_ABI_LABEL, 2000, 0, NULL); /* no such name */
	put(0, 6, WEFT_ABI_BAND, other, 1, (uint64_t[]){WEFT_BAND_GC | 1 << 8});
	struct reading *r = read_buffer();
	assert_int_equal(r->count, 5);
	assert_string_equal(r->texts[0], "a name of more than one unit");
	assert_string_equal(r->texts[1], "inline");
	assert_string_equal(r->texts[2], "second");
	assert_int_equal(r->events[2].value, -5);
	assert_true(r->events[2].is_set);
	assert_true(r->events[3].has_value);
	assert_int_equal(r->events[4].band, WEFT_BAND_GC);
	assert_true(r->events[4].flag);
	assert_int_equal(r->events[0].name_id, name);
	assert_int_equal(r->events[1].name_id, 0);
	assert_int_equal(r->events[2].name_id, other);
	assert_int_equal(diagnostics(r), 1);
	done(r);
}

/* A program may fill a name after an event that has its number. */
static void an_empty_name_may_get_a_text(void **state)
{
	(void)state;
	open_packet(0, 1, 1, 1000);
	add_name("the first");
	put(0, 1, WEFT_ABI_LABEL, 2, 0, NULL);
	struct reading *r = read_buffer();
	assert_int_equal(r->count, 1);
	assert_string_equal(r->texts[0], "");
	assert_int_equal(r->events[0].name_id, 0);
	done(r);
}

#define ARROW    " \xe2\x86\x90 "
#define ELLIPSIS "\xe2\x80\xa6"

/* Calls that were looked up have names; others have the file and the address. */
static void the_calls_of_a_wait_are_text(void **state)
{
	static const char frame[] = WEFT_ABI_FRAME_PREFIX "\0"
													  "1:4f10"
													  "\0"
													  "flush_log (log.c:88)";
	(void)state;
	assert_int_equal(add_name(WEFT_ABI_MODULE_PREFIX "/srv/server\tbeef"), 1);
	const uint16_t calls = add_name(WEFT_ABI_STACK_PREFIX "1:4f10 1:4f20 +"),
				   plain = add_name("main (server.c:1)"),
				   hostile = add_name(WEFT_ABI_STACK_PREFIX "ffff:1 : 7 "
															"zz:1  1"),
				   empty = add_name(WEFT_ABI_STACK_PREFIX);
	add_name_bytes(frame, sizeof(frame) - 1);
	open_packet(0, 1, 0, 1000);
	put(0, 10, WEFT_ABI_STACK, calls, 0, NULL);
	put(0, 20, WEFT_ABI_STACK, plain, 0, NULL);
	put(0, 30, WEFT_ABI_STACK, hostile, 0, NULL);
	put(0, 40, WEFT_ABI_STACK, empty, 0, NULL);
	put(0, 50, WEFT_ABI_STACK, calls, 0, NULL);
	struct reading *r = read_buffer();
	assert_int_equal(r->status, WEFT_END);
	assert_int_equal(r->count, 5);
	assert_int_equal(r->events[0].type, WEFT_EVENT_STACK);
	assert_string_equal(r->texts[0], "flush_log (log.c:88)" ARROW "server+0x4f20" ARROW ELLIPSIS);
	assert_string_equal(r->texts[1], "main (server.c:1)");
	assert_string_equal(r->texts[2], "?" ARROW "?" ARROW "?" ARROW "?" ARROW "?" ARROW "?");
	assert_string_equal(r->texts[3], "");
	assert_string_equal(r->texts[4], r->texts[0]);
	done(r);
}

static void a_mark_has_typed_fields(void **state)
{
	(void)state;
	static const char shape[] = "request\0bytes\0path";
	uint64_t operands[8] = {
		2 | WEFT_ABI_VALUE_I64 << 4 | WEFT_ABI_VALUE_TEXT << 8, sizeof(shape) - 1};
	memcpy(&operands[2], shape, sizeof(shape) - 1); /* 18 bytes: three words */
	operands[5] = 512;
	operands[6] = 3;
	operands[7] = words("/ab");
	open_packet(0, 1, 1, 1000);
	put(0, 1, WEFT_ABI_MARK, 0, 8, operands);
	struct reading *r = read_buffer();
	assert_int_equal(r->count, 1);
	assert_string_equal(r->texts[0], "request");
	assert_int_equal(r->events[0].field_count, 2);
	done(r);
}

static void threads_follow_one_another_in_a_packet(void **state)
{
	(void)state;
	open_packet(0, 1, 1, 1000);
	packet(0)->thread_records = 1;
	put_switch(0, 1, 5);
	put(0, 2, WEFT_ABI_THREAD, 0, 3, (uint64_t[]){(uint64_t)9 << 32 | 209, words("heir"), 0});
	put(0, 3, WEFT_ABI_EXPECT, 0, 0, NULL);
	put(0, 0, WEFT_ABI_TIME, 0, 1, (uint64_t[]){5000});
	put_switch(0, 4, 6);
	struct reading *r = read_buffer();
	assert_int_equal(r->count, 3);
	assert_int_equal(r->events[1].thread, 1);
	assert_int_equal(r->events[1].task, WEFT_TASK_NONE); /* not its predecessor's */
	assert_int_equal(r->events[2].time_ns, 500 + (5004 - 1000) / 2);
	const struct weft_trace_description *d = weft_decoder_describe(r->decoder);
	assert_string_equal(d->threads[1].name, "heir");
	assert_int_equal(d->threads[1].tid, 209);
	done(r);
}

static void overwritten_events_are_counted_and_a_switch_follows(void **state)
{
	(void)state;
	open_packet(0, 9, 1, 1000);
	packet(0)->before = 1000;
	packet(0)->number = 1200;
	packet(0)->task = 44;
	open_packet(1, 10, 1, 3000);
	packet(1)->state = 10 << 2 | WEFT_ABI_PACKET_OPENING;
	packet(1)->written = 200;
	header()->losses[WEFT_LOSS_NESTED] = 3;
	put(0, 10, WEFT_ABI_EXPECT, 0, 0, NULL);
	struct reading *r = read_buffer();
	assert_int_equal(r->count, 2);
	assert_int_equal(r->events[0].type, WEFT_EVENT_SWITCH);
	assert_int_equal(r->events[0].task, 44);
	assert_true(r->events[0].is_rundown);
	assert_int_equal(r->events[1].task, 44);
	assert_int_equal(losses(r, WEFT_LOSS_OVERWRITTEN), 1200);
	assert_int_equal(losses(r, WEFT_LOSS_NESTED), 3);
	assert_int_equal(diagnostics(r), 0);
	done(r);
}

/* According to the thread's second packet, two events before it are missing. */
static void after_a_gap_in_the_middle_a_switch_names_the_running_task(void **state)
{
	(void)state;
	open_packet(0, 1, 1, 1000);
	put_switch(0, 1, 5);
	put(0, 2, WEFT_ABI_EXPECT, 0, 0, NULL);
	open_packet(1, 2, 1, 2000);
	packet(1)->number = 4;
	packet(1)->task = 6;
	put(1, 1, WEFT_ABI_EXPECT, 0, 0, NULL);
	struct reading *r = read_buffer();
	assert_int_equal(r->count, 4);
	assert_int_equal(r->events[1].task, 5);
	assert_int_equal(r->events[2].type, WEFT_EVENT_SWITCH);
	assert_true(r->events[2].is_rundown);
	assert_int_equal(r->events[2].task, 6);
	assert_int_equal(r->events[3].task, 6);
	done(r);
}

static void events_overwritten_while_reading_are_counted(void **state)
{
	(void)state;
	struct weft_decoder *decoder;
	struct weft_event event;
	open_packet(0, 1, 1, 1000);
	put_switch(0, 1, 5);
	open_packet(1, 2, 1, 2000);
	packet(1)->before = 10;
	put_switch(1, 1, 6);
	assert_int_equal(weft_decoder_create(&decoder), 0);
	assert_int_equal(weft_decoder_feed_borrowed(decoder, buffer, sizeof(buffer)), 0);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	assert_int_equal(weft_decoder_next(decoder, &event), WEFT_OK);
	open_packet(1, 6, 1, 3000); /* the program goes on */
	packet(1)->before = 11;
	assert_int_equal(weft_decoder_next(decoder, &event), WEFT_END);
	assert_int_equal(weft_decoder_describe(decoder)->losses[WEFT_LOSS_OVERWRITTEN], 11);
	assert_int_equal(weft_decoder_diagnostics(decoder)->count, 0);
	weft_decoder_destroy(decoder);
}

/* Killed while a packet was opened: half of its header belongs to the new content. */
static void a_packet_half_opened_has_no_events(void **state)
{
	(void)state;
	struct weft_abi_packet *half = packet(0);
	header()->end = (struct weft_abi_clock_reading){0, 0, 0};
	open_packet(0, 5, 1, 1000);
	half->state = 5 << 2 | WEFT_ABI_PACKET_OPENING;
	half->reading_ticks = 1000 + 900000000; /* new */
	half->reading_ns = 500 + 4000000;       /* old */
	half->thread = 2;                       /* new; the name is old */
	open_packet(1, 4, 2, 1000);
	packet(1)->reading_ticks = 1000 + 20000000;
	packet(1)->reading_ns = 500 + 10000000;
	put_switch(1, 2000, 5);
	struct reading *r = read_buffer();
	const struct weft_trace_description *d = weft_decoder_describe(r->decoder);
	assert_int_equal(d->clock.hz, 2000000000);
	assert_int_equal(r->count, 1);
	assert_int_equal(r->events[0].time_ns, 500 + 1000);
	assert_int_equal(d->thread_count, 1);
	assert_string_equal(d->threads[0].name, "thread-2");
	assert_int_equal(diagnostics(r), 0);
	done(r);
}

/* Events that the program writes after the reader has loaded the packet's header, when it allocates
 * memory for a copy of `late_bytes`. */
static unsigned late_events, late_copies;
static size_t late_bytes;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size)
{
	late_copies += size == late_bytes;
	for (; late_events > 0 && size == late_bytes; late_events--)
		put_switch(0, 50, 9);
	return __real_malloc(size);
}

/* A text that changes when it is first copied. */
static char turning[600];
static bool turns;

/* The address sanitizer of clang has a memcpy of its own. */
#ifdef __clang__
#if __has_feature(address_sanitizer)
#define __real_memcpy __real___asan_memcpy
#define __wrap_memcpy __wrap___asan_memcpy
#endif
#endif

void *__real_memcpy(void *to, const void *from, size_t size);
void *__wrap_memcpy(void *to, const void *from, size_t size);
void *__wrap_memcpy(void *to, const void *from, size_t size)
{
	if (turns && (const char *)from >= turning && (const char *)from < turning + sizeof(turning)) {
		turns = false;
		memset(turning, '\033', sizeof(turning));
	}
	return __real_memcpy(to, from, size);
}

static void events_written_during_the_copy_do_not_count(void **state)
{
	(void)state;
	open_packet(0, 1, 1, 1000);
	for (uint32_t i = 1; i <= 6; i++)
		put_switch(0, i, i);
	late_events = 200;
	late_bytes = packet(0)->committed - sizeof(struct weft_abi_packet);
	struct reading *r = read_buffer();
	assert_int_equal(late_events, 0);
	assert_int_equal(r->count, 6);
	assert_int_equal(diagnostics(r), 0);
	done(r);
}

/* The decoder's own bytes don't change, so that packets are read where they are. */
static void packets_of_our_own_bytes_are_not_copied(void **state)
{
	(void)state;
	struct weft_decoder *decoder;
	struct weft_event event;
	open_packet(0, 1, 1, 1000);
	for (uint32_t i = 1; i <= 30; i++)
		put_switch(0, i, i);
	late_bytes = packet(0)->committed - sizeof(struct weft_abi_packet);
	late_copies = 0;
	assert_int_equal(weft_decoder_create(&decoder), 0);
	assert_int_equal(weft_decoder_feed(decoder, buffer, sizeof(buffer)), 0);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	for (uint32_t i = 1; i <= 30; i++) {
		assert_int_equal(weft_decoder_next(decoder, &event), WEFT_OK);
		assert_int_equal(event.task, i);
	}
	assert_int_equal(weft_decoder_next(decoder, &event), WEFT_END);
	assert_int_equal(late_copies, 0);
	weft_decoder_destroy(decoder);
	done(read_buffer());
	assert_int_equal(late_copies, 1);
}

/* No control character comes out, even if the text changes while it is copied. A compiler may copy
 * a block without memcpy; then nothing changes, because the text is never copied from there again.
 */
static void text_that_changes_while_it_is_escaped_is_escaped(void **state)
{
	static void (*const add[])(struct weft_text *, const char *, size_t) = {
		weft_text_add_json, weft_text_add_quoted};
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct weft_text text = {0};
		memset(turning, 'A', sizeof(turning));
		turns = true;
		add[i](&text, turning, sizeof(turning));
		assert_true(text.size >= sizeof(turning) + 2);
		assert_null(memchr(text.bytes, '\033', text.size));
		weft_text_finish(&text);
	}
}

static void damage_costs_a_packet_at_most(void **state)
{
	(void)state;
	open_packet(0, 1, 1, 1000);
	put_switch(0, 1, 5);
	put(0, 2, 90, 0, 1, (uint64_t[]){1});              /* an unknown kind: skipped */
	put(0, 3, WEFT_ABI_RESOLVE, 0, 0, NULL);           /* without its operand */
	put(0, 1, WEFT_ABI_SWITCH, 0, 1, (uint64_t[]){6}); /* back in time */
	packet(0)->committed += 8;                         /* a head of zeros: the rest is lost */
	put_switch(0, 5, 7);
	open_packet(1, 2, 1, 1100);
	packet(1)->committed = 5000;
	open_packet(2, 3, 1, 1200);
	put_switch(2, 1, 8);
	struct reading *r = read_buffer();
	assert_int_equal(r->status, WEFT_END);
	assert_int_equal(r->count, 3);
	assert_int_equal(r->events[2].task, 8);
	assert_int_equal(diagnostics(r), 5);
	done(r);
}

static void a_hostile_header_is_an_error_not_a_crash(void **state)
{
	(void)state;
	open_packet(0, 1, 1, 1000);
	put_switch(0, 1, 5);
	for (size_t at = 8; at < 512; at += 4) {
		for (unsigned value = 0; value < 3; value++) {
			uint32_t saved, hostile = value == 0 ? UINT32_MAX : value == 1 ? 0 : 0x7ffffff8;
			memcpy(&saved, buffer + at, 4);
			memcpy(buffer + at, &hostile, 4);
			done(read_buffer());
			memcpy(buffer + at, &saved, 4);
		}
	}
	struct reading *r = read_buffer();
	assert_int_equal(r->count, 1);
	done(r);
}

static void any_prefix_is_read_as_far_as_it_goes(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PACKETS; i++) {
		open_packet(i, i + 1, 1, 1000 + i);
		put_switch(i, 1, i);
	}
	for (size_t size = 0; size < BUFFER_BYTES; size += 509) {
		unsigned char *copy = malloc(size + 1); /* so that a sanitizer sees its end */
		memcpy(copy, buffer, size);
		struct reading *r = read_bytes(copy, size);
		if (size > PACKETS_OFFSET) {
			assert_int_equal(r->count, (size - PACKETS_OFFSET) / PACKET_BYTES);
			assert_int_equal(diagnostics(r), 1);
		}
		done(r);
		free(copy);
	}
}

static void packets_claimed_during_a_copy_are_not_in_it(void **state)
{
	(void)state;
	unsigned char *copy = calloc(1, BUFFER_BYTES);
	open_packet(0, 1, 1, 1000);
	put_switch(0, 1, 5);
	open_packet(1, 2, 1, 2000);
	put_switch(1, 1, 6);
	put(1, 2, WEFT_ABI_LABEL, add_name("new"), 0, NULL);
	open_packet(2, 7, 1, 3000); /* meanwhile */
	packet(2)->before = 3;
	put_switch(2, 1, 7);
	packet(3)->state = 8 << 2 | WEFT_ABI_PACKET_OPENING;
	packet(3)->before = 1;
	packet(3)->written = 4;
	header()->hand = 6;
	weft_buffer_copy(copy, buffer, BUFFER_BYTES);
	struct reading *r = read_bytes(copy, BUFFER_BYTES);
	assert_int_equal(r->count, 3);
	assert_int_equal(r->events[0].task, 5);
	assert_int_equal(r->events[1].task, 6);
	assert_string_equal(r->texts[2], "new");
	assert_int_equal(losses(r, WEFT_LOSS_OVERWRITTEN), 7);
	assert_int_equal(diagnostics(r), 0);
	done(r);
	free(copy);
}

static void a_copy_of_damage_is_as_damaged(void **state)
{
	(void)state;
	_Alignas(8) static unsigned char copy[BUFFER_BYTES];
	memset(copy, 0, sizeof(copy));
	open_packet(0, 1, 1, 1000);
	packet(0)->committed = UINT32_MAX;
	open_packet(1, 2, 1, 2000);
	put_switch(1, 1, 6);
	header()->hand = 2;
	weft_buffer_copy(copy, buffer, BUFFER_BYTES);
	struct reading *r = read_bytes(copy, BUFFER_BYTES);
	assert_int_equal(r->count, 1);
	assert_int_equal(diagnostics(r), 1);
	done(r);
	memset(copy, 0, sizeof(copy));
	memset(buffer, 'x', BUFFER_BYTES); /* no buffer */
	weft_buffer_copy(copy, buffer, BUFFER_BYTES);
	assert_memory_equal(copy, buffer, BUFFER_BYTES);
}

static uint64_t count_events(void)
{
	struct reading *r = read_bytes(buffer, BUFFER_BYTES);
	const uint64_t count = r->count;
	done(r);
	return count;
}

/* No recorder makes a packet that the hand has not come to: if there is one, and it is not read,
 * then none of these are looked at. */
static void packets_before_which_the_hand_stopped_are_not_looked_at(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PACKETS; i += 2) {
		open_packet(i, i + 1, 1, 1000 + i);
		put_switch(i, 1, i);
	}
	header()->hand = 1;
	assert_int_equal(count_events(), 1);
	header()->hand = 0;
	assert_int_equal(count_events(), 2);
	header()->hand = 3;
	assert_int_equal(count_events(), 2);
}

static void a_damaged_hand_hides_no_packets(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PACKETS; i++) {
		open_packet(i, i + 1, 1, 1000 + i);
		put_switch(i, 1, i);
	}
	for (uint64_t hand = 0; hand < PACKETS; hand++) {
		header()->hand = hand;
		assert_int_equal(count_events(), PACKETS);
	}
	memset(packet(1), 0, PACKET_BYTES);
	header()->hand = 1;
	assert_int_equal(count_events(), PACKETS - 1);
}

/* Offsets of the parts in a hostile header; see weft_abi_buffer. */
static void a_buffer_with_parts_outside_of_it_is_not_copied(void **state)
{
	const uint64_t beyond[] = {BUFFER_BYTES + 8, BUFFER_BYTES * 2, 1u << 30, UINT64_MAX - 7, 0, 4};
	(void)state;
	for (size_t i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++) {
		/* A separate allocation, so that a sanitizer sees its end. */
		unsigned char *live = malloc(BUFFER_BYTES), *copy = calloc(1, BUFFER_BYTES);
		header()->packet_count = 0;
		header()->packets_offset = beyond[i];
		memcpy(live, buffer, BUFFER_BYTES);
		assert_int_equal(weft_buffer_copy(copy, live, BUFFER_BYTES), WEFT_ERROR_DAMAGED);
		for (size_t at = 0; at < BUFFER_BYTES; at++)
			assert_int_equal(copy[at], 0);
		free(copy);
		free(live);
	}
}

static void a_buffer_that_is_cut_short_is_copied_as_far_as_it_goes(void **state)
{
	(void)state;
	for (unsigned i = 0; i < PACKETS; i++) {
		open_packet(i, i + 1, 1, 1000 + i);
		put_switch(i, 1, i);
	}
	header()->hand = PACKETS;
	for (size_t size = 8; size < BUFFER_BYTES; size += 504) {
		unsigned char *live = malloc(size), *copy = calloc(1, size);
		memcpy(live, buffer, size);
		int error = weft_buffer_copy(copy, live, size);
		assert_int_equal(error, size < PACKETS_OFFSET ? WEFT_ERROR_DAMAGED : 0);
		if (!error) {
			struct reading *r = read_bytes(copy, size);
			assert_int_equal(r->count, (size - PACKETS_OFFSET) / PACKET_BYTES);
			done(r);
		}
		free(copy);
		free(live);
	}
}

/* The result of printf itself. */
#define CHECK_NOTEF(format, field, ...)                                                           \
	do {                                                                                          \
		char expected[600];                                                                       \
		struct weft_text text = {0};                                                              \
		const struct weft_field value = field;                                                    \
		snprintf(expected, sizeof(expected), format, __VA_ARGS__);                                \
		weft__format_notef_format(&text, (struct weft_slice){format, strlen(format)}, &value, 1); \
		assert_int_equal(text.size, strlen(expected));                                            \
		assert_memory_equal(text.bytes, expected, text.size);                                     \
		weft_text_finish(&text);                                                                  \
	} while (0)

static struct weft_field i64(int64_t value)
{
	return (struct weft_field){.type = WEFT_FIELD_I64, .value.i64 = value};
}

static struct weft_field f64(double value)
{
	return (struct weft_field){.type = WEFT_FIELD_F64, .value.f64 = value};
}

static struct weft_field text_field(const char *value)
{
	return (struct weft_field){.type = WEFT_FIELD_TEXT, .value.text = {value, strlen(value)}};
}

static void a_notef_reads_as_printf_writes(void **state)
{
	(void)state;
	CHECK_NOTEF("plain %d!", i64(-42), -42);
	CHECK_NOTEF("[%5d]", i64(42), 42);
	CHECK_NOTEF("[%-8ld|", i64(42), 42L);
	CHECK_NOTEF("%+05d", i64(7), 7);
	CHECK_NOTEF("%#x", i64(-1), -1);
	CHECK_NOTEF("%hhx", i64(0x1ff), (unsigned char)0xff);
	CHECK_NOTEF("%lX", i64(42), 42L); /* -1L has as many digits as the program's long */
	CHECK_NOTEF("%llX", i64(-1), -1LL);
	CHECK_NOTEF("%o", i64(8), 8);
	CHECK_NOTEF("%u", i64(-1), -1);
	CHECK_NOTEF("%c", i64('x'), 'x');
	CHECK_NOTEF("%.3f", f64(3.14159), 3.14159);
	CHECK_NOTEF("%12.4e|", f64(31415.9), 31415.9);
	CHECK_NOTEF("%g", f64(1e300), 1e300);
	CHECK_NOTEF("%.2s|", text_field("abc"), "abc");
	CHECK_NOTEF("%-6s|", text_field("abc"), "abc");
	CHECK_NOTEF("%6s|", text_field("abc"), "abc");
	CHECK_NOTEF("100%% of %d", i64(3), 3);
}

static void a_hostile_format_is_harmless(void **state)
{
	(void)state;
	static const char *const formats[] = {"%", "%5", "%.", "%l", "%n", "%*d", "%999999999d",
		"%.999999999f", "%s %s %s", "%-+ #0-+ #0d", "%ll", "%qqqqd"};
	const struct weft_field values[] = {i64(1), f64(1e308), text_field("t")};
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		for (unsigned first = 0; first < 3; first++) {
			struct weft_text text = {0};
			weft__format_notef_format(&text, (struct weft_slice){formats[i], strlen(formats[i])},
				&values[first], 3 - first);
			assert_true(text.size < 1200);
			weft_text_finish(&text);
		}
	}
}

static void ticks_are_converted_exactly(void **state)
{
	(void)state;
	struct weft__ticks clock;
	const uint64_t day = 86400 * UINT64_C(2596150000);
	weft__format_ticks_init(&clock, 5, 7, 2596150000, 1000000000);
	assert_int_equal(weft__format_ticks_to_ns(&clock, 5), 7);
	assert_in_range(weft__format_ticks_to_ns(&clock, 5 + day), 7 + UINT64_C(86399999999999),
		7 + UINT64_C(86400000000000));
	assert_int_equal(weft__format_ticks_to_ns(&clock, 0), 7 - 1);
	weft__format_ticks_init(&clock, 1000, 10, 1, 1);
	assert_int_equal(weft__format_ticks_to_ns(&clock, 0), 0); /* before the clock's zero */
	assert_int_equal(weft__format_ticks_to_ns(&clock, 1234), 244);
	weft__format_ticks_init(&clock, 0, 0, 1, UINT64_MAX);
	assert_int_equal(weft__format_ticks_to_ns(&clock, 2), UINT64_MAX);
	weft__format_ticks_init(&clock, 0, 0, UINT64_MAX, 1);
	assert_int_equal(weft__format_ticks_to_ns(&clock, UINT64_MAX / 2), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_buffer_without_events_is_an_empty_trace, set_up),
		cmocka_unit_test_setup(packets_are_merged_by_time_then_sequence, set_up),
		cmocka_unit_test_setup(times_centuries_away_are_held, set_up),
		cmocka_unit_test_setup(the_current_task_acts, set_up),
		cmocka_unit_test_setup(text_is_a_name_or_follows, set_up),
		cmocka_unit_test_setup(an_empty_name_may_get_a_text, set_up),
		cmocka_unit_test_setup(the_calls_of_a_wait_are_text, set_up),
		cmocka_unit_test_setup(a_mark_has_typed_fields, set_up),
		cmocka_unit_test_setup(threads_follow_one_another_in_a_packet, set_up),
		cmocka_unit_test_setup(overwritten_events_are_counted_and_a_switch_follows, set_up),
		cmocka_unit_test_setup(after_a_gap_in_the_middle_a_switch_names_the_running_task, set_up),
		cmocka_unit_test_setup(packets_of_our_own_bytes_are_not_copied, set_up),
		cmocka_unit_test_setup(events_overwritten_while_reading_are_counted, set_up),
		cmocka_unit_test_setup(a_packet_half_opened_has_no_events, set_up),
		cmocka_unit_test_setup(events_written_during_the_copy_do_not_count, set_up),
		cmocka_unit_test_setup(damage_costs_a_packet_at_most, set_up),
		cmocka_unit_test(text_that_changes_while_it_is_escaped_is_escaped),
		cmocka_unit_test_setup(a_hostile_header_is_an_error_not_a_crash, set_up),
		cmocka_unit_test_setup(any_prefix_is_read_as_far_as_it_goes, set_up),
		cmocka_unit_test_setup(packets_claimed_during_a_copy_are_not_in_it, set_up),
		cmocka_unit_test_setup(a_copy_of_damage_is_as_damaged, set_up),
		cmocka_unit_test_setup(packets_before_which_the_hand_stopped_are_not_looked_at, set_up),
		cmocka_unit_test_setup(a_damaged_hand_hides_no_packets, set_up),
		cmocka_unit_test_setup(a_buffer_with_parts_outside_of_it_is_not_copied, set_up),
		cmocka_unit_test_setup(a_buffer_that_is_cut_short_is_copied_as_far_as_it_goes, set_up),
		cmocka_unit_test(a_notef_reads_as_printf_writes),
		cmocka_unit_test(a_hostile_format_is_harmless),
		cmocka_unit_test(ticks_are_converted_exactly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

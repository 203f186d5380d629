/* SPDX-License-Identifier: ISC
 *
 * Input that is read while it arrives gives the same events, diagnostics and losses as input that
 * is complete, in pieces of any size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <pthread.h>
#include <semaphore.h>

#include <weft/weft.h>

#include "abi/buffer_abi.h"
#include "abi/packet_abi.h"
#include "abi/stream_abi.h"
#include "decoded.h"
#include "drained.h"
#include "format/weft/drain/drain.h"
#include "sample.h"

/* ---- Two ways to read ---- */

struct given {
	struct weft_text text; /* events, then diagnostics, then losses */
	uint64_t early;        /* events that came before the input's end */
	uint64_t count;
	bool is_held; /* the clock went back: what follows is not known yet where events arrive */
};

static void take_events(struct given *given, struct weft_decoder *decoder)
{
	struct weft_event event;
	struct weft_lines lines;
	int status;
	while ((status = weft_decoder_next(decoder, &event)) == WEFT_OK) {
		const struct weft_trace_description *about = weft_decoder_describe(decoder);
		weft_text_add_u64(&given->text, about->threads[event.thread].tid);
		weft_text_add_string(&given->text, about->threads[event.thread].name);
		weft_text_add_u64(&given->text, event.offset);
		event.thread = 0; /* numbers differ: threads are listed as they are met */
		weft_lines_init(&lines, about, 0);
		weft_lines_add_json(&lines, &event, &given->text);
		given->count++;
	}
	assert_true(status == WEFT_AGAIN || status == WEFT_END || status == WEFT_ERROR_DAMAGED);
}

static int by_message(const void *left, const void *right)
{
	const struct weft_diagnostic *l = left, *r = right;
	return strcmp(l->message, r->message);
}

static void take_account(struct given *given, struct weft_decoder *decoder)
{
	const struct weft_trace_description *about = weft_decoder_describe(decoder);
	struct weft_diagnostics list = *weft_decoder_diagnostics(decoder);
	char line[256];
	qsort(list.list, list.count, sizeof(list.list[0]), by_message);
	for (size_t i = 0; i < list.count; i++) {
		snprintf(line, sizeof(line), "%s at %d, %d\n", list.list[i].message,
			(int)list.list[i].offset, (int)list.list[i].count);
		weft_text_add_string(&given->text, line);
		given->is_held |= strstr(list.list[i].message, "after later ones") ||
						  strncmp(list.list[i].message, "the clock", 9) == 0;
	}
	for (int cause = 0; cause < WEFT_LOSS_CAUSES; cause++) {
		snprintf(line, sizeof(line), "%s %d\n", weft_loss_name((enum weft_loss)cause),
			(int)about->losses[cause]);
		weft_text_add_string(&given->text, line);
	}
	for (uint32_t i = 0; i < about->loss_period_count; i++) {
		const struct weft_loss_period *period = &about->loss_periods[i];
		snprintf(line, sizeof(line), "%d of thread %d from %d to %d\n", (int)period->count,
			(int)about->threads[period->thread].tid, (int)period->start, (int)period->end);
		weft_text_add_string(&given->text, line);
	}
	snprintf(line, sizeof(line), "%s by %s\n", about->format, about->clock.name);
	weft_text_add(&given->text, line, strlen(line) + 1);
	assert_int_equal(given->text.error, 0);
}

static struct given read_at_once(const void *bytes, size_t size)
{
	struct given given = {0};
	struct weft_decoder *decoder;
	assert_int_equal(weft_decoder_create(&decoder), 0);
	assert_int_equal(weft_decoder_feed_borrowed(decoder, bytes, size), 0);
	if (weft_decoder_finish(decoder) == 0)
		take_events(&given, decoder);
	take_account(&given, decoder);
	weft_decoder_destroy(decoder);
	return given;
}

/* Feeds pieces of at most `most` bytes, and reads events after each. */
static struct given read_as_it_comes(
	const void *bytes, size_t size, size_t most, uint64_t *state, bool looks)
{
	struct given given = {0};
	struct weft_decoder *decoder;
	assert_int_equal(weft_decoder_create(&decoder), 0);
	for (size_t at = 0, piece; at < size; at += piece) {
		piece = most > 1 ? next_random(state) % most : 1;
		piece = piece < size - at ? piece : size - at;
		/* Text that a reader borrows must not outlive the piece. */
		char *copy = malloc(piece + 1);
		assert_non_null(copy);
		memcpy(copy, (const char *)bytes + at, piece);
		assert_int_equal(weft_decoder_feed(decoder, copy, piece), 0);
		free(copy);
		if (looks)
			take_events(&given, decoder);
	}
	given.early = given.count;
	bool is_pending = weft_decoder_is_pending(decoder);
	if (weft_decoder_finish(decoder) == 0)
		take_events(&given, decoder);
	if (looks && !is_pending)
		assert_int_equal(given.count, given.early);
	take_account(&given, decoder);
	weft_decoder_destroy(decoder);
	return given;
}

/* Returns a lower bound of the events that came early. The time of an event may be changed if the
 * input's times go back.
 */
static uint64_t expect_same(const void *bytes, size_t size, uint64_t seed, bool times_go_back)
{
	struct given whole = read_at_once(bytes, size);
	uint64_t early = UINT64_MAX, state = seed;
	const size_t pieces[] = {1, 7, 100, 5000};
	for (size_t i = 0; i < 2 * sizeof(pieces) / sizeof(*pieces); i++) {
		bool looks = i % 2;
		struct given parts = read_as_it_comes(bytes, size, pieces[i / 2], &state, looks);
		if (parts.is_held && times_go_back)
			assert_int_equal(parts.count, whole.count);
		else
			assert_string_equal(parts.text.bytes, whole.text.bytes);
		if (looks && parts.early < early)
			early = parts.early;
		weft_text_finish(&parts.text);
	}
	weft_text_finish(&whole.text);
	return early;
}

/* ---- Saved traces ---- */

static void saved_traces(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		uint64_t early;
	} samples[] = {
		{"tests/data/traces/mirage-arp-good.ctf", 1},
		{"tests/data/traces/mirage-block-read.sexp", 1},
		{"tests/data/recorded/threads-stream.weft", 0}, /* without marks */
		{"tests/data/recorded/echo-server.weft", 0},    /* a ring */
		{"tests/data/recorded/arp-cut.weft", 0},
	};
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		char path[512];
		size_t size = 0;
		sample_path(path, sizeof(path), samples[i].name);
		char *bytes = sample_read(path, &size);
		assert_non_null(bytes);
		assert_true(expect_same(bytes, size, i, false) >= samples[i].early);
		free(bytes);
	}
}

static void forms_with_damage(void **state)
{
	(void)state;
	static const char whole[] =
		"((time 1)(op(Switch 1)))\n((time 2)(op(Label 3\"a \\\"b\\\" c\")))\n"
		"; a comment\n((time 3)(op(Resolves 1 2(\"X\"))))\n((time 4)(op(Increases 1 n 5)))\n"
		"((time 5)(op(Switch 1)))  \n ((time 6)(op(Switch 2)))";
	static const char alphabet[] = "()\"\\ \n;0-e.timeop";
	uint64_t seed = 7;
	assert_true(expect_same(whole, sizeof(whole) - 1, seed, false) >= 5);
	for (unsigned round = 0; round < 2000; round++) {
		char text[sizeof(whole)];
		memcpy(text, whole, sizeof(whole));
		for (unsigned k = next_random(&seed) % 6; k > 0; k--)
			text[next_random(&seed) % (sizeof(whole) - 1)] =
				alphabet[next_random(&seed) % (sizeof(alphabet) - 1)];
		expect_same(text, sizeof(whole) - 1, seed, true);
	}
}

/* ---- A stream of three threads ---- */

enum {
	THREADS = 3,
	SIZE = 64 << 10,
	FILE_MAX = 4 << 20,
};

static uint64_t now_ticks;

static _Thread_local uint32_t thread_number = THREADS + 1; /* the test's own thread */

/* Without it, the recorder assumes a single thread. */
static uint32_t read_self(void *context, char ret_name[16])
{
	(void)context;
	snprintf(ret_name, 16, "thread %d", (int)thread_number);
	return thread_number;
}

/* Takes turns with the test. */
struct writer {
	pthread_t thread;
	sem_t turn, done;
	int64_t number; /* of its next event; negative: enough */
	uint32_t thread_number;
};

static void *write_events(void *context)
{
	struct writer *w = context;
	thread_number = w->thread_number;
	uint64_t task = WEFT_TASK_NONE;
	for (sem_wait(&w->turn); w->number >= 0; sem_wait(&w->turn)) {
		if (w->number % 10 == 0)
			weft_switch(task = weft_create(WEFT_KIND_TASK));
		weft_tag_value("number", w->number);
		if (w->number % 10 == 9)
			weft_resolve(task);
		sem_post(&w->done);
	}
	return NULL;
}

static void take_turn(struct writer *w, int64_t number)
{
	w->number = number;
	sem_post(&w->turn);
	if (number >= 0)
		sem_wait(&w->done);
}

struct stream {
	void *buffer;
	struct weft__drain *drain;
	unsigned char *file;
	size_t size;
	struct writer writers[THREADS];
};

/* `pause`: events between two looks; the more, the more of them are overwritten before they are
 * taken. */
static struct stream record_stream(uint64_t seed, unsigned pause)
{
	static const struct weft_platform platform = {
		.ticks_at = &now_ticks, .ticks_hz = 1000000000, .self = read_self};
	struct stream s = {.buffer = aligned_alloc(64, SIZE), .file = malloc(FILE_MAX)};
	assert_true(s.buffer && s.file);
	unsigned looks = 0;
	now_ticks = 1000;
	assert_int_equal(weft_start(s.buffer, SIZE, &platform), 0);
	assert_int_equal(weft__format_drain_create(s.buffer, SIZE, 8192, &s.drain), 0);
	for (int i = 0; i < THREADS; i++) {
		struct writer *w = &s.writers[i];
		w->thread_number = (uint32_t)i + 1;
		sem_init(&w->turn, 0, 0);
		sem_init(&w->done, 0, 0);
		assert_int_equal(pthread_create(&w->thread, NULL, write_events, w), 0);
	}
	for (int64_t i = 0; i < 6000; i++) {
		now_ticks += next_random(&seed) % 4 == 0; /* many equal times */
		take_turn(&s.writers[next_random(&seed) % (i < 1000 ? 2 : THREADS)], i);
		if (next_random(&seed) % pause == 0) {
			weft__format_drain_look(s.drain, ++looks % (pause < 1000 ? 8 : 1) == 0, now_ticks);
			drained_append(s.drain, s.file, FILE_MAX, &s.size);
		}
	}
	for (int i = 0; i < THREADS; i++) {
		take_turn(&s.writers[i], -1);
		pthread_join(s.writers[i].thread, NULL);
	}
	weft_stop();
	weft__format_drain_finish(s.drain, false);
	drained_append(s.drain, s.file, FILE_MAX, &s.size);
	weft__format_drain_destroy(s.drain);
	free(s.buffer);
	return s;
}

static void streams_of_three_threads(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed < 7; seed++) {
		struct stream s = record_stream(seed, seed < 4 ? 100 : 1500);
		assert_true(expect_same(s.file, s.size, seed, false) >= (seed < 4 ? 4000u : 0));
		free(s.file);
	}
}

/* Each mark bounds the memory: the decoder never holds the whole stream. */
static void memory_is_what_came_since_the_last_mark(void **state)
{
	(void)state;
	struct stream s = record_stream(3, 50);
	struct weft_decoder *decoder;
	struct weft_event event;
	uint64_t events = 0;
	assert_int_equal(weft_decoder_create(&decoder), 0);
	for (size_t at = 0, piece; at < s.size; at += piece) {
		piece = s.size - at < 4096 ? s.size - at : 4096;
		assert_int_equal(weft_decoder_feed(decoder, s.file + at, piece), 0);
		while (weft_decoder_next(decoder, &event) == WEFT_OK)
			events++;
		assert_true(events + 2500 >= 7000 * at / s.size);
	}
	assert_true(events > 4000);
	weft_decoder_destroy(decoder);
	free(s.file);
}

static void streams_with_damage(void **state)
{
	(void)state;
	struct stream s = record_stream(5, 100);
	uint64_t seed = 11;
	unsigned char *copy = malloc(s.size);
	assert_non_null(copy);
	for (unsigned round = 0; round < 20; round++) {
		memcpy(copy, s.file, s.size);
		/* Bytes that are not a chunk, behind a mark; or the end is missing. */
		size_t at = sizeof(struct weft_abi_buffer), size = s.size, third = s.size / 3;
		while (at < third) {
			const struct weft_abi_chunk *chunk = (const void *)(copy + at);
			at += sizeof(*chunk) + chunk->bytes;
		}
		if (round % 2)
			memset(copy + at, (int)round, 8);
		if (round % 4 > 1)
			size -= next_random(&seed) % 5000;
		expect_same(copy, size, round, false);
	}
	free(copy);
	free(s.file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(saved_traces),
		cmocka_unit_test(forms_with_damage),
		cmocka_unit_test(streams_of_three_threads),
		cmocka_unit_test(memory_is_what_came_since_the_last_mark),
		cmocka_unit_test(streams_with_damage),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

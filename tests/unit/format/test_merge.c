/* SPDX-License-Identifier: ISC
 *
 * Several traces as one: random events of several buffers, written to a trace for each buffer, must
 * come back as they were. Also equal times, damage, and a part that still arrives.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/cut.h>
#include <weft/lines.h>
#include <weft/model.h>

#include "decoded.h"
#include "abi/category_abi.h"
#include "made_stream.h"

#define BUFFERS 3
#define THREADS 5
#define EVENTS  400

static const struct weft_trace_buffer buffers[BUFFERS] = {
	{.process = "one", .host = "h", .file = "", .pid = 10, .boot_id = "boot", .uuid = "a"},
	{.process = "two", .host = "h", .file = "", .pid = 20, .boot_id = "boot", .uuid = "b"},
	{.process = "three", .host = "h", .file = "", .pid = 30, .boot_id = "boot", .uuid = "c"},
};

/* In the order of buffers, as the merged trace numbers them. */
static const struct weft_trace_thread threads[THREADS] = {
	{.name = "main", .tid = 10, .buffer = 0},
	{.name = "io", .tid = 11, .buffer = 0},
	{.name = "main", .tid = 20, .buffer = 1},
	{.name = "main", .tid = 30, .buffer = 2},
	{.name = "io", .tid = 31, .buffer = 2},
};

static const struct weft_trace_description whole = {
	.format = "weft",
	.clock = {.name = "monotonic", .epoch = WEFT_EPOCH_MONOTONIC, .hz = 1000000000},
	.threads = threads,
	.thread_count = THREADS,
	.buffers = buffers,
	.buffer_count = BUFFERS,
};

static int append(void *text, const void *bytes, size_t size)
{
	weft_text_add(text, bytes, size);
	return 0;
}

/* The description of one buffer alone. */
static struct weft_trace_description describe(uint32_t buffer, struct weft_trace_thread *own)
{
	struct weft_trace_description description = whole;
	description.threads = own;
	description.thread_count = 0;
	description.buffers = &buffers[buffer];
	description.buffer_count = 1;
	for (uint32_t i = 0; i < THREADS; i++)
		if (threads[i].buffer == buffer) {
			own[description.thread_count] = threads[i];
			own[description.thread_count++].buffer = 0;
		}
	return description;
}

/* Writes a trace of the events of one buffer. */
static struct weft_text write_part(
	const struct weft_event *events, size_t count, uint32_t buffer, uint64_t end_ns)
{
	struct weft_trace_thread own[THREADS];
	const struct weft_trace_description description = describe(buffer, own);
	const struct weft_cut_range range = {0, end_ns, 0};
	struct weft_text part = {0};
	const struct weft_cut_sink sink = {append, &part};
	struct weft_cut *cut;
	uint32_t first = 0;
	while (threads[first].buffer != buffer)
		first++;
	assert_int_equal(weft_cut_create(&range, NULL, &sink, &cut), 0);
	for (size_t i = 0; i < count; i++) {
		struct weft_event event = events[i];
		if (event.buffer != buffer)
			continue;
		event.buffer = 0;
		event.thread -= first;
		assert_true(weft_cut_add(cut, &event, &description) >= 0);
	}
	assert_int_equal(weft_cut_finish(cut, &description), 0);
	weft_cut_destroy(cut);
	return part;
}

/* Equal times are in the order of buffers, because a merge keeps no other order. */
static void make_events(struct weft_event *events, uint64_t seed)
{
	static const uint8_t types[] = {WEFT_EVENT_CREATE, WEFT_EVENT_SWITCH, WEFT_EVENT_RESOLVE,
		WEFT_EVENT_TRY_READ, WEFT_EVENT_LABEL, WEFT_EVENT_COUNTER};
	uint64_t now = 1000;
	uint32_t buffer = 0;
	for (size_t i = 0; i < EVENTS; i++) {
		uint32_t thread = next_random(&seed) % THREADS;
		if (threads[thread].buffer < buffer || next_random(&seed) % 3)
			now += 1 + next_random(&seed) % 3;
		buffer = threads[thread].buffer;
		events[i] = (struct weft_event){
			.type = types[next_random(&seed) % sizeof(types)],
			.time_ns = now,
			.task = next_random(&seed) % 20,
			.other = next_random(&seed) % 20,
			.kind = WEFT_KIND_TASK,
			.text = {"queue", 5},
			.value = 1,
			.thread = thread,
			.buffer = buffer,
		};
	}
}

static struct weft_decoder *open_bytes(const void *bytes, size_t size)
{
	struct weft_decoder *decoder;
	assert_int_equal(weft_decoder_create(&decoder), 0);
	assert_int_equal(weft_decoder_feed_borrowed(decoder, bytes, size), 0);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	return decoder;
}

static struct weft_decoder *merge(struct weft_decoder *const *decoders, size_t count)
{
	struct weft_decoder_part *parts = calloc(count, sizeof(*parts));
	struct weft_decoder *merged;
	for (size_t i = 0; i < count; i++)
		parts[i].decoder = decoders[i];
	assert_int_equal(weft_decoder_create_merged(parts, count, &merged), 0);
	free(parts);
	return merged;
}

static void add_rows(const struct weft_model *m, struct weft_text *text)
{
	char line[256];
	for (uint32_t i = 0; i < m->tasks.count; i++) {
		snprintf(line, sizeof(line), "task %u/%llu %llu-%llu flags %u\n", m->tasks.buffer[i],
			(unsigned long long)m->tasks.id[i], (unsigned long long)m->tasks.start[i],
			(unsigned long long)m->tasks.end[i], m->tasks.flags[i]);
		weft_text_add_string(text, line);
		for (uint32_t k = m->tasks.first_activation[i]; k < m->tasks.end_activation[i]; k++) {
			snprintf(line, sizeof(line), " runs %llu-%llu on %u\n",
				(unsigned long long)m->activations.start[k],
				(unsigned long long)m->activations.end[k], m->activations.thread[k]);
			weft_text_add_string(text, line);
		}
	}
	for (uint32_t i = 0; i < m->edges.count; i++) {
		snprintf(line, sizeof(line), "edge %u %llu %u %u\n", m->edges.type[i],
			(unsigned long long)m->edges.time[i], m->edges.from[i], m->edges.to[i]);
		weft_text_add_string(text, line);
	}
	for (uint32_t i = 0; i < m->counter_count; i++) {
		snprintf(line, sizeof(line), "counter of %u: %u samples\n", m->counters[i].buffer,
			m->counters[i].count);
		weft_text_add_string(text, line);
	}
}

static char *describe_model(struct weft_model *model)
{
	struct weft_text text = {0};
	add_rows(model, &text);
	weft_text_add(&text, "", 1);
	weft_model_destroy(model);
	return text.bytes;
}

static void the_parts_are_the_whole(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		static struct weft_event events[EVENTS];
		struct weft_text parts[BUFFERS], expected = {0}, got = {0};
		struct weft_decoder *decoders[BUFFERS];
		struct weft_lines lines;
		struct weft_event event;
		make_events(events, seed);
		weft_lines_init(&lines, &whole, 0);
		for (size_t i = 0; i < EVENTS; i++)
			weft_lines_add_json(&lines, &events[i], &expected);
		for (uint32_t i = 0; i < BUFFERS; i++) {
			parts[i] = write_part(events, EVENTS, i, UINT64_MAX);
			decoders[i] = open_bytes(parts[i].bytes, parts[i].size);
		}
		struct weft_decoder *merged = merge(decoders, BUFFERS);
		const struct weft_trace_description *d = weft_decoder_describe(merged);
		assert_int_equal(d->thread_count, THREADS);
		assert_int_equal(d->buffer_count, BUFFERS);
		for (uint32_t i = 0; i < THREADS; i++) {
			assert_int_equal(d->threads[i].tid, threads[i].tid);
			assert_int_equal(d->threads[i].buffer, threads[i].buffer);
		}
		weft_lines_init(&lines, d, 0);
		while (weft_decoder_next(merged, &event) == WEFT_OK)
			weft_lines_add_json(&lines, &event, &got);
		weft_text_add(&expected, "", 1);
		weft_text_add(&got, "", 1);
		assert_string_equal(got.bytes, expected.bytes);
		assert_true(weft_decoder_part(merged) > 0.1);
		assert_int_equal(weft_decoder_diagnostics(merged)->count, 0);
		weft_decoder_destroy(merged);
		for (uint32_t i = 0; i < BUFFERS; i++) {
			weft_decoder_destroy(decoders[i]);
			weft_text_finish(&parts[i]);
		}
		weft_text_finish(&expected);
		weft_text_finish(&got);
	}
}

/* The model of the parts, against that of the events as they were made. */
static void the_model_of_the_parts_is_that_of_the_whole(void **state)
{
	(void)state;
	static struct weft_event events[EVENTS];
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct weft_text parts[BUFFERS];
		struct weft_decoder *decoders[BUFFERS];
		struct weft_diagnostics diagnostics = {0};
		struct weft_model_builder *builder;
		struct weft_model *model = NULL;
		make_events(events, seed);
		assert_int_equal(weft_model_builder_create(&builder), 0);
		for (size_t i = 0; i < EVENTS; i++)
			assert_int_equal(weft_model_builder_add(builder, &events[i], &diagnostics), 0);
		assert_int_equal(weft_model_builder_finish(builder, &whole, &model), 0);
		weft_model_builder_destroy(builder);
		char *expected = describe_model(model);
		for (uint32_t i = 0; i < BUFFERS; i++) {
			parts[i] = write_part(events, EVENTS, i, UINT64_MAX);
			decoders[i] = open_bytes(parts[i].bytes, parts[i].size);
		}
		struct weft_decoder *merged = merge(decoders, BUFFERS);
		assert_int_equal(weft_decoder_build_model(merged, NULL, &model), 0);
		assert_int_equal(model->buffer_count, BUFFERS);
		assert_string_equal(model->buffers[2].process, "three");
		char *got = describe_model(model);
		assert_string_equal(got, expected);
		free(got);
		free(expected);
		weft_decoder_destroy(merged);
		for (uint32_t i = 0; i < BUFFERS; i++) {
			weft_decoder_destroy(decoders[i]);
			weft_text_finish(&parts[i]);
		}
	}
}

static const char form[] = "((time 1413637708.%06u)(op(Creates 0 %u Task)))\n";

/* Many programs: each has a task of its own with the same id. */
static void thousands_of_parts(void **state)
{
	(void)state;
	enum {
		COUNT = 5000
	};
	struct weft_decoder **decoders = calloc(COUNT, sizeof(struct weft_decoder *));
	static char texts[COUNT][128];
	struct weft_event event;
	struct weft_model *model;
	for (unsigned i = 0; i < COUNT; i++) {
		int size = snprintf(texts[i], 64, form, (i * 37) % COUNT, 1);
		size += snprintf(texts[i] + size, 64, form, COUNT + (i * 41) % 100, 2);
		decoders[i] = open_bytes(texts[i], (size_t)size);
	}
	struct weft_decoder *merged = merge(decoders, COUNT);
	assert_int_equal(weft_decoder_build_model(merged, NULL, &model), 0);
	assert_int_equal(model->summary.events, 2 * COUNT);
	assert_int_equal(model->buffer_count, COUNT);
	assert_int_equal(model->tasks.count, 3 * COUNT); /* and the creators */
	for (unsigned i = 0; i < COUNT; i++)
		assert_int_equal(model->tasks.buffer[weft_model_find_task(model, i, 1)], i);
	weft_model_destroy(model);
	weft_decoder_destroy(merged);
	for (unsigned i = 0; i < COUNT; i++) {
		weft_decoder_destroy(decoders[i]);
		decoders[i] = open_bytes(texts[i], strlen(texts[i]));
	}
	merged = merge(decoders, COUNT);
	uint64_t last_ns = 0;
	uint32_t last_buffer = 0, count = 0;
	for (; weft_decoder_next(merged, &event) == WEFT_OK; count++) {
		assert_true(event.time_ns >= last_ns);
		assert_true(event.time_ns > last_ns || event.buffer > last_buffer);
		assert_int_equal(event.offset >> 48, event.buffer);
		last_ns = event.time_ns;
		last_buffer = event.buffer;
	}
	assert_int_equal(count, 2 * COUNT);
	weft_decoder_destroy(merged);
	for (unsigned i = 0; i < COUNT; i++)
		weft_decoder_destroy(decoders[i]);
	free(decoders);
}

/* One part has no events, another is damaged: the third is shown whole. */
static void a_damaged_part_does_not_lose_the_others(void **state)
{
	(void)state;
	static const char damaged[] = "((time 1.0)(op(Creates 0 1 Tas";
	static struct weft_event events[EVENTS];
	struct weft_event event;
	make_events(events, 7);
	struct weft_text empty = write_part(events, 0, 1, UINT64_MAX);
	struct weft_text good = write_part(events, EVENTS, 0, UINT64_MAX);
	size_t expected = 0, count = 0;
	for (size_t i = 0; i < EVENTS; i++)
		expected += events[i].buffer == 0;
	struct weft_decoder *decoders[] = {open_bytes(damaged, sizeof(damaged) - 1),
		open_bytes(empty.bytes, empty.size), open_bytes(good.bytes, good.size)};
	struct weft_decoder *merged = merge(decoders, 3);
	for (; weft_decoder_next(merged, &event) == WEFT_OK; count++)
		assert_int_equal(weft_decoder_describe(merged)->buffers[event.buffer].pid, 10);
	assert_int_equal(count, expected);
	const struct weft_diagnostics *diagnostics = weft_decoder_diagnostics(merged);
	assert_int_equal(diagnostics->count, 1);
	assert_int_equal(diagnostics->list[0].offset, WEFT_PART_OFFSET(0, 0));
	assert_int_equal(weft_decoder_next(merged, &event), WEFT_END);
	weft_decoder_destroy(merged);
	merged = merge(decoders, 1);
	assert_int_equal(weft_decoder_next(merged, &event), WEFT_ERROR_DAMAGED);
	weft_decoder_destroy(merged);
	for (unsigned i = 0; i < 3; i++)
		weft_decoder_destroy(decoders[i]);
	weft_text_finish(&empty);
	weft_text_finish(&good);
}

static void feed(struct weft_decoder *decoder, unsigned time, unsigned task)
{
	char text[64];
	int size = snprintf(text, sizeof(text), form, time, task);
	assert_int_equal(weft_decoder_feed(decoder, text, (size_t)size), 0);
}

static void expect(struct weft_decoder *merged, uint64_t child, uint32_t buffer)
{
	struct weft_event event;
	assert_int_equal(weft_decoder_next(merged, &event), WEFT_OK);
	assert_int_equal(event.other, child);
	assert_int_equal(event.buffer, buffer);
	assert_int_equal(weft_decoder_describe(merged)->threads[event.thread].buffer, buffer);
}

/* No event is returned as long as one part may still have an earlier one. */
static void a_part_that_still_arrives_holds_up_the_others(void **state)
{
	(void)state;
	struct weft_decoder *decoders[2];
	struct weft_event event;
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(weft_decoder_create(&decoders[i]), 0);
	struct weft_decoder *merged = merge(decoders, 2);
	assert_int_equal(weft_decoder_next(merged, &event), WEFT_AGAIN);
	feed(decoders[1], 5, 1);
	feed(decoders[1], 9, 2);
	assert_int_equal(weft_decoder_next(merged, &event), WEFT_AGAIN);
	feed(decoders[0], 7, 3);
	expect(merged, 1, 1);
	expect(merged, 3, 0);
	assert_int_equal(weft_decoder_next(merged, &event), WEFT_AGAIN);
	feed(decoders[0], 9, 4);
	expect(merged, 4, 0);
	assert_int_equal(weft_decoder_next(merged, &event), WEFT_AGAIN);
	assert_int_equal(weft_decoder_finish(decoders[0]), 0);
	expect(merged, 2, 1);
	assert_int_equal(weft_decoder_next(merged, &event), WEFT_AGAIN);
	assert_int_equal(weft_decoder_finish(decoders[1]), 0);
	assert_int_equal(weft_decoder_next(merged, &event), WEFT_END);
	weft_decoder_destroy(merged);
	for (unsigned i = 0; i < 2; i++)
		weft_decoder_destroy(decoders[i]);
}

/* A file of a stream, with an event of each of two threads, whose record ended then. */
static struct weft_decoder *open_ended(struct made_stream *stream, uint64_t series, uint32_t piece,
	uint32_t first_thread, uint64_t end_ns)
{
	struct weft_abi_buffer header = made_header();
	header.series = series;
	header.piece = piece;
	header.uuid[0] = 1;
	header.ending = WEFT_ABI_ENDING_EXIT;
	header.end.ticks = header.end.monotonic_ns = end_ns;
	made_begin(stream, &header);
	for (uint32_t i = 0; i < 2; i++) {
		struct made_packet packet = made_packet(first_thread + i, 2 * piece + i);
		packet.header.base_ticks = 1000 * piece;
		made_switch(&packet, 10 * i, 7);
		made_add_packet(stream, &packet, 0);
	}
	return open_bytes(stream->bytes, stream->size);
}

static struct weft_decoder *open_piece(
	struct made_stream *stream, uint64_t series, uint32_t piece, uint32_t first_thread)
{
	return open_ended(stream, series, piece, first_thread, 1000 * piece + 900);
}

static void files_of_one_stream_are_one_buffer(void **state)
{
	static struct made_stream first, second;
	(void)state;
	for (uint64_t series = 5; series <= 6; series++) {
		struct weft_decoder *parts[] = {
			open_piece(&first, 5, 1, 3), open_piece(&second, series, 2, 4)};
		struct weft_decoder *merged = merge(parts, 2);
		struct weft_event event;
		uint32_t thread_of[4], buffer_of[4], count = 0;
		while (weft_decoder_next(merged, &event) == WEFT_OK && count < 4) {
			thread_of[count] = event.thread;
			buffer_of[count++] = event.buffer;
		}
		const struct weft_trace_description *d = weft_decoder_describe(merged);
		assert_int_equal(count, 4);
		assert_int_equal(d->buffer_count, series == 5 ? 1 : 2);
		assert_int_equal(d->thread_count, series == 5 ? 3 : 4); /* threads 3, 4 and 4, 5 */
		assert_int_equal(thread_of[1] == thread_of[2], series == 5);
		assert_int_equal(buffer_of[3], series == 5 ? 0 : 1);
		assert_int_equal(d->buffers[0].end_ns, series == 5 ? 2900 : 1900);
		weft_decoder_destroy(merged);
		weft_decoder_destroy(parts[0]);
		weft_decoder_destroy(parts[1]);
	}
}

/* A damaged file may have other names than the stream's first one. */
static void files_of_one_stream_have_names_of_their_own(void **state)
{
	static struct made_stream streams[2];
	static const char *const names[] = {"one", "two"};
	struct weft_decoder *parts[2];
	struct weft_model *m;
	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		struct weft_abi_buffer header = made_header();
		header.series = 5;
		header.piece = i + 1;
		header.uuid[0] = 1;
		made_begin(&streams[i], &header);
		made_name(&streams[i], 0, names[i]);
		struct made_packet packet = made_packet(3, i + 1);
		packet.header.base_ticks = 1000 * i;
		made_switch(&packet, 10, 7 + i);
		made_label(&packet, 20, 1);
		made_add_packet(&streams[i], &packet, 0);
		parts[i] = open_bytes(streams[i].bytes, streams[i].size);
	}
	struct weft_decoder *merged = merge(parts, 2);
	assert_int_equal(weft_decoder_build_model(merged, NULL, &m), 0);
	assert_int_equal(m->tasks.count, 2);
	for (uint32_t i = 0; i < 2; i++)
		assert_string_equal(weft_model_string(m, m->tasks.label[i]).bytes, names[i]);
	weft_model_destroy(m);
	weft_decoder_destroy(merged);
	weft_decoder_destroy(parts[0]);
	weft_decoder_destroy(parts[1]);
}

/* Number 0 is that of threads which the recorder did not number: it tells none from another. */
static void threads_without_a_number_are_not_one(void **state)
{
	static struct made_stream first, second;
	struct weft_decoder *parts[] = {open_piece(&first, 5, 1, 0), open_piece(&second, 5, 2, 0)};
	struct weft_decoder *merged = merge(parts, 2);
	struct weft_event event;
	uint32_t thread_of[4] = {0}, count = 0;
	(void)state;
	while (weft_decoder_next(merged, &event) == WEFT_OK && count < 4)
		thread_of[count++] = event.thread;
	assert_int_equal(weft_decoder_describe(merged)->buffer_count, 1);
	assert_int_equal(weft_decoder_describe(merged)->thread_count, 3);
	assert_int_not_equal(thread_of[0], thread_of[2]);
	assert_int_equal(thread_of[1], thread_of[3]);
	weft_decoder_destroy(merged);
	weft_decoder_destroy(parts[0]);
	weft_decoder_destroy(parts[1]);
}

/* The files may be given in any order, and a copy of one may have been made before its end. */
static void the_latest_end_of_one_stream_counts(void **state)
{
	static struct made_stream first, second;
	static const uint64_t ends[][2] = {{1900, 2900}, {2900, 1900}, {2900, 2900}, {2900, 0}};
	(void)state;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		struct weft_decoder *parts[] = {
			open_ended(&first, 5, 1, 3, ends[i][0]), open_ended(&second, 5, 2, 4, ends[i][1])};
		struct weft_decoder *merged = merge(parts, 2);
		struct weft_event event;
		while (weft_decoder_next(merged, &event) == WEFT_OK)
			continue;
		assert_int_equal(weft_decoder_describe(merged)->buffer_count, 1);
		assert_int_equal(weft_decoder_describe(merged)->buffers[0].end_ns, 2900);
		weft_decoder_destroy(merged);
		weft_decoder_destroy(parts[0]);
		weft_decoder_destroy(parts[1]);
	}
}

/* Writes a trace of one buffer, which lost events up to these times. */
static struct weft_text write_losses(uint32_t buffer, const uint64_t ends[2])
{
	struct weft_trace_thread own[THREADS];
	struct weft_trace_description description = describe(buffer, own);
	const struct weft_event event = {.type = WEFT_EVENT_SWITCH, .time_ns = 1000, .task = 1};
	const struct weft_cut_range range = {0, UINT64_MAX, 0};
	const struct weft_loss_period periods[2] = {
		{.start = ends[0] - 100, .end = ends[0], .count = 1},
		{.start = ends[1] - 100, .end = ends[1], .count = 2}};
	struct weft_text part = {0};
	const struct weft_cut_sink sink = {append, &part};
	struct weft_cut *cut;
	description.loss_periods = periods;
	description.loss_period_count = 2;
	description.losses[0] = 3;
	assert_int_equal(weft_cut_create(&range, NULL, &sink, &cut), 0);
	assert_true(weft_cut_add(cut, &event, &description) >= 0);
	assert_int_equal(weft_cut_finish(cut, &description), 0);
	weft_cut_destroy(cut);
	return part;
}

static void losses_are_in_the_order_of_their_ends(void **state)
{
	static const uint64_t ends[2][2] = {{400, 800}, {300, 600}};
	struct weft_text parts[2];
	struct weft_decoder *decoders[2];
	struct weft_event event;
	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		parts[i] = write_losses(i, ends[i]);
		decoders[i] = open_bytes(parts[i].bytes, parts[i].size);
	}
	struct weft_decoder *merged = merge(decoders, 2);
	while (weft_decoder_next(merged, &event) == WEFT_OK)
		continue;
	const struct weft_trace_description *d = weft_decoder_describe(merged);
	assert_int_equal(d->loss_period_count, 4);
	for (uint32_t i = 1; i < 4; i++)
		assert_true(d->loss_periods[i - 1].end < d->loss_periods[i].end);
	weft_decoder_destroy(merged);
	for (uint32_t i = 0; i < 2; i++) {
		weft_decoder_destroy(decoders[i]);
		weft_text_finish(&parts[i]);
	}
}

/* Writes a trace of one buffer: category 3 begins with level 4, and then changes. */
static struct weft_text write_levels(uint32_t buffer, const struct weft_trace_change *change)
{
	static const struct weft_trace_category category = {.name = "net", .number = 3, .level = 4};
	struct weft_trace_thread own[THREADS];
	struct weft_trace_description description = describe(buffer, own);
	const struct weft_event event = {.type = WEFT_EVENT_SWITCH, .time_ns = 500, .task = 1};
	const struct weft_cut_range range = {0, UINT64_MAX, 0};
	struct weft_text part = {0};
	const struct weft_cut_sink sink = {append, &part};
	struct weft_cut *cut;
	description.categories = &category;
	description.category_count = 1;
	description.changes = change;
	description.change_count = 1;
	assert_int_equal(weft_cut_create(&range, NULL, &sink, &cut), 0);
	assert_true(weft_cut_add(cut, &event, &description) >= 0);
	assert_int_equal(weft_cut_finish(cut, &description), 0);
	weft_cut_destroy(cut);
	return part;
}

static void levels_belong_to_their_buffer(void **state)
{
	static const struct weft_trace_change changes[] = {
		{.time_ns = 300, .category = 3, .level = 1}, {.time_ns = 200, .category = 3, .level = 2}};
	struct weft_text parts[2];
	struct weft_decoder *decoders[2];
	struct weft_event event;
	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		parts[i] = write_levels(i, &changes[i]);
		decoders[i] = open_bytes(parts[i].bytes, parts[i].size);
	}
	struct weft_decoder *merged = merge(decoders, 2);
	while (weft_decoder_next(merged, &event) == WEFT_OK)
		continue;
	const struct weft_trace_description *d = weft_decoder_describe(merged);
	assert_int_equal(d->category_count, 2);
	assert_int_equal(d->change_count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct weft_trace_change *change = &d->changes[i], *given = &changes[1 - i];
		assert_int_equal(d->categories[i].buffer, i);
		assert_string_equal(d->categories[i].name, "net");
		assert_int_equal(change->buffer, 1 - i); /* the changes are in the order of time */
		assert_int_equal(change->time_ns, given->time_ns);
		assert_int_equal(change->category, 3);
		assert_int_equal(change->level, given->level);
	}
	weft_decoder_destroy(merged);
	for (uint32_t i = 0; i < 2; i++) {
		weft_decoder_destroy(decoders[i]);
		weft_text_finish(&parts[i]);
	}
}

/* A file of a stream that ends at `end_ns`: category 3 has the last of `count` levels, which were
 * set at 100, 200, …; the header has the newest 64. */
static struct weft_decoder *open_levels(struct made_stream *stream, uint32_t count, uint64_t end_ns)
{
	struct weft_abi_buffer header = made_header();
	header.series = 5;
	header.uuid[0] = 1;
	header.ending = WEFT_ABI_ENDING_EXIT;
	header.end.ticks = header.end.monotonic_ns = end_ns;
	header.categories[3] = WEFT_ABI_CATEGORY(1, 0);
	for (uint32_t i = 0; i < count; i++)
		weft__abi_set_level(&header, 100 * (i + 1), 3, (uint8_t)(i % 5));
	made_begin(stream, &header);
	made_name(stream, 0, "net");
	return open_bytes(stream->bytes, stream->size);
}

static void files_of_one_stream_have_the_same_levels(void **state)
{
	static struct made_stream first, second;
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct weft_decoder *parts[] = {
			open_levels(&first, i ? 70 : 52, i ? 9000 : 6000),
			open_levels(&second, i ? 52 : 70, i ? 6000 : 9000),
		};
		struct weft_decoder *merged = merge(parts, 2);
		struct weft_event event;
		assert_int_equal(weft_decoder_next(merged, &event), WEFT_END);
		const struct weft_trace_description *d = weft_decoder_describe(merged);
		assert_int_equal(d->category_count, 1);
		assert_int_equal(d->categories[0].level, 69 % 5);
		assert_int_equal(d->change_count, 70);
		for (uint32_t n = 0; n < 70; n++) {
			assert_int_equal(d->changes[n].time_ns, 100 * (n + 1));
			assert_int_equal(d->changes[n].level, n % 5);
		}
		weft_decoder_destroy(merged);
		weft_decoder_destroy(parts[0]);
		weft_decoder_destroy(parts[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_of_one_stream_are_one_buffer),
		cmocka_unit_test(files_of_one_stream_have_names_of_their_own),
		cmocka_unit_test(threads_without_a_number_are_not_one),
		cmocka_unit_test(the_latest_end_of_one_stream_counts),
		cmocka_unit_test(the_parts_are_the_whole),
		cmocka_unit_test(the_model_of_the_parts_is_that_of_the_whole),
		cmocka_unit_test(thousands_of_parts),
		cmocka_unit_test(a_damaged_part_does_not_lose_the_others),
		cmocka_unit_test(a_part_that_still_arrives_holds_up_the_others),
		cmocka_unit_test(levels_belong_to_their_buffer),
		cmocka_unit_test(files_of_one_stream_have_the_same_levels),
		cmocka_unit_test(losses_are_in_the_order_of_their_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

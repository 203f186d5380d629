/* SPDX-License-Identifier: ISC
 *
 * Parts of traces that tests make of their own events.
 */
#ifndef WEFT_TESTS_CUT_PARTS_H
#define WEFT_TESTS_CUT_PARTS_H

#include <weft/cut.h>

#include "decoded.h"

static inline struct weft_slice text_of(const char *string)
{
	return (struct weft_slice){string, strlen(string)};
}

static const struct weft_trace_thread threads[] = {
	{.name = "main", .tid = 43},
	{.name = "worker", .tid = 44},
	{.name = "silent", .tid = 45},
};

static const struct weft_trace_buffer buffer = {.process = "program",
	.host = "machine",
	.file = "",
	.pid = 42,
	.boot_id = "boot boot boot!",
	.uuid = "uuid uuid uuid!"};

static const struct weft_trace_description description = {
	.format = "test",
	.clock = {.name = "monotonic",
		.epoch = WEFT_EPOCH_MONOTONIC,
		.hz = 1000000000,
		.offset_ns = 5000},
	.threads = threads,
	.thread_count = 3,
	.buffers = &buffer,
	.buffer_count = 1,
	.losses = {7, 0, 0, 0, 0, 0, 0, 0, 9},
};

static inline int append(void *text, const void *bytes, size_t size)
{
	weft_text_add(text, bytes, size);
	return 0;
}

static inline int refuse(void *context, const void *bytes, size_t size)
{
	(void)context;
	(void)bytes;
	(void)size;
	return WEFT_ERROR_SYSTEM;
}

static const struct weft_cut_range all = {0, UINT64_MAX, 0};

static inline struct weft_cut *begin(const struct weft_cut_range *range, struct weft_text *part)
{
	const struct weft_cut_sink sink = {append, part};
	struct weft_cut *cut;
	assert_int_equal(weft_cut_create(range, "somewhere", &sink, &cut), 0);
	return cut;
}

/* Finishes the cut and returns its lines. */
static inline struct decoded end(struct weft_cut *cut, struct weft_text *part)
{
	assert_int_equal(weft_cut_finish(cut, &description), 0);
	weft_cut_destroy(cut);
	struct decoded d = decode(part->bytes, part->size, 0);
	weft_text_finish(part);
	assert_int_equal(d.diagnostics.count, 0);
	return d;
}

static inline void add(struct weft_cut *cut, const struct weft_event *event)
{
	assert_int_equal(weft_cut_add(cut, event, &description), WEFT_OK);
}

/* The lines of the part [100, 200) of some events. */
static inline struct decoded cut_events(const struct weft_event *events, size_t count)
{
	const struct weft_cut_range range = {100, 200, 0};
	struct weft_text part = {0};
	struct weft_cut *cut = begin(&range, &part);
	for (size_t i = 0; i < count; i++)
		add(cut, &events[i]);
	return end(cut, &part);
}

#define CUT(events) cut_events(events, sizeof(events) / sizeof((events)[0]))

static inline void expect_lines(struct decoded *d, const char *lines)
{
	assert_string_equal(d->lines.bytes, lines);
	weft_text_finish(&d->lines);
}

#endif

/* SPDX-License-Identifier: ISC
 *
 * For the recorder's tests: a buffer that is recorded into and then decoded, event by event.
 */
#ifndef WEFT_TEST_RECORD_TRACE_H
#define WEFT_TEST_RECORD_TRACE_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <weft/decoder.h>
#include <weft/weft.h>

#include "record/counters.h"

struct trace {
	struct weft_decoder *decoder;
	struct weft_event event; /* the last that was read */
};

static inline void *trace_buffer(size_t size)
{
	void *buffer = aligned_alloc(64, size);
	assert_non_null(buffer);
	return buffer;
}

#define TRACE_BYTES ((size_t)1 << 20)

/* Before a test, and after it: `*state` is the buffer. */
static inline int trace_start(void **state)
{
	*state = trace_buffer(TRACE_BYTES);
	return weft_start(*state, TRACE_BYTES, NULL);
}

static inline int trace_stop(void **state)
{
	weft_stop();
	free(*state);
	return 0;
}

/* A test that counts its events has no totals of counters that earlier tests have changed. */
static inline void trace_forget_counters(void)
{
	weft__counters.rows_used = 0;
}

static inline void trace_open(struct trace *trace, const void *buffer, size_t size)
{
	assert_int_equal(weft_decoder_create(&trace->decoder), 0);
	assert_int_equal(weft_decoder_feed_borrowed(trace->decoder, buffer, size), 0);
	assert_int_equal(weft_decoder_finish(trace->decoder), 0);
}

static inline void trace_read_back(struct trace *trace, void **state)
{
	weft_stop();
	trace_open(trace, *state, TRACE_BYTES);
}

/* The next event, but for the totals of counters, which earlier tests of the process may have
 * changed. */
static inline bool trace_next(struct trace *trace)
{
	int status;
	do
		status = weft_decoder_next(trace->decoder, &trace->event);
	while (status == WEFT_OK && trace->event.type == WEFT_EVENT_TOTAL);
	assert_true(status == WEFT_OK || status == WEFT_END);
	return status == WEFT_OK;
}

/* Returns the next event, which must have this type, actor and other task. */
static inline const struct weft_event *trace_expect(
	struct trace *trace, enum weft_event_type type, uint64_t task, uint64_t other)
{
	assert_true(trace_next(trace));
	assert_string_equal(
		weft_event_describe(trace->event.type)->name, weft_event_describe(type)->name);
	assert_int_equal(trace->event.task, task);
	assert_int_equal(trace->event.other, other);
	return &trace->event;
}

static inline void trace_text(struct weft_slice slice, const char *text)
{
	char copy[4096] = {0};
	assert_true(slice.size < sizeof(copy));
	if (slice.size)
		memcpy(copy, slice.bytes, slice.size);
	assert_string_equal(copy, text);
}

static inline uint64_t trace_loss(const struct trace *trace, enum weft_loss cause)
{
	return weft_decoder_describe(trace->decoder)->losses[cause];
}

/* Expects the end of the trace, without diagnostics. */
static inline void trace_close(struct trace *trace)
{
	assert_false(trace_next(trace));
	const struct weft_diagnostics *diagnostics = weft_decoder_diagnostics(trace->decoder);
	for (size_t i = 0; i < diagnostics->count; i++)
		fprintf(stderr, "diagnostic: %s\n", diagnostics->list[i].message);
	assert_int_equal(diagnostics->count, 0);
	weft_decoder_destroy(trace->decoder);
}

#endif

/* SPDX-License-Identifier: ISC
 *
 * The input is a trace of Xen: its records, the events that are made of them, and both while it
 * grows.
 */
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Each record has its own place in the input, and time does not go back. */
static void check_records(const uint8_t *bytes, size_t size)
{
	struct weft_decoder *decoder;
	struct weft_xentrace_record record;
	uint64_t last_ns = 0, count = 0;
	int status = WEFT_END;
	require(weft_decoder_create(&decoder) == 0);
	require(weft_decoder_feed_borrowed(decoder, bytes, size) == 0);
	if (weft_decoder_finish(decoder) == 0 && weft_decoder_has_xentrace(decoder))
		while ((status = weft_decoder_next_xentrace(decoder, &record)) == WEFT_OK) {
			require(record.time_ns >= last_ns && record.offset < size);
			require(record.arg_count <= WEFT_XENTRACE_ARGS_MAX && record.name[0]);
			last_ns = record.time_ns;
			require(++count <= size / 4);
		}
	require(status == WEFT_END || status == WEFT_ERROR_DAMAGED);
	weft_decoder_destroy(decoder);
}

/* A stay does not end before it begins, and its state has a name. */
static int check_stay(void *context, const struct weft_xentrace_stay *stay)
{
	uint64_t *count = context;
	require(stay->start_ns <= stay->end_ns);
	require(weft_xentrace_state_name(stay->state) != NULL);
	++*count;
	return 0;
}

static void check_stays(const uint8_t *bytes, size_t size)
{
	struct weft_decoder *decoder;
	uint64_t count = 0;
	require(weft_decoder_create(&decoder) == 0);
	require(weft_decoder_feed_borrowed(decoder, bytes, size) == 0);
	if (weft_decoder_finish(decoder) == 0 && weft_decoder_has_xentrace(decoder))
		require(weft_decoder_xentrace_stays(decoder, check_stay, &count) == 0);
	weft_decoder_destroy(decoder);
}

static uint64_t read_ready(struct weft_xentrace_growing *growing)
{
	struct weft_xentrace_record record;
	uint64_t count = 0;
	int status;
	while ((status = weft_xentrace_growing_next(growing, &record)) == WEFT_OK) {
		require(record.arg_count <= WEFT_XENTRACE_ARGS_MAX && record.name[0]);
		count++;
	}
	require(status == WEFT_AGAIN);
	return count;
}

/* The input comes in two parts, with a pause or without one. */
static void check_growing(const uint8_t *bytes, size_t size)
{
	struct weft_xentrace_growing *growing;
	size_t first = size ? bytes[size - 1] * size / 256 : 0;
	uint64_t count;
	require(weft_xentrace_growing_create(0, &growing) == 0);
	require(weft_xentrace_growing_feed(growing, bytes, first) == 0);
	count = read_ready(growing);
	if (first % 2)
		weft_xentrace_growing_flush(growing, false);
	count += read_ready(growing);
	require(weft_xentrace_growing_feed(growing, bytes + first, size - first) == 0);
	count += read_ready(growing);
	weft_xentrace_growing_flush(growing, true);
	count += read_ready(growing);
	require(count <= size / 4);
	weft_xentrace_growing_destroy(growing);
}

/* Takes the events that are ready. Returns the status after them. */
static int take_events(struct weft_decoder *decoder, size_t size, uint64_t *last_ns)
{
	const struct weft_trace_description *description = weft_decoder_describe(decoder);
	struct weft_event event;
	int status;
	while ((status = weft_decoder_next(decoder, &event)) == WEFT_OK) {
		check_event(&event, *last_ns, size);
		require(event.thread < description->thread_count);
		require(event.buffer < description->buffer_count);
		*last_ns = event.time_ns;
	}
	return status;
}

/* The events of an input that comes in two parts. */
static void check_incoming(const uint8_t *bytes, size_t size)
{
	struct weft_decoder *decoder;
	size_t first = size ? bytes[size - 1] * size / 256 : 0;
	uint64_t last_ns = 0;
	if (!weft__format_xentrace.probe(bytes, first))
		return;
	require(weft_decoder_create(&decoder) == 0);
	require(weft_decoder_feed(decoder, bytes, first) == 0);
	require(take_events(decoder, size, &last_ns) == WEFT_AGAIN);
	require(weft_decoder_feed(decoder, bytes + first, size - first) == 0);
	require(take_events(decoder, size, &last_ns) == WEFT_AGAIN);
	require(weft_decoder_finish(decoder) == 0);
	int status = take_events(decoder, size, &last_ns);
	require(status == WEFT_END || status == WEFT_ERROR_DAMAGED);
	weft_decoder_destroy(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	check_growing(bytes, size);
	check_incoming(bytes, size);
	check_records(bytes, size);
	check_stays(bytes, size);
	check_format(&weft__format_xentrace, bytes, size);
	check_model(bytes, size);
	return 0;
}

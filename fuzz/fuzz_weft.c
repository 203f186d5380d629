/* SPDX-License-Identifier: ISC
 *
 * The input is a buffer in weft's format.
 */
#include "reader.h"
#include "same_facts.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A time at or after `now_ns`, by bytes of the input. */
static uint64_t choose_time(const uint8_t *bytes, size_t size, uint64_t now_ns, uint64_t number)
{
	const uint64_t step = (uint64_t)bytes[number % size] << bytes[(number + 1) % size] % 40;
	return step < UINT64_MAX - now_ns ? now_ns + step : UINT64_MAX;
}

/* Seeks now and then: events still come in the order of time, and end. */
static void check_seek(const uint8_t *bytes, size_t size)
{
	struct weft_decoder *decoder;
	struct weft_event event;
	uint64_t last_ns = 0, events = 0;
	require(weft_decoder_create(&decoder) == 0);
	require(weft_decoder_feed_borrowed(decoder, bytes, size) == 0);
	int status = weft_decoder_finish(decoder);
	while (status == WEFT_OK && (status = weft_decoder_next(decoder, &event)) == WEFT_OK) {
		check_event(&event, last_ns, size);
		last_ns = event.time_ns;
		if (events++ % 8 == 0)
			require(
				weft_decoder_seek(decoder, choose_time(bytes, size, last_ns, events)) == WEFT_OK);
	}
	require(status != WEFT_AGAIN);
	weft_decoder_destroy(decoder);
}

/* Plain events have the facts that they have one by one. */
static void check_facts(const uint8_t *bytes, size_t size)
{
	uint64_t plain;
	require(has_same_facts(bytes, size, 1 + size % 64, size & 64, &plain));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	check_format(&weft__format_weft, bytes, size);
	check_model(bytes, size);
	check_seek(bytes, size);
	check_facts(bytes, size);
	return 0;
}

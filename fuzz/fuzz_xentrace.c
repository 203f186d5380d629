/* SPDX-License-Identifier: ISC
 *
 * The input is a trace of Xen: its records, and the events that are made of them.
 */
#include "drawn.h"
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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	check_records(bytes, size);
	check_format(&weft__format_xentrace, bytes, size);
	draw_trace(bytes, size);
	return 0;
}

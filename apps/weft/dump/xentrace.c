/* SPDX-License-Identifier: ISC
 *
 * weft dump of Xen's own trace: its records, as they are in the file.
 */
#include "dump.h"

/* Blocks of output between two calls of weft_source_forget(), which costs page faults: 16 MiB. */
#define FORGET_BLOCKS 64

/* The pages of a smaller file are mapped once, and stay. */
#define FORGET_FROM ((size_t)32 << 20)

/* Drops the pages that were read, so that memory does not grow with the file. */
static void forget(const struct cli_trace *trace)
{
	size_t size;
	struct weft_source *source = weft_input_source(trace->input);
	weft_source_bytes(source, &size);
	if (size > FORGET_FROM)
		weft_source_forget(source);
}

int dump_xentrace(const struct dump_options *options, const struct cli_trace *trace)
{
	struct weft_text text = {0};
	struct weft_xentrace_record record;
	const struct dump_range range = dump_find_range(options, 0);
	uint64_t count = 0, shown = 0, blocks = 0;
	struct xen_filter_state state = {0};
	int status;
	while ((status = weft_decoder_next_xentrace(trace->decoder, &record)) == WEFT_OK) {
		count++;
		if (record.time_ns >= range.end_ns && range.end_ns != UINT64_MAX)
			break;
		if (!xen_filter_is_empty(&options->filter) &&
			!xen_filter_has(&options->filter, &state, &record))
			continue;
		if (record.time_ns < range.start_ns)
			continue;
		shown++;
		if (options->json)
			weft_lines_add_xentrace_json(&record, &text);
		else
			weft_lines_add_xentrace_text(&record, &text);
		if (text.size < DUMP_BLOCK_BYTES)
			continue;
		if (++blocks % FORGET_BLOCKS == 0)
			forget(trace);
		if (!cli_write(&text) || !cli_progress_step(count))
			break;
	}
	xen_filter_state_finish(&state);
	return dump_end(trace, &text, status, count, shown);
}

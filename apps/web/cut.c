/* SPDX-License-Identifier: ISC
 *
 * Writes a part of the trace as a trace of its own. The model no longer has all that was recorded,
 * so the bytes are read again, while the page may show or follow a trace.
 */
#include <stdlib.h>
#include <string.h>

#include <weft/cut.h>
#include <weft/decoder.h>

#include "page.h"

static struct {
	struct weft_decoder *decoder;
	struct weft_cut *cut;
	uint8_t *room;
	struct weft_text part;
} cutting;

void PAGE_EXPORT(page_cut_drop)(void)
{
	weft_cut_destroy(cutting.cut);
	weft_decoder_destroy(cutting.decoder);
	weft_text_finish(&cutting.part);
	free(cutting.room);
	memset(&cutting, 0, sizeof(cutting));
}

static int append(void *context, const void *bytes, size_t size)
{
	struct weft_text *part = context;
	weft_text_add(part, bytes, size);
	return part->error;
}

/* Starts a cut. The text is the trace's name; `hz` as for page_load_open(). */
int PAGE_EXPORT(page_cut_start)(uint64_t start_ns, uint64_t end_ns, double hz)
{
	const struct weft_cut_range range = {start_ns, end_ns, 0};
	const struct weft_cut_sink sink = {append, &cutting.part};
	page_cut_drop();
	int error = weft_decoder_create(&cutting.decoder);
	if (!error)
		weft_decoder_set_hz(cutting.decoder, (uint64_t)hz);
	return error ? error : weft_cut_create(&range, page_text(), &sink, &cutting.cut);
}

/* The address for the next `size` bytes; NULL if memory ran out. */
uint8_t *PAGE_EXPORT(page_cut_room)(uint32_t size)
{
	uint8_t *larger = realloc(cutting.room, size ? size : 1);
	if (larger)
		cutting.room = larger;
	return larger;
}

int PAGE_EXPORT(page_cut_more)(uint32_t size)
{
	return weft_decoder_feed(cutting.decoder, cutting.room, size);
}

/* Call when all bytes have been written. */
int PAGE_EXPORT(page_cut_open)(void)
{
	return weft_decoder_finish(cutting.decoder);
}

/* Processes events: WEFT_AGAIN if there are more, WEFT_END, or an error. */
int PAGE_EXPORT(page_cut_step)(uint32_t events)
{
	const struct weft_trace_description *trace = weft_decoder_describe(cutting.decoder);
	struct weft_event event;
	int status = WEFT_OK;
	for (uint32_t i = 0; i < events && status == WEFT_OK; i++) {
		status = weft_decoder_next(cutting.decoder, &event);
		if (status == WEFT_OK)
			status = weft_cut_add(cutting.cut, &event, trace);
	}
	if (status == WEFT_OK)
		return WEFT_AGAIN;
	int error = status == WEFT_END ? weft_cut_finish(cutting.cut, trace) : status;
	return error ? error : WEFT_END;
}

/* The address and length of the part. */
const uint32_t *PAGE_EXPORT(page_cut_bytes)(void)
{
	static uint32_t span[2];
	span[0] = (uint32_t)(uintptr_t)cutting.part.bytes;
	span[1] = (uint32_t)cutting.part.size;
	return span;
}

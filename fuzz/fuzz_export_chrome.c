/* SPDX-License-Identifier: ISC
 *
 * The input is a trace in any format. What is exported from it for Chrome must be read without
 * damage, as the same events.
 */
#include "reader.h"

#include <weft/export.h>
#include <weft/text.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Later times than this are no times in Chrome's format. */
#define LAST_NS (UINT64_C(1) << 61)

static int append(void *text, const void *bytes, size_t size)
{
	weft_text_add(text, bytes, size);
	return ((struct weft_text *)text)->error;
}

static struct weft_decoder *open_trace(const void *bytes, size_t size)
{
	struct weft_decoder *decoder;
	require(weft_decoder_create(&decoder) == 0);
	require(weft_decoder_feed_borrowed(decoder, bytes, size) == 0);
	if (weft_decoder_finish(decoder) == 0)
		return decoder;
	weft_decoder_destroy(decoder);
	return NULL;
}

/* Returns the number of events, or UINT64_MAX if a time is too late. */
static uint64_t export(struct weft_decoder *decoder, struct weft_text *text)
{
	const struct weft_export_chrome_sink sink = {append, text};
	const struct weft_trace_description *description = weft_decoder_describe(decoder);
	struct weft_export_chrome *chrome;
	struct weft_event event;
	uint64_t count = 0;
	require(weft_export_chrome_create(&sink, &chrome) == 0);
	while (weft_decoder_next(decoder, &event) == WEFT_OK) {
		require(weft_export_chrome_add(chrome, &event, description) == 0);
		count = event.time_ns < LAST_NS && count < UINT64_MAX ? count + 1 : UINT64_MAX;
	}
	require(weft_export_chrome_finish(chrome, description) == 0);
	weft_export_chrome_destroy(chrome);
	return count;
}

static void check_events(const struct weft_text *text, uint64_t count)
{
	struct weft_decoder *decoder = open_trace(text->bytes, text->size);
	struct weft_event event;
	require(decoder != NULL);
	for (; weft_decoder_next(decoder, &event) == WEFT_OK; count--)
		require(count > 0);
	require(count == 0 && weft_decoder_diagnostics(decoder)->count == 0);
	weft_decoder_destroy(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct weft_decoder *decoder = open_trace(bytes, size);
	struct weft_text text = {0};
	if (!decoder)
		return 0;
	uint64_t count = export(decoder, &text);
	if (count != UINT64_MAX)
		check_events(&text, count);
	weft_text_finish(&text);
	weft_decoder_destroy(decoder);
	return 0;
}

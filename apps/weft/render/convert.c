/* SPDX-License-Identifier: ISC
 *
 * A trace of Chrome becomes the cut of all of it.
 */
#include "convert.h"

#include <string.h>

#include <weft/cut.h>
#include <weft/decoder.h>

bool page_reads(const char *format)
{
	return strcmp(format, "chrome") != 0;
}

static int append(void *text, const void *bytes, size_t size)
{
	weft_text_add(text, bytes, size);
	return ((struct weft_text *)text)->error;
}

static int copy(struct weft_decoder *decoder, struct weft_cut *cut)
{
	struct weft_event event;
	int status, error = 0;
	while (!error && (status = weft_decoder_next(decoder, &event)) == WEFT_OK)
		error = weft_cut_add(cut, &event, weft_decoder_describe(decoder));
	if (error || status < 0)
		return error ? error : status;
	return weft_cut_finish(cut, weft_decoder_describe(decoder));
}

int page_convert(const struct page_file *file, struct weft_text *text)
{
	const struct weft_cut_range whole = {0, UINT64_MAX};
	const struct weft_cut_sink sink = {append, text};
	struct weft_decoder *decoder = NULL;
	struct weft_cut *cut = NULL;
	int error = weft_decoder_create(&decoder);
	if (!error)
		error = weft_decoder_feed_borrowed(decoder, file->bytes, file->size);
	if (!error)
		error = weft_decoder_finish(decoder);
	if (!error)
		error = weft_cut_create(&whole, file->name, &sink, &cut);
	if (!error)
		error = copy(decoder, cut);
	weft_cut_destroy(cut);
	weft_decoder_destroy(decoder);
	return error;
}

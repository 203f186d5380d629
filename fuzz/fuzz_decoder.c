/* SPDX-License-Identifier: ISC
 *
 * The input is a trace in any format: fed at once and in pieces it gives the same lines, read while
 * it comes it gives events in time order, and a model and layouts with every kind of rows can be
 * built.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <weft/decoder.h>
#include <weft/input.h>
#include <weft/layout.h>
#include <weft/lines.h>
#include <weft/model.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(int condition)
{
	if (!condition)
		abort();
}

/* Makes a decoder and feeds it `piece` bytes at a time; 0: all of them, borrowed. */
static struct weft_decoder *feed(const uint8_t *bytes, size_t size, size_t piece)
{
	struct weft_decoder *decoder = NULL;
	require(weft_decoder_create(&decoder) == 0);
	if (piece == 0)
		require(weft_decoder_feed_borrowed(decoder, bytes, size) == 0);
	for (size_t at = 0; piece && at < size; at += piece) {
		size_t part = size - at < piece ? size - at : piece;
		require(weft_decoder_feed(decoder, bytes + at, part) == 0);
	}
	return decoder;
}

/* Reads events while the bytes come. */
static void read_incoming(const uint8_t *bytes, size_t size, size_t piece)
{
	struct weft_decoder *decoder = NULL;
	struct weft_event event;
	uint64_t last_ns = 0;
	int status = WEFT_AGAIN;
	require(weft_decoder_create(&decoder) == 0);
	for (size_t at = 0; at <= size && (status == WEFT_AGAIN || at == 0); at += piece) {
		size_t part = size - at < piece ? size - at : piece;
		require(weft_decoder_feed(decoder, bytes + at, part) == 0);
		if (part < piece && weft_decoder_finish(decoder))
			break;
		while ((status = weft_decoder_next(decoder, &event)) == WEFT_OK) {
			require(event.time_ns >= last_ns);
			require(event.offset <= size);
			last_ns = event.time_ns;
		}
	}
	weft_decoder_destroy(decoder);
}

/* Prints every event as both kinds of line. */
static struct weft_text print(struct weft_decoder *decoder)
{
	struct weft_text text = {0};
	struct weft_lines lines;
	struct weft_event event;
	int status, error = weft_decoder_finish(decoder);
	weft_lines_init(&lines, weft_decoder_describe(decoder), 0);
	while ((status = weft_decoder_next(decoder, &event)) == WEFT_OK) {
		weft_lines_add_json(&lines, &event, &text);
		weft_lines_add_text(&lines, &event, &text);
	}
	require(error ? status == error : status == WEFT_END || status == WEFT_ERROR_DAMAGED);
	weft_decoder_destroy(decoder);
	return text;
}

/* Every task's row must exist. */
static struct weft_layout *lay_out(
	const struct weft_model *model, const struct weft_layout_options *options)
{
	struct weft_layout *layout;
	require(weft_layout_create(model, options, &layout) == 0);
	for (uint32_t task = 0; task < model->tasks.count; task++)
		require(
			(layout->row[task] < layout->row_count) == (layout->form[task] != WEFT_FORM_HIDDEN));
	return layout;
}

/* Lays out folded, grouped, with every third task hidden, and again as if the trace had grown. */
static void lay_out_rows(const struct weft_model *model)
{
	const uint32_t folded[] = {0};
	uint8_t *hidden = calloc(model->tasks.count + (size_t)1, 1);
	require(hidden != NULL);
	for (uint32_t task = 0; task < model->tasks.count; task += 3)
		hidden[task] = 1;
	for (unsigned i = 0; i < 12; i++) {
		struct weft_layout_options options = {
			.fold = i % 2,
			.group_by = (enum weft_group_by)(i / 2 % 3),
			.folded_groups = folded,
			.folded_group_count = 1,
			.hidden = i < 6 ? NULL : hidden,
		};
		struct weft_layout *layout = lay_out(model, &options);
		options.previous = layout;
		weft_layout_destroy(lay_out(model, &options));
		weft_layout_destroy(layout);
	}
	free(hidden);
}

static void build_model(struct weft_decoder *decoder)
{
	struct weft_model *model;
	if (weft_decoder_finish(decoder) == 0 && weft_decoder_build_model(decoder, NULL, &model) == 0) {
		const struct weft_model_summary *s = &model->summary;
		require(s->start <= s->end);
		uint32_t outcomes = 0;
		for (unsigned i = 0; i < WEFT_OUTCOMES; i++)
			outcomes += s->by_outcome[i];
		require(outcomes == model->tasks.count);
		lay_out_rows(model);
		weft_model_destroy(model);
	}
	weft_decoder_destroy(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct weft_text at_once = print(feed(bytes, size, 0));
	struct weft_text in_pieces = print(feed(bytes, size, 7));
	require(at_once.size == in_pieces.size);
	require(!at_once.size || memcmp(at_once.bytes, in_pieces.bytes, at_once.size) == 0);
	weft_text_finish(&at_once);
	weft_text_finish(&in_pieces);
	read_incoming(bytes, size, 64);
	read_incoming(bytes, size, 4096);
	build_model(feed(bytes, size, 0));
	weft_input_recognize(bytes, size);
	return 0;
}

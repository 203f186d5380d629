/* SPDX-License-Identifier: ISC
 *
 * The input is a trace, which is cut: the cut can be read without diagnostics, has the range's
 * lines unchanged, and a rundown before them. Cutting a whole cut again gives the same bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <weft/cut.h>
#include <weft/decoder.h>
#include <weft/lines.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(int condition)
{
	if (!condition)
		abort();
}

static struct weft_decoder *open_decoder(const void *bytes, size_t size, int *ret_error)
{
	struct weft_decoder *decoder = NULL;
	require(weft_decoder_create(&decoder) == 0);
	require(weft_decoder_feed_borrowed(decoder, bytes, size) == 0);
	*ret_error = weft_decoder_finish(decoder);
	return decoder;
}

/* The lines of a range, and the times of its first and last event. */
struct shown {
	struct weft_text lines;
	uint64_t first_ns, last_ns, events;
	size_t complaints;
	uint32_t buffers; /* more than one cannot be cut; Xen's own trace is cut in another way */
};

/* Diagnostics, but for an unknown rate of the clock: a cut keeps that. */
static size_t count_complaints(const struct weft_diagnostics *diagnostics)
{
	static const char rate[] = "the clock's rate is unknown";
	size_t count = 0;
	for (size_t i = 0; i < diagnostics->count; i++)
		count += strncmp(diagnostics->list[i].message, rate, sizeof(rate) - 1) != 0;
	return count;
}

static struct shown show(const void *bytes, size_t size, const struct weft_cut_range *range)
{
	struct shown shown = {0};
	struct weft_event event;
	struct weft_lines lines;
	int error;
	struct weft_decoder *decoder = open_decoder(bytes, size, &error);
	while (!error && weft_decoder_next(decoder, &event) == WEFT_OK) {
		if (shown.events++ == 0)
			shown.first_ns = event.time_ns;
		shown.last_ns = event.time_ns;
		weft_lines_init(&lines, weft_decoder_describe(decoder), 0);
		lines.has_threads = true; /* one that damage hides is found when its packet is read */
		if (event.time_ns >= range->start_ns && event.time_ns < range->end_ns)
			weft_lines_add_json(&lines, &event, &shown.lines);
	}
	shown.buffers = weft_decoder_describe(decoder)->buffer_count;
	shown.complaints = count_complaints(weft_decoder_diagnostics(decoder));
	weft_decoder_destroy(decoder);
	return shown;
}

static int append(void *text, const void *bytes, size_t size)
{
	weft_text_add(text, bytes, size);
	return 0;
}

static struct weft_text cut(const void *bytes, size_t size, const struct weft_cut_range *range)
{
	struct weft_text part = {0};
	const struct weft_cut_sink sink = {append, &part};
	struct weft_event event;
	struct weft_cut *cut;
	int status = WEFT_OK, error;
	struct weft_decoder *decoder = open_decoder(bytes, size, &error);
	const struct weft_trace_description *trace = weft_decoder_describe(decoder);
	require(error == 0 && weft_cut_create(range, "fuzz", &sink, &cut) == 0);
	while (status == WEFT_OK && weft_decoder_next(decoder, &event) == WEFT_OK)
		status = weft_cut_add(cut, &event, trace);
	require(status == WEFT_OK || status == WEFT_END);
	require(weft_cut_finish(cut, trace) == 0);
	weft_cut_destroy(cut);
	weft_decoder_destroy(decoder);
	return part;
}

static void require_end(const struct weft_text *text, const struct weft_text *end)
{
	require(text->size >= end->size);
	require(!end->size || memcmp(text->bytes + text->size - end->size, end->bytes, end->size) == 0);
}

/* Chooses a quarter of the trace, depending on its bytes, or all of it. */
static struct weft_cut_range choose(const struct shown *whole, const uint8_t *bytes, size_t size)
{
	uint64_t length = whole->last_ns - whole->first_ns;
	unsigned choice = size ? bytes[size / 2] & 7 : 0;
	if (choice > 3)
		return (struct weft_cut_range){0, UINT64_MAX, 0};
	return (struct weft_cut_range){
		whole->first_ns + length / 4 * choice, whole->first_ns + length / 4 * (choice + 1), 0};
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const struct weft_cut_range all = {0, UINT64_MAX, 0};
	struct shown whole = show(bytes, size, &all);
	if (whole.events && whole.last_ns < UINT64_MAX && whole.buffers <= 1) {
		const struct weft_cut_range range = choose(&whole, bytes, size);
		struct shown wanted = show(bytes, size, &range);
		struct weft_text part = cut(bytes, size, &range);
		struct shown shown = show(part.bytes, part.size, &all);
		struct weft_text again = cut(part.bytes, part.size, &all);
		struct shown shown_again = show(again.bytes, again.size, &all);
		require(shown.complaints == 0 && shown_again.complaints == 0);
		require_end(&shown.lines, &wanted.lines);
		require(shown.lines.size == shown_again.lines.size);
		require_end(&shown.lines, &shown_again.lines);
		weft_text_finish(&wanted.lines);
		weft_text_finish(&part);
		weft_text_finish(&shown.lines);
		weft_text_finish(&again);
		weft_text_finish(&shown_again.lines);
	}
	weft_text_finish(&whole.lines);
	return 0;
}

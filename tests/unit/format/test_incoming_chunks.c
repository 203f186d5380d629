/* SPDX-License-Identifier: ISC
 *
 * A stream that is read while it arrives, chunk by chunk: headers, names and damaged packets have
 * the same effect as in a complete stream.
 */
#include "record_trace.h"

#include <weft/lines.h>

#include "abi/buffer_abi.h"
#include "abi/packet_abi.h"
#include "abi/stream_abi.h"
#include "drained.h"
#include "format/weft/buffer.h"
#include "format/weft/drain/drain.h"
#include "format/weft/stream.h"

enum {
	SIZE = 64 << 10,
	FILE_MAX = 1 << 20,
	LOOKS = 12,
};

/* ---- A stream of one thread, with a mark after each look ---- */

static uint64_t now_ticks;

struct stream {
	void *buffer;
	struct weft__drain *drain;
	unsigned char *file;
	size_t size;
};

/* `record` makes the events before look 0, 1, …; `earlier`: so many are in the buffer before. */
static struct stream late_stream_of(void (*record)(unsigned look), unsigned earlier)
{
	static const struct weft_platform by_hand = {.ticks_at = &now_ticks, .ticks_hz = 1000000000};
	struct stream s = {.buffer = trace_buffer(SIZE), .file = malloc(FILE_MAX)};
	assert_non_null(s.file);
	now_ticks = 1000;
	assert_int_equal(weft_start(s.buffer, SIZE, &by_hand), 0);
	for (unsigned i = 0; i < earlier; i++)
		weft_tag_value("earlier", i);
	assert_int_equal(weft__format_drain_create(s.buffer, SIZE, 8192, &s.drain), 0);
	for (unsigned look = 0; look < LOOKS; look++) {
		record(look);
		weft__format_drain_look(s.drain, true, now_ticks);
		drained_append(s.drain, s.file, FILE_MAX, &s.size);
	}
	weft_stop();
	weft__format_drain_finish(s.drain, false);
	drained_append(s.drain, s.file, FILE_MAX, &s.size);
	weft__format_drain_destroy(s.drain);
	free(s.buffer);
	return s;
}

static struct stream stream_of(void (*record)(unsigned look))
{
	return late_stream_of(record, 0);
}

static void record_numbers(unsigned look)
{
	for (int64_t i = 0; i < 20; i++) {
		now_ticks += 10;
		weft_tag_value("number", look * 20 + i);
	}
}

/* The n-th chunk of a kind; NULL: there are fewer. */
static struct weft_abi_chunk *chunk_of(
	const struct stream *s, enum weft_abi_chunk_kind kind, unsigned n)
{
	for (size_t at = sizeof(struct weft_abi_buffer); at < s->size;) {
		struct weft_abi_chunk *chunk = (void *)(s->file + at);
		if (chunk->kind == kind && n-- == 0)
			return chunk;
		at += sizeof(*chunk) + chunk->bytes;
	}
	return NULL;
}

/* ---- Two ways to read ---- */

static void add_account(struct weft_text *text, const struct weft_decoder *decoder)
{
	const struct weft_trace_description *about = weft_decoder_describe(decoder);
	char line[512];
	for (int cause = 0; cause < WEFT_LOSS_CAUSES; cause++) {
		snprintf(line, sizeof(line), "lost %d: %d\n", cause, (int)about->losses[cause]);
		weft_text_add_string(text, line);
	}
	for (uint32_t i = 0; i < about->loss_period_count; i++) {
		const struct weft_loss_period *period = &about->loss_periods[i];
		snprintf(line, sizeof(line), "period %d, %d to %d\n", (int)period->count,
			(int)period->start, (int)period->end);
		weft_text_add_string(text, line);
	}
	snprintf(line, sizeof(line), "%s from %s, %d categories\n", about->format,
		about->source ? about->source : "itself", (int)about->category_count);
	weft_text_add_string(text, line);
}

static void add_diagnostics(struct weft_text *text, struct weft_decoder *decoder)
{
	const struct weft_diagnostics *diagnostics = weft_decoder_diagnostics(decoder);
	char line[512];
	for (size_t i = 0; i < diagnostics->count; i++) {
		snprintf(line, sizeof(line), "%s at %d, %d\n", diagnostics->list[i].message,
			(int)diagnostics->list[i].offset, (int)diagnostics->list[i].count);
		weft_text_add_string(text, line);
	}
	weft_text_add(text, "", 1);
}

static int take_events(struct weft_text *text, struct weft_decoder *decoder, uint64_t *count)
{
	struct weft_event event;
	struct weft_lines lines;
	int status;
	while ((status = weft_decoder_next(decoder, &event)) == WEFT_OK) {
		weft_lines_init(&lines, weft_decoder_describe(decoder), 0);
		weft_lines_add_json(&lines, &event, text);
		++*count;
	}
	return status;
}

/* Reads in pieces of that many bytes; 0: at once. `early`: events before the end had arrived. */
static struct weft_text read_stream(const struct stream *s, size_t piece, uint64_t *ret_early)
{
	struct weft_text text = {0};
	struct weft_decoder *decoder;
	uint64_t count = 0;
	assert_int_equal(weft_decoder_create(&decoder), 0);
	if (!piece)
		assert_int_equal(weft_decoder_feed_borrowed(decoder, s->file, s->size), 0);
	for (size_t at = 0; piece && at < s->size; at += piece) {
		size_t left = s->size - at;
		assert_int_equal(weft_decoder_feed(decoder, s->file + at, left < piece ? left : piece), 0);
		assert_int_equal(take_events(&text, decoder, &count), WEFT_AGAIN);
	}
	*ret_early = count;
	if (weft_decoder_finish(decoder) == 0)
		take_events(&text, decoder, &count);
	add_account(&text, decoder);
	add_diagnostics(&text, decoder);
	weft_decoder_destroy(decoder);
	return text;
}

/* Both ways give the same, and this. */
static void expect_same(const struct stream *s, const char *message)
{
	uint64_t early;
	struct weft_text whole = read_stream(s, 0, &early);
	static const size_t pieces[] = {8, 1000, 10000};
	if (message && !strstr(whole.bytes, message))
		fail_msg("not reported: %s\n%s", message,
			whole.bytes + (strlen(whole.bytes) > 900 ? strlen(whole.bytes) - 900 : 0));
	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		struct weft_text parts = read_stream(s, pieces[i], &early);
		assert_string_equal(parts.bytes, whole.bytes);
		assert_true(early > 0);
		weft_text_finish(&parts);
	}
	weft_text_finish(&whole);
}

/* ---- Headers ---- */

/* Each header of the stream, the first included. */
static struct weft_abi_buffer *header_of(const struct stream *s, unsigned n)
{
	if (n == 0)
		return (void *)s->file;
	struct weft_abi_chunk *chunk = chunk_of(s, WEFT_ABI_CHUNK_HEADER, n - 1);
	return chunk ? (void *)(chunk + 1) : NULL;
}

/* A program that does or does not store its end itself, and the end that its recorder saw. */
static void the_last_header_has_the_end(void **state)
{
	static const struct weft_platform by_hand = {.ticks_at = &now_ticks, .ticks_hz = 1000000000};
	static const struct {
		bool stops;
		enum weft_abi_ending seen, ending;
		uint64_t ticks;
	} cases[] = {
		{true, WEFT_ABI_ENDING_GONE, WEFT_ABI_ENDING_STOP, 2000},
		{false, WEFT_ABI_ENDING_GONE, WEFT_ABI_ENDING_GONE, 7},
		{true, WEFT_ABI_ENDING_CUT, WEFT_ABI_ENDING_CUT, 2000},
		{false, WEFT_ABI_ENDING_CUT, WEFT_ABI_ENDING_CUT, 7},
		{true, WEFT_ABI_ENDING_UNKNOWN, WEFT_ABI_ENDING_STOP, 2000},
		{false, WEFT_ABI_ENDING_RUNNING, WEFT_ABI_ENDING_RUNNING, 7},
		{false, WEFT_ABI_ENDING_UNKNOWN, WEFT_ABI_ENDING_UNKNOWN, 0},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stream s = {.buffer = trace_buffer(SIZE), .file = malloc(FILE_MAX)};
		const struct weft_abi_clock_reading seen = {.ticks = 7, .monotonic_ns = 7};
		now_ticks = 1000;
		assert_int_equal(weft_start(s.buffer, SIZE, &by_hand), 0);
		assert_int_equal(weft__format_drain_create(s.buffer, SIZE, 8192, &s.drain), 0);
		weft_tag_value("number", 1);
		now_ticks = 2000;
		if (cases[i].stops)
			weft_stop();
		weft__format_drain_set_end(s.drain, cases[i].seen, &seen);
		weft__format_drain_finish(s.drain, false);
		drained_append(s.drain, s.file, FILE_MAX, &s.size);
		const struct weft_abi_buffer *last = NULL, *header;
		for (unsigned n = 0; (header = header_of(&s, n)); n++)
			last = header;
		assert_int_equal(last->ending, cases[i].ending);
		assert_int_equal(last->end.ticks, cases[i].ticks);
		weft_stop();
		weft__format_drain_destroy(s.drain);
		free(s.buffer);
		free(s.file);
	}
}

static void an_early_stop_is_reported(void **state)
{
	(void)state;
	struct stream s = stream_of(record_numbers);
	unsigned n = 0;
	for (; header_of(&s, n); n++)
		header_of(&s, n)->stop_reason = 12;
	assert_true(n > 1);
	expect_same(&s, WEFT__BUFFER_STOPPED_EARLY);
	free(s.file);
}

static void the_source_of_a_part_is_named(void **state)
{
	(void)state;
	struct stream s = stream_of(record_numbers);
	for (unsigned n = 0; header_of(&s, n); n++)
		strcpy(header_of(&s, n)->source, "the whole trace");
	expect_same(&s, "from the whole trace");
	free(s.file);
}

/* Events are overwritten before some of the looks. */
static void record_too_much(unsigned look)
{
	for (int64_t i = 0; i < (look % 4 == 3 ? 12000 : 20); i++) {
		now_ticks += 10;
		weft_tag_value("number", i);
	}
}

static void losses_of_all_headers_are_placed(void **state)
{
	(void)state;
	struct stream s = stream_of(record_too_much);
	expect_same(&s, "period");
	free(s.file);
}

/* The events that were overwritten before the stream began are no packets that it lacks. */
static void a_stream_of_a_wrapped_buffer_lacks_no_packet(void **state)
{
	(void)state;
	struct stream s = late_stream_of(record_numbers, SIZE / 8);
	uint64_t early;
	struct weft_text text = read_stream(&s, 0, &early);
	char line[32];
	snprintf(line, sizeof(line), "lost %d: 0\n", WEFT_LOSS_MISSING_PACKETS);
	assert_non_null(strstr(text.bytes, line));
	snprintf(line, sizeof(line), "lost %d: 0\n", WEFT_LOSS_OVERWRITTEN);
	assert_null(strstr(text.bytes, line));
	weft_text_finish(&text);
	expect_same(&s, NULL);
	free(s.file);
}

static void a_stream_of_another_version_is_refused(void **state)
{
	(void)state;
	struct stream s = stream_of(record_numbers);
	struct weft_decoder *decoder;
	struct weft_event event;
	header_of(&s, 0)->version++;
	for (int at_once = 0; at_once < 2; at_once++) {
		assert_int_equal(weft_decoder_create(&decoder), 0);
		assert_int_equal(weft_decoder_feed(decoder, s.file, s.size), 0);
		if (!at_once)
			assert_int_equal(weft_decoder_next(decoder, &event), WEFT_AGAIN);
		assert_int_equal(weft_decoder_finish(decoder), WEFT_ERROR_UNSUPPORTED);
		weft_decoder_destroy(decoder);
	}
	free(s.file);
}

/* ---- Packets ---- */

static void a_packet_without_events_is_no_damage(void **state)
{
	(void)state;
	struct stream s = stream_of(record_numbers);
	struct weft_abi_chunk *chunk = chunk_of(&s, WEFT_ABI_CHUNK_PACKET, 5);
	assert_non_null(chunk);
	struct weft_abi_packet *packet = (void *)(chunk + 1);
	packet->committed = sizeof(*packet);
	expect_same(&s, NULL);
	uint64_t early;
	struct weft_text text = read_stream(&s, 100, &early);
	assert_null(strstr(text.bytes, "packet's size"));
	weft_text_finish(&text);
	free(s.file);
}

static void impossible_sizes_of_packets_are_reported(void **state)
{
	(void)state;
	enum {
		PAST_THE_CHUNK
	};
	static const uint32_t sizes[] = {
		PAST_THE_CHUNK, sizeof(struct weft_abi_packet) - 8, 100, UINT32_MAX};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct stream s = stream_of(record_numbers);
		struct weft_abi_chunk *chunk = chunk_of(&s, WEFT_ABI_CHUNK_PACKET, 5);
		uint32_t size = sizes[i] == PAST_THE_CHUNK ? chunk->bytes + 8 : sizes[i];
		((struct weft_abi_packet *)(void *)(chunk + 1))->committed = size;
		expect_same(&s, "a packet's size");
		free(s.file);
	}
}

/* ---- Damage ---- */

/* Bytes that are not a chunk, and behind them one that is whole and empty, at the end. */
static void an_empty_chunk_after_damage_is_found(void **state)
{
	(void)state;
	struct stream s = stream_of(record_numbers);
	struct weft_abi_chunk *mark = chunk_of(&s, WEFT_ABI_CHUNK_MARK, 6);
	assert_non_null(mark);
	assert_int_equal(mark->bytes, 0);
	size_t at = (size_t)((unsigned char *)mark - s.file);
	struct weft_abi_chunk copy = *mark;
	memset(s.file + at, 0x55, 8);
	memcpy(s.file + at + 8, &copy, sizeof(copy));
	s.size = at + 8 + sizeof(copy);
	expect_same(&s, WEFT__STREAM_NO_CHUNK);
	s.size -= 8; /* the last chunk is cut */
	expect_same(&s, NULL);
	s.size += 8; /* its content is missing */
	((struct weft_abi_chunk *)(void *)(s.file + at + 8))->bytes = 8;
	expect_same(&s, WEFT__STREAM_CUT_SHORT);
	s.size -= 8 + sizeof(copy);
	expect_same(&s, NULL);
	free(s.file);
}

/* ---- Names ---- */

/* Literals, which grow the table of names with each look. */
static void record_names(unsigned look)
{
	static char names[LOOKS][4][60];
	for (unsigned i = 0; i < 4; i++) {
		snprintf(names[look][i], sizeof(names[0][0]), "a rather long name of number %u of look %u",
			i, look);
		now_ticks += 10;
		weft_counter_set(names[look][i], (int64_t)i);
	}
}

static void names_grow_with_the_stream(void **state)
{
	(void)state;
	struct stream s = stream_of(record_names);
	expect_same(&s, "a rather long name of number 3 of look 11");
	free(s.file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_header_has_the_end),
		cmocka_unit_test(an_early_stop_is_reported),
		cmocka_unit_test(the_source_of_a_part_is_named),
		cmocka_unit_test(losses_of_all_headers_are_placed),
		cmocka_unit_test(a_stream_of_a_wrapped_buffer_lacks_no_packet),
		cmocka_unit_test(a_stream_of_another_version_is_refused),
		cmocka_unit_test(a_packet_without_events_is_no_damage),
		cmocka_unit_test(impossible_sizes_of_packets_are_reported),
		cmocka_unit_test(an_empty_chunk_after_damage_is_found),
		cmocka_unit_test(names_grow_with_the_stream),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

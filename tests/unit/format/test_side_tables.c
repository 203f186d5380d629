/* SPDX-License-Identifier: ISC
 *
 * Tables that this version does not know go wherever their trace goes: into copies, streams, parts,
 * merged traces.
 */
#include "record_trace.h"

#include <weft/buffer.h>
#include <weft/cut.h>
#include <weft/text.h>

#include "abi/buffer_abi.h"
#include "abi/stream_abi.h"
#include "abi/table_abi.h"
#include "drained.h"
#include "made_stream.h"
#include "model/side_tables.h"

#define SIZE ((size_t)64 << 10)

enum {
	GROWING = 901, /* numbers that no version has */
	NEWEST = 902,
	STATE = 903,
	MORE = 4096, /* bytes of the tables, which are planted before the packets */
	FILE_MAX = 1 << 20,
};

struct row {
	uint64_t ticks, value;
	uint16_t name, rest;
	uint32_t number; /* of a row of NEWEST */
};

static uint64_t now_ticks;

static const struct weft_platform by_hand = {.ticks_at = &now_ticks, .ticks_hz = 1000000000};

static struct weft_abi_table entry(uint16_t number, unsigned growth, unsigned cut)
{
	return (struct weft_abi_table){
		.number = number,
		.growth = (uint8_t)growth,
		.cut = (uint8_t)cut,
		.row_bytes = sizeof(struct row),
		.room = 8,
		.times = 1,
		.names = 1 << 8,
		.reserved = 77,
	};
}

/* A buffer with three tables of a later version. */
struct planted {
	uint8_t *bytes;
	size_t size;
	struct weft_abi_table *tables[3]; /* in the buffer */
};

static struct row *row_of(const struct planted *p, unsigned table, uint32_t row)
{
	return (struct row *)(void *)(p->tables[table] + 1) + row;
}

static void add_row(const struct planted *p, unsigned table, struct row row)
{
	struct weft_abi_table *t = p->tables[table];
	row.number = t->count + 1;
	*row_of(p, table, t->count % t->room) = row;
	t->count++;
}

static void plant_tables(struct planted *p, unsigned cut)
{
	static const unsigned growths[] = {
		WEFT_ABI_TABLE_GROWS, WEFT_ABI_TABLE_NEWEST, WEFT_ABI_TABLE_STATE};
	struct weft_abi_buffer *header = (void *)p->bytes;
	uint8_t *at = p->bytes + header->tables_offset;
	for (unsigned i = 0; i < 3; i++) {
		p->tables[i] = (void *)at;
		*p->tables[i] = entry((uint16_t)(GROWING + i), growths[i], cut);
		at += sizeof(struct weft_abi_table) + 8 * sizeof(struct row);
	}
}

/* Records a mark each 100 ticks from 1000 on, and moves the packets to make room for tables. */
static struct planted plant(unsigned events, unsigned cut)
{
	uint8_t *recorded = trace_buffer(SIZE);
	struct planted p = {.bytes = trace_buffer(SIZE + MORE), .size = SIZE + MORE};
	now_ticks = 1000;
	assert_int_equal(weft_start(recorded, SIZE, &by_hand), 0);
	uint64_t task = weft_create(WEFT_KIND_TASK);
	weft_enter(task);
	for (unsigned i = 0; i < events; i++) {
		now_ticks = 1000 + 100 * i;
		weft_mark("step");
	}
	weft_stop();
	struct weft_abi_buffer *header = (void *)recorded;
	size_t front = header->packets_offset;
	header->tables_offset = front;
	header->tables_bytes = MORE;
	header->packets_offset = front + MORE;
	memcpy(p.bytes, recorded, front);
	memset(p.bytes + front, 0, MORE);
	memcpy(p.bytes + front + MORE, recorded + front, SIZE - front);
	free(recorded);
	plant_tables(&p, cut);
	return p;
}

/* Rows at 1000, 1100, … in each table. */
static struct planted plant_rows(unsigned count, unsigned cut)
{
	struct planted p = plant(10, cut);
	for (unsigned table = 0; table < 3; table++)
		for (unsigned i = 0; i < count; i++)
			add_row(&p, table, (struct row){.ticks = 1000 + 100 * i, .value = i, .name = 1});
	return p;
}

/* ---- What readers find ---- */

static struct weft_decoder *open_trace(const void *bytes, size_t size, size_t piece)
{
	struct weft_decoder *decoder;
	struct weft_event event;
	int status;
	assert_int_equal(weft_decoder_create(&decoder), 0);
	for (size_t at = 0; piece && at < size; at += piece) {
		size_t part = size - at < piece ? size - at : piece;
		assert_int_equal(weft_decoder_feed(decoder, (const uint8_t *)bytes + at, part), 0);
		while ((status = weft_decoder_next(decoder, &event)) == WEFT_OK)
			;
		assert_int_equal(status, WEFT_AGAIN);
	}
	if (!piece)
		assert_int_equal(weft_decoder_feed_borrowed(decoder, bytes, size), 0);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	while ((status = weft_decoder_next(decoder, &event)) == WEFT_OK)
		;
	assert_int_equal(status, WEFT_END);
	return decoder;
}

static const struct weft__side_table *find_table(
	const struct weft_decoder *decoder, uint32_t buffer, unsigned number)
{
	const struct weft_trace_description *d = weft_decoder_describe(decoder);
	assert_true(buffer < d->buffer_count);
	const struct weft__side_tables *tables = d->buffers[buffer].tables;
	for (uint32_t i = 0; tables && i < tables->count; i++)
		if (tables->list[i].entry->number == number)
			return &tables->list[i];
	return NULL;
}

static struct row row_at(const struct weft__side_table *table, uint32_t number)
{
	struct row row;
	assert_true(number < table->entry->count);
	assert_int_equal(table->entry->row_bytes, sizeof(row));
	memcpy(&row, table->rows + number * sizeof(row), sizeof(row));
	return row;
}

/* Expects rows with the values from `first` on, with their times and names. */
static void expect_rows(const struct weft_decoder *decoder, uint32_t buffer, unsigned number,
	unsigned first, unsigned count)
{
	const struct weft__side_table *table = find_table(decoder, buffer, number);
	const struct weft__side_tables *tables = weft_decoder_describe(decoder)->buffers[buffer].tables;
	assert_non_null(table);
	assert_int_equal(table->entry->count, count);
	assert_int_equal(table->entry->reserved, 77);
	for (uint32_t i = 0; i < count; i++) {
		const struct row row = row_at(table, i);
		assert_int_equal(row.value, first + i);
		assert_int_equal(tables->to_ns(tables->buffer, row.ticks), 1000 + 100 * row.value);
		trace_text(tables->name(tables->buffer, row.name), "program");
	}
}

static void expect_all_rows(const void *bytes, size_t size, unsigned count)
{
	struct weft_decoder *decoder = open_trace(bytes, size, 0);
	for (unsigned number = GROWING; number <= STATE; number++)
		expect_rows(decoder, 0, number, 0, count);
	weft_decoder_destroy(decoder);
}

static void a_ring_has_its_tables(void **state)
{
	(void)state;
	struct planted p = plant_rows(5, WEFT_ABI_TABLE_WHOLE);
	expect_all_rows(p.bytes, p.size, 5);
	free(p.bytes);
}

static void a_copy_of_a_ring_has_its_tables(void **state)
{
	(void)state;
	struct planted p = plant_rows(5, WEFT_ABI_TABLE_WHOLE);
	uint8_t *copy = calloc(1, p.size);
	assert_non_null(copy);
	assert_int_equal(weft_buffer_copy(copy, p.bytes, p.size), 0);
	expect_all_rows(copy, p.size, 5);
	free(copy);
	free(p.bytes);
}

static void only_the_newest_rows_are_left(void **state)
{
	(void)state;
	struct planted p = plant_rows(5, WEFT_ABI_TABLE_WHOLE);
	for (unsigned i = 5; i < 13; i++)
		add_row(&p, 1, (struct row){.ticks = 1000 + 100 * i, .value = i, .name = 1});
	p.tables[1]->count++; /* its writer was killed before it stored the row */
	struct weft_decoder *decoder = open_trace(p.bytes, p.size, 0);
	expect_rows(decoder, 0, NEWEST, 6, 7);
	weft_decoder_destroy(decoder);
	free(p.bytes);
}

static void each_buffer_of_a_merged_trace_has_its_own(void **state)
{
	(void)state;
	struct planted p[2] = {
		plant_rows(2, WEFT_ABI_TABLE_WHOLE), plant_rows(5, WEFT_ABI_TABLE_WHOLE)};
	struct weft_decoder *decoders[2], *merged;
	struct weft_event event;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(weft_decoder_create(&decoders[i]), 0);
		assert_int_equal(weft_decoder_feed_borrowed(decoders[i], p[i].bytes, p[i].size), 0);
		assert_int_equal(weft_decoder_finish(decoders[i]), 0);
	}
	const struct weft_decoder_part parts[2] = {{decoders[0], "a"}, {decoders[1], "b"}};
	assert_int_equal(weft_decoder_create_merged(parts, 2, &merged), 0);
	while (weft_decoder_next(merged, &event) == WEFT_OK)
		;
	for (unsigned number = GROWING; number <= STATE; number++) {
		expect_rows(merged, 0, number, 0, 2);
		expect_rows(merged, 1, number, 0, 5);
	}
	weft_decoder_destroy(merged);
	for (unsigned i = 0; i < 2; i++) {
		weft_decoder_destroy(decoders[i]);
		free(p[i].bytes);
	}
}

/* ---- Streams ---- */

struct streamed {
	struct weft__drain *drain;
	unsigned char *file;
	size_t size;
};

static struct streamed begin_stream(const struct planted *p)
{
	struct streamed s = {.file = malloc(FILE_MAX)};
	assert_non_null(s.file);
	assert_int_equal(weft__format_drain_create(p->bytes, p->size, 8192, &s.drain), 0);
	return s;
}

static void look(struct streamed *s, bool with_open)
{
	weft__format_drain_look(s->drain, with_open, 0);
	assert_int_equal(drained_append(s->drain, s->file, FILE_MAX, &s->size), WEFT_AGAIN);
}

static void end_stream(struct streamed *s)
{
	weft__format_drain_finish(s->drain, false);
	assert_int_equal(drained_append(s->drain, s->file, FILE_MAX, &s->size), WEFT_END);
	weft__format_drain_destroy(s->drain);
}

static size_t count_chunks(const struct streamed *s, unsigned number)
{
	size_t count = 0;
	for (size_t at = sizeof(struct weft_abi_buffer); at < s->size;) {
		struct weft_abi_chunk chunk;
		struct weft_abi_table table;
		memcpy(&chunk, s->file + at, sizeof(chunk));
		memcpy(
			&table, s->file + at + sizeof(chunk), chunk.bytes < sizeof(table) ? 0 : sizeof(table));
		count += chunk.kind == WEFT_ABI_CHUNK_TABLE && table.number == number;
		at += sizeof(chunk) + chunk.bytes;
	}
	return count;
}

/* Rows come while the ring is drained, and a state changes. */
static void a_stream_has_all_rows(void **state)
{
	(void)state;
	struct planted p = plant_rows(2, WEFT_ABI_TABLE_WHOLE);
	struct streamed s = begin_stream(&p);
	look(&s, true);
	look(&s, true); /* nothing is new */
	for (unsigned number = GROWING; number <= STATE; number++)
		assert_int_equal(count_chunks(&s, number), 1);
	for (unsigned table = 0; table < 3; table++)
		for (unsigned i = 2; i < 6; i++)
			add_row(&p, table, (struct row){.ticks = 1000 + 100 * i, .value = i, .name = 1});
	look(&s, false);
	assert_int_equal(count_chunks(&s, STATE), 1);
	row_of(&p, 2, 0)->value = 0;
	look(&s, true);
	assert_int_equal(count_chunks(&s, STATE), 2);
	for (unsigned i = 6; i < 14; i++) /* there is no row left of those in the stream */
		add_row(&p, 1, (struct row){.ticks = 1000 + 100 * i, .value = i, .name = 1});
	end_stream(&s);
	struct weft_decoder *decoder = open_trace(s.file, s.size, 0);
	expect_rows(decoder, 0, GROWING, 0, 6);
	expect_rows(decoder, 0, NEWEST, 0, 14);
	expect_rows(decoder, 0, STATE, 0, 6);
	weft_decoder_destroy(decoder);
	free(s.file);
	free(p.bytes);
}

static void each_file_of_a_stream_has_the_tables(void **state)
{
	(void)state;
	struct planted p = plant_rows(5, WEFT_ABI_TABLE_WHOLE);
	struct streamed s = begin_stream(&p);
	look(&s, true);
	s.size = 0;
	weft__format_drain_begin(s.drain);
	end_stream(&s);
	expect_all_rows(s.file, s.size, 5);
	free(s.file);
	free(p.bytes);
}

/* The newest rows that belong to a time are in the file of that time alone. */
static void each_file_of_a_stream_has_the_rows_of_its_time(void **state)
{
	(void)state;
	struct planted p = plant_rows(5, WEFT_ABI_TABLE_IN_RANGE);
	struct streamed s = begin_stream(&p);
	look(&s, true);
	s.size = 0;
	weft__format_drain_begin(s.drain);
	look(&s, true);
	assert_int_equal(count_chunks(&s, NEWEST), 0);
	for (unsigned i = 5; i < 7; i++)
		add_row(&p, 1, (struct row){.ticks = 1000 + 100 * i, .value = i, .name = 1});
	end_stream(&s);
	struct weft_decoder *decoder = open_trace(s.file, s.size, 0);
	expect_rows(decoder, 0, GROWING, 0, 5);
	expect_rows(decoder, 0, NEWEST, 5, 2);
	weft_decoder_destroy(decoder);
	free(s.file);
	free(p.bytes);
}

/* The reader of a stream that still comes sees the first chunks twice. */
static void a_stream_that_comes_has_the_tables_at_its_end(void **state)
{
	(void)state;
	struct made_stream *s = calloc(1, sizeof(*s));
	assert_non_null(s);
	const struct weft_abi_buffer header = made_header();
	struct {
		struct weft_abi_table table;
		struct row rows[2];
	} content;
	made_begin(s, &header);
	made_name(s, 0, "program");
	for (unsigned growth = 0; growth < WEFT_ABI_TABLE_GROWTHS; growth++) {
		content.table = entry((uint16_t)(GROWING + growth), growth, WEFT_ABI_TABLE_WHOLE);
		content.table.count = 2;
		for (unsigned i = 0; i < 2; i++)
			content.rows[i] = (struct row){.ticks = 1000 + 100 * i, .value = i, .name = 1};
		made_chunk(s, WEFT_ABI_CHUNK_TABLE, 0, &content, sizeof(content));
	}
	struct made_packet packet = made_packet(1, 1);
	made_switch(&packet, 1000, 1);
	made_add_packet(s, &packet, 0);
	made_mark(s, 1001);
	for (size_t piece = 0; piece < 200; piece += 64) {
		struct weft_decoder *decoder = open_trace(s->bytes, s->size, piece);
		for (unsigned number = GROWING; number <= STATE; number++)
			expect_rows(decoder, 0, number, 0, 2);
		weft_decoder_destroy(decoder);
	}
	free(s);
}

/* Categories and level changes are in the headers of a stream: the last one counts. */
static void the_last_header_of_a_stream_has_the_levels(void **state)
{
	(void)state;
	struct made_stream *s = calloc(1, sizeof(*s));
	struct weft_abi_buffer header = made_header();
	struct made_packet packet = made_packet(1, 1);
	assert_non_null(s);
	made_begin(s, &header);
	made_name(s, 0, "program");
	made_name(s, 16, "disk");
	made_switch(&packet, 1000, 1);
	made_add_packet(s, &packet, 0);
	made_mark(s, 1001);
	header.categories[0] = WEFT_ABI_CATEGORY(1, 0);
	header.categories[5] = WEFT_ABI_CATEGORY(2, 0);
	header.levels[5] = 4;
	header.changes_count = 1;
	header.changes[0] =
		(struct weft_abi_change){.ticks = 1001, .category = 5, .level = 4, .number = 1};
	made_chunk(s, WEFT_ABI_CHUNK_HEADER, 0, &header, sizeof(header));
	for (size_t piece = 0; piece <= 64; piece += 64) {
		struct weft_decoder *decoder = open_trace(s->bytes, s->size, piece);
		const struct weft_trace_description *d = weft_decoder_describe(decoder);
		assert_int_equal(d->category_count, 2);
		assert_string_equal(d->categories[1].name, "disk");
		assert_int_equal(d->categories[1].level, 4);
		assert_int_equal(d->change_count, 1);
		assert_int_equal(d->changes[0].time_ns, 1001);
		assert_int_equal(d->changes[0].category, 5);
		weft_decoder_destroy(decoder);
	}
	free(s);
}

/* ---- Parts ---- */

static int append(void *text, const void *bytes, size_t size)
{
	weft_text_add(text, bytes, size);
	return 0;
}

static struct weft_text cut(const void *bytes, size_t size, uint64_t start_ns, uint64_t end_ns)
{
	const struct weft_cut_range range = {start_ns, end_ns, 0};
	struct weft_text part = {0};
	const struct weft_cut_sink sink = {append, &part};
	struct weft_decoder *decoder;
	struct weft_cut *cut;
	struct weft_event event;
	assert_int_equal(weft_cut_create(&range, "whole", &sink, &cut), 0);
	assert_int_equal(weft_decoder_create(&decoder), 0);
	assert_int_equal(weft_decoder_feed_borrowed(decoder, bytes, size), 0);
	assert_int_equal(weft_decoder_finish(decoder), 0);
	while (weft_decoder_next(decoder, &event) == WEFT_OK)
		if (weft_cut_add(cut, &event, weft_decoder_describe(decoder)) != WEFT_OK)
			break;
	assert_int_equal(weft_cut_finish(cut, weft_decoder_describe(decoder)), 0);
	weft_cut_destroy(cut);
	weft_decoder_destroy(decoder);
	return part;
}

/* Cuts twice: what a part has, a part of it has, too. */
static void expect_cut(unsigned rule, unsigned first, unsigned count)
{
	struct planted p = plant_rows(7, rule);
	struct weft_text part = cut(p.bytes, p.size, 1200, 1500);
	struct weft_text again = cut(part.bytes, part.size, 0, UINT64_MAX);
	const struct weft_text *texts[] = {&part, &again};
	for (unsigned i = 0; i < 2; i++) {
		struct weft_decoder *decoder = open_trace(texts[i]->bytes, texts[i]->size, 0);
		for (unsigned number = GROWING; number <= STATE; number++)
			expect_rows(decoder, 0, number, first, count);
		weft_decoder_destroy(decoder);
	}
	weft_text_finish(&again);
	weft_text_finish(&part);
	free(p.bytes);
}

static void a_part_has_the_rows_that_a_table_says(void **state)
{
	(void)state;
	expect_cut(WEFT_ABI_TABLE_WHOLE, 0, 7);
	expect_cut(WEFT_ABI_TABLE_UNTIL, 0, 5);
	expect_cut(WEFT_ABI_TABLE_IN_RANGE, 2, 3);
	expect_cut(WEFT_ABI_TABLE_OF_CLOCK, 0, 7);
	expect_cut(WEFT_ABI_TABLE_OF_WHOLE, 0, 0);
}

static void a_part_that_is_the_whole_has_all(void **state)
{
	(void)state;
	struct planted p = plant_rows(7, WEFT_ABI_TABLE_OF_WHOLE);
	struct weft_text part = cut(p.bytes, p.size, 0, UINT64_MAX);
	expect_all_rows(part.bytes, part.size, 7);
	weft_text_finish(&part);
	free(p.bytes);
}

/* A clock that counts ns needs no conversion: a part of its trace counts in ns itself. */
static void times_of_a_clock_in_ns_stay_right(void **state)
{
	(void)state;
	struct planted p = plant_rows(7, WEFT_ABI_TABLE_IN_RANGE);
	struct weft_abi_buffer *header = (void *)p.bytes;
	header->clock = WEFT_ABI_CLOCK_MONOTONIC;
	header->start = header->second = header->end = (struct weft_abi_clock_reading){1000, 1000, 0};
	struct weft_text part = cut(p.bytes, p.size, 1200, 1500);
	struct weft_decoder *decoder = open_trace(part.bytes, part.size, 0);
	for (unsigned number = GROWING; number <= STATE; number++)
		expect_rows(decoder, 0, number, 2, 3);
	weft_decoder_destroy(decoder);
	weft_text_finish(&part);
	free(p.bytes);
}

static void a_clock_that_is_lost_takes_its_tables_with_it(void **state)
{
	(void)state;
	struct planted p = plant_rows(7, WEFT_ABI_TABLE_OF_CLOCK);
	struct weft_abi_buffer *header = (void *)p.bytes;
	header->clock = WEFT_ABI_CLOCK_MONOTONIC;
	header->start = header->second = header->end = (struct weft_abi_clock_reading){1000, 1000, 0};
	struct weft_text part = cut(p.bytes, p.size, 1200, 1500);
	struct weft_decoder *decoder = open_trace(part.bytes, part.size, 0);
	expect_rows(decoder, 0, GROWING, 0, 0);
	weft_decoder_destroy(decoder);
	weft_text_finish(&part);
	free(p.bytes);
}

/* ---- Damage ---- */

static void expect_tables(const struct planted *p, bool growing, bool newest, bool state)
{
	const bool wanted[] = {growing, newest, state};
	struct weft_decoder *decoder = open_trace(p->bytes, p->size, 0);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(find_table(decoder, 0, GROWING + i) != NULL, wanted[i]);
	weft_decoder_destroy(decoder);
	uint8_t *copy = calloc(1, p->size);
	assert_non_null(copy);
	assert_int_equal(weft_buffer_copy(copy, p->bytes, p->size), 0);
	free(copy);
	struct streamed s = begin_stream(p);
	end_stream(&s);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(count_chunks(&s, GROWING + i), wanted[i]);
	free(s.file);
	struct weft_text part = cut(p->bytes, p->size, 1200, 1500);
	weft_text_finish(&part);
}

static void a_table_that_cannot_be_ends_the_list(void **state)
{
	(void)state;
	static const uint32_t row_bytes[] = {0, 4, 12, 4104, UINT32_MAX - 7};
	static const uint32_t rooms[] = {9, 4096, UINT32_MAX};
	struct planted p = plant_rows(5, WEFT_ABI_TABLE_WHOLE);
	for (unsigned i = 0; i < sizeof(row_bytes) / sizeof(*row_bytes); i++) {
		p.tables[1]->row_bytes = row_bytes[i];
		expect_tables(&p, true, false, false);
	}
	p.tables[1]->row_bytes = sizeof(struct row);
	((struct weft_abi_buffer *)(void *)p.bytes)->tables_bytes =
		(uint64_t)((uint8_t *)(p.tables[2] + 1) - p.bytes) + 8 * sizeof(struct row) -
		((struct weft_abi_buffer *)(void *)p.bytes)->tables_offset;
	for (unsigned i = 0; i < sizeof(rooms) / sizeof(*rooms); i++) {
		p.tables[2]->room = rooms[i];
		expect_tables(&p, true, true, false);
	}
	free(p.bytes);
}

/* A later version may have further rules. The tables behind such a table are still found. */
static void a_table_with_unknown_rules_is_skipped(void **state)
{
	(void)state;
	struct planted p = plant_rows(5, WEFT_ABI_TABLE_WHOLE);
	p.tables[1]->growth = WEFT_ABI_TABLE_GROWTHS;
	expect_tables(&p, true, false, true);
	p.tables[1]->growth = WEFT_ABI_TABLE_NEWEST;
	p.tables[1]->cut = WEFT_ABI_TABLE_CUTS;
	expect_tables(&p, true, false, true);
	p.tables[1]->cut = WEFT_ABI_TABLE_WHOLE;
	p.tables[1]->number = GROWING; /* twice: the first one counts */
	expect_tables(&p, true, false, true);
	free(p.bytes);
}

static void tables_lie_between_header_and_packets(void **state)
{
	(void)state;
	struct planted p = plant_rows(5, WEFT_ABI_TABLE_WHOLE);
	struct weft_abi_buffer *header = (void *)p.bytes;
	const uint64_t offset = header->tables_offset;
	const uint64_t offsets[] = {
		0, 8, offset + 4, header->packets_offset + 8, p.size, UINT64_MAX - 31};
	for (unsigned i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		header->tables_offset = offsets[i];
		expect_tables(&p, false, false, false);
	}
	header->tables_offset = offset;
	header->tables_bytes = MORE + 8;
	expect_tables(&p, false, false, false);
	header->tables_bytes = 0;
	expect_tables(&p, false, false, false);
	free(p.bytes);
}

/* More rows than there is room for: only those in the buffer are read. */
static void a_count_is_not_trusted(void **state)
{
	(void)state;
	struct planted p = plant_rows(8, WEFT_ABI_TABLE_WHOLE);
	struct streamed s = begin_stream(&p);
	look(&s, true);
	for (unsigned i = 0; i < 3; i++)
		p.tables[i]->count = UINT32_MAX;
	look(&s, true);
	p.tables[0]->count = 3; /* rows are not given twice */
	end_stream(&s);
	struct weft_decoder *decoder = open_trace(s.file, s.size, 0);
	expect_rows(decoder, 0, GROWING, 0, 8);
	expect_rows(decoder, 0, NEWEST, 0, 8);
	expect_rows(decoder, 0, STATE, 0, 8);
	weft_decoder_destroy(decoder);
	free(s.file);
	free(p.bytes);
}

static void chunks_of_rows_that_do_not_fit_are_reported(void **state)
{
	(void)state;
	enum {
		TWO_ROWS = sizeof(struct weft_abi_table) + 2 * sizeof(struct row),
	};
	struct made_stream *s = calloc(1, sizeof(*s));
	const struct weft_abi_buffer header = made_header();
	struct {
		struct weft_abi_table table;
		struct row rows[3];
	} content = {entry(GROWING, WEFT_ABI_TABLE_GROWS, WEFT_ABI_TABLE_WHOLE), {{.value = 0}}};
	assert_non_null(s);
	made_begin(s, &header);
	struct made_packet packet = made_packet(1, 1);
	made_switch(&packet, 1000, 1);
	made_add_packet(s, &packet, 0);
	content.table.count = 3; /* more than the chunk has */
	made_chunk(s, WEFT_ABI_CHUNK_TABLE, 0, &content, TWO_ROWS);
	made_chunk(s, WEFT_ABI_CHUNK_TABLE, 0, &content, 16); /* no whole table */
	content.table.count = 2;
	made_chunk(s, WEFT_ABI_CHUNK_TABLE, UINT64_MAX, &content, TWO_ROWS);
	made_chunk(s, WEFT_ABI_CHUNK_TABLE, 0, &content, TWO_ROWS);
	content.table.row_bytes = 64; /* another size than before */
	content.table.count = 1;
	made_chunk(s, WEFT_ABI_CHUNK_TABLE, 0, &content, sizeof(content.table) + 64);
	content.table.number = 0;
	made_chunk(s, WEFT_ABI_CHUNK_TABLE, 0, &content, TWO_ROWS);
	struct weft_decoder *decoder = open_trace(s->bytes, s->size, 0);
	const struct weft_diagnostics *diagnostics = weft_decoder_diagnostics(decoder);
	assert_string_equal(diagnostics->list[0].message, "a table chunk is invalid");
	assert_int_equal(diagnostics->list[0].count, 5);
	assert_int_equal(find_table(decoder, 0, GROWING)->entry->count, 2);
	weft_decoder_destroy(decoder);
	free(s);
}

/* A stream of years has more of the newest rows than a reader keeps. */
static void old_rows_of_a_long_stream_are_dropped(void **state)
{
	(void)state;
	enum {
		ROWS = 1024,
		MOST = (64 << 20) / sizeof(struct row), /* of the newest rows in a stream */
		CHUNKS = MOST / ROWS + 70,
	};
	struct made_stream start;
	const struct weft_abi_buffer header = made_header();
	struct weft_text s = {0};
	struct weft_abi_table table = entry(NEWEST, WEFT_ABI_TABLE_NEWEST, WEFT_ABI_TABLE_WHOLE);
	const struct weft_abi_chunk chunk = {
		WEFT_ABI_CHUNK_MAGIC, WEFT_ABI_CHUNK_TABLE, sizeof(table) + ROWS * sizeof(struct row), 0};
	table.count = ROWS;
	struct made_packet packet = made_packet(1, 1);
	made_begin(&start, &header);
	made_switch(&packet, 1000, 1);
	made_add_packet(&start, &packet, 0);
	weft_text_add(&s, (const char *)start.bytes, start.size);
	for (uint64_t i = 0; i < CHUNKS; i++) {
		weft_text_add(&s, (const char *)&chunk, sizeof(chunk));
		weft_text_add(&s, (const char *)&table, sizeof(table));
		for (uint64_t row = 0; row < ROWS; row++)
			weft_text_add(
				&s, (const char *)&(struct row){.value = i * ROWS + row}, sizeof(struct row));
	}
	struct weft_decoder *decoder = open_trace(s.bytes, s.size, 0);
	const struct weft__side_table *newest = find_table(decoder, 0, NEWEST);
	assert_in_range(newest->entry->count, MOST / 3, MOST);
	for (uint32_t i = 0; i < newest->entry->count; i++)
		assert_int_equal(
			row_at(newest, i).value, CHUNKS * ROWS - newest->entry->count + (uint64_t)i);
	weft_decoder_destroy(decoder);
	weft_text_finish(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_has_its_tables),
		cmocka_unit_test(a_copy_of_a_ring_has_its_tables),
		cmocka_unit_test(only_the_newest_rows_are_left),
		cmocka_unit_test(each_buffer_of_a_merged_trace_has_its_own),
		cmocka_unit_test(a_stream_has_all_rows),
		cmocka_unit_test(each_file_of_a_stream_has_the_tables),
		cmocka_unit_test(each_file_of_a_stream_has_the_rows_of_its_time),
		cmocka_unit_test(a_stream_that_comes_has_the_tables_at_its_end),
		cmocka_unit_test(the_last_header_of_a_stream_has_the_levels),
		cmocka_unit_test(a_part_has_the_rows_that_a_table_says),
		cmocka_unit_test(a_part_that_is_the_whole_has_all),
		cmocka_unit_test(times_of_a_clock_in_ns_stay_right),
		cmocka_unit_test(a_clock_that_is_lost_takes_its_tables_with_it),
		cmocka_unit_test(a_table_that_cannot_be_ends_the_list),
		cmocka_unit_test(a_table_with_unknown_rules_is_skipped),
		cmocka_unit_test(tables_lie_between_header_and_packets),
		cmocka_unit_test(a_count_is_not_trusted),
		cmocka_unit_test(chunks_of_rows_that_do_not_fit_are_reported),
		cmocka_unit_test(old_rows_of_a_long_stream_are_dropped),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

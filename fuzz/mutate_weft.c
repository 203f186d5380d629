/* SPDX-License-Identifier: ISC
 *
 * Changes a buffer or a stream of weft by its grammar: header, chunks, packets, records. A record
 * that grows or shrinks moves what follows it, and the sizes of its packet and chunk are mended.
 */
#include "mutation.h"

#include "abi/buffer_abi.h"
#include "abi/packet_abi.h"
#include "abi/stream_abi.h"
#include "abi/table_abi.h"

enum {
	PACKETS_MAX = 64,
	RECORDS_MAX = 256,
	WORDS_MAX = 255,
	KINDS = 128,
};

#define BUFFER_AT(field) offsetof(struct weft_abi_buffer, field)
#define PACKET_AT(field) offsetof(struct weft_abi_packet, field)
#define CHUNK_AT(field)  offsetof(struct weft_abi_chunk, field)

struct place {
	size_t chunk; /* of a stream; 0: the packets have a fixed size */
	size_t packet;
	size_t size;
};

static size_t find_in_stream(const struct mutation *m, struct place *places)
{
	size_t count = 0, at = sizeof(struct weft_abi_buffer);
	while (count < PACKETS_MAX && m->size - at >= sizeof(struct weft_abi_chunk)) {
		size_t size = get_u32(m, at + CHUNK_AT(bytes)), next = at + sizeof(struct weft_abi_chunk);
		if (get_u64(m, at) != WEFT_ABI_CHUNK_MAGIC || size > m->size - next)
			break;
		if (get_u32(m, at + CHUNK_AT(kind)) == WEFT_ABI_CHUNK_PACKET &&
			size >= sizeof(struct weft_abi_packet))
			places[count++] = (struct place){at, next, size};
		at = next + size;
	}
	return count;
}

static size_t find_in_buffer(const struct mutation *m, struct place *places)
{
	size_t count = 0, size = get_u32(m, BUFFER_AT(packet_bytes));
	uint64_t at = get_u64(m, BUFFER_AT(packets_offset));
	if (size < sizeof(struct weft_abi_packet))
		return 0;
	for (; count < PACKETS_MAX && at <= m->size && size <= m->size - at; at += size)
		if (get_u64(m, (size_t)at))
			places[count++] = (struct place){0, (size_t)at, size};
	return count;
}

/* The offset of a record in a packet, and the number of its words; 0: there is none. */
static size_t pick_record(struct mutation *m, const struct place *p, uint32_t *ret_words)
{
	size_t records[RECORDS_MAX], count = 0, at = sizeof(struct weft_abi_packet);
	size_t end = get_u32(m, p->packet + PACKET_AT(committed));
	if (end > p->size)
		end = p->size;
	while (count < RECORDS_MAX && at + 8 <= end) {
		uint32_t words = m->bytes[p->packet + at + 5];
		if (!words || words * 8 > end - at)
			break;
		records[count++] = at;
		at += words * 8;
	}
	if (!count)
		return 0;
	at = records[roll(m, (uint32_t)count)];
	*ret_words = m->bytes[p->packet + at + 5];
	return at;
}

static void grow_packet(struct mutation *m, const struct place *p, int64_t bytes)
{
	size_t committed = p->packet + PACKET_AT(committed);
	set_u32(m, committed, (uint32_t)(get_u32(m, committed) + bytes));
	if (p->chunk)
		set_u32(m, p->chunk + CHUNK_AT(bytes), (uint32_t)(p->size + (size_t)bytes));
}

/* Repeats the bytes at `at` before them. In a fixed size, what was behind the last record goes. */
static void repeat(struct mutation *m, const struct place *p, size_t at, size_t bytes)
{
	if (p->chunk) {
		if (!insert(m, p->packet + at, bytes))
			return;
	} else {
		if (get_u32(m, p->packet + PACKET_AT(committed)) + bytes > p->size)
			return;
		memmove(m->bytes + p->packet + at + bytes, m->bytes + p->packet + at, p->size - at - bytes);
	}
	grow_packet(m, p, (int64_t)bytes);
}

static void drop(struct mutation *m, const struct place *p, size_t at, size_t bytes)
{
	if (p->chunk)
		cut_out(m, p->packet + at, bytes);
	else
		memmove(m->bytes + p->packet + at, m->bytes + p->packet + at + bytes, p->size - at - bytes);
	grow_packet(m, p, -(int64_t)bytes);
}

/* Gives a record one word more or less. */
static void resize(struct mutation *m, const struct place *p, size_t at, uint32_t words)
{
	if (roll(m, 2) && words < WORDS_MAX) {
		size_t before = get_u32(m, p->packet + PACKET_AT(committed));
		repeat(m, p, at + 8 * (words > 1), 8);
		if (get_u32(m, p->packet + PACKET_AT(committed)) != before)
			m->bytes[p->packet + at + 5]++;
	} else if (words > 1) {
		drop(m, p, at + 8, 8);
		m->bytes[p->packet + at + 5]--;
	}
}

static void change_record(struct mutation *m, const struct place *p)
{
	uint32_t words;
	size_t at = pick_record(m, p, &words), head = p->packet + at;
	if (!at)
		return;
	switch (roll(m, 8)) {
	case 0: /* the kind, or who acts */
		m->bytes[head + 4] = (uint8_t)roll(m, roll(m, 2) ? KINDS : 2 * KINDS);
		break;
	case 1:
		m->bytes[head + 4] ^= KINDS;
		break;
	case 2: /* a name or a kind of task */
		m->bytes[head + 6] = (uint8_t)roll(m, 256);
		m->bytes[head + 7] = (uint8_t)(roll(m, 4) ? 0 : roll(m, 256));
		break;
	case 3:
		set_u32(m, head, (uint32_t)special(m));
		break;
	case 4:
		repeat(m, p, at, words * 8);
		break;
	case 5:
		drop(m, p, at, words * 8);
		break;
	case 6:
		resize(m, p, at, words);
		break;
	default:
		if (words > 1)
			set_u64(m, head + 8 + 8 * roll(m, words - 1), special(m));
	}
}

/* A chunk moves to the place of another, comes twice, or is missing. */
static void change_chunks(struct mutation *m, const struct place *one, const struct place *other)
{
	size_t bytes = sizeof(struct weft_abi_chunk) + one->size;
	if (roll(m, 3) == 0)
		cut_out(m, one->chunk, bytes);
	else if (bytes <= m->size_max - m->size && other->chunk <= one->chunk &&
			 insert(m, other->chunk, bytes))
		memcpy(m->bytes + other->chunk, m->bytes + one->chunk + bytes, bytes);
}

/* A side table that is nearly always possible. */
static struct weft_abi_table make_table(struct mutation *m)
{
	return (struct weft_abi_table){
		.number = (uint16_t)(1 + roll(m, 4)),
		.growth = (uint8_t)roll(m, WEFT_ABI_TABLE_GROWTHS + (roll(m, 9) == 0)),
		.cut = (uint8_t)roll(m, WEFT_ABI_TABLE_CUTS + (roll(m, 9) == 0)),
		.row_bytes = 8 + 8 * roll(m, 3),
		.room = roll(m, 9) ? roll(m, 5) : (uint32_t)special(m),
		.count = roll(m, 9) ? roll(m, 5) : (uint32_t)special(m),
		.times = roll(m, 8),
		.names = roll(m, 256),
	};
}

/* Puts a table before the packet: as a chunk of a stream, or as the last bytes before the
 * packets. */
static void plant_table(struct mutation *m, const struct place *p)
{
	struct weft_abi_table table = make_table(m);
	struct weft_abi_chunk chunk = {WEFT_ABI_CHUNK_MAGIC, WEFT_ABI_CHUNK_TABLE, 0, roll(m, 4)};
	uint64_t packets = get_u64(m, BUFFER_AT(packets_offset));
	uint64_t bytes = sizeof(table) + 8 * (uint64_t)roll(m, 16);
	if (p->chunk) {
		table.count = roll(m, 5);
		chunk.bytes = (uint32_t)sizeof(table) + table.count * table.row_bytes;
		if (!insert(m, p->chunk, sizeof(chunk) + chunk.bytes))
			return;
		memcpy(m->bytes + p->chunk, &chunk, sizeof(chunk));
		memcpy(m->bytes + p->chunk + sizeof(chunk), &table, sizeof(table));
	} else if (packets <= m->size && packets >= sizeof(struct weft_abi_buffer) + bytes) {
		set_u64(m, BUFFER_AT(tables_offset), packets - bytes);
		set_u64(m, BUFFER_AT(tables_bytes), bytes);
		memcpy(m->bytes + packets - bytes, &table, sizeof(table));
	}
}

static void change_packet_header(struct mutation *m, const struct place *p)
{
	size_t at = p->packet + 8 * roll(m, sizeof(struct weft_abi_packet) / 8);
	set_u64(m, at, roll(m, 2) ? special(m) : get_u64(m, at) + roll(m, 9) - 4);
}

static void change_header(struct mutation *m)
{
	size_t at = 8 * roll(m, sizeof(struct weft_abi_buffer) / 8);
	set_u64(m, at, roll(m, 2) ? special(m) : get_u64(m, at) + roll(m, 9) - 4);
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t size_max, unsigned seed)
{
	struct mutation m = {bytes, size, size_max, seed};
	struct place places[PACKETS_MAX];
	if (size < sizeof(struct weft_abi_buffer) || roll(&m, 4) == 0)
		return LLVMFuzzerMutate(bytes, size, size_max);
	for (uint32_t changes = 1 + roll(&m, 4); changes; changes--) {
		bool is_stream = get_u32(&m, BUFFER_AT(stream));
		size_t count = (is_stream ? find_in_stream : find_in_buffer)(&m, places);
		const struct place *one = &places[roll(&m, (uint32_t)count)];
		uint32_t what = roll(&m, 16);
		if (!count || what == 0)
			change_header(&m);
		else if (what == 1)
			change_packet_header(&m, one);
		else if (what == 2 && is_stream)
			change_chunks(&m, one, &places[roll(&m, (uint32_t)count)]);
		else if (what == 3)
			plant_table(&m, one);
		else
			change_record(&m, one);
	}
	return m.size;
}

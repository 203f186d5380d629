/* SPDX-License-Identifier: ISC
 *
 * perf.data, as `perf sched record` and `perf record -e sched:sched_switch` write it. The samples
 * of tracepoints have the kernel's own data, which its texts in the file describe.
 *
 *     file      "PERFILE2", u64 size, u64 bytes of an attribute
 *               sections: attributes, data, event types
 *               u64[4]: a bit for each feature, whose sections are listed behind the data
 *     section   u64 offset, u64 size
 *     attribute struct perf_event_attr, and a section with its ids
 *     data      records: u32 type, u16 misc, u16 size, and what the type says
 */
#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

#include "base/array.h"
#include "base/little_endian.h"
#include "format/ftrace/capture.h"

#define HEADER_BYTES         104
#define FEATURE_TRACING_DATA 1

/* Offsets in struct perf_event_attr. */
#define ATTR_TYPE        0
#define ATTR_SAMPLE_TYPE 24
#define ATTR_FLAGS       40
#define ATTR_CLOCK       92
#define ATTR_BYTES_MIN   96

#define TYPE_TRACEPOINT 2

#define FLAG_SAMPLE_ID_ALL (UINT64_C(1) << 18)
#define FLAG_CLOCK         (UINT64_C(1) << 25)

enum sample_type {
	SAMPLE_IP = 1 << 0,
	SAMPLE_TID = 1 << 1,
	SAMPLE_TIME = 1 << 2,
	SAMPLE_ADDR = 1 << 3,
	SAMPLE_READ = 1 << 4,
	SAMPLE_CALLCHAIN = 1 << 5,
	SAMPLE_ID = 1 << 6,
	SAMPLE_CPU = 1 << 7,
	SAMPLE_PERIOD = 1 << 8,
	SAMPLE_STREAM_ID = 1 << 9,
	SAMPLE_RAW = 1 << 10,
	SAMPLE_IDENTIFIER = 1 << 16,
};

#define SAMPLE_NEEDED (SAMPLE_TIME | SAMPLE_CPU | SAMPLE_RAW)

enum record_type {
	RECORD_LOST = 2,
	RECORD_SAMPLE = 9,
	RECORD_AUXTRACE = 71, /* u64: bytes that follow the record */
	RECORD_COMPRESSED = 81,
};

#define RECORD_COMPRESSED2 83

struct perf_file {
	struct weft__ftrace_capture *capture;
	uint64_t sample_type, flags;
	bool has_others; /* samples that are not of tracepoints */
	uint64_t *ids;   /* of tracepoints, if there are others; sorted */
	size_t id_count, id_capacity;
};

static int fail(struct weft__ftrace_capture *c, const char *wrong)
{
	c->wrong = wrong;
	return WEFT_ERROR_FORMAT;
}

/* A section whose offset and size are at the cursor. */
static struct weft__ftrace_cursor take_section(
	const struct weft__ftrace_capture *c, struct weft__ftrace_cursor *cursor)
{
	const uint64_t offset = weft__format_ftrace_take_number(cursor, 8);
	const uint64_t size = weft__format_ftrace_take_number(cursor, 8);
	if (offset > c->size || size > c->size - offset)
		return (struct weft__ftrace_cursor){.bytes = c->bytes, .is_short = true};
	return (struct weft__ftrace_cursor){.bytes = c->bytes + offset, .size = (size_t)size};
}

/* ---- What the file says of itself ---- */

static const char *clock_name(uint32_t id)
{
	static const char *const names[] = {
		[0] = "realtime", [1] = "mono", [4] = "mono_raw", [7] = "boot"};
	return id < sizeof(names) / sizeof(*names) && names[id] ? names[id] : "unknown";
}

static int compare_ids(const void *a, const void *b)
{
	const uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
	return (first > second) - (first < second);
}

static int add_ids(struct perf_file *p, struct weft__ftrace_cursor ids)
{
	const struct weft__column column = {&p->ids, sizeof(*p->ids)};
	const size_t count = ids.size / 8;
	if (count > p->capture->size / 8 - p->id_count) { /* events have no ids in common */
		p->capture->damaged++;
		return 0;
	}
	int error = weft__columns_reserve(&column, 1, &p->id_capacity, p->id_count + count);
	for (size_t i = 0; i < count && !error; i++)
		p->ids[p->id_count++] = weft__format_ftrace_take_number(&ids, 8);
	return error;
}

static int learn_tracepoint(struct perf_file *p, const uint8_t *attr)
{
	const uint64_t type = weft__load_u64(attr + ATTR_SAMPLE_TYPE);
	if (p->sample_type && p->sample_type != type)
		return fail(p->capture, "its events have samples of several forms");
	p->sample_type = type;
	p->flags = weft__load_u64(attr + ATTR_FLAGS);
	strcpy(p->capture->clock,
		p->flags & FLAG_CLOCK ? clock_name(weft__load_u32(attr + ATTR_CLOCK)) : "perf");
	return 0;
}

/* Samples of tracepoints are read by one layout. Samples of other events have other ids. */
static int learn_attributes(
	struct perf_file *p, struct weft__ftrace_cursor section, uint64_t attr_bytes)
{
	const uint8_t *attr;
	int error = 0;
	while (!error && attr_bytes >= ATTR_BYTES_MIN + 16 &&
		   (attr = weft__format_ftrace_take(&section, attr_bytes))) {
		struct weft__ftrace_cursor ids = {.bytes = attr + attr_bytes - 16, .size = 16};
		if (weft__load_u32(attr + ATTR_TYPE) != TYPE_TRACEPOINT) {
			p->has_others = true;
			continue;
		}
		error = learn_tracepoint(p, attr);
		if (!error)
			error = add_ids(p, take_section(p->capture, &ids));
	}
	if (error)
		return error;
	if (p->id_count)
		qsort(p->ids, p->id_count, sizeof(*p->ids), compare_ids);
	if ((p->sample_type & SAMPLE_NEEDED) != SAMPLE_NEEDED)
		return fail(p->capture, "its samples lack the time, the processor or the kernel's data: "
								"record it with `perf sched record`");
	if (p->has_others && !(p->sample_type & SAMPLE_IDENTIFIER))
		return fail(p->capture, "its events have samples of several forms");
	return p->sample_type & SAMPLE_READ ? fail(p->capture, "its samples have values of counters")
										: 0;
}

/* The texts come as in trace.dat, with a header of their own. */
static void learn_texts(struct perf_file *p, struct weft__ftrace_cursor section)
{
	(void)weft__format_ftrace_take(&section, sizeof(WEFT__FTRACE_TRACE_DAT) - 1);
	(void)weft__format_ftrace_take_text(&section); /* the version */
	(void)weft__format_ftrace_take(&section, 6);   /* byte order, bytes of a long, of a page */
	weft__format_ftrace_learn_header(&p->capture->formats, &section);
	weft__format_ftrace_skip_events(&section);
	weft__format_ftrace_learn_systems(&p->capture->formats, &section);
}

/* ---- Records ---- */

static void skip(struct weft__ftrace_cursor *c, uint64_t type, uint64_t bit, uint64_t bytes)
{
	if (type & bit)
		(void)weft__format_ftrace_take(c, bytes);
}

static int take_sample(struct perf_file *p, struct weft__ftrace_cursor c)
{
	const uint64_t type = p->sample_type;
	const uint64_t id = type & SAMPLE_IDENTIFIER ? weft__format_ftrace_take_number(&c, 8) : 0;
	if (p->has_others &&
		(!p->id_count || !bsearch(&id, p->ids, p->id_count, sizeof(id), compare_ids)))
		return 0;
	skip(&c, type, SAMPLE_IP, 8);
	skip(&c, type, SAMPLE_TID, 8);
	const uint64_t time = weft__format_ftrace_take_number(&c, 8);
	skip(&c, type, SAMPLE_ADDR, 8);
	skip(&c, type, SAMPLE_ID, 8);
	skip(&c, type, SAMPLE_STREAM_ID, 8);
	const uint64_t cpu = weft__format_ftrace_take_number(&c, 8);
	skip(&c, type, SAMPLE_PERIOD, 8);
	if (type & SAMPLE_CALLCHAIN) {
		const uint64_t count = weft__format_ftrace_take_number(&c, 8);
		(void)weft__format_ftrace_take(&c, count < c.size ? 8 * count : c.size + (uint64_t)1);
	}
	const uint64_t size = weft__format_ftrace_take_number(&c, 4);
	const uint8_t *data = weft__format_ftrace_take(&c, size);
	if (!data) {
		p->capture->damaged++;
		return 0;
	}
	return weft__format_ftrace_add(p->capture, time, data, (size_t)size, (uint32_t)cpu);
}

/* u64 id, u64 lost; then, at the end, the time and the processor. */
static int take_loss(struct perf_file *p, struct weft__ftrace_cursor c)
{
	const uint64_t type = p->sample_type;
	uint64_t tail = 0;
	const uint64_t bits[] = {
		SAMPLE_TID, SAMPLE_TIME, SAMPLE_ID, SAMPLE_STREAM_ID, SAMPLE_CPU, SAMPLE_IDENTIFIER};
	for (size_t i = 0; i < sizeof(bits) / sizeof(*bits); i++)
		tail += type & bits[i] ? 8 : 0;
	if (!(p->flags & FLAG_SAMPLE_ID_ALL) || c.size < 16 + tail)
		return 0;
	const uint64_t lost = weft__load_u64(c.bytes + 8);
	c.at = c.size - (size_t)tail;
	skip(&c, type, SAMPLE_TID, 8);
	const uint64_t time = weft__format_ftrace_take_number(&c, 8);
	skip(&c, type, SAMPLE_ID, 8);
	skip(&c, type, SAMPLE_STREAM_ID, 8);
	const uint32_t cpu = (uint32_t)weft__format_ftrace_take_number(&c, 8);
	return c.is_short ? 0 : weft__format_ftrace_add_loss(p->capture, time, lost, cpu);
}

static int take_record(struct perf_file *p, uint32_t type, struct weft__ftrace_cursor body,
	struct weft__ftrace_cursor *data)
{
	switch (type) {
	case RECORD_LOST:
		return take_loss(p, body);
	case RECORD_SAMPLE:
		return take_sample(p, body);
	case RECORD_AUXTRACE:
		(void)weft__format_ftrace_take(data, weft__format_ftrace_take_number(&body, 8));
		return 0;
	case RECORD_COMPRESSED:
	case RECORD_COMPRESSED2:
		return fail(p->capture, "it is compressed: record it without -z");
	default:
		return 0;
	}
}

static int take_records(struct perf_file *p, struct weft__ftrace_cursor data)
{
	int error = 0;
	while (!error && data.at < data.size) {
		const uint64_t head = weft__format_ftrace_take_number(&data, 8);
		const uint64_t size = head >> 48;
		const uint8_t *body = size < 8 ? NULL : weft__format_ftrace_take(&data, size - 8);
		if (!body) {
			p->capture->damaged++;
			break;
		}
		error = take_record(p, (uint32_t)head,
			(struct weft__ftrace_cursor){.bytes = body, .size = (size_t)size - 8}, &data);
	}
	return error;
}

int weft__format_ftrace_open_perf_data(struct weft__ftrace_capture *c)
{
	struct perf_file p = {.capture = c};
	struct weft__ftrace_cursor header = {.bytes = c->bytes, .size = c->size, .at = 8};
	const uint64_t header_bytes = weft__format_ftrace_take_number(&header, 8);
	const uint64_t attr_bytes = weft__format_ftrace_take_number(&header, 8);
	if (header_bytes < HEADER_BYTES)
		return fail(c, "it is perf's output of a pipe: record it with -o FILE");
	const struct weft__ftrace_cursor attributes = take_section(c, &header);
	const struct weft__ftrace_cursor data = take_section(c, &header);
	(void)take_section(c, &header);
	const uint64_t features = weft__format_ftrace_take_number(&header, 8);
	if (header.is_short || data.is_short || !data.size)
		return fail(c, "it is cut off, or perf did not finish it");
	int error = learn_attributes(&p, attributes, attr_bytes);
	if (error) {
		free(p.ids);
		return error;
	}
	/* Bit 0 has no section. */
	struct weft__ftrace_cursor list = {
		.bytes = c->bytes, .size = c->size, .at = (size_t)(data.bytes - c->bytes) + data.size};
	if (features >> FEATURE_TRACING_DATA & 1)
		learn_texts(&p, take_section(c, &list));
	error = take_records(&p, data);
	free(p.ids);
	return error;
}

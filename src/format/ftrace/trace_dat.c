/* SPDX-License-Identifier: ISC
 *
 * trace.dat in its sixth version. src/source/ makes it of the seventh, which is compressed.
 *
 *     file     0x17 0x08 "Dtracing", the version as a text, u8 is big-endian, u8 bytes of a long,
 *              u32 bytes of a page
 *              the kernel's texts, its symbols, the names of processes
 *              u32 processors
 *              "options  \0", if there are any: u16 id, u32 size, data; the last id is 0
 *              "flyrecord\0", and for each processor: u64 offset, u64 size of its pages
 */
#include <string.h>

#include <weft/error.h>

#include "format/ftrace/capture.h"

#define PAGE_BYTES_MAX (1u << 20)

#define OPTION_CLOCK 4

static int fail(struct weft__ftrace_capture *c, const char *wrong)
{
	c->wrong = wrong;
	return WEFT_ERROR_FORMAT;
}

/* ---- Pages ---- */

static int read_page(
	struct weft__ftrace_capture *c, const uint8_t *bytes, size_t size, uint32_t cpu, uint64_t *last)
{
	struct weft__ftrace_page page;
	const uint8_t *data;
	size_t data_size;
	int error = 0;
	if (!weft__format_ftrace_begin(&c->formats, bytes, size, &page)) {
		c->damaged++;
		return 0;
	}
	if (page.has_lost)
		error = weft__format_ftrace_add_loss(c, *last ? *last : page.time, page.lost, cpu);
	while (!error && weft__format_ftrace_next_data(&page, &data, &data_size))
		error = weft__format_ftrace_add(c, page.time, data, data_size, cpu);
	*last = page.time;
	return error;
}

static int read_cpu(struct weft__ftrace_capture *c, struct weft__ftrace_cursor pages, uint32_t cpu)
{
	const size_t most = weft__format_ftrace_page_bytes(&c->formats);
	uint64_t last = 0;
	int error = 0;
	while (!error && pages.at < pages.size) {
		const size_t rest = pages.size - pages.at, size = rest < most ? rest : most;
		error = read_page(c, pages.bytes + pages.at, size, cpu, &last);
		pages.at += size;
	}
	return error;
}

static int read_cpus(
	struct weft__ftrace_capture *c, struct weft__ftrace_cursor *cursor, uint32_t count)
{
	uint64_t all = 0; /* processors have no pages in common */
	int error = 0;
	for (uint32_t i = 0; i < count && !error; i++) {
		const uint64_t offset = weft__format_ftrace_take_number(cursor, 8);
		uint64_t size = weft__format_ftrace_take_number(cursor, 8);
		if (cursor->is_short || offset > c->size) {
			c->damaged++;
			continue;
		}
		if (size > c->size - offset) { /* the file was cut */
			size = c->size - offset;
			c->damaged++;
		}
		if ((all += size) > c->size) {
			c->damaged++;
			break;
		}
		error = read_cpu(
			c, (struct weft__ftrace_cursor){.bytes = c->bytes + offset, .size = (size_t)size}, i);
	}
	return error;
}

/* ---- What the file says of itself ---- */

/* "local global [x86-tsc]": that one is used. */
static void learn_clock(struct weft__ftrace_capture *c, const char *text, size_t size)
{
	const char *start = memchr(text, '[', size);
	const char *end = start ? memchr(start, ']', size - (size_t)(start - text)) : NULL;
	if (!end || (size_t)(end - start) > sizeof(c->clock))
		return;
	memcpy(c->clock, start + 1, (size_t)(end - start) - 1);
	c->clock[end - start - 1] = '\0';
}

static void read_options(struct weft__ftrace_capture *c, struct weft__ftrace_cursor *cursor)
{
	uint64_t id;
	while ((id = weft__format_ftrace_take_number(cursor, 2)) != 0) {
		const uint64_t size = weft__format_ftrace_take_number(cursor, 4);
		const uint8_t *data = weft__format_ftrace_take(cursor, size);
		if (data && id == OPTION_CLOCK)
			learn_clock(c, (const char *)data, (size_t)size);
	}
}

static void skip_sized(struct weft__ftrace_cursor *cursor, unsigned bytes)
{
	(void)weft__format_ftrace_take(cursor, weft__format_ftrace_take_number(cursor, bytes));
}

int weft__format_ftrace_open_trace_dat(struct weft__ftrace_capture *c)
{
	struct weft__ftrace_cursor cursor = {
		.bytes = c->bytes, .size = c->size, .at = sizeof(WEFT__FTRACE_TRACE_DAT) - 1};
	const char *version = weft__format_ftrace_take_text(&cursor);
	if (strcmp(version, "7") == 0)
		return fail(c, "its version is 7, which is not read while the file grows");
	if (strcmp(version, "6") != 0)
		return fail(c, "it is of another version of trace-cmd's format than 6 and 7");
	if (weft__format_ftrace_take_number(&cursor, 1))
		return fail(c, "it is of a big-endian machine");
	(void)weft__format_ftrace_take(&cursor, 5); /* bytes of a long, of a page */
	weft__format_ftrace_learn_header(&c->formats, &cursor);
	weft__format_ftrace_skip_events(&cursor);
	weft__format_ftrace_learn_systems(&c->formats, &cursor);
	skip_sized(&cursor, 4); /* symbols */
	skip_sized(&cursor, 4); /* formats of printk */
	skip_sized(&cursor, 8); /* names of processes: sched_switch has them */
	const uint64_t cpus = weft__format_ftrace_take_number(&cursor, 4);
	const char *next = weft__format_ftrace_take_text(&cursor);
	strcpy(c->clock, "local");
	if (strcmp(next, "options  ") == 0) {
		read_options(c, &cursor);
		next = weft__format_ftrace_take_text(&cursor);
	}
	if (strcmp(next, "latency  ") == 0)
		return fail(c, "it is the text of a latency tracer");
	if (cursor.is_short || strcmp(next, "flyrecord") != 0 || cpus > WEFT__FTRACE_CPUS_MAX ||
		weft__format_ftrace_page_bytes(&c->formats) > PAGE_BYTES_MAX)
		return fail(c, "it is damaged, or trace-cmd did not finish it");
	return read_cpus(c, &cursor, (uint32_t)cpus);
}

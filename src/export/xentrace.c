/* SPDX-License-Identifier: ISC
 *
 * Records of Xen as lines. A trace has tens of thousands in a second, so a line is put together
 * at the end of the text; all texts in it are static and need no escapes.
 *
 *        0.001234567  cpu0  d0v0      hypercall               mmu_update  [0x400001 0x3]
 *        0.001234567  cpu0  d0v0      runstate_change         d0v0 running→blocked  [0x0]
 */
#include <weft/lines.h>

#include <string.h>

#include "base/export.h"
#include "model/xentrace_fields.h"

/* A line is shorter: seven numbers, two names, the fields, and some 120 bytes. */
#define LINE_BYTES (512 + WEFT__XENTRACE_FIELDS_BYTES)
#define NAME_BYTES 48

/* No column is wider. A block of fixed size is filled without a call. */
#define COLUMN_BYTES 32

static char *put(char *at, const char *text, size_t size)
{
	memcpy(at, text, size);
	return at + size;
}

#define PUT(at, literal) put(at, literal, sizeof(literal) - 1)

static char *put_name(char *at, const char *name)
{
	size_t size = strlen(name);
	return put(at, name, size < NAME_BYTES ? size : NAME_BYTES);
}

static const char pairs[] = "00010203040506070809101112131415161718192021222324"
							"25262728293031323334353637383940414243444546474849"
							"50515253545556575859606162636465666768697071727374"
							"75767778798081828384858687888990919293949596979899";

static char *put_pair(char *at, uint32_t number)
{
	memcpy(at, pairs + 2 * number, 2);
	return at + 2;
}

static char *put_four(char *at, uint32_t number)
{
	return put_pair(put_pair(at, number / 100), number % 100);
}

/* Up to 9999. */
static char *put_short(char *at, uint32_t number)
{
	if (number >= 100) {
		uint32_t high = number / 100;
		if (high >= 10)
			return put_four(at, number);
		*at = (char)('0' + high);
		return put_pair(at + 1, number % 100);
	}
	if (number >= 10)
		return put_pair(at, number);
	*at = (char)('0' + number);
	return at + 1;
}

/* In groups of four digits, whose divisions do not wait for each other. */
static char *put_long(char *at, uint32_t number)
{
	if (number < 10000)
		return put_short(at, number);
	uint32_t high = number / 10000, low = number % 10000;
	at = high < 10000 ? put_short(at, high) : put_four(put_short(at, high / 10000), high % 10000);
	return put_four(at, low);
}

/* Most numbers in a record have one digit. */
static inline char *put_u32(char *at, uint32_t number)
{
	if (number >= 10)
		return put_long(at, number);
	*at = (char)('0' + number);
	return at + 1;
}

static char *put_number(char *at, uint64_t number)
{
	const uint64_t part = 100000000;
	if (number <= UINT32_MAX)
		return put_u32(at, (uint32_t)number);
	uint32_t low = (uint32_t)(number % part);
	return put_four(put_four(put_number(at, number / part), low / 10000), low % 10000);
}

/* All eight digits at once: moves each half byte to a byte of its own, the first one lowest, makes
 * digits of them, and writes as many as there are. */
static char *put_digits(char *at, uint32_t number)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	uint32_t count = (35 - (uint32_t)__builtin_clz(number | 1)) / 4;
	uint64_t x = (uint64_t)number << (32 - 4 * count);
	x = x >> 16 | (x & 0xffff) << 32;
	x = (x >> 8 & UINT64_C(0x000000ff000000ff)) | (x & UINT64_C(0x000000ff000000ff)) << 16;
	x = (x >> 4 & UINT64_C(0x000f000f000f000f)) | (x & UINT64_C(0x000f000f000f000f)) << 8;
	uint64_t letters = (x + 6 * ones) >> 4 & ones;
	x += '0' * ones + letters * ('a' - '0' - 10);
	if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
		x = __builtin_bswap64(x);
	memcpy(at, &x, sizeof(x));
	return at + count;
}

static inline char *put_hex(char *at, uint32_t number)
{
	at = PUT(at, "0x");
	return number < 10 ? put_u32(at, number) : put_digits(at, number);
}

/* Room for a line at the end of the text; NULL without memory. */
static char *begin_line(struct weft_text *text)
{
	static const char blank[LINE_BYTES];
	if (text->capacity - text->size < LINE_BYTES) {
		weft_text_add(text, blank, LINE_BYTES);
		if (text->error)
			return NULL;
		text->size -= LINE_BYTES;
	}
	return text->bytes + text->size;
}

static void end_line(struct weft_text *text, const char *at)
{
	text->size = (size_t)(at - text->bytes);
}

/* Spaces up to `column` bytes from `start`; at least one. */
static char *pad(char *at, const char *start, size_t column)
{
	memset(at, ' ', COLUMN_BYTES);
	return (size_t)(at - start) < column ? at + (column - (size_t)(at - start)) : at + 1;
}

static char *put_vcpu_json(char *at, const struct weft_xentrace_record *record)
{
	if (record->domain == WEFT_XENTRACE_UNKNOWN)
		return PUT(at, ",\"domain\":null,\"vcpu\":null,\"args\":[");
	at = put_u32(PUT(at, ",\"domain\":"), record->domain);
	at = put_u32(PUT(at, ",\"vcpu\":"), record->vcpu);
	return PUT(at, ",\"args\":[");
}

WEFT__EXPORT void weft_lines_add_xentrace_json(
	const struct weft_xentrace_record *record, struct weft_text *text)
{
	char *at = begin_line(text);
	if (!at)
		return;
	at = put_number(PUT(at, "{\"time\":"), record->time_ns);
	at = put_u32(PUT(at, ",\"event\":\"xentrace\",\"cpu\":"), record->cpu);
	at = put_hex(PUT(at, ",\"id\":\""), record->id);
	at = put_name(PUT(at, "\",\"name\":\""), record->name);
	if (record->detail)
		at = put_name(PUT(at, "\",\"detail\":\""), record->detail);
	*at++ = '"';
	at = put_vcpu_json(at, record);
	for (uint32_t i = 0; i < record->arg_count; i++) {
		if (i)
			*at++ = ',';
		at = put_u32(at, record->args[i]);
	}
	at = PUT(at, "],\"fields\":{");
	end_line(text, PUT(weft__model_xentrace_members(record, at), "}}\n"));
}

static char *put_time(char *at, uint64_t ns)
{
	uint64_t seconds = ns / 1000000000, fraction = ns % 1000000000;
	at = PUT(at, "   ");
	for (uint64_t bound = 10; bound < 10000 && seconds >= bound; bound *= 10)
		at--;
	at = put_number(at, seconds);
	*at++ = '.';
	*at++ = (char)('0' + fraction / 100000000);
	uint32_t low = (uint32_t)(fraction % 100000000);
	return put_four(put_four(at, low / 10000), low % 10000);
}

static char *put_vcpu(char *at, const struct weft_xentrace_record *record)
{
	const char *start = at;
	if (record->domain == WEFT_XENTRACE_UNKNOWN)
		at = PUT(at, "d?v?");
	else if (record->domain == WEFT_XENTRACE_IDLE)
		at = PUT(at, "idle");
	else
		at = put_u32(PUT(put_u32(PUT(at, "d"), record->domain), "v"), record->vcpu);
	return pad(at, start, 9);
}

WEFT__EXPORT void weft_lines_add_xentrace_text(
	const struct weft_xentrace_record *record, struct weft_text *text)
{
	char *at = begin_line(text), *start;
	if (!at)
		return;
	start = at = put_time(at, record->time_ns);
	at = pad(put_u32(PUT(at, "  cpu"), record->cpu), start, 9);
	at = put_vcpu(at, record);
	start = at;
	at = pad(put_name(at, record->name), start, 24);
	if (record->detail)
		at = pad(put_name(at, record->detail), start, 24);
	start = at;
	at = weft__model_xentrace_text(record, at);
	if (at > start)
		at = PUT(at, "  ");
	*at++ = '[';
	for (uint32_t i = 0; i < record->arg_count; i++) {
		if (i)
			*at++ = ' ';
		at = put_hex(at, record->args[i]);
	}
	end_line(text, PUT(at, "]\n"));
}

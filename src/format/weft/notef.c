/* SPDX-License-Identifier: ISC
 *
 * Formats a note as printf would, with values whose types were recorded. A conversion that does not
 * suit its value shows the value as its own type. Nothing of a hostile format reaches the C
 * library: it gets only conversions that are put together here.
 */
#include "format/weft/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	WIDTH_MAX = 256,  /* a greater width, as in %300d, counts as this */
	TEXT_MAX = 65536, /* of a whole note */
};

/* One conversion: %[flags][width][.precision][length]letter */
struct conversion {
	char flags[8];
	unsigned width;
	int precision; /* -1: none */
	unsigned bits; /* of an integer, from the length */
	char letter;
};

struct reader {
	const char *at, *end;
};

/* volatile: the format may lie in a file that another process is writing, so two loads of a byte
 * may differ. Callers use the returned value and do not load the byte again. */
static char peek(const struct reader *r)
{
	return r->at < r->end ? *(const volatile char *)r->at : 0;
}

static unsigned read_number(struct reader *r)
{
	unsigned number = 0;
	for (char c; (c = peek(r)) >= '0' && c <= '9'; r->at++)
		if (number <= WIDTH_MAX)
			number = number * 10 + (unsigned)(c - '0');
	return number > WIDTH_MAX ? WIDTH_MAX : number;
}

static void read_flags(struct reader *r, char *flags)
{
	size_t count = 0;
	for (char c; (c = peek(r)) && strchr("-+ #0", c); r->at++)
		if (!memchr(flags, c, count))
			flags[count++] = c;
	flags[count] = 0;
}

/* Bits of an integer: those of int without a length; all lengths but h and hh count as 64. */
static unsigned read_length(struct reader *r)
{
	unsigned bits = 32;
	for (char c; (c = peek(r)) && strchr("hljztqL", c); r->at++)
		bits = c == 'h' ? (bits == 32 ? 16 : 8) : 64;
	return bits;
}

/* Reads a conversion from behind its '%'. */
static struct conversion read_conversion(struct reader *r)
{
	struct conversion c = {.precision = -1};
	read_flags(r, c.flags);
	c.width = read_number(r);
	if (peek(r) == '.') {
		r->at++;
		c.precision = (int)read_number(r);
	}
	c.bits = read_length(r);
	c.letter = peek(r);
	if (r->at < r->end)
		r->at++;
	return c;
}

/* Writes the conversion up to its length, such as "%-+8.3", and then `last`. */
static void write_format(const struct conversion *c, const char *last, char *format, size_t size)
{
	if (c->precision >= 0)
		snprintf(format, size, "%%%s%u.%d%s", c->flags, c->width, c->precision, last);
	else if (c->width)
		snprintf(format, size, "%%%s%u%s", c->flags, c->width, last);
	else
		snprintf(format, size, "%%%s%s", c->flags, last);
}

static void add_printed(struct weft_text *text, const char *printed, int length, size_t size)
{
	if (length > 0)
		weft_text_add(text, printed, (size_t)length < size ? (size_t)length : size - 1);
}

/* The formats are built above from flags, two numbers and a fixed ending. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

static void add_integer(struct weft_text *text, const struct conversion *c, uint64_t value)
{
	char format[48], printed[2 * WIDTH_MAX + 64];
	uint64_t mask = c->bits == 64 ? UINT64_MAX : ((uint64_t)1 << c->bits) - 1;
	char last[sizeof(PRIx64) + 8];
	int length;
	if (c->letter == 'd' || c->letter == 'i') {
		write_format(c, PRId64, format, sizeof(format));
		length = snprintf(printed, sizeof(printed), format, (int64_t)value);
	} else {
		/* PRIx64 with the conversion's letter instead of its own */
		snprintf(last, sizeof(last), "%.*s%c", (int)sizeof(PRIx64) - 2, PRIx64, c->letter);
		write_format(c, last, format, sizeof(format));
		length = snprintf(printed, sizeof(printed), format, value & mask);
	}
	add_printed(text, printed, length, sizeof(printed));
}

static void add_float(struct weft_text *text, const struct conversion *c, double value)
{
	char format[48], printed[2 * WIDTH_MAX + 400];
	char last[2] = {c->letter, 0};
	write_format(c, last, format, sizeof(format));
	add_printed(text, printed, snprintf(printed, sizeof(printed), format, value), sizeof(printed));
}

#pragma GCC diagnostic pop

static void add_spaces(struct weft_text *text, size_t count)
{
	while (count-- > 0)
		weft_text_add(text, " ", 1);
}

static void add_text(struct weft_text *text, const struct conversion *c, struct weft_slice value)
{
	size_t size = value.size, padding;
	if (c->precision >= 0 && (size_t)c->precision < size)
		size = (size_t)c->precision;
	padding = c->width > size ? c->width - size : 0;
	if (!strchr(c->flags, '-'))
		add_spaces(text, padding);
	weft_text_add(text, value.bytes, size);
	if (strchr(c->flags, '-'))
		add_spaces(text, padding);
}

static uint64_t as_integer(const struct weft_field *value)
{
	return value->type == WEFT_FIELD_I64 ? (uint64_t)value->value.i64 : value->value.u64;
}

static double as_float(const struct weft_field *value)
{
	if (value->type == WEFT_FIELD_F64)
		return value->value.f64;
	return value->type == WEFT_FIELD_I64 ? (double)value->value.i64 : (double)value->value.u64;
}

static void add_as_it_is(struct weft_text *text, const struct weft_field *value)
{
	switch (value->type) {
	case WEFT_FIELD_I64:
		weft_text_add_i64(text, value->value.i64);
		break;
	case WEFT_FIELD_U64:
		weft_text_add_u64(text, value->value.u64);
		break;
	case WEFT_FIELD_F64:
		weft_text_add_f64(text, value->value.f64);
		break;
	case WEFT_FIELD_BOOL:
		weft_text_add_string(text, value->value.u64 ? "true" : "false");
		break;
	case WEFT_FIELD_TEXT:
		weft_text_add(text, value->value.text.bytes, value->value.text.size);
		break;
	}
}

static void add_value(struct weft_text *text, struct conversion *c, const struct weft_field *value)
{
	bool is_text = value->type == WEFT_FIELD_TEXT;
	bool is_integer = !is_text && value->type != WEFT_FIELD_F64;
	char byte;
	if (c->letter && strchr("diuoxX", c->letter) && is_integer) {
		add_integer(text, c, as_integer(value));
	} else if (c->letter && strchr("fFeEgGaA", c->letter) && !is_text) {
		add_float(text, c, as_float(value));
	} else if (c->letter == 'c' && is_integer) {
		byte = (char)as_integer(value);
		add_text(text, c, (struct weft_slice){&byte, 1});
	} else if (c->letter == 's' && is_text) {
		add_text(text, c, value->value.text);
	} else if (c->letter == 'p' && is_integer) {
		c->letter = 'x';
		c->bits = 64;
		strcpy(c->flags, "#");
		add_integer(text, c, as_integer(value));
	} else {
		add_as_it_is(text, value);
	}
}

void weft__format_notef_format(struct weft_text *text, struct weft_slice format,
	const struct weft_field *values, unsigned count)
{
	struct reader r = {format.bytes, format.bytes + format.size};
	unsigned used = 0;
	while (r.at < r.end && text->size < TEXT_MAX) {
		const char *percent = memchr(r.at, '%', (size_t)(r.end - r.at));
		const char *literal_end = percent ? percent : r.end;
		weft_text_add(text, r.at, (size_t)(literal_end - r.at));
		if (!percent)
			return;
		r.at = percent + 1;
		struct conversion c = read_conversion(&r);
		if (c.letter == '%')
			weft_text_add(text, "%", 1);
		else if (used < count)
			add_value(text, &c, &values[used++]);
		else /* more conversions than values: shown as written */
			weft_text_add(text, percent, (size_t)(r.at - percent));
	}
}

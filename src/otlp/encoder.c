/* SPDX-License-Identifier: ISC
 *
 * The size of a message stands before it in protobuf. It is known at the end, so one byte is left
 * for it, and a message of more than 127 bytes is then moved. Only its containers are longer, and
 * they are few.
 */
#include "otlp/encoder.h"

#include <math.h>
#include <string.h>

#include "base/utf8.h"

enum wire {
	WIRE_VARINT = 0,
	WIRE_64 = 1,
	WIRE_BYTES = 2,
	WIRE_32 = 5
};

#define VARINT_MAX_BYTES 10

static size_t pack_varint(uint64_t number, char bytes[VARINT_MAX_BYTES])
{
	size_t size = 0;
	for (; number > 0x7f; number >>= 7)
		bytes[size++] = (char)(number | 0x80);
	bytes[size++] = (char)number;
	return size;
}

static void add_varint(struct weft_text *text, uint64_t number)
{
	char bytes[VARINT_MAX_BYTES];
	weft_text_add(text, bytes, pack_varint(number, bytes));
}

static void add_fixed(struct weft_text *text, uint64_t number, size_t size)
{
	char bytes[8];
	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)(number >> 8 * i);
	weft_text_add(text, bytes, size);
}

static void add_tag(struct weft_text *text, const struct weft__otlp_field *field, enum wire wire)
{
	add_varint(text, (uint64_t)field->number << 3 | wire);
}

static enum wire wire_of(uint8_t type)
{
	switch (type) {
	case WEFT__OTLP_MESSAGE:
	case WEFT__OTLP_TEXT:
	case WEFT__OTLP_ID:
		return WIRE_BYTES;
	case WEFT__OTLP_FIXED32:
		return WIRE_32;
	case WEFT__OTLP_FIXED64:
	case WEFT__OTLP_SFIXED64:
	case WEFT__OTLP_DOUBLE:
		return WIRE_64;
	default:
		return WIRE_VARINT;
	}
}

/* ---- Values ---- */

static void add_number(struct weft_text *text, uint8_t type, uint64_t number)
{
	switch (type) {
	case WEFT__OTLP_SINT32:
		add_varint(text, (uint32_t)number << 1 ^ (number >> 63 ? UINT32_MAX : 0));
		break;
	case WEFT__OTLP_FIXED32:
		add_fixed(text, number, 4);
		break;
	case WEFT__OTLP_FIXED64:
	case WEFT__OTLP_SFIXED64:
	case WEFT__OTLP_DOUBLE:
		add_fixed(text, number, 8);
		break;
	default:
		add_varint(text, number);
		break;
	}
}

/* JSON's numbers are doubles for many readers, so protobuf writes 64-bit ones as texts. */
static void add_json_number(struct weft_text *text, uint8_t type, uint64_t number)
{
	switch (type) {
	case WEFT__OTLP_BOOL:
		weft_text_add_string(text, number ? "true" : "false");
		break;
	case WEFT__OTLP_UINT32:
	case WEFT__OTLP_FIXED32:
		weft_text_add_u64(text, number);
		break;
	case WEFT__OTLP_SINT32:
		weft_text_add_i64(text, (int64_t)number);
		break;
	default:
		weft_text_add(text, "\"", 1);
		if (type == WEFT__OTLP_INT64 || type == WEFT__OTLP_SFIXED64)
			weft_text_add_i64(text, (int64_t)number);
		else
			weft_text_add_u64(text, number);
		weft_text_add(text, "\"", 1);
	}
}

static void add_json_real(struct weft_text *text, double number)
{
	if (isnan(number))
		weft_text_add_string(text, "\"NaN\"");
	else if (isinf(number))
		weft_text_add_string(text, number < 0 ? "\"-Infinity\"" : "\"Infinity\"");
	else
		weft_text_add_f64(text, number);
}

static uint64_t bits_of(double number)
{
	uint64_t bits;
	memcpy(&bits, &number, sizeof(bits));
	return bits;
}

static size_t ascii_prefix(const char *bytes, size_t size)
{
	size_t i = 0;
	while (i < size && (unsigned char)bytes[i] < 0x80)
		i++;
	return i;
}

/* The length is written first, so bytes that become three are counted before. */
static size_t copy_utf8(struct weft_text *text, const char *bytes, size_t size)
{
	size_t total = 0, begin = 0, i = 0;
	while (i < size) {
		uint32_t character;
		bool valid = true;
		size_t step = ascii_prefix(bytes + i, size - i);
		if (!step)
			step = weft__utf8_decode(bytes + i, size - i, &character, &valid);
		if (!valid) {
			if (text) {
				weft_text_add(text, bytes + begin, i - begin);
				weft_text_add(text, "\xef\xbf\xbd", 3);
			}
			begin = i + step;
		}
		total += valid ? step : 3;
		i += step;
	}
	if (text && begin < size)
		weft_text_add(text, bytes + begin, size - begin);
	return total;
}

/* ---- Messages ---- */

static bool is_array(const struct weft__otlp_field *field)
{
	return field && field->is_repeated;
}

/* Begins a field in JSON, as the next element of an array if the one before was in it. */
static void add_key(struct weft__otlp_encoder *e, const struct weft__otlp_field *field)
{
	struct weft__otlp_level *level = &e->levels[e->depth];
	const struct weft__otlp_field *last = level->last;
	level->last = field;
	if (is_array(last) && last == field) {
		weft_text_add(&e->text, ",", 1);
		return;
	}
	if (is_array(last))
		weft_text_add(&e->text, "]", 1);
	weft_text_add_string(&e->text, last ? ",\"" : "\"");
	weft_text_add_string(&e->text, field->key);
	weft_text_add_string(&e->text, field->is_repeated ? "\":[" : "\":");
}

static void enter(struct weft__otlp_encoder *e)
{
	if (e->is_json)
		weft_text_add(&e->text, "{", 1);
	e->levels[e->depth] = (struct weft__otlp_level){.start = e->text.size};
}

static void leave(struct weft__otlp_encoder *e)
{
	if (!e->is_json)
		return;
	if (is_array(e->levels[e->depth].last))
		weft_text_add(&e->text, "]", 1);
	weft_text_add(&e->text, "}", 1);
}

void weft__otlp_open(struct weft__otlp_encoder *e)
{
	e->depth = 0;
	enter(e);
}

void weft__otlp_close(struct weft__otlp_encoder *e)
{
	leave(e);
}

void weft__otlp_begin(struct weft__otlp_encoder *e, unsigned number)
{
	const struct weft__otlp_field *field = &e->fields[number];
	if (e->is_json) {
		add_key(e, field);
	} else {
		add_tag(&e->text, field, WIRE_BYTES);
		weft_text_add(&e->text, "", 1);
	}
	e->depth++;
	enter(e);
}

void weft__otlp_element(struct weft__otlp_encoder *e, unsigned number, bool is_first)
{
	e->depth = 0;
	if (!e->is_json) {
		weft__otlp_begin(e, number);
		return;
	}
	if (!is_first)
		weft_text_add(&e->text, ",", 1);
	e->depth = 1;
	enter(e);
}

void weft__otlp_put_elements(
	struct weft__otlp_encoder *e, unsigned number, struct weft_slice elements)
{
	if (e->is_json)
		add_key(e, &e->fields[number]);
	weft_text_add(&e->text, elements.bytes, elements.size);
}

/* Writes the size into the byte before the message, which it moves if that is not enough. */
static void set_size(struct weft_text *text, size_t start)
{
	char bytes[VARINT_MAX_BYTES];
	const size_t size = text->size - start, width = pack_varint(size, bytes);
	weft_text_add(text, bytes, width - 1); /* any bytes: makes room */
	if (text->error)
		return;
	if (width > 1)
		memmove(text->bytes + start + width - 1, text->bytes + start, size);
	memcpy(text->bytes + start - 1, bytes, width);
}

void weft__otlp_end(struct weft__otlp_encoder *e)
{
	leave(e);
	if (!e->is_json && !e->text.error)
		set_size(&e->text, e->levels[e->depth].start);
	e->depth--;
}

/* ---- Fields ---- */

void weft__otlp_put_text(struct weft__otlp_encoder *e, unsigned number, struct weft_slice value)
{
	const struct weft__otlp_field *field = &e->fields[number];
	if (e->is_json) {
		add_key(e, field);
		weft_text_add_json(&e->text, value.bytes, value.size);
		return;
	}
	add_tag(&e->text, field, WIRE_BYTES);
	add_varint(&e->text, copy_utf8(NULL, value.bytes, value.size));
	copy_utf8(&e->text, value.bytes, value.size);
}

void weft__otlp_put_string(struct weft__otlp_encoder *e, unsigned number, const char *string)
{
	weft__otlp_put_text(e, number, (struct weft_slice){string, strlen(string)});
}

/* The first byte is the highest one of the first word. */
void weft__otlp_put_id(
	struct weft__otlp_encoder *e, unsigned number, const uint64_t *words, size_t count)
{
	static const char digits[] = "0123456789abcdef";
	const struct weft__otlp_field *field = &e->fields[number];
	char text[2 + 2 * 16], *at = text;
	if (e->is_json) {
		add_key(e, field);
		*at++ = '"';
	} else {
		add_tag(&e->text, field, WIRE_BYTES);
		add_varint(&e->text, 8 * count);
	}
	const int bits = e->is_json ? 4 : 8;
	for (size_t i = 0; i < count; i++)
		for (int shift = 64 - bits; shift >= 0; shift -= bits)
			*at++ = e->is_json ? digits[words[i] >> shift & 15] : (char)(words[i] >> shift);
	if (e->is_json)
		*at++ = '"';
	weft_text_add(&e->text, text, (size_t)(at - text));
}

void weft__otlp_put_integer(struct weft__otlp_encoder *e, unsigned number, uint64_t value)
{
	const struct weft__otlp_field *field = &e->fields[number];
	if (e->is_json) {
		add_key(e, field);
		add_json_number(&e->text, field->type, value);
		return;
	}
	add_tag(&e->text, field, wire_of(field->type));
	add_number(&e->text, field->type, value);
}

void weft__otlp_put_real(struct weft__otlp_encoder *e, unsigned number, double value)
{
	const struct weft__otlp_field *field = &e->fields[number];
	if (e->is_json) {
		add_key(e, field);
		add_json_real(&e->text, value);
		return;
	}
	add_tag(&e->text, field, WIRE_64);
	add_fixed(&e->text, bits_of(value), 8);
}

/* Protobuf packs the elements of a repeated number into one field of bytes. */
static void put_packed(struct weft__otlp_encoder *e, const struct weft__otlp_field *field,
	const void *numbers, size_t count)
{
	add_tag(&e->text, field, WIRE_BYTES);
	weft_text_add(&e->text, "", 1);
	const size_t start = e->text.size;
	for (size_t i = 0; i < count; i++) {
		uint64_t bits;
		memcpy(&bits, (const char *)numbers + i * sizeof(bits), sizeof(bits));
		add_number(&e->text, field->type, bits);
	}
	if (!e->text.error)
		set_size(&e->text, start);
}

void weft__otlp_put_integers(
	struct weft__otlp_encoder *e, unsigned number, const uint64_t *values, size_t count)
{
	const struct weft__otlp_field *field = &e->fields[number];
	if (!e->is_json)
		put_packed(e, field, values, count);
	for (size_t i = 0; e->is_json && i < count; i++) {
		add_key(e, field);
		add_json_number(&e->text, field->type, values[i]);
	}
}

void weft__otlp_put_reals(
	struct weft__otlp_encoder *e, unsigned number, const double *values, size_t count)
{
	const struct weft__otlp_field *field = &e->fields[number];
	if (!e->is_json)
		put_packed(e, field, values, count);
	for (size_t i = 0; e->is_json && i < count; i++) {
		add_key(e, field);
		add_json_real(&e->text, values[i]);
	}
}

/* SPDX-License-Identifier: ISC
 *
 * The growing text behind all printed lines. Runs of harmless bytes are copied at once.
 */
#include <weft/text.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/export.h"
#include "base/number.h"
#include "base/utf8.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* The longest character in UTF-8. */
#define CHARACTER_MAX_BYTES 4

WEFT__EXPORT void weft_text_finish(struct weft_text *text)
{
	free(text->bytes);
	memset(text, 0, sizeof(*text));
}

/* Makes room for `size` more bytes; NULL without memory. */
static char *reserve(struct weft_text *text, size_t size)
{
	if (size <= text->capacity - text->size)
		return text->bytes + text->size;
	if (!text->error && size <= SIZE_MAX / 2 - text->size) {
		size_t capacity = weft__array_next_capacity(text->capacity, text->size + size);
		text->error = weft__array_resize(&text->bytes, capacity, 1);
		if (!text->error)
			text->capacity = capacity;
	} else {
		text->error = WEFT_ERROR_MEMORY;
	}
	return text->error ? NULL : text->bytes + text->size;
}

WEFT__EXPORT void weft_text_add(struct weft_text *text, const char *bytes, size_t size)
{
	char *room = size ? reserve(text, size) : NULL;
	if (!room)
		return;
	memcpy(room, bytes, size);
	text->size += size;
}

WEFT__EXPORT void weft_text_add_string(struct weft_text *text, const char *string)
{
	weft_text_add(text, string, strlen(string));
}

static size_t count_digits(uint64_t number)
{
	static const uint64_t powers[] = {1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12,
		1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19};
	size_t smaller = 0;
	while (smaller < sizeof(powers) / sizeof(*powers) && number >= powers[smaller])
		smaller++;
	return smaller + 1;
}

/* The digits are stored where they stay: to copy them at once would wait for each of them. */
WEFT__EXPORT void weft_text_add_u64(struct weft_text *text, uint64_t number)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
								"25262728293031323334353637383940414243444546474849"
								"50515253545556575859606162636465666768697071727374"
								"75767778798081828384858687888990919293949596979899";
	const size_t size = count_digits(number);
	char *at = reserve(text, size);
	if (!at)
		return;
	text->size += size;
	for (at += size; number >= 100; number /= 100)
		memcpy(at -= 2, pairs + 2 * (number % 100), 2);
	if (number >= 10)
		memcpy(at - 2, pairs + 2 * number, 2);
	else
		at[-1] = (char)('0' + number);
}

WEFT__EXPORT void weft_text_add_i64(struct weft_text *text, int64_t number)
{
	if (number < 0)
		weft_text_add(text, "-", 1);
	weft_text_add_u64(text, number < 0 ? 0 - (uint64_t)number : (uint64_t)number);
}

WEFT__EXPORT void weft_text_add_f64(struct weft_text *text, double number)
{
	char digits[WEFT__NUMBER_BYTES];
	const char *end;
	if (!isfinite(number)) {
		weft_text_add_string(text, "null");
		return;
	}
	for (int precision = 15; precision <= 17; precision++) {
		weft__number_general(number, precision, digits);
		if (weft__number_parse(digits, &end) == number)
			break;
	}
	weft_text_add_string(text, digits);
}

static void add_hex(struct weft_text *text, const char *prefix, uint32_t number, int digits)
{
	static const char hex[] = "0123456789abcdef";
	weft_text_add_string(text, prefix);
	for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
		weft_text_add(text, &hex[number >> shift & 15], 1);
}

/* True for ASCII that needs no escape: not a control character, quote or backslash. */
static bool is_plain(char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static size_t plain_run(const char *bytes, size_t size)
{
	size_t i = 0;
	while (i < size && is_plain(bytes[i]))
		i++;
	return i;
}

/* Appends an escape that JSON and C share; false if `c` has none. */
static bool add_short_escape(struct weft_text *text, uint32_t c)
{
	static const char characters[] = "\n\t\r\"\\", letters[] = "ntr\"\\";
	const char *found = c && c < 0x80 ? strchr(characters, (int)c) : NULL;
	if (!found)
		return false;
	const char escape[2] = {'\\', letters[found - characters]};
	weft_text_add(text, escape, 2);
	return true;
}

/* Appends a character that is not plain, of `length` bytes; `valid` is false if they are not UTF-8.
 */
typedef void escape_character(
	struct weft_text *text, const char *bytes, size_t length, uint32_t character, bool valid);

/* Escapes a block; returns how many bytes it used: all, except for an incomplete character at the
 * end of a block that is not the last. */
static size_t escape_block(
	struct weft_text *text, const char *bytes, size_t size, bool is_last, escape_character *escape)
{
	size_t i = 0;
	while (i < size) {
		size_t run = plain_run(bytes + i, size - i);
		weft_text_add(text, bytes + i, run);
		i += run;
		if (i == size || (!is_last && size - i < CHARACTER_MAX_BYTES))
			break;
		uint32_t character;
		bool valid;
		size_t length = weft__utf8_decode(bytes + i, size - i, &character, &valid);
		escape(text, bytes + i, length, character, valid);
		i += length;
	}
	return i;
}

/* The bytes may be in a file that another process is writing. So each is loaded once, into a block
 * of our own, and the checked copy is written. */
static void add_escaped(
	struct weft_text *text, const char *bytes, size_t size, escape_character *escape)
{
	char block[256];
	for (size_t at = 0, length; at < size;) {
		length = size - at < sizeof(block) ? size - at : sizeof(block);
		memcpy(block, bytes + at, length);
		/* Keeps the compiler from reading `bytes` again instead of the block. */
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		at += escape_block(text, block, length, at + length == size, escape);
	}
}

static void escape_for_json(
	struct weft_text *text, const char *bytes, size_t length, uint32_t character, bool valid)
{
	if (!valid)
		weft_text_add_string(text, REPLACEMENT);
	else if (add_short_escape(text, character))
		;
	else if (weft__utf8_is_dangerous(character))
		add_hex(text, "\\u", character, 4);
	else
		weft_text_add(text, bytes, length);
}

WEFT__EXPORT void weft_text_add_json(struct weft_text *text, const char *bytes, size_t size)
{
	weft_text_add(text, "\"", 1);
	add_escaped(text, bytes, size, escape_for_json);
	weft_text_add(text, "\"", 1);
}

static void escape_for_people(
	struct weft_text *text, const char *bytes, size_t length, uint32_t character, bool valid)
{
	if (!valid)
		for (size_t k = 0; k < length; k++)
			add_hex(text, "\\x", (uint8_t)bytes[k], 2);
	else if (add_short_escape(text, character))
		;
	else if (weft__utf8_is_dangerous(character))
		add_hex(text, character < 0x100 ? "\\x" : "\\u", character, character < 0x100 ? 2 : 4);
	else
		weft_text_add(text, bytes, length);
}

WEFT__EXPORT void weft_text_add_quoted(struct weft_text *text, const char *bytes, size_t size)
{
	weft_text_add(text, "\"", 1);
	add_escaped(text, bytes, size, escape_for_people);
	weft_text_add(text, "\"", 1);
}

/* Escapes for a terminal; quotes and backslashes are ordinary characters here. */
static void escape_for_terminal(
	struct weft_text *text, const char *bytes, size_t length, uint32_t character, bool valid)
{
	if (valid && (character == '"' || character == '\\'))
		weft_text_add(text, bytes, length);
	else
		escape_for_people(text, bytes, length, character, valid);
}

WEFT__EXPORT void weft_text_add_shown(struct weft_text *text, const char *bytes, size_t size)
{
	add_escaped(text, bytes, size, escape_for_terminal);
}

WEFT__EXPORT void weft_text_pad(struct weft_text *text, size_t line_start, size_t column)
{
	do
		weft_text_add(text, " ", 1);
	while (!text->error && text->size - line_start < column);
}

/* SPDX-License-Identifier: ISC
 *
 * Reads the labels of a series, or of an alert that a monitoring system sends. weft has written the
 * former, but others may have changed the database.
 */
#include "agent/labels.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <weft/parse.h>

#define TEXT_BYTES 256

/* As UTF-8. What is no character, or would end the text, becomes U+FFFD. */
static size_t encode(uint32_t character, char ret_bytes[4])
{
	size_t more = 0;
	if (!character || character > 0x10ffff || (character >= 0xd800 && character < 0xe000))
		character = 0xfffd;
	if (character < 0x80) {
		ret_bytes[0] = (char)character;
		return 1;
	}
	more = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
	ret_bytes[0] = (char)(0xff00 >> (more + 1) | character >> 6 * more);
	for (size_t i = 1; i <= more; i++)
		ret_bytes[i] = (char)(0x80 | (character >> 6 * (more - i) & 0x3f));
	return more + 1;
}

/* The number behind "u", of four digits. */
static uint32_t take_unit(const char **at)
{
	char hexadecimal[5] = "";
	uint64_t unit = 0;
	memcpy(hexadecimal, *at + 1, strnlen(*at + 1, 4));
	*at += 1 + strlen(hexadecimal);
	weft_parse_hexadecimal(hexadecimal, strlen(hexadecimal), &unit);
	return (uint32_t)unit;
}

/* The bytes for which an escape stands. Senders of alerts may write any character as \u, and those
 * beyond 16 bits as two of them. */
static size_t unescape(const char **at, char ret_bytes[4])
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	if (**at != 'u') {
		const char *known = strchr(from, **at);
		ret_bytes[0] = known && **at ? to[known - from] : **at;
		*at += **at != '\0';
		return 1;
	}
	uint32_t character = take_unit(at);
	if (character >= 0xd800 && character < 0xdc00 && (*at)[0] == '\\' && (*at)[1] == 'u') {
		++*at;
		uint32_t low = take_unit(at);
		character = low >= 0xdc00 && low < 0xe000
						? 0x10000 + ((character - 0xd800) << 10 | (low - 0xdc00))
						: 0xfffd;
	}
	return encode(character, ret_bytes);
}

static bool take_text(const char **at, char ret_text[TEXT_BYTES])
{
	size_t size = 0, more = 1;
	char bytes[4];
	if (**at != '"')
		return false;
	for (++*at; **at && **at != '"';) {
		bytes[0] = *(*at)++;
		more = bytes[0] == '\\' ? unescape(at, bytes) : 1;
		for (size_t i = 0; i < more && size < TEXT_BYTES - 1; i++)
			ret_text[size++] = bytes[i];
	}
	ret_text[size] = '\0';
	if (**at != '"')
		return false;
	++*at;
	return true;
}

bool weft__agent_labels_next(const char **at, char ret_key[256], char ret_value[256])
{
	if (**at != '{' && **at != ',')
		return false;
	++*at;
	if (!take_text(at, ret_key) || **at != ':')
		return false;
	++*at;
	return take_text(at, ret_value);
}

/* SPDX-License-Identifier: ISC
 *
 * Reads the labels of a series. weft has written them, but others may have changed the database.
 */
#include "agent/labels.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <weft/parse.h>

#define TEXT_BYTES 256

/* The character that an escape stands for; weft writes \u only for control characters. */
static char unescape(const char **at)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	char hexadecimal[5] = "";
	if (**at != 'u') {
		const char *known = strchr(from, **at);
		char it = known && **at ? to[known - from] : **at;
		*at += **at != '\0';
		return it;
	}
	memcpy(hexadecimal, *at + 1, strnlen(*at + 1, 4));
	*at += 1 + strlen(hexadecimal);
	uint64_t code = 0;
	weft_parse_hexadecimal(hexadecimal, strlen(hexadecimal), &code);
	return (char)code;
}

static bool take_text(const char **at, char ret_text[TEXT_BYTES])
{
	size_t size = 0;
	if (**at != '"')
		return false;
	for (++*at; **at && **at != '"';) {
		char next = *(*at)++;
		if (next == '\\')
			next = unescape(at);
		if (size < TEXT_BYTES - 1)
			ret_text[size++] = next;
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

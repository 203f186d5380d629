/* SPDX-License-Identifier: ISC */
#include "format/spans/value.h"

#include <string.h>

bool weft__format_spans_number(const struct weft__json_value *value, uint64_t *ret_number)
{
	uint64_t number = 0;
	if ((value->type != WEFT__JSON_NUMBER && value->type != WEFT__JSON_STRING) || !value->text.size)
		return false;
	for (size_t i = 0; i < value->text.size; i++) {
		const char c = value->text.bytes[i];
		if (c < '0' || c > '9' || number > (UINT64_MAX - 9) / 10)
			return false;
		number = 10 * number + (uint64_t)(c - '0');
	}
	*ret_number = number;
	return true;
}

bool weft__format_spans_id(const struct weft__json_value *value, uint64_t ret_words[2])
{
	uint64_t words[2] = {0, 0};
	if (value->type != WEFT__JSON_STRING || value->text.size > 32)
		return false;
	for (size_t i = 0; i < value->text.size; i++) {
		const char c = value->text.bytes[i], letter = (char)(c | 0x20);
		uint64_t digit;
		if (c >= '0' && c <= '9')
			digit = (uint64_t)(c - '0');
		else if (letter >= 'a' && letter <= 'f')
			digit = (uint64_t)(letter - 'a' + 10);
		else
			return false;
		words[0] = words[0] << 4 | words[1] >> 60;
		words[1] = words[1] << 4 | digit;
	}
	memcpy(ret_words, words, sizeof(words));
	return words[0] || words[1];
}

/* SPDX-License-Identifier: ISC
 *
 * The characters that a picture's text may contain. Names come from traced programs, which may be
 * hostile, and browsers open the pictures.
 */
#include "canvas/letters.h"

#include <string.h>

#include <weft/canvas.h>

#include "base/export.h"
#include "base/utf8.h"

size_t weft__canvas_next_letter(const char *bytes, size_t count, uint32_t *ret_letter)
{
	bool valid;
	size_t length = weft__utf8_decode(bytes, count, ret_letter, &valid);
	if (!valid || !weft__utf8_is_showable(*ret_letter))
		*ret_letter = WEFT__REPLACEMENT;
	return length;
}

static size_t encode(uint32_t c, char *to)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (size_t i = length - 1; i > 0; i--, c >>= 6)
		to[i] = (char)(0x80 | (c & 0x3f));
	to[0] = (char)((0xf00u >> length & 0xffu) | c);
	return length;
}

WEFT__EXPORT size_t weft_canvas_clean_text(
	const char *bytes, size_t count, char *buffer, size_t size)
{
	size_t used = 0;
	for (size_t at = 0; at < count;) {
		char letter[4];
		uint32_t c;
		at += weft__canvas_next_letter(bytes + at, count - at, &c);
		size_t length = encode(c, letter);
		if (used + length + 1 > size)
			break;
		memcpy(buffer + used, letter, length);
		used += length;
	}
	if (size)
		buffer[used] = '\0';
	return used;
}

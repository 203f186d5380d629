/* SPDX-License-Identifier: ISC
 *
 * The table of well-formed byte sequences (Unicode 15, table 3-7): only the second byte's range
 * depends on the first.
 */
#include "base/utf8.h"

struct lead {
	uint8_t length;    /* 0: no character starts with this byte */
	uint8_t low, high; /* range of the second byte */
};

static struct lead classify(uint8_t byte)
{
	if (byte < 0x80)
		return (struct lead){1, 0, 0};
	if (byte < 0xc2)
		return (struct lead){0, 0, 0};
	if (byte < 0xe0)
		return (struct lead){2, 0x80, 0xbf};
	if (byte < 0xf0)
		return (struct lead){3, byte == 0xe0 ? 0xa0 : 0x80, byte == 0xed ? 0x9f : 0xbf};
	if (byte < 0xf5)
		return (struct lead){4, byte == 0xf0 ? 0x90 : 0x80, byte == 0xf4 ? 0x8f : 0xbf};
	return (struct lead){0, 0, 0};
}

size_t weft__utf8_decode(const char *bytes, size_t size, uint32_t *ret_character, bool *ret_valid)
{
	uint8_t first = (uint8_t)bytes[0];
	struct lead lead = classify(first);
	*ret_valid = lead.length == 1;
	*ret_character = first;
	if (lead.length < 2)
		return 1;
	uint32_t character = first & (0x7fu >> lead.length);
	for (size_t i = 1; i < lead.length; i++) {
		uint8_t byte = i < size ? (uint8_t)bytes[i] : 0;
		if (byte < lead.low || byte > lead.high)
			return i;
		character = character << 6 | (byte & 0x3f);
		lead.low = 0x80;
		lead.high = 0xbf;
	}
	*ret_character = character;
	*ret_valid = true;
	return lead.length;
}

static bool is_noncharacter(uint32_t c)
{
	return (c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef);
}

bool weft__utf8_is_showable(uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0xfeff)
		return false;
	/* Joiners (0x200c, 0x200d) make letters of scripts, and one picture of several. */
	if (c == 0x200b || (c >= 0x200e && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e))
		return false;
	return !(c >= 0x2060 && c <= 0x206f) && !is_noncharacter(c);
}

bool weft__utf8_is_dangerous(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200e && c <= 0x200f) ||
		   (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0x61c;
}

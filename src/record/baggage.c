/* SPDX-License-Identifier: ISC
 *
 * The header `baggage` of W3C (https://www.w3.org/TR/baggage/): names and values that go with a
 * trace from program to program.
 *
 *     userId=alice,serverNode=DF%2028;ttl=5
 *     key    value            value  property
 */
#include <weft/context.h>

#include "record/atomics.h"

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_token(char c)
{
	static const char marks[] = "!#$%&'*+-.^_`|~";
	bool is_mark = false;
	for (unsigned i = 0; i < sizeof(marks) - 1; i++)
		is_mark |= c == marks[i];
	return is_mark || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool is_octet(char c)
{
	return c > ' ' && c < 0x7f && c != '"' && c != ',' && c != ';' && c != '\\';
}

/* A part of the header, without spaces around it. */
struct baggage_part {
	const char *bytes;
	size_t size;
};

static struct baggage_part trimmed(const char *bytes, size_t size)
{
	for (; size && is_space(bytes[0]); size--)
		bytes++;
	while (size && is_space(bytes[size - 1]))
		size--;
	return (struct baggage_part){bytes, size};
}

/* Bytes before `c`, or all. */
static size_t before(const char *bytes, size_t size, char c)
{
	size_t count = 0;
	while (count < size && bytes[count] != c)
		count++;
	return count;
}

static bool are_all(struct baggage_part part, bool (*is)(char c))
{
	for (size_t i = 0; i < part.size; i++)
		if (!is(part.bytes[i]))
			return false;
	return true;
}

/* False if it is no valid member. */
static bool read_member(const char *bytes, size_t size, struct weft_baggage_member *ret_member)
{
	size = before(bytes, size, ';'); /* of properties, nothing is read */
	const size_t equals = before(bytes, size, '=');
	if (equals == size)
		return false;
	const struct baggage_part key = trimmed(bytes, equals),
							  value = trimmed(bytes + equals + 1, size - equals - 1);
	if (!key.size || !are_all(key, is_token) || !are_all(value, is_octet))
		return false;
	*ret_member = (struct weft_baggage_member){
		key.bytes, value.bytes, (uint32_t)key.size, (uint32_t)value.size};
	return true;
}

static size_t bounded(size_t size)
{
	return size < WEFT_BAGGAGE_BYTES ? size : WEFT_BAGGAGE_BYTES;
}

WEFT__EXPORT bool weft_baggage_next(
	const char *text, size_t size, size_t *at, struct weft_baggage_member *ret_member)
{
	const size_t all = weft_baggage_size(text, size, WEFT_BAGGAGE_BYTES);
	while (*at < all) {
		const char *member = text + *at;
		const size_t length = before(member, all - *at, ',');
		*at += length + 1;
		if (read_member(member, length, ret_member))
			return true;
	}
	*ret_member = (struct weft_baggage_member){0};
	return false;
}

/* Members are counted from the end, since the first ones are kept. */
WEFT__EXPORT size_t weft_baggage_size(const char *text, size_t size, size_t room)
{
	size_t kept = bounded(size) < room ? bounded(size) : room;
	if (kept == size)
		return size;
	if (text[kept] != ',')
		while (kept && text[kept - 1] != ',')
			kept--;
	return kept && text[kept - 1] == ',' ? kept - 1 : kept;
}

/* SPDX-License-Identifier: ISC
 *
 * Containers that are open are bits of a word each, so that "[}" is found without a recursion.
 */
#include "model/slice.h"
#include "format/json/json.h"

#include <string.h>

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

bool weft__format_json_skip_space(struct weft_slice text, size_t *at)
{
	while (*at < text.size && is_space(text.bytes[*at]))
		++*at;
	return *at < text.size;
}

/* ---- Scalars ---- */

static struct weft_slice part(struct weft_slice text, size_t from, size_t to)
{
	return (struct weft_slice){text.bytes + from, to - from};
}

/* A string has no line breaks: a lost quote is noticed at the end of its line. */
static bool read_string(struct weft_slice text, size_t *at, struct weft__json_value *ret)
{
	const size_t start = ++*at;
	*ret = (struct weft__json_value){.type = WEFT__JSON_STRING};
	for (; *at < text.size; ++*at) {
		const char c = text.bytes[*at];
		if (c == '"') {
			ret->text = part(text, start, *at);
			++*at;
			return true;
		}
		if (c == '\n' || c == '\0')
			return false;
		if (c == '\\') {
			ret->has_escapes = true;
			if (++*at == text.size)
				return false;
		}
	}
	return false;
}

static bool is_of_number(char c)
{
	return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

static bool read_number(struct weft_slice text, size_t *at, struct weft__json_value *ret)
{
	const size_t start = *at;
	while (*at < text.size && is_of_number(text.bytes[*at]))
		++*at;
	*ret = (struct weft__json_value){.type = WEFT__JSON_NUMBER, .text = part(text, start, *at)};
	return *at > start;
}

static bool read_word(struct weft_slice text, size_t *at, struct weft__json_value *ret)
{
	static const struct {
		const char *name;
		enum weft__json_type type;
	} words[] = {{"null", WEFT__JSON_NULL}, {"true", WEFT__JSON_TRUE}, {"false", WEFT__JSON_FALSE}};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const size_t size = strlen(words[i].name);
		if (text.size - *at < size || memcmp(text.bytes + *at, words[i].name, size) != 0)
			continue;
		*ret =
			(struct weft__json_value){.type = words[i].type, .text = part(text, *at, *at + size)};
		*at += size;
		return true;
	}
	return false;
}

static bool read_scalar(struct weft_slice text, size_t *at, struct weft__json_value *ret)
{
	const char c = text.bytes[*at];
	if (c == '"')
		return read_string(text, at, ret);
	return is_of_number(c) ? read_number(text, at, ret) : read_word(text, at, ret);
}

/* ---- Containers ---- */

struct nesting {
	uint64_t is_object[WEFT__JSON_DEPTH_MAX / 64];
	unsigned depth;
};

static bool is_in_object(const struct nesting *nesting)
{
	const unsigned level = nesting->depth - 1;
	return nesting->is_object[level / 64] >> level % 64 & 1;
}

static bool open_container(struct nesting *nesting, bool is_object)
{
	const unsigned level = nesting->depth;
	if (level == WEFT__JSON_DEPTH_MAX)
		return false;
	const uint64_t bit = UINT64_C(1) << level % 64;
	nesting->is_object[level / 64] &= ~bit;
	nesting->is_object[level / 64] |= is_object ? bit : 0;
	nesting->depth++;
	return true;
}

bool weft__format_json_read_key(
	struct weft_slice text, size_t *at, struct weft__json_value *ret_key)
{
	if (!weft__format_json_skip_space(text, at) || text.bytes[*at] != '"' ||
		!read_string(text, at, ret_key) || !weft__format_json_skip_space(text, at) ||
		text.bytes[*at] != ':')
		return false;
	++*at;
	return true;
}

/* Before the first element of a container that was opened, or behind an element: passes what comes
 * before the next one. *ret_ended: all containers are closed. */
static bool pass_between(
	struct weft_slice text, size_t *at, struct nesting *nesting, bool is_first, bool *ret_ended)
{
	struct weft__json_value key;
	*ret_ended = false;
	while (nesting->depth) {
		if (!weft__format_json_skip_space(text, at))
			return false;
		const char c = text.bytes[*at];
		if (c == (is_in_object(nesting) ? '}' : ']')) {
			++*at;
			nesting->depth--;
			is_first = false;
			continue;
		}
		if (!is_first && c != ',')
			return false;
		*at += !is_first;
		return !is_in_object(nesting) || weft__format_json_read_key(text, at, &key);
	}
	*ret_ended = true;
	return true;
}

static bool read_container(struct weft_slice text, size_t *at)
{
	struct nesting nesting;
	struct weft__json_value scalar;
	nesting.depth = 0;
	for (bool has_ended = false; !has_ended;) {
		if (!weft__format_json_skip_space(text, at))
			return false;
		const char c = text.bytes[*at];
		const bool is_opened = c == '{' || c == '[';
		if (is_opened ? !open_container(&nesting, c == '{') : !read_scalar(text, at, &scalar))
			return false;
		*at += is_opened;
		if (!pass_between(text, at, &nesting, is_opened, &has_ended))
			return false;
	}
	return true;
}

bool weft__format_json_read(struct weft_slice text, size_t *at, struct weft__json_value *ret_value)
{
	if (!weft__format_json_skip_space(text, at))
		return false;
	const size_t start = *at;
	const char c = text.bytes[start];
	if (c != '{' && c != '[')
		return read_scalar(text, at, ret_value);
	if (!read_container(text, at))
		return false;
	*ret_value = (struct weft__json_value){
		.type = c == '{' ? WEFT__JSON_OBJECT : WEFT__JSON_ARRAY, .text = part(text, start, *at)};
	return true;
}

bool weft__format_json_next_member(const struct weft__json_value *object, size_t *at,
	struct weft__json_value *ret_key, struct weft__json_value *ret_value)
{
	const struct weft_slice text = object->text;
	if (object->type != WEFT__JSON_OBJECT || !weft__format_json_skip_space(text, at))
		return false;
	if (text.bytes[*at] == (*at == 0 ? '{' : ','))
		++*at;
	return weft__format_json_read_key(text, at, ret_key) &&
		   weft__format_json_read(text, at, ret_value);
}

bool weft__format_json_next_element(
	const struct weft__json_value *array, size_t *at, struct weft__json_value *ret_element)
{
	if (array->type != WEFT__JSON_ARRAY)
		return false;
	++*at; /* the bracket or comma */
	return weft__format_json_skip_space(array->text, at) && array->text.bytes[*at] != ']' &&
		   weft__format_json_read(array->text, at, ret_element) &&
		   weft__format_json_skip_space(array->text, at);
}

bool weft__format_json_find(
	const struct weft__json_value *object, const char *key, struct weft__json_value *ret_value)
{
	struct weft__json_value name;
	size_t at = 0;
	while (weft__format_json_next_member(object, &at, &name, ret_value))
		if (weft__slice_is(name.text, key))
			return true;
	return false;
}

bool weft__format_json_has_members(const struct weft__json_value *value)
{
	struct weft__json_value key, member;
	size_t at = 0;
	return weft__format_json_next_member(value, &at, &key, &member);
}

/* ---- Escapes ---- */

static bool read_hex(struct weft_slice text, size_t at, uint32_t *ret_code)
{
	uint32_t code = 0;
	if (text.size < 4 || at > text.size - 4)
		return false;
	for (size_t i = 0; i < 4; i++) {
		const char c = text.bytes[at + i];
		const char low = (char)(c | 0x20);
		if (c >= '0' && c <= '9')
			code = code << 4 | (uint32_t)(c - '0');
		else if (low >= 'a' && low <= 'f')
			code = code << 4 | (uint32_t)(low - 'a' + 10);
		else
			return false;
	}
	*ret_code = code;
	return true;
}

/* The character of an escape \uXXXX, or of two that are a pair of surrogates. *at is behind the
 * "u", and moves past it. A surrogate alone is U+FFFD; "\\u" without a number is a "u", since the
 * result must not be longer. */
static uint32_t read_unicode(struct weft_slice text, size_t *at)
{
	uint32_t code, low;
	if (!read_hex(text, *at, &code))
		return 'u';
	*at += 4;
	if (code < 0xd800 || code > 0xdfff)
		return code;
	if (code > 0xdbff || text.size - *at < 6 || memcmp(text.bytes + *at, "\\u", 2) != 0 ||
		!read_hex(text, *at + 2, &low) || low < 0xdc00 || low > 0xdfff)
		return 0xfffd;
	*at += 6;
	return 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
}

static size_t write_utf8(uint32_t code, char *out)
{
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	const size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	for (size_t i = size - 1; i > 0; i--, code >>= 6)
		out[i] = (char)(0x80 | (code & 0x3f));
	out[0] = (char)(0xf00 >> size | code);
	return size;
}

size_t weft__format_json_unescape(struct weft_slice text, char *out)
{
	static const char names[] = "bfnrt", characters[] = "\b\f\n\r\t";
	size_t size = 0;
	for (size_t at = 0; at < text.size;) {
		const char c = text.bytes[at++];
		if (c != '\\' || at == text.size) {
			out[size++] = c;
			continue;
		}
		const char escape = text.bytes[at++];
		if (escape == 'u') {
			size += write_utf8(read_unicode(text, &at), out + size);
			continue;
		}
		const char *name = escape ? strchr(names, escape) : NULL;
		out[size++] = name ? characters[name - names] : escape;
	}
	return size;
}

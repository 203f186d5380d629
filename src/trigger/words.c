/* SPDX-License-Identifier: ISC
 *
 * See words.h. At an error the parser keeps its position and what is expected there.
 */
#include "trigger/words.h"

#include <string.h>

#include <weft/parse.h>

bool weft__trigger_fail(struct weft__parser *p, size_t at, const char *message)
{
	if (!p->error.message)
		p->error = (struct weft_trigger_error){at, message};
	return false;
}

void weft__trigger_skip_space(struct weft__parser *p)
{
	while (p->at < p->size && (p->text[p->at] == ' ' || p->text[p->at] == '\t'))
		p->at++;
}

bool weft__trigger_at_end(struct weft__parser *p)
{
	weft__trigger_skip_space(p);
	return p->at == p->size;
}

bool weft__trigger_is_bare(const struct weft__parser *p, char c)
{
	return (unsigned char)c > ' ' && c != '\x7f' && !strchr("<>='\"\\", c) && !strchr(p->ends, c);
}

/* Takes a word in quotes, without the quotes and escapes. */
static bool take_quoted(struct weft__parser *p, struct weft_slice *ret_word)
{
	size_t start = p->at;
	char quote = p->text[p->at++], *to = p->words + p->used;
	size_t size = 0;
	while (p->at < p->size && p->text[p->at] != quote) {
		if (p->text[p->at] == '\\' && p->at + 1 < p->size)
			p->at++;
		to[size++] = p->text[p->at++];
	}
	if (p->at == p->size)
		return weft__trigger_fail(p, start, "a quote that does not end");
	p->at++;
	p->used += size;
	*ret_word = (struct weft_slice){to, size};
	return true;
}

bool weft__trigger_take_word(
	struct weft__parser *p, const char *expected, struct weft_slice *ret_word)
{
	weft__trigger_skip_space(p);
	size_t start = p->at;
	if (p->at < p->size && (p->text[p->at] == '\'' || p->text[p->at] == '"')) {
		if (!take_quoted(p, ret_word))
			return false;
		return ret_word->size > 0 || weft__trigger_fail(p, start, expected);
	}
	char *to = p->words + p->used;
	while (p->at < p->size && weft__trigger_is_bare(p, p->text[p->at]))
		p->at++;
	if (p->at == start)
		return weft__trigger_fail(p, start, expected);
	memcpy(to, p->text + start, p->at - start);
	p->used += p->at - start;
	*ret_word = (struct weft_slice){to, p->at - start};
	return true;
}

bool weft__trigger_is_word(struct weft_slice word, const char *text)
{
	return word.size == strlen(text) && memcmp(word.bytes, text, word.size) == 0;
}

bool weft__trigger_take_sign(struct weft__parser *p, char sign)
{
	weft__trigger_skip_space(p);
	if (p->at == p->size || p->text[p->at] != sign)
		return false;
	p->at++;
	return true;
}

/* A number of at most 63 bits. */
bool weft__trigger_take_number(struct weft__parser *p, int64_t *ret_number)
{
	int64_t number = 0;
	size_t first = p->at;
	for (; p->at < p->size && p->text[p->at] >= '0' && p->text[p->at] <= '9'; p->at++)
		if (__builtin_mul_overflow(number, 10, &number) ||
			__builtin_add_overflow(number, p->text[p->at] - '0', &number))
			return weft__trigger_fail(p, first, "a smaller number is expected");
	if (p->at == first)
		return weft__trigger_fail(p, first, "a number is expected");
	*ret_number = number;
	return true;
}

/* Digits behind a point, as a number below 1. */
bool weft__trigger_take_fraction(struct weft__parser *p, double *ret_fraction)
{
	size_t first = p->at;
	int64_t digits;
	double unit = 1;
	*ret_fraction = 0;
	if (p->at == p->size || p->text[p->at] != '.')
		return true;
	first = ++p->at;
	if (!weft__trigger_take_number(p, &digits))
		return false;
	for (size_t i = first; i < p->at; i++)
		unit *= 10;
	*ret_fraction = (double)digits / unit;
	return true;
}

static const char unit_expected[] = "a unit is expected: ns, us, ms, s or min";

/* Takes a number and a unit, with or without a space between them. */
bool weft__trigger_take_duration(struct weft__parser *p, uint64_t *ret_ns)
{
	char text[64];
	struct weft_slice unit;
	uint64_t ns;
	weft__trigger_skip_space(p);
	size_t start = p->at;
	while (p->at < p->size && strchr("0123456789.", p->text[p->at]) && p->text[p->at])
		p->at++;
	size_t digits = p->at - start;
	weft__trigger_skip_space(p);
	size_t unit_at = p->at;
	if (!digits)
		return weft__trigger_fail(p, start, "a number is expected");
	if (!weft__trigger_take_word(p, unit_expected, &unit))
		return false;
	if (digits + unit.size > sizeof(text))
		return weft__trigger_fail(
			p, start, digits > unit.size ? "a shorter time is expected" : unit_expected);
	memcpy(text, p->text + start, digits);
	memcpy(text + digits, unit.bytes, unit.size);
	enum weft_parse problem = weft_parse_duration(text, digits + unit.size, &ns);
	if (problem == WEFT_PARSE_TOO_LARGE || (problem == WEFT_PARSE_OK && ns > INT64_MAX))
		return weft__trigger_fail(p, start, "a shorter time is expected");
	if (problem != WEFT_PARSE_OK)
		return weft__trigger_fail(p, unit_at, unit_expected);
	*ret_ns = ns;
	return true;
}

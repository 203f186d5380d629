/* SPDX-License-Identifier: ISC
 *
 * Numbers, lengths of time and sizes as people write them, see parse.h. One cursor walks the text:
 * it takes digits, a fraction, a unit; what is left over at the end makes the text invalid.
 */
#include <weft/parse.h>

#include <string.h>

#include "base/export.h"

/* The unread rest of a text. */
struct rest {
	const char *at;
	size_t size;
};

struct unit {
	const char *name;
	uint64_t scale;
};

static const struct unit times[] = {
	{"ns", 1},
	{"us", 1000},
	{"\xc2\xb5s", 1000}, /* µs, with the micro sign */
	{"\xce\xbcs", 1000}, /* and with the Greek letter */
	{"ms", 1000000},
	{"s", 1000000000},
	{"min", 60000000000},
	{NULL, 0},
};

static const struct unit sizes[] = {
	{"", 1}, {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {NULL, 0}};

static bool is_digit(const struct rest *rest)
{
	return rest->size && *rest->at >= '0' && *rest->at <= '9';
}

static unsigned take_digit(struct rest *rest)
{
	rest->size--;
	return (unsigned)(*rest->at++ - '0');
}

static bool take_letter(struct rest *rest, char c)
{
	bool is_there = rest->size && *rest->at == c;
	rest->at += is_there;
	rest->size -= is_there;
	return is_there;
}

/* The digits before the point. False if they do not fit. */
static bool take_whole(struct rest *rest, uint64_t *ret_number)
{
	uint64_t number = 0;
	bool fits = true;
	while (is_digit(rest)) {
		unsigned digit = take_digit(rest);
		fits = fits && !__builtin_mul_overflow(number, 10, &number) &&
			   !__builtin_add_overflow(number, digit, &number);
	}
	*ret_number = number;
	return fits;
}

/* The digits after the point, times `scale`, rounded down. Digits are dropped once the product
 * would not fit 64 bits: they are worth less than 1 ns, or a billionth of a minute. */
static uint64_t take_fraction(struct rest *rest, uint64_t scale)
{
	uint64_t value = 0, parts = 1;
	while (is_digit(rest)) {
		unsigned digit = take_digit(rest);
		if (value > (UINT64_MAX / scale - 9) / 10 || parts > UINT64_MAX / 10)
			continue;
		value = value * 10 + digit;
		parts *= 10;
	}
	return value * scale / parts;
}

static const struct unit *find_unit(const struct unit *units, const struct rest *rest)
{
	for (; units->name; units++)
		if (strlen(units->name) == rest->size &&
			(!rest->size || memcmp(units->name, rest->at, rest->size) == 0))
			return units;
	return NULL;
}

/* A number and one of the units. */
static enum weft_parse parse(
	struct rest rest, const struct unit *units, bool has_point, uint64_t *ret_value)
{
	uint64_t value, part = 0;
	if (!is_digit(&rest) && !(has_point && rest.size > 1 && *rest.at == '.'))
		return WEFT_PARSE_NO_NUMBER;
	bool fits = take_whole(&rest, &value);
	struct rest fraction = rest;
	if (has_point && take_letter(&rest, '.'))
		while (is_digit(&rest))
			take_digit(&rest);
	else
		fraction.size = 0;
	while (has_point && take_letter(&rest, ' '))
		continue;
	const struct unit *unit = find_unit(units, &rest);
	if (!unit)
		return rest.size ? WEFT_PARSE_UNIT : WEFT_PARSE_NO_UNIT;
	if (take_letter(&fraction, '.'))
		part = take_fraction(&fraction, unit->scale);
	if (!fits || __builtin_mul_overflow(value, unit->scale, &value) ||
		__builtin_add_overflow(value, part, &value))
		return WEFT_PARSE_TOO_LARGE;
	*ret_value = value;
	return WEFT_PARSE_OK;
}

WEFT__EXPORT enum weft_parse weft_parse_number(const char *text, size_t size, uint64_t *ret_number)
{
	static const struct unit none[] = {{"", 1}, {NULL, 0}};
	return parse((struct rest){text, size}, none, false, ret_number);
}

/* The value of a hexadecimal digit, or -1. */
static int value_of(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
		   : c >= 'a' && c <= 'f' ? c - 'a' + 10
		   : c >= 'A' && c <= 'F' ? c - 'A' + 10
								  : -1;
}

WEFT__EXPORT enum weft_parse weft_parse_hexadecimal(
	const char *text, size_t size, uint64_t *ret_number)
{
	uint64_t number = 0;
	bool fits = true;
	size_t at = 0;
	for (; at < size && value_of(text[at]) >= 0; at++) {
		fits = fits && number <= UINT64_MAX >> 4;
		number = number << 4 | (unsigned)value_of(text[at]);
	}
	if (!at || at < size)
		return at ? WEFT_PARSE_UNIT : WEFT_PARSE_NO_NUMBER;
	if (!fits)
		return WEFT_PARSE_TOO_LARGE;
	*ret_number = number;
	return WEFT_PARSE_OK;
}

WEFT__EXPORT bool weft_parse_uuid(const char *text, size_t size, uint8_t ret_uuid[16])
{
	uint64_t byte = 0;
	bool good = true;
	memset(ret_uuid, 0, 16);
	for (size_t i = 0, at = 0; i < 16 && good; i++, at += 2) {
		at += at < size && text[at] == '-';
		good = at + 2 <= size && weft_parse_hexadecimal(text + at, 2, &byte) == WEFT_PARSE_OK;
		ret_uuid[i] = (uint8_t)byte;
	}
	if (!good)
		memset(ret_uuid, 0, 16);
	return good;
}

/* Zero is the same in all units. */
static bool is_zero(const char *text, size_t size)
{
	size_t zeros = 0;
	while (zeros < size && text[zeros] == '0')
		zeros++;
	return zeros == size;
}

WEFT__EXPORT enum weft_parse weft_parse_duration(const char *text, size_t size, uint64_t *ret_ns)
{
	enum weft_parse problem = parse((struct rest){text, size}, times, true, ret_ns);
	if (problem != WEFT_PARSE_NO_UNIT || !is_zero(text, size))
		return problem;
	*ret_ns = 0;
	return WEFT_PARSE_OK;
}

WEFT__EXPORT enum weft_parse weft_parse_size(const char *text, size_t size, uint64_t *ret_bytes)
{
	return parse((struct rest){text, size}, sizes, false, ret_bytes);
}

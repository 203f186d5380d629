/* SPDX-License-Identifier: ISC
 *
 * Decimal text to integers and doubles.
 */
#include "format/chrome/number.h"

#include <string.h>

#include "base/number.h"

#define EXPONENT_MAX 400

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool take_minus(struct weft_slice *text)
{
	const bool is_negative = text->size && text->bytes[0] == '-';
	text->bytes += is_negative;
	text->size -= is_negative;
	return is_negative;
}

/* The digits of a number, with the point if there is one. */
struct decimal_time {
	struct weft_slice digits;
	size_t count;  /* of them */
	int64_t whole; /* those before the point, after the exponent has moved it */
};

static bool read_exponent(struct weft_slice text, int64_t *ret_exponent)
{
	const bool is_signed = text.size && (text.bytes[0] == '-' || text.bytes[0] == '+');
	int64_t value = 0;
	for (size_t i = is_signed; i < text.size; i++) {
		if (!is_digit(text.bytes[i]))
			return false;
		value = value < EXPONENT_MAX ? value * 10 + (text.bytes[i] - '0') : EXPONENT_MAX;
	}
	*ret_exponent = is_signed && text.bytes[0] == '-' ? -value : value;
	return text.size > is_signed;
}

static bool split(struct weft_slice text, struct decimal_time *ret)
{
	struct decimal_time decimal = {.whole = -1};
	int64_t exponent = 0;
	size_t i = 0;
	for (; i < text.size && (is_digit(text.bytes[i]) || text.bytes[i] == '.'); i++) {
		if (text.bytes[i] != '.')
			decimal.count++;
		else if (decimal.whole >= 0)
			return false;
		else
			decimal.whole = (int64_t)decimal.count;
	}
	if (decimal.whole < 0)
		decimal.whole = (int64_t)decimal.count;
	decimal.digits = (struct weft_slice){text.bytes, i};
	if (i < text.size &&
		((text.bytes[i] | 0x20) != 'e' ||
			!read_exponent((struct weft_slice){text.bytes + i + 1, text.size - i - 1}, &exponent)))
		return false;
	decimal.whole += exponent;
	*ret = decimal;
	return decimal.count > 0;
}

/* value * 10 + digit, or the greatest time. */
static int64_t append_digit(int64_t value, int digit)
{
	const int64_t max = WEFT__CHROME_TIME_MAX;
	return value > max / 10 - 1 ? max : value * 10 + digit;
}

/* The first `count` digits as a number, rounded by the one behind them; zeros follow the last. */
static int64_t leading(const struct decimal_time *decimal, int64_t count)
{
	int64_t value = 0;
	for (size_t i = 0; i < decimal->digits.size && count >= 0; i++) {
		const char c = decimal->digits.bytes[i];
		if (c == '.')
			continue;
		if (count-- == 0)
			return value + (c >= '5');
		value = append_digit(value, c - '0');
	}
	for (; count > 0; count--)
		value = append_digit(value, 0);
	return value;
}

bool weft__format_chrome_time(struct weft_slice text, int64_t *ret_ns)
{
	struct decimal_time decimal;
	const bool is_negative = take_minus(&text);
	if (!split(text, &decimal))
		return false;
	const int64_t ns = leading(&decimal, decimal.whole + 3);
	*ret_ns = is_negative ? -ns : ns;
	return true;
}

static bool read_integer(struct weft_slice text, int64_t *ret_integer)
{
	const bool is_negative = take_minus(&text);
	uint64_t value = 0;
	for (size_t i = 0; i < text.size; i++)
		if (!is_digit(text.bytes[i]) || __builtin_mul_overflow(value, 10, &value) ||
			__builtin_add_overflow(value, (uint64_t)(text.bytes[i] - '0'), &value))
			return false;
	if (value > (uint64_t)INT64_MAX + is_negative)
		return false;
	*ret_integer = (int64_t)(is_negative ? 0 - value : value);
	return text.size > 0;
}

bool weft__format_chrome_number(struct weft_slice text, struct weft__chrome_number *ret_number)
{
	char copy[64];
	const char *end = NULL;
	*ret_number = (struct weft__chrome_number){0};
	if (read_integer(text, &ret_number->integer))
		return true;
	if (text.size == 0 || text.size >= sizeof(copy))
		return false;
	memcpy(copy, text.bytes, text.size);
	copy[text.size] = '\0';
	ret_number->is_real = true;
	ret_number->real = weft__number_parse(copy, &end);
	return end == copy + text.size;
}

bool weft__format_chrome_id(struct weft_slice text, uint64_t *ret_id)
{
	const bool is_hex = text.size > 2 && text.bytes[0] == '0' && (text.bytes[1] | 0x20) == 'x';
	uint64_t value = 0;
	for (size_t i = is_hex ? 2 : 0; i < text.size; i++) {
		const char c = text.bytes[i], low = (char)(c | 0x20);
		const uint64_t digit = is_digit(c) ? (uint64_t)(c - '0') : (uint64_t)(low - 'a' + 10);
		if ((!is_digit(c) && (!is_hex || low < 'a' || low > 'f')) ||
			__builtin_mul_overflow(value, is_hex ? 16 : 10, &value) ||
			__builtin_add_overflow(value, digit, &value))
			return false;
	}
	*ret_id = value;
	return text.size > 0;
}

void weft__format_chrome_put_number(
	const struct weft__chrome_number *number, struct weft_event *event)
{
	event->is_real = number->is_real;
	if (number->is_real)
		event->real = number->real;
	else
		event->value = number->integer;
}

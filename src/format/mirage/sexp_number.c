/* SPDX-License-Identifier: ISC
 *
 * Decimal text to integers, digit by digit.
 */
#include "format/mirage/sexp_number.h"

#include "format/order.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* value = value * 10 + digit; false if that overflows. */
static bool append_digit(uint64_t *value, unsigned digit)
{
	return !__builtin_mul_overflow(*value, 10, value) &&
		   !__builtin_add_overflow(*value, digit, value);
}

bool weft__format_sexp_unsigned(struct weft_slice text, uint64_t *ret_number)
{
	uint64_t value = 0;
	for (size_t i = 0; i < text.size; i++)
		if (!is_digit(text.bytes[i]) || !append_digit(&value, (unsigned)(text.bytes[i] - '0')))
			return false;
	*ret_number = value;
	return text.size > 0;
}

bool weft__format_sexp_signed(struct weft_slice text, int64_t *ret_number)
{
	uint64_t magnitude;
	bool negative = text.size && text.bytes[0] == '-';
	if (text.size && (negative || text.bytes[0] == '+')) {
		text.bytes++;
		text.size--;
	}
	if (!weft__format_sexp_unsigned(text, &magnitude) || magnitude > (uint64_t)INT64_MAX + negative)
		return false;
	*ret_number = (int64_t)(negative ? 0 - magnitude : magnitude);
	return true;
}

/* A decimal number taken apart. */
struct decimal {
	struct weft_slice digits; /* with the point, if any */
	size_t point;             /* digits before it */
	int64_t exponent;
};

static bool split(struct weft_slice text, struct decimal *ret)
{
	struct decimal decimal = {.digits = text};
	size_t i = 0, count = 0;
	bool has_point = false;
	for (; i < text.size && (is_digit(text.bytes[i]) || text.bytes[i] == '.'); i++) {
		if (text.bytes[i] != '.') {
			count++;
			continue;
		}
		if (has_point)
			return false;
		has_point = true;
		decimal.point = count;
	}
	if (!has_point)
		decimal.point = count;
	decimal.digits.size = i;
	if (i < text.size) {
		if (text.bytes[i] != 'e' && text.bytes[i] != 'E')
			return false;
		const struct weft_slice exponent = {text.bytes + i + 1, text.size - i - 1};
		/* With a greater exponent any number but 0 overflows; with a smaller one it is dropped as
		 * finer than 1 ns. */
		if (!weft__format_sexp_signed(exponent, &decimal.exponent) ||
			decimal.exponent > 1000000000 || decimal.exponent < -1000000000)
			return false;
	}
	*ret = decimal;
	return count > 0;
}

/* Appends at most `most` digits, which must not overflow; returns their number. */
static size_t append_digits(struct weft_slice text, size_t from, size_t most, uint64_t *value)
{
	size_t count = 0;
	for (; count < most && from + count < text.size && is_digit(text.bytes[from + count]); count++)
		*value = *value * 10 + (uint64_t)(text.bytes[from + count] - '0');
	return count;
}

/* 1413637708.834171: seconds with a point that surely fit. False if it is written otherwise. */
static bool read_usual(struct weft_slice text, uint64_t *ret_ns)
{
	uint64_t value = 0;
	const size_t whole = append_digits(text, 0, 10, &value);
	if (!whole || whole == text.size || text.bytes[whole] != '.')
		return false;
	size_t digits = append_digits(text, whole + 1, 9, &value);
	if (whole + 1 + digits != text.size)
		return false;
	for (; digits < 9; digits++)
		value *= 10;
	*ret_ns = value;
	return true;
}

bool weft__format_sexp_seconds(struct weft_slice text, uint64_t *ret_ns)
{
	struct decimal decimal;
	uint64_t value = 0;
	if (read_usual(text, ret_ns))
		return true;
	if (!split(text, &decimal))
		return false;
	/* The number of leading digits that count whole nanoseconds. */
	int64_t power = (int64_t)decimal.point + decimal.exponent + 9;
	for (size_t i = 0; i < decimal.digits.size && power > 0; i++) {
		if (decimal.digits.bytes[i] == '.')
			continue;
		power--;
		if (!append_digit(&value, (unsigned)(decimal.digits.bytes[i] - '0')))
			return false;
	}
	for (; power > 0 && value; power--)
		if (!append_digit(&value, 0))
			return false;
	*ret_ns = value;
	return true;
}

bool weft__format_sexp_time(struct weft_slice text, uint64_t *ret_ns)
{
	const bool is_negative = text.size && text.bytes[0] == '-';
	uint64_t ns;
	if (is_negative) {
		text.bytes++;
		text.size--;
	}
	if (!weft__format_sexp_seconds(text, &ns) || (is_negative && ns > WEFT__SPAN_NS))
		return false;
	if (!is_negative && ns >= WEFT__NEGATIVE_NS)
		ns = WEFT__NEGATIVE_NS - 1;
	*ret_ns = is_negative ? 0 - ns : ns;
	return true;
}

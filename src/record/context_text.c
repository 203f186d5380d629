/* SPDX-License-Identifier: ISC
 *
 * A context as text: `traceparent` of W3C Trace Context, level 2
 * (https://www.w3.org/TR/trace-context-2/#traceparent-header).
 *
 *     00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
 *     version  trace id                   span id          flags
 */
#include <string.h>

#include "record/context.h"
#include "record/recorder.h"

enum {
	VERSION_AT = 0,
	TRACE_AT = 3,
	SPAN_AT = 36,
	FLAGS_AT = 53,
	LENGTH = 55,
	VERSION_INVALID = 0xff
};

/* The 8 digits of a number as the bytes of a word, the first one lowest: each nibble gets a byte,
 * then those above 9 are moved on from '9' to 'a'. */
static inline uint64_t digits_of(uint32_t number)
{
	uint64_t x = (uint64_t)(number & 0xffff) << 32 | number >> 16;
	x = (x & UINT64_C(0x0000ff000000ff00)) >> 8 | (x & UINT64_C(0x000000ff000000ff)) << 16;
	x = (x & UINT64_C(0x00f000f000f000f0)) >> 4 | (x & UINT64_C(0x000f000f000f000f)) << 8;
	const uint64_t letters = (x + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
	return x + UINT64_C(0x3030303030303030) + letters * ('a' - 10 - '0');
}

void weft__record_context_digits(uint64_t ret_words[2], uint64_t number)
{
	ret_words[0] = digits_of((uint32_t)(number >> 32));
	ret_words[1] = digits_of((uint32_t)number);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	ret_words[0] = __builtin_bswap64(ret_words[0]);
	ret_words[1] = __builtin_bswap64(ret_words[1]);
#endif
}

static void put_number(char *ret_digits, uint64_t number)
{
	uint64_t words[2];
	weft__record_context_digits(words, number);
	memcpy(ret_digits, words, sizeof(words));
}

static void put_byte(char *ret_digits, unsigned byte)
{
	ret_digits[0] = "0123456789abcdef"[byte >> 4 & 15];
	ret_digits[1] = "0123456789abcdef"[byte & 15];
}

WEFT__EXPORT size_t weft_context_print(
	const struct weft_context *context, char ret_text[WEFT_CONTEXT_TEXT])
{
	ret_text[0] = 0;
	if (!context->span || !(context->trace_high | context->trace_low))
		return 0;
	put_byte(ret_text + VERSION_AT, 0);
	put_number(ret_text + TRACE_AT, context->trace_high);
	put_number(ret_text + TRACE_AT + 16, context->trace_low);
	put_number(ret_text + SPAN_AT, context->span);
	put_byte(ret_text + FLAGS_AT, context->flags);
	ret_text[TRACE_AT - 1] = ret_text[SPAN_AT - 1] = ret_text[FLAGS_AT - 1] = '-';
	ret_text[LENGTH] = 0;
	return LENGTH;
}

/* Capital letters are not allowed. */
static bool read_hex(const char *digits, unsigned count, uint64_t *ret_number)
{
	*ret_number = 0;
	for (unsigned i = 0; i < count; i++) {
		const char c = digits[i];
		const bool is_number = c >= '0' && c <= '9';
		if (!is_number && (c < 'a' || c > 'f'))
			return false;
		*ret_number = *ret_number << 4 | (uint64_t)(is_number ? c - '0' : c - 'a' + 10);
	}
	return true;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

/* Later versions have at least the fields of version 00, and perhaps more after another dash. */
static bool has_shape(const char *text, size_t size)
{
	uint64_t version = 0;
	if (size < LENGTH || !read_hex(text + VERSION_AT, 2, &version) || version == VERSION_INVALID)
		return false;
	if (size > LENGTH && (version == 0 || text[LENGTH] != '-'))
		return false;
	return text[TRACE_AT - 1] == '-' && text[SPAN_AT - 1] == '-' && text[FLAGS_AT - 1] == '-';
}

WEFT__EXPORT bool weft_context_parse(
	const char *text, size_t size, struct weft_context *ret_context)
{
	struct weft_context context = {0};
	uint64_t flags = 0;
	for (; size && is_space(text[0]); size--)
		text++;
	while (size && is_space(text[size - 1]))
		size--;
	*ret_context = context;
	if (!has_shape(text, size) || !read_hex(text + TRACE_AT, 16, &context.trace_high) ||
		!read_hex(text + TRACE_AT + 16, 16, &context.trace_low) ||
		!read_hex(text + SPAN_AT, 16, &context.span) || !read_hex(text + FLAGS_AT, 2, &flags))
		return false;
	if (!context.span || !(context.trace_high | context.trace_low))
		return false;
	context.flags = (uint8_t)flags;
	*ret_context = context;
	return true;
}

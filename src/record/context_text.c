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

static void put_number(char *ret_digits, uint64_t number)
{
	for (unsigned i = 0; i < 16; i++)
		ret_digits[i] = "0123456789abcdef"[number >> (60 - 4 * i) & 15];
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

WEFT__EXPORT size_t weft_context_print_variable(
	const struct weft_context *context, char ret_text[WEFT_CONTEXT_VARIABLE])
{
	static const char name[] = "TRACEPARENT=";
	const size_t length = weft_context_print(context, ret_text + sizeof(name) - 1);
	if (!length) {
		ret_text[0] = 0;
		return 0;
	}
	memcpy(ret_text, name, sizeof(name) - 1);
	return sizeof(name) - 1 + length;
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

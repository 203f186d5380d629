/* SPDX-License-Identifier: ISC
 *
 * Text that grows: numbers, JSON strings and escaped text appended to one buffer, fast and without
 * a locale.
 *
 * Your memory: `struct weft_text text = {0}` is an empty one, weft_text_finish frees it. Appending
 * returns nothing: once memory ran out, `error` says so and the rest is dropped.
 */
#ifndef WEFT_TEXT_H
#define WEFT_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <weft/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_text {
	char *bytes; /* not NUL-terminated; NULL while nothing was appended */
	size_t size;
	size_t capacity;
	int error; /* 0, or WEFT_ERROR_MEMORY */
};

void weft_text_finish(struct weft_text *text);

void weft_text_add(struct weft_text *text, const char *bytes, size_t size);
void weft_text_add_string(struct weft_text *text, const char *string);
void weft_text_add_u64(struct weft_text *text, uint64_t number);
void weft_text_add_i64(struct weft_text *text, int64_t number);

/* The shortest decimal that reads back as the same double; JSON's null for those it cannot say. */
void weft_text_add_f64(struct weft_text *text, double number);

/* A JSON string with its quotes; what is not UTF-8 becomes U+FFFD. What weft_text_add_shown()
 * escapes is written as \uXXXX, so that JSON can be looked at on a terminal. */
void weft_text_add_json(struct weft_text *text, const char *bytes, size_t size);

/* In quotes, for people: control characters, marks that turn the writing direction, and bytes that
 * are not UTF-8 are written as escapes, so that no name can drive a terminal. */
void weft_text_add_quoted(struct weft_text *text, const char *bytes, size_t size);

/* The same without the quotes, for names and messages: quotes and backslashes stay as they are. */
void weft_text_add_shown(struct weft_text *text, const char *bytes, size_t size);

/* Spaces until the text is `column` bytes past `line_start`; at least one. */
void weft_text_pad(struct weft_text *text, size_t line_start, size_t column);

#ifdef __cplusplus
}
#endif
#endif

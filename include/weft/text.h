/* SPDX-License-Identifier: ISC
 *
 * Text that grows: numbers, JSON strings and escaped text are appended to one allocation, fast and
 * independent of the locale.
 *
 * The struct is the caller's: `struct weft_text text = {0}` is empty, and weft_text_finish frees
 * its bytes. Appending returns nothing: once memory runs out, `error` is set and further text is
 * dropped.
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

/* Appends the shortest decimal that reads back as the same double; `null` for infinities and NaN,
 * which JSON lacks. */
void weft_text_add_f64(struct weft_text *text, double number);

/* Appends a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD. Characters that
 * weft_text_add_shown() escapes are written as \uXXXX, so that the JSON is safe to print on a
 * terminal. */
void weft_text_add_json(struct weft_text *text, const char *bytes, size_t size);

/* Appends text in quotes, for people. Control characters, marks that change the writing direction,
 * and bytes that are not UTF-8 are escaped, so that a name in a trace cannot control the terminal.
 */
void weft_text_add_quoted(struct weft_text *text, const char *bytes, size_t size);

/* The same without quotes, for names and messages: quotes and backslashes are not escaped. */
void weft_text_add_shown(struct weft_text *text, const char *bytes, size_t size);

/* Appends spaces until the text is `column` bytes past `line_start`; at least one. */
void weft_text_pad(struct weft_text *text, size_t line_start, size_t column);

#ifdef __cplusplus
}
#endif
#endif

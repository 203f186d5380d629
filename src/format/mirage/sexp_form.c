/* SPDX-License-Identifier: ISC
 *
 * The parser counts the depth instead of recursing, so hostile nesting cannot exhaust the stack.
 * Every event begins with `((time 1…`, and nothing inside an event does. So if that text appears
 * before a form is closed, the form has no end, and only that form is lost.
 */
#include "format/mirage/sexp_form.h"

#include <string.h>

/* Characters that end an atom. */
enum {
	SPACE = 1,
	OPEN,
	CLOSE,
	QUOTE,
	COMMENT,
};

const uint8_t weft__format_sexp_delimiters[256] = {
	[' '] = SPACE,
	['\t'] = SPACE,
	['\n'] = SPACE,
	['\v'] = SPACE,
	['\f'] = SPACE,
	['\r'] = SPACE,
	['('] = OPEN,
	[')'] = CLOSE,
	['"'] = QUOTE,
	[';'] = COMMENT,
};

static bool is_space(uint8_t c)
{
	return weft__format_sexp_delimiters[c] == SPACE;
}

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static inline const uint8_t *skip_spaces(const uint8_t *at, const uint8_t *limit)
{
	while (at < limit && is_space(*at))
		at++;
	return at;
}

/* True if an event, `((time 1…`, begins at `at`. */
static inline bool begins_event(const uint8_t *at, const uint8_t *limit)
{
	if (at == limit || *at != '(')
		return false;
	at = skip_spaces(at + 1, limit);
	if (at == limit || *at != '(')
		return false;
	at = skip_spaces(at + 1, limit);
	if (limit - at < 6 || memcmp(at, "time", 4) != 0 || !is_space(at[4]))
		return false;
	at = skip_spaces(at + 5, limit);
	if (at < limit && *at == '-')
		at++;
	return at < limit && is_digit(*at);
}

bool weft__format_sexp_probe(const uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at < size; at++) {
		const uint8_t *open = memchr(bytes + at, '(', size - at);
		if (!open)
			return false;
		if (begins_event(open, bytes + size))
			return true;
		at = (size_t)(open - bytes);
	}
	return false;
}

static inline const uint8_t *skip_comment(const uint8_t *at, const uint8_t *limit)
{
	const uint8_t *newline = memchr(at, '\n', (size_t)(limit - at));
	return newline ? newline : limit;
}

/* The quote that closes a text. Without one, where the text is cut off: the writer escapes
 * newlines, so an event after one proves that the text is not closed. */
static inline const uint8_t *find_quote(const uint8_t *at, const uint8_t *limit)
{
	for (; at < limit && *at != '"'; at++) {
		if (*at == '\n' && begins_event(at + 1, limit))
			return at;
		if (*at == '\\' && ++at == limit)
			return limit;
	}
	return at;
}

static inline const uint8_t *find_atom_end(const uint8_t *at, const uint8_t *limit)
{
	while (at < limit && !weft__format_sexp_delimiters[*at])
		at++;
	return at;
}

static inline void add(struct weft__sexp_form *form, enum weft__sexp_token_type type,
	const uint8_t *bytes, const uint8_t *end)
{
	if (form->count == WEFT__SEXP_TOKENS_MAX) {
		form->problem = "form is not an event";
		return;
	}
	/* In its place, because a copy would wait for the stores of its parts. */
	struct weft__sexp_token *token = &form->tokens[form->count++];
	token->type = type;
	token->text.bytes = (const char *)bytes;
	token->text.size = (size_t)(end - bytes);
}

/* The input ends at `at`, or what stands there cannot belong to the form. */
static const uint8_t *cut_off(
	const uint8_t *at, const uint8_t *limit, const char *problem, struct weft__sexp_form *form)
{
	form->problem = problem;
	form->is_open = at == limit;
	return at;
}

/* Reads a form, and returns its end; or, if `is_stray`, the text before the next form, and returns
 * where that begins. */
static const uint8_t *read_form(
	const uint8_t *at, const uint8_t *limit, bool is_stray, struct weft__sexp_form *form)
{
	const char *problem = is_stray ? "text outside of any form" : "form without end";
	const uint8_t *end;
	size_t depth = 0;
	for (; at < limit; at = end) {
		end = at + 1;
		switch (weft__format_sexp_delimiters[*at]) {
		case SPACE:
			continue;
		case COMMENT:
			end = skip_comment(at, limit);
			continue;
		case OPEN:
			if (is_stray || (depth && begins_event(at, limit)))
				return cut_off(at, limit, problem, form);
			add(form, WEFT__SEXP_OPEN, NULL, NULL);
			depth++;
			continue;
		case CLOSE:
			add(form, WEFT__SEXP_CLOSE, NULL, NULL);
			if (!is_stray && --depth == 0)
				return end;
			continue;
		case QUOTE:
			end = find_quote(at + 1, limit);
			if (!is_stray && (end == limit || *end != '"'))
				return cut_off(end, limit, "string without end", form);
			add(form, WEFT__SEXP_QUOTED, at + 1, end);
			end += end < limit && *end == '"';
			continue;
		default:
			end = find_atom_end(at + 1, limit);
			add(form, WEFT__SEXP_ATOM, at, end);
			continue;
		}
	}
	return cut_off(at, limit, problem, form);
}

/* Skips spaces and comments. */
static const uint8_t *skip_blank(const uint8_t *at, const uint8_t *limit)
{
	for (;;) {
		at = skip_spaces(at, limit);
		if (at == limit || *at != ';')
			return at;
		at = skip_comment(at, limit);
	}
}

/* All text before the next opening parenthesis is one form with a problem. */
bool weft__format_sexp_next_form(
	const uint8_t *bytes, size_t size, size_t *at, struct weft__sexp_form *ret_form)
{
	if (*at >= size)
		return false;
	const uint8_t *const limit = bytes + size;
	const uint8_t *start = skip_blank(bytes + *at, limit);
	*at = (size_t)(start - bytes);
	if (start == limit)
		return false;
	ret_form->offset = *at;
	ret_form->count = 0;
	ret_form->problem = NULL;
	ret_form->is_open = false;
	*at = (size_t)(read_form(start, limit, *start != '(', ret_form) - bytes);
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes \ddd or \xHH at `from` (behind the backslash): the byte, or -1. */
static int numeric_escape(struct weft_slice text, size_t from)
{
	if (text.size - from < 3)
		return -1;
	const char *digits = text.bytes + from;
	if (digits[0] == 'x') {
		int high = hex_digit(digits[1]), low = hex_digit(digits[2]);
		return high < 0 || low < 0 ? -1 : high * 16 + low;
	}
	int value = 0;
	for (int i = 0; i < 3; i++) {
		if (!is_digit((uint8_t)digits[i]))
			return -1;
		value = value * 10 + digits[i] - '0';
	}
	return value > 255 ? -1 : value;
}

/* A backslash before a newline joins the lines and drops the next line's indentation. */
static size_t skip_continuation(struct weft_slice text, size_t from)
{
	size_t at = from;
	if (text.bytes[at] == '\r' && at + 1 < text.size)
		at++;
	if (text.bytes[at] != '\n')
		return from;
	for (at++; at < text.size && (text.bytes[at] == ' ' || text.bytes[at] == '\t'); at++)
		;
	return at;
}

size_t weft__format_sexp_unescape(struct weft_slice text, char *buffer)
{
	static const char letters[] = "ntbr\\\"' ", meanings[] = "\n\t\b\r\\\"' ";
	size_t out = 0;
	for (size_t i = 0; i < text.size;) {
		char c = text.bytes[i++];
		if (c != '\\' || i == text.size) {
			buffer[out++] = c;
			continue;
		}
		size_t joined = skip_continuation(text, i);
		if (joined > i) {
			i = joined;
			continue;
		}
		const char *letter = text.bytes[i] ? strchr(letters, text.bytes[i]) : NULL;
		int value = letter ? meanings[letter - letters] : numeric_escape(text, i);
		if (value < 0) {
			buffer[out++] = '\\'; /* not an escape: OCaml keeps the backslash */
			continue;
		}
		buffer[out++] = (char)value;
		i += letter ? 1 : 3;
	}
	return out;
}

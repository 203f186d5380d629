/* SPDX-License-Identifier: ISC
 *
 * The parser counts the depth instead of recursing, so hostile nesting cannot exhaust the stack.
 * Every event begins with `((time 1…`, and nothing inside an event does. So if that text appears
 * before a form is closed, the form has no end, and only that form is lost.
 */
#include "format/mirage/sexp_form.h"

#include <string.h>

struct cursor {
	const uint8_t *bytes;
	size_t size;
	size_t at;
};

/* Characters that end an atom. */
enum {
	SPACE = 1,
	OTHER,
};

static const uint8_t delimiters[256] = {
	[' '] = SPACE,
	['\t'] = SPACE,
	['\n'] = SPACE,
	['\v'] = SPACE,
	['\f'] = SPACE,
	['\r'] = SPACE,
	['('] = OTHER,
	[')'] = OTHER,
	['"'] = OTHER,
	[';'] = OTHER,
};

static bool is_space(uint8_t c)
{
	return delimiters[c] == SPACE;
}

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static size_t skip_spaces(const struct cursor *cursor, size_t at)
{
	while (at < cursor->size && is_space(cursor->bytes[at]))
		at++;
	return at;
}

/* True if an event, `((time 1…`, begins at `at`. */
static inline bool begins_event(const struct cursor *cursor, size_t at)
{
	if (at >= cursor->size || cursor->bytes[at] != '(')
		return false;
	at = skip_spaces(cursor, at + 1);
	if (at >= cursor->size || cursor->bytes[at] != '(')
		return false;
	at = skip_spaces(cursor, at + 1);
	if (cursor->size - at < 6 || memcmp(cursor->bytes + at, "time", 4) != 0)
		return false;
	if (!is_space(cursor->bytes[at + 4]))
		return false;
	at = skip_spaces(cursor, at + 5);
	if (at < cursor->size && cursor->bytes[at] == '-')
		at++;
	return at < cursor->size && is_digit(cursor->bytes[at]);
}

bool weft__format_sexp_probe(const uint8_t *bytes, size_t size)
{
	const struct cursor cursor = {bytes, size, 0};
	for (size_t at = 0; at < size; at++) {
		const uint8_t *open = memchr(bytes + at, '(', size - at);
		if (!open)
			return false;
		at = (size_t)(open - bytes);
		if (begins_event(&cursor, at))
			return true;
	}
	return false;
}

/* Skips spaces and comments. */
static void skip_blank(struct cursor *cursor)
{
	for (;;) {
		cursor->at = skip_spaces(cursor, cursor->at);
		if (cursor->at >= cursor->size || cursor->bytes[cursor->at] != ';')
			return;
		const uint8_t *start = cursor->bytes + cursor->at;
		const uint8_t *newline = memchr(start, '\n', cursor->size - cursor->at);
		cursor->at = newline ? (size_t)(newline - cursor->bytes) : cursor->size;
	}
}

/* Reads a quoted atom. The cursor moves from its opening quote to behind the closing one. */
static const char *read_quoted(struct cursor *cursor, struct weft__sexp_token *token)
{
	size_t start = ++cursor->at;
	for (; cursor->at < cursor->size; cursor->at++) {
		uint8_t c = cursor->bytes[cursor->at];
		if (c == '"') {
			token->text.bytes = (const char *)cursor->bytes + start;
			token->text.size = cursor->at++ - start;
			return NULL;
		}
		/* The writer escapes newlines, so an event after one proves that the quote is not
		 * closed. */
		if (c == '\n' && begins_event(cursor, cursor->at + 1))
			break;
		if (c == '\\')
			cursor->at++;
	}
	if (cursor->at > cursor->size)
		cursor->at = cursor->size;
	return "string without end";
}

static const char *read_token(struct cursor *cursor, struct weft__sexp_token *token)
{
	uint8_t c = cursor->bytes[cursor->at];
	if (c == '(' || c == ')') {
		token->text = (struct weft_slice){NULL, 0};
		token->type = c == '(' ? WEFT__SEXP_OPEN : WEFT__SEXP_CLOSE;
		cursor->at++;
		return NULL;
	}
	if (c == '"') {
		token->type = WEFT__SEXP_QUOTED;
		return read_quoted(cursor, token);
	}
	size_t start = cursor->at;
	while (cursor->at < cursor->size && !delimiters[cursor->bytes[cursor->at]])
		cursor->at++;
	token->type = WEFT__SEXP_ATOM;
	token->text.bytes = (const char *)cursor->bytes + start;
	token->text.size = cursor->at - start;
	return NULL;
}

/* Counts all text before the next opening parenthesis as one diagnostic. */
static void skip_stray(struct cursor *cursor, struct weft__sexp_form *form)
{
	struct weft__sexp_token token;
	form->problem = "text outside of any form";
	while (cursor->at < cursor->size && cursor->bytes[cursor->at] != '(') {
		read_token(cursor, &token);
		skip_blank(cursor);
	}
	form->is_open = cursor->at == cursor->size;
}

/* ---- Forms as the first viewer's recorder wrote them ---- */

static void add(struct weft__sexp_form *form, enum weft__sexp_token_type type, const uint8_t *bytes,
	const uint8_t *end)
{
	form->tokens[form->count++] = (struct weft__sexp_token){
		type, {bytes == end ? NULL : (const char *)bytes, (size_t)(end - bytes)}};
}

/* Adds an atom without quotes; returns its end, or NULL if there is none. */
static const uint8_t *add_atom(
	struct weft__sexp_form *form, const uint8_t *at, const uint8_t *limit)
{
	const uint8_t *end = at;
	while (end < limit && !delimiters[*end])
		end++;
	if (end == at || end == limit)
		return NULL;
	add(form, WEFT__SEXP_ATOM, at, end);
	return end;
}

/* Adds a quoted atom on one line without escapes; returns its end, or NULL. */
static const uint8_t *add_quoted(
	struct weft__sexp_form *form, const uint8_t *at, const uint8_t *limit)
{
	const uint8_t *end = ++at;
	while (end < limit && *end != '"' && *end != '\\' && *end != '\n')
		end++;
	if (end == at || end == limit || *end != '"')
		return NULL;
	add(form, WEFT__SEXP_QUOTED, at, end);
	return end + 1;
}

static bool is_text(const uint8_t *at, const uint8_t *limit, const char *text, size_t size)
{
	return (size_t)(limit - at) >= size && memcmp(at, text, size) == 0;
}

#define IS(text) is_text(at, limit, text, sizeof(text) - 1)

/* The tokens of `((time 1.5)(op(Label 0"text")))`: its parentheses and spaces are where they are
 * expected. Returns the form's end, or NULL if it is written in another way. */
static const uint8_t *read_usual(
	const uint8_t *at, const uint8_t *limit, struct weft__sexp_form *form)
{
	if (!IS("((time "))
		return NULL;
	add(form, WEFT__SEXP_OPEN, at, at);
	add(form, WEFT__SEXP_OPEN, at, at);
	add(form, WEFT__SEXP_ATOM, at + 2, at + 6);
	at = add_atom(form, at + 7, limit);
	if (!at || !IS(")(op("))
		return NULL;
	add(form, WEFT__SEXP_CLOSE, at, at);
	add(form, WEFT__SEXP_OPEN, at, at);
	add(form, WEFT__SEXP_ATOM, at + 2, at + 4);
	add(form, WEFT__SEXP_OPEN, at, at);
	for (at += 5; at && !IS(")))") && form->count < WEFT__SEXP_TOKENS_MAX - 3;) {
		at += at < limit && *at == ' ';
		at = at < limit && *at == '"' ? add_quoted(form, at, limit) : add_atom(form, at, limit);
	}
	if (!at || !IS(")))"))
		return NULL;
	for (int i = 0; i < 3; i++)
		add(form, WEFT__SEXP_CLOSE, at, at);
	return at + 3;
}

static void read_form(struct cursor *cursor, struct weft__sexp_form *form)
{
	const uint8_t *end = read_usual(cursor->bytes + cursor->at, cursor->bytes + cursor->size, form);
	if (end) {
		cursor->at = (size_t)(end - cursor->bytes);
		return;
	}
	form->count = 0;
	struct weft__sexp_token other;
	size_t depth = 0;
	while (cursor->at < cursor->size) {
		if (depth && begins_event(cursor, cursor->at))
			break;
		/* In its place, because a copy would wait for the stores of its parts. */
		bool has_room = form->count < WEFT__SEXP_TOKENS_MAX;
		struct weft__sexp_token *token = has_room ? &form->tokens[form->count] : &other;
		const char *problem = read_token(cursor, token);
		if (problem) {
			form->problem = problem;
			form->is_open = cursor->at == cursor->size;
			return;
		}
		form->count += has_room;
		if (!has_room)
			form->problem = "form is not an event";
		depth += token->type == WEFT__SEXP_OPEN;
		depth -= token->type == WEFT__SEXP_CLOSE;
		if (depth == 0)
			return;
		skip_blank(cursor);
	}
	form->problem = "form without end";
	form->is_open = cursor->at == cursor->size;
}

bool weft__format_sexp_next_form(
	const uint8_t *bytes, size_t size, size_t *at, struct weft__sexp_form *ret_form)
{
	struct cursor cursor = {bytes, size, *at};
	skip_blank(&cursor);
	*at = cursor.at;
	if (cursor.at >= size)
		return false;
	ret_form->offset = cursor.at;
	ret_form->count = 0;
	ret_form->problem = NULL;
	ret_form->is_open = false;
	if (bytes[cursor.at] == '(')
		read_form(&cursor, ret_form);
	else
		skip_stray(&cursor, ret_form);
	*at = cursor.at;
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

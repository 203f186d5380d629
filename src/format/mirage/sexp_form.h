/* SPDX-License-Identifier: ISC
 *
 * The part of S-expressions that the sexp format needs: reads top-level forms as flat lists of
 * tokens, and finds the next event after damage.
 */
#ifndef WEFT_FORMAT_MIRAGE_SEXP_FORM_H
#define WEFT_FORMAT_MIRAGE_SEXP_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/event.h>

enum weft__sexp_token_type {
	WEFT__SEXP_OPEN,
	WEFT__SEXP_CLOSE,
	WEFT__SEXP_ATOM,
	WEFT__SEXP_QUOTED, /* an atom in quotes; its text is as written, without them */
};

struct weft__sexp_token {
	enum weft__sexp_token_type type;
	struct weft_slice text; /* of an atom */
};

/* The longest event has 17 tokens. */
#define WEFT__SEXP_TOKENS_MAX 32

struct weft__sexp_form {
	uint64_t offset;
	size_t count;
	struct weft__sexp_token tokens[WEFT__SEXP_TOKENS_MAX];
	const char *problem; /* why the form is invalid, as static text; NULL: it is valid */
	bool is_open;        /* the input ends inside it: more bytes may complete it */
};

/* 0 for the characters of an atom. */
extern const uint8_t weft__format_sexp_delimiters[256];

/* True if the bytes contain the beginning of an event, `((time 1…`. */
bool weft__format_sexp_probe(const uint8_t *bytes, size_t size);

/* Reads the form at or after *at and moves *at behind it; after damage, to the next `((time 1…`.
 * False at the end of the input. */
bool weft__format_sexp_next_form(
	const uint8_t *bytes, size_t size, size_t *at, struct weft__sexp_form *ret_form);

/* Replaces the escapes of a quoted atom. Writes at most text.size bytes and returns their
 * number. */
size_t weft__format_sexp_unescape(struct weft_slice text, char *buffer);

#endif

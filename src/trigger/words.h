/* SPDX-License-Identifier: ISC
 *
 * The words, numbers and times of which rules consist: what the grammars of rule.c and
 * metric_rule.c share. Functions that take something return false after an error was noted.
 */
#ifndef WEFT_TRIGGER_WORDS_H
#define WEFT_TRIGGER_WORDS_H

#include <weft/trigger.h>

struct weft__parser {
	const char *text;
	size_t size, at;
	const char *ends; /* characters that end a bare word, besides those that always do */
	char *words;      /* memory of the words, as large as the text */
	size_t used;      /* of it */
	struct weft_trigger_error error; /* the first */
};

/* Notes an error, unless there is one. Returns false. */
bool weft__trigger_fail(struct weft__parser *p, size_t at, const char *message);
void weft__trigger_skip_space(struct weft__parser *p);
bool weft__trigger_at_end(struct weft__parser *p);
/* True if the character may be in a word without quotes. */
bool weft__trigger_is_bare(const struct weft__parser *p, char c);
bool weft__trigger_take_word(
	struct weft__parser *p, const char *expected, struct weft_slice *ret_word);
bool weft__trigger_is_word(struct weft_slice word, const char *text);
/* Takes that character if it is next. Notes no error. */
bool weft__trigger_take_sign(struct weft__parser *p, char sign);
bool weft__trigger_take_number(struct weft__parser *p, int64_t *ret_number);
bool weft__trigger_take_fraction(struct weft__parser *p, double *ret_fraction);
bool weft__trigger_take_duration(struct weft__parser *p, uint64_t *ret_ns);

#endif

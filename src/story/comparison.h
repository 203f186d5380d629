/* SPDX-License-Identifier: ISC
 *
 * Words of filters that compare what marks and tags say about tasks, or the columns of the table
 * `tasks`: "bytes > 4096", "method=GET", "running > 5ms".
 */
#ifndef WEFT_STORY_COMPARISON_H
#define WEFT_STORY_COMPARISON_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/model.h>
#include <weft/tables.h>

enum weft__relation {
	WEFT__EQUAL,
	WEFT__UNEQUAL,
	WEFT__LESS,
	WEFT__NOT_MORE,
	WEFT__MORE,
	WEFT__NOT_LESS,
};

struct weft__comparison {
	enum weft__relation relation;
	struct weft_slice key, text; /* in the word; `text` is the value as it was written */
	struct weft_field number;    /* the same as I64, U64 or F64; TEXT: it is no number */
};

/* Reads a word: a key, one of = != < <= > >= and a value, with or without spaces around them.
 * `sign` is the offset of the relation. False if key or value is missing. */
bool weft__story_comparison_parse(
	struct weft_slice word, size_t sign, struct weft__comparison *ret_comparison);

/* The number of the column of the table `tasks` that has the key's name; WEFT_NONE: there is none.
 */
unsigned weft__story_comparison_column(const struct weft__comparison *comparison);
/* True if the task has such a value in that column. An empty cell is unlike all values. */
bool weft__story_comparison_holds_in(const struct weft_model_tables *tables, unsigned column,
	const struct weft__comparison *comparison, uint32_t task);

/* True if a note of the task has such an attribute. `*has_key` becomes true if one has an attribute
 * of that name, whatever its value. */
bool weft__story_comparison_holds(const struct weft_model *model,
	const struct weft__comparison *comparison, uint32_t task, bool *has_key);

#endif

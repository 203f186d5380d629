/* SPDX-License-Identifier: ISC
 *
 * Where in a trace a text is: in labels, notes, kinds, messages, ids, names of counters.
 *
 * A search is made once from a finished model and is read-only then: any number of threads may read
 * it. Distinct strings are looked at once, then one pass over the columns finds where they are; no
 * expression, however made, takes more than time in proportion to its length and the text's.
 */
#ifndef WEFT_SEARCH_H
#define WEFT_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/error.h>
#include <weft/model.h>

#ifdef __cplusplus
extern "C" {
#endif

enum weft_search_place {
	WEFT_SEARCH_ID,      /* of a task: "#123" or "123" */
	WEFT_SEARCH_LABEL,   /* the first or a later one */
	WEFT_SEARCH_NOTE,    /* note, tag, mark */
	WEFT_SEARCH_KIND,    /* of a task */
	WEFT_SEARCH_MESSAGE, /* why it failed */
	WEFT_SEARCH_COUNTER, /* a counter's name, at its first sample */
	WEFT_SEARCH_PLACES
};

/* "id" … */
const char *weft_search_place_name(enum weft_search_place place);

struct weft_search_match {
	uint64_t time; /* ns */
	uint32_t task; /* or WEFT_NONE */
	uint32_t item; /* of a label or note: into the model's notes; of a counter: its number */
	uint8_t place; /* enum weft_search_place */
};

/* Matches beyond so many are counted, and not listed. */
#define WEFT_SEARCH_MATCHES_MAX 1000000

struct weft_search {
	uint64_t found;       /* matches in all */
	uint32_t match_count; /* of them listed: the earliest, in the order of time */
	const struct weft_search_match *matches;
	uint32_t task_count;   /* distinct tasks of all matches */
	const uint32_t *tasks; /* in ascending order */
};

struct weft_search_error {
	const char *message; /* static text */
	size_t offset;       /* in the expression, bytes */
};

/* `text` is a part of what is looked for, or an expression: . [a-z] [^a-z] ( ) | * + ? {2,5} ^ $ \d
 * \w \s \D \W \S \t \xHH, and \ before what is meant as it is. Capitals matter if `text` has one;
 * if not, the letters a to z stand for both. 0; WEFT_ERROR_ARGUMENT for a bad expression, and then
 * *ret_error says what is wrong (it may be NULL); WEFT_ERROR_MEMORY. An empty text is found
 * nowhere. */
int weft_search_create(const struct weft_model *model, const char *text, size_t size,
	bool is_expression, struct weft_search_error *ret_error, struct weft_search **ret_search);
void weft_search_destroy(struct weft_search *search);

/* The first match after, or the last before a time; WEFT_NONE if there is none. */
uint32_t weft_search_after(const struct weft_search *search, uint64_t time);
uint32_t weft_search_before(const struct weft_search *search, uint64_t time);

/* Is the task among the matches? */
bool weft_search_has_task(const struct weft_search *search, uint32_t task);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: ISC
 *
 * Finds text in a trace: in labels, notes, kinds, messages, ids, names of counters and, if there
 * are several, of processes.
 *
 * A search is made once from a finished model and is read-only then: any number of threads may read
 * it. Each distinct string is tested once, then one pass over the columns finds where it occurs. An
 * expression takes time in proportion to its length and the text's, whatever it is.
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

enum weft_search_field {
	WEFT_SEARCH_ID,      /* a task's id: "#123" or "123" */
	WEFT_SEARCH_LABEL,   /* a label, the first or a later one */
	WEFT_SEARCH_NOTE,    /* a note, tag or mark */
	WEFT_SEARCH_KIND,    /* a task's kind */
	WEFT_SEARCH_MESSAGE, /* a failed task's message */
	WEFT_SEARCH_COUNTER, /* a counter's name, at its first sample */
	WEFT_SEARCH_PROCESS, /* one of several processes' name and pid, at its first task */
	WEFT_SEARCH_OUTCOME, /* "cancelled", "closed" or "timed out", at the task's end */
	WEFT_SEARCH_FIELDS
};

/* "id" and so on. */
const char *weft_search_field_name(enum weft_search_field field);

struct weft_search_match {
	uint64_t time; /* ns */
	uint32_t task; /* or WEFT_NONE */
	uint32_t item; /* for a label or note: index into the model's notes; for a counter: its number;
					  for a process: its buffer */
	uint8_t field; /* enum weft_search_field */
};

/* Further matches are counted, but not listed. */
#define WEFT_SEARCH_MATCHES_MAX 1000000

struct weft_search {
	uint64_t found;       /* all matches */
	uint32_t match_count; /* listed matches: the earliest, in the order of time */
	const struct weft_search_match *matches;
	uint32_t task_count;   /* distinct tasks of all matches */
	const uint32_t *tasks; /* in ascending order */
};

struct weft_search_error {
	const char *message; /* static text */
	size_t offset;       /* bytes from the expression's start */
};

/* `text` is a string to be found anywhere in a text, or an expression: . [a-z] [^a-z] ( ) | * + ?
 * {2,5} ^ $ \d \w \s \D \W \S \t \xHH, and \ before a character that stands for itself. Case
 * matters only if `text` has a capital letter; only a to z have two cases. 0; WEFT_ERROR_ARGUMENT
 * for an invalid expression, with the reason in *ret_error (which may be NULL); WEFT_ERROR_MEMORY.
 * An empty text matches nothing. */
int weft_search_create(const struct weft_model *model, const char *text, size_t size,
	bool is_expression, struct weft_search_error *ret_error, struct weft_search **ret_search);
void weft_search_destroy(struct weft_search *search);

/* The same in steps of some milliseconds: WEFT_AGAIN if there is more to do, WEFT_OK and the
 * search, or WEFT_ERROR_MEMORY. After either of these the maker can only be destroyed; destroying
 * it earlier gives the search up. */
struct weft_search_maker;
int weft_search_maker_create(const struct weft_model *model, const char *text, size_t size,
	bool is_expression, struct weft_search_error *ret_error, struct weft_search_maker **ret_maker);
int weft_search_maker_step(struct weft_search_maker *maker, struct weft_search **ret_search);
void weft_search_maker_destroy(struct weft_search_maker *maker);

/* The first match after a time, the last match before it; WEFT_NONE if there is none. */
uint32_t weft_search_after(const struct weft_search *search, uint64_t time);
uint32_t weft_search_before(const struct weft_search *search, uint64_t time);

#ifdef __cplusplus
}
#endif
#endif

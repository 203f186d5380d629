/* SPDX-License-Identifier: ISC
 *
 * The operations of the sexp format: `(Creates 0 1 Task)`.
 */
#ifndef WEFT_FORMAT_MIRAGE_SEXP_OP_H
#define WEFT_FORMAT_MIRAGE_SEXP_OP_H

#include <stdint.h>

#include <weft/event.h>

/* Types of an operation's arguments. */
enum weft__sexp_argument {
	WEFT__SEXP_NO_ARGUMENT,
	WEFT__SEXP_TASK,
	WEFT__SEXP_OTHER,
	WEFT__SEXP_TEXT,
	WEFT__SEXP_NUMBER,
	WEFT__SEXP_SECONDS,
	WEFT__SEXP_KIND,   /* may be missing */
	WEFT__SEXP_OPTION, /* () or (text); may be missing */
};

#define WEFT__SEXP_ARGUMENTS_MAX 3

struct weft__sexp_operation {
	const char *name;
	uint8_t size; /* of the name */
	uint8_t type; /* enum weft_event_type */
	uint8_t arguments[WEFT__SEXP_ARGUMENTS_MAX];
};

/* The operation with this name, or NULL. */
const struct weft__sexp_operation *weft__format_sexp_operation(struct weft_slice name);

/* The number of a kind; of one that kinds.def lacks, that of the kind "unknown". */
uint16_t weft__format_sexp_kind(struct weft_slice name);

/* mirage-profile had no event for "should resolve", and wrote a label instead. */
void weft__format_sexp_recognise_hint(struct weft_event *event);

#endif

/* SPDX-License-Identifier: ISC
 *
 * The list of events in a file: all of it, or the member "traceEvents" of its object. Its end may
 * be missing, because the program was killed.
 */
#ifndef WEFT_FORMAT_CHROME_LIST_H
#define WEFT_FORMAT_CHROME_LIST_H

#include <weft/diagnostic.h>

#include "format/json/json.h"

struct weft__chrome_list {
	struct weft_slice text; /* the whole file */
	size_t first;           /* where the list's first element may be */
	bool has_end;           /* it must have one, because it is a member of an object */
	bool is_damaged;        /* so far: a bracket may be that of a damaged event */
};

/* False if it is none of Chrome's traces. */
bool weft__format_chrome_find_list(
	const uint8_t *bytes, size_t size, struct weft__chrome_list *ret_list);

/* Reads the next object of the list at *at, which is list->first at first. Damage is counted, and
 * the next object behind it is searched for. False: there are no more. */
bool weft__format_chrome_next(struct weft__chrome_list *list, size_t *at,
	struct weft_diagnostics *diagnostics, struct weft__json_value *ret_object);

#endif

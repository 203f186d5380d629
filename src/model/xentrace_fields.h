/* SPDX-License-Identifier: ISC
 *
 * The words of a record of Xen as named fields.
 */
#ifndef WEFT_MODEL_XENTRACE_FIELDS_H
#define WEFT_MODEL_XENTRACE_FIELDS_H

#include <weft/xentrace.h>

/* The most that is appended. */
#define WEFT__XENTRACE_FIELDS_BYTES 320

/* Append the record's fields at `at`, and return the end: as text, or as members of a JSON object.
 * Nothing if the kind is not in the table, or if the record has fewer words. */
char *weft__model_xentrace_text(const struct weft_xentrace_record *record, char *at);
char *weft__model_xentrace_members(const struct weft_xentrace_record *record, char *at);

#endif

/* SPDX-License-Identifier: ISC
 *
 * Names of what Xen traces.
 */
#ifndef WEFT_FORMAT_XENTRACE_NAMES_H
#define WEFT_FORMAT_XENTRACE_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* Ids without the flags for 64-bit addresses and nested guests, and without the states of a change
 * of runstate: what the name depends on. */
uint32_t weft__format_xentrace_kind(uint32_t id);

/* The name of a record's kind; "unknown" if it has none. */
const char *weft__format_xentrace_name(uint32_t kind);

/* NULL for numbers without a name. */
const char *weft__format_xentrace_hypercall(uint32_t op);
const char *weft__format_xentrace_trap(uint32_t number);
/* AMD and Intel number the reasons why a guest exits differently. */
const char *weft__format_xentrace_exit(uint32_t reason, bool is_svm);

#endif

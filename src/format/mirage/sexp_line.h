/* SPDX-License-Identifier: ISC
 *
 * Events of the sexp format as its writers write them, which are nearly all:
 *
 *     ((time 1413637708.834171)(op(Creates 0 1 Task)))
 *
 * They are read without tokens, in a third of the time that sexp_form.c takes.
 */
#ifndef WEFT_FORMAT_MIRAGE_SEXP_LINE_H
#define WEFT_FORMAT_MIRAGE_SEXP_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/event.h>

/* Reads such an event at *at, or behind spaces, and moves *at behind it. Only the members that the
 * format has are stored. False if something else stands there, which may be an event, too; then
 * nothing has changed. */
bool weft__format_sexp_read_line(
	const uint8_t *bytes, size_t size, size_t *at, struct weft_event *ret_event);

#endif

/* SPDX-License-Identifier: ISC
 *
 * The notes of weft in xentrace files, as weft/xentrace.h draws them.
 */
#ifndef WEFT_FORMAT_XENTRACE_NOTES_H
#define WEFT_FORMAT_XENTRACE_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/xentrace.h>

/* True if the bytes, `size` of them, begin with a note. */
bool weft__format_xentrace_has_note(const uint8_t *bytes, size_t size);
struct weft_xentrace_note weft__format_xentrace_read_note(
	const uint8_t bytes[WEFT_XENTRACE_NOTE_BYTES]);

#endif

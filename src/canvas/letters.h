/* SPDX-License-Identifier: ISC
 *
 * Reads arbitrary bytes as displayable characters.
 */
#ifndef WEFT_CANVAS_LETTERS_H
#define WEFT_CANVAS_LETTERS_H

#include <stddef.h>
#include <stdint.h>

#define WEFT__REPLACEMENT 0xfffdu

/* Reads the first character of `count` bytes, at least one, and returns its length in bytes.
 * Invalid UTF-8, control characters, marks that change the writing direction, and characters that
 * XML forbids become WEFT__REPLACEMENT. */
size_t weft__canvas_next_letter(const char *bytes, size_t count, uint32_t *ret_letter);

#endif

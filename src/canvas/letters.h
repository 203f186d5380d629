/* SPDX-License-Identifier: ISC
 *
 * Bytes of any origin as characters that can be shown.
 */
#ifndef WEFT_CANVAS_LETTERS_H
#define WEFT_CANVAS_LETTERS_H

#include <stddef.h>
#include <stdint.h>

#define WEFT__REPLACEMENT 0xfffdu

/* Reads one character from at least one byte, and returns how many bytes it took. What is no UTF-8,
 * or nothing that a picture may show (control characters, turns of direction, characters that XML
 * forbids), is WEFT__REPLACEMENT. */
size_t weft__next_letter(const char *bytes, size_t count, uint32_t *ret_letter);

#endif

/* SPDX-License-Identifier: ISC
 *
 * UTF-8, as untrusted bytes are read: overlong forms, surrogates and what is cut short are wrong.
 */
#ifndef WEFT_BASE_UTF8_H
#define WEFT_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many of the `size` (at least 1) bytes the first character takes. If it is no UTF-8,
 * *ret_valid is false, and the answer is how many bytes one U+FFFD stands for (Unicode 15, 3.9,
 * "maximal subparts"). */
size_t weft__utf8_decode(const char *bytes, size_t size, uint32_t *ret_character, bool *ret_valid);

/* What a picture or a sentence shows as it is. The others become U+FFFD: control characters, what
 * is invisible or turns the direction of what follows, and noncharacters, which cairo refuses. */
bool weft__utf8_is_showable(uint32_t character);

/* What may not reach a terminal as it is: control characters (C0, DEL, C1), marks of writing
 * direction, and separators of lines. */
bool weft__utf8_is_dangerous(uint32_t character);

#endif

/* SPDX-License-Identifier: ISC
 *
 * Decodes UTF-8 from untrusted bytes: overlong forms, surrogates and truncated characters are
 * invalid.
 */
#ifndef WEFT_BASE_UTF8_H
#define WEFT_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the number of bytes that the first character takes, of `size` (at least 1). If it is not
 * valid UTF-8, *ret_valid is false, and the result is the number of bytes that one U+FFFD replaces
 * (Unicode 15, 3.9, "maximal subparts"). */
size_t weft__utf8_decode(const char *bytes, size_t size, uint32_t *ret_character, bool *ret_valid);

/* True if a picture or a sentence may show the character. All others become U+FFFD: control
 * characters, invisible ones, marks that change the direction of the text after them, and
 * noncharacters, which cairo refuses. */
bool weft__utf8_is_showable(uint32_t character);

/* True if the character must not reach a terminal unescaped: control characters (C0, DEL, C1),
 * marks of writing direction, and line separators. */
bool weft__utf8_is_dangerous(uint32_t character);

#endif

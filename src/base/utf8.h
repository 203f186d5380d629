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

#endif

/* SPDX-License-Identifier: ISC
 *
 * Numbers, lengths of time and sizes as people write them. Exact, in integers: a time that was
 * copied from a picture leads back to the same event. The same in every locale.
 *
 * Each function reads all `size` bytes of the text; `ret_…` is set only if it returns
 * WEFT_PARSE_OK. Nothing allocates.
 */
#ifndef WEFT_PARSE_H
#define WEFT_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum weft_parse {
	WEFT_PARSE_OK,
	WEFT_PARSE_NO_NUMBER, /* it does not begin with a number */
	WEFT_PARSE_NO_UNIT,   /* a length of time without a unit */
	WEFT_PARSE_UNIT,      /* something other than a unit follows the number */
	WEFT_PARSE_TOO_LARGE, /* more than 64 bits can hold */
};

/* Decimal digits: `42`. */
enum weft_parse weft_parse_number(const char *text, size_t size, uint64_t *ret_number);

/* Hexadecimal digits of either case, without `0x`: `7f3a`. */
enum weft_parse weft_parse_hexadecimal(const char *text, size_t size, uint64_t *ret_number);

/* 32 hexadecimal digits, with or without a hyphen before each two, as in
 * /proc/sys/kernel/random/boot_id. False, and zeros, if the text does not begin with them. */
bool weft_parse_uuid(const char *text, size_t size, uint8_t ret_uuid[16]);

/* `40ns`, `300us`, `300µs`, `12.5ms`, `1.5 s`, `2min` or `0`; digits finer than 1 ns are dropped.
 */
enum weft_parse weft_parse_duration(const char *text, size_t size, uint64_t *ret_ns);

/* `4096`, `64K`, `16M` or `2G`: bytes, or powers of 1024 of them. */
enum weft_parse weft_parse_size(const char *text, size_t size, uint64_t *ret_bytes);

#ifdef __cplusplus
}
#endif
#endif

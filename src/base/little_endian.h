/* SPDX-License-Identifier: ISC
 *
 * Loads unaligned little-endian integers from untrusted bytes. The caller has checked the bounds.
 */
#ifndef WEFT_BASE_LITTLE_ENDIAN_H
#define WEFT_BASE_LITTLE_ENDIAN_H

#include <stdint.h>

static inline uint16_t weft__load_u16(const uint8_t *at)
{
	return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t weft__load_u32(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Compilers turn this into a single load. */
static inline uint64_t weft__load_u64(const uint8_t *at)
{
	return weft__load_u32(at) | (uint64_t)weft__load_u32(at + 4) << 32;
}

#endif

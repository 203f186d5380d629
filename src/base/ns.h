/* SPDX-License-Identifier: ISC
 *
 * Nanoseconds from doubles. C leaves a conversion undefined if the value does not fit the integer
 * type, and (double)UINT64_MAX is already 2^64, so every such conversion goes through here.
 */
#ifndef WEFT_BASE_NS_H
#define WEFT_BASE_NS_H

#include <stdint.h>

/* `ns` without its fraction, between 0 and `most`. NaN gives 0. */
static inline uint64_t weft__ns_between(double ns, uint64_t most)
{
	if (!(ns > 0))
		return 0;
	if (ns >= 18446744073709551616.0 || (uint64_t)ns > most)
		return most;
	return (uint64_t)ns;
}

/* Saturating addition. */
static inline uint64_t weft__ns_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

#endif

/* SPDX-License-Identifier: ISC
 *
 * Loops over doubles end by count: `x += step` is x again where the sum rounds down, and a limit
 * may be infinite.
 */
#ifndef WEFT_BASE_STEPS_H
#define WEFT_BASE_STEPS_H

#include <math.h>
#include <stdint.h>

#define WEFT__STEPS_MAX (1 << 20) /* more than the pixels of the widest picture */

/* How many of `from`, `from + step`, … are less than `to`; 0 if one of them is NaN. */
static inline uint32_t weft__steps(double from, double to, double step)
{
	double count = ceil((to - from) / step);
	return count > 0 ? (uint32_t)fmin(count, WEFT__STEPS_MAX) : 0;
}

#endif

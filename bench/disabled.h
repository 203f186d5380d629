/* SPDX-License-Identifier: ISC
 *
 * A call that is compiled out.
 */
#ifndef WEFT_BENCH_DISABLED_H
#define WEFT_BENCH_DISABLED_H

#include "measure.h"

extern const struct subject disabled_resolve;

#endif

/* SPDX-License-Identifier: ISC
 *
 * The clock of another process's buffer.
 */
#ifndef WEFT_FOLLOW_CLOCK_H
#define WEFT_FOLLOW_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/buffer_abi.h"

/* Reads the clock. False if that clock (enum weft_abi_clock) is the program's own. */
bool weft__follow_clock_read(uint32_t clock, uint64_t *ret_ticks);

/* The clock and the system's clocks now. If the clock is the program's own, the reading has
 * `latest` instead, and no other times. */
struct weft_abi_clock_reading weft__follow_clock_take(uint32_t clock, uint64_t latest);

#endif

/* SPDX-License-Identifier: ISC
 *
 * The kernel's clocks, read where the kernel has put the code for it: in its library in the memory
 * of each process, the vDSO. No other library stands in between, as faketime's does.
 */
#ifndef WEFT_KERNEL_CLOCK_H
#define WEFT_KERNEL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* False: there is no such clock. errno stays. */
bool weft__kernel_read_clock(clockid_t clock, struct timespec *ret_time);

/* In nanoseconds; 0: there is no such clock. */
uint64_t weft__kernel_clock_ns(clockid_t clock);

#endif

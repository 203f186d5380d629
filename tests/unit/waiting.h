/* SPDX-License-Identifier: ISC
 *
 * Waits without an opinion about time: a busy machine may take as long as it needs. A condition
 * that can no longer come is noticed by the test's runner.
 */
#ifndef WEFT_TEST_WAITING_H
#define WEFT_TEST_WAITING_H

#include <time.h>

/* Lets at least this time pass. Nothing may be concluded from a time that is longer. */
static inline void let_pass_us(unsigned us)
{
	const struct timespec time = {us / 1000000, (long)(us % 1000000) * 1000};
	nanosleep(&time, NULL);
}

/* The body of a loop until a condition is true: lets other threads and processes work. */
static inline void await(void)
{
	let_pass_us(1000);
}

#endif

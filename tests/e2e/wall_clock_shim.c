/* SPDX-License-Identifier: ISC
 *
 * Answers adjtimex(2) as the kernel does where a time service runs: with the errors in WEFT_TIMEX,
 * "5000 100".
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/timex.h>

#pragma GCC visibility push(default)

int adjtimex(struct timex *timex)
{
	const char *errors = getenv("WEFT_TIMEX");
	char *end;
	timex->maxerror = strtol(errors, &end, 10);
	timex->esterror = strtol(end, NULL, 10);
	return TIME_OK;
}

/* SPDX-License-Identifier: ISC
 *
 * The answer about a process that records nothing.
 */
#ifndef WEFT_APPS_WHY_OUTSIDE_H
#define WEFT_APPS_WHY_OUTSIDE_H

#include <stdbool.h>
#include <sys/types.h>

/* Prints what its threads wait for, and the threads and processes for which they wait. CLI_NO if it
 * waits for none, CLI_UNREADABLE if there is no such process. */
int why_outside(pid_t pid, bool json);

#endif

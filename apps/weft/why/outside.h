/* SPDX-License-Identifier: ISC
 *
 * The answers about processes that record nothing.
 */
#ifndef WEFT_APPS_WHY_OUTSIDE_H
#define WEFT_APPS_WHY_OUTSIDE_H

#include <stdbool.h>
#include <sys/types.h>

/* Prints what its threads wait for, and the threads and processes for which they wait. CLI_NO if it
 * waits for none, CLI_UNREADABLE if there is no such process. */
int why_outside(pid_t pid, bool json);

/* Prints which threads and processes of this host wait for which. CLI_NO if none waits. */
int why_all(bool json);

#endif

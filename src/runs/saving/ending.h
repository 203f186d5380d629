/* SPDX-License-Identifier: ISC
 *
 * How the processes of a run ended, noted in their rings.
 */
#ifndef WEFT_RUNS_ENDING_H
#define WEFT_RUNS_ENDING_H

#include <sys/types.h>

/* Notes in the rings of a process that has just ended that it has, and its status from waitpid(2).
 * Rings that cannot be opened for writing are left as they are. */
void weft__runs_note_end(const char *directory, pid_t pid, int wait_status);

#endif

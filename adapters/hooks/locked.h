/* SPDX-License-Identifier: ISC
 *
 * Files on which the program has record locks (fcntl, lockf). Closing any descriptor of such a file
 * drops the process's locks on it, so adapters must not open it for themselves.
 */
#ifndef WEFT_ADAPTERS_HOOKS_LOCKED_H
#define WEFT_ADAPTERS_HOOKS_LOCKED_H

#include <stdbool.h>

/* Notes that the program is about to lock a part of the descriptor's file. errno stays. */
void weft__hooks_lock_file(int fd);

/* False if opening and closing the file might drop locks of the program. */
bool weft__hooks_may_open(const char *path);

#endif

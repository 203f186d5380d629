/* SPDX-License-Identifier: ISC
 *
 * Which process holds a lock of a file that a call is about to wait for.
 */
#ifndef WEFT_ADAPTERS_IO_LOCKER_H
#define WEFT_ADAPTERS_IO_LOCKER_H

#include "io/call.h"

/* Each asks the kernel for the number of the process; 0: unknown, or none any more. errno stays. */
pid_t weft__io_find_flock(int fd);
/* lock: the address of a struct flock, as the program gave it to fcntl. */
pid_t weft__io_find_fcntl(int fd, long lock);
/* From the descriptor's position on. */
pid_t weft__io_find_lockf(int fd, off_t size);

/* Tags what the call waits for with the process that holds it. */
void weft__io_mark_locker(const struct weft__io_call *call, pid_t process);

#endif

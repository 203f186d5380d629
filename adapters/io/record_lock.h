/* SPDX-License-Identifier: ISC
 *
 * Record locks of files (fcntl, lockf). A process loses them when it closes any descriptor of the
 * file, also one that it has opened just to look: a note of the current task says so.
 */
#ifndef WEFT_ADAPTERS_IO_RECORD_LOCK_H
#define WEFT_ADAPTERS_IO_RECORD_LOCK_H

#include "io/descriptors.h"

/* fcntl has succeeded with F_SETLK or F_SETLKW. `lock`: the address of the program's struct flock.
 */
void weft__io_record_lock_set(int fd, long lock);

/* The same of lockf. */
void weft__io_record_lock_took(int fd);
void weft__io_record_lock_gave(int fd);

extern unsigned weft__io_record_locks __attribute__((visibility("hidden")));

/* A descriptor is about to be closed. errno stays. */
void weft__io_record_lock_closing(int fd);
static inline void weft__io_record_lock_close(int fd)
{
	if (unlikely(__atomic_load_n(&weft__io_record_locks, __ATOMIC_RELAXED)))
		weft__io_record_lock_closing(fd);
}

#endif

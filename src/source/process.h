/* SPDX-License-Identifier: ISC
 *
 * A process as /proc shows it: whether it still runs, and by which thread it can be looked at.
 */
#ifndef WEFT_SOURCE_PROCESS_H
#define WEFT_SOURCE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum weft__source_process {
	WEFT__SOURCE_PROCESS_NONE,    /* no process has this number; also if /proc is not mounted */
	WEFT__SOURCE_PROCESS_ENDED,   /* it has ended, but its parent has not waited for it yet */
	WEFT__SOURCE_PROCESS_STOPPED, /* by a signal such as SIGSTOP, or by a debugger */
	WEFT__SOURCE_PROCESS_RUNS,
};

/* A process whose main thread has called pthread_exit runs as long as its other threads do. */
enum weft__source_process weft__source_process_state(pid_t pid);

/* The same, and when the process started, at one moment, so that both are of one process: in the
 * kernel's ticks since the machine started; 0: it is unknown. */
enum weft__source_process weft__source_process_look(pid_t pid, uint64_t *ret_started);

/* The process itself; if its main thread has ended, another thread. Only under the number of a
 * living thread, /proc has the memory map and the descriptors of the process. */
pid_t weft__source_process_thread(pid_t pid);

/* True if the process has the file of that number mapped, or if that is unknown. */
bool weft__source_process_has_mapped(pid_t pid, uint64_t inode);

/* True if the process has a program, as it has until it begins to exit. */
bool weft__source_process_has_memory(pid_t pid);

/* Real, effective, saved and file system user id. False if they are unknown. */
bool weft__source_process_users(pid_t pid, uint64_t ret_users[4]);

/* The number by which the process knows itself, in its own PID namespace. */
pid_t weft__source_process_own_pid(pid_t pid);

/* The process that a thread belongs to; `pid` itself for the main thread, or if it is unknown. */
pid_t weft__source_process_of(pid_t thread);

/* The signal that has stopped the process; 0: none, or the kernel does not tell us. */
int weft__source_process_stop_signal(pid_t pid);

/* True if it is a thread of the kernel, which has no program. */
bool weft__source_process_is_kernel(pid_t pid);

#endif

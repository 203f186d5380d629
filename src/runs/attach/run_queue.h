/* SPDX-License-Identifier: ISC
 *
 * How long the threads of a process were ready to run and had no processor. The kernel counts that,
 * so it costs the program nothing; a reader learns that the machine was busy, and not the program.
 */
#ifndef WEFT_RUNS_RUN_QUEUE_H
#define WEFT_RUNS_RUN_QUEUE_H

#include "runs/attach/counters.h"

/* One gauge, the sum over the threads that live now. 0 or an errno; ENOENT: the kernel does not
 * say. The caller finishes the counters if it is 0. */
int weft__runs_queue_read(pid_t pid, struct weft__runs_counters *ret_counters);

/* The nanoseconds in a line of /proc/PID/task/TID/schedstat: "RAN WAITED SLICES". False: it is
 * none.
 */
bool weft__runs_queue_parse(const char *line, uint64_t *ret_ns);

#endif

/* SPDX-License-Identifier: ISC
 *
 * The events that a program records, or the file that xentrace writes, as a byte stream for a
 * client.
 */
#ifndef WEFT_APPS_SERVE_LIVE_H
#define WEFT_APPS_SERVE_LIVE_H

#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

struct serve_live;

/* Opens the live data. `pid` is the process that records there, 0 for a file that the user named.
 * NULL if it is neither a buffer nor a trace of Xen that is being written, or no longer exists. It
 * ends when the program does, or when `stopping` is set. */
struct serve_live *serve_live_open(const char *path, pid_t pid, const atomic_bool *stopping);
void serve_live_close(struct serve_live *live);

/* Waits for the next bytes, at most `room`. 0: it has ended; -1: an error. */
ssize_t serve_live_read(struct serve_live *live, char *bytes, size_t room);

#endif

/* SPDX-License-Identifier: ISC
 *
 * What a program records, as bytes for somebody far away.
 */
#ifndef WEFT_APPS_SERVE_LIVE_H
#define WEFT_APPS_SERVE_LIVE_H

#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

struct serve_live;

/* `pid`: of the process that records there, 0 for a file that is served by its name. NULL if it is
 * no buffer, or has gone. It ends when the program does, or `stopping` is set. */
struct serve_live *serve_live_open(const char *path, pid_t pid, const atomic_bool *stopping);
void serve_live_close(struct serve_live *live);

/* Waits for the next bytes, at most `room` of them. 0: it has ended; -1: an error. */
ssize_t serve_live_read(struct serve_live *live, char *bytes, size_t room);

#endif

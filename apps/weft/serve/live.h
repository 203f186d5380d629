/* SPDX-License-Identifier: ISC
 *
 * A client's live connection: it sends the bytes of one trace that grows as they are, or those of
 * several in frames.
 *
 * A frame is a u32, the trace's position in the request, from 0 on; a u32, the number of bytes that
 * follow, both little-endian; and the bytes. A frame without bytes says that the trace has ended.
 */
#ifndef WEFT_APPS_SERVE_LIVE_H
#define WEFT_APPS_SERVE_LIVE_H

#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

struct serve_live;
struct serve_trace;

/* Opens one trace. NULL if it is neither a buffer nor a trace of Xen that is being written, or no
 * longer exists. It ends when the program does, or when `stopping` is set. */
struct serve_live *serve_live_open(const struct serve_trace *trace, const atomic_bool *stopping);
/* Opens several, in frames, also files that have ended. NULL if one of them no longer exists. */
struct serve_live *serve_live_open_parts(
	const struct serve_trace *traces, size_t count, const atomic_bool *stopping);
void serve_live_close(struct serve_live *live);

/* Waits for the next bytes, at most `room`. 0: it has ended; -1: an error. */
ssize_t serve_live_read(struct serve_live *live, char *bytes, size_t room);

#endif

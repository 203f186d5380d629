/* SPDX-License-Identifier: ISC
 *
 * A part of a trace that is too large for a page, as a trace of its own.
 */
#ifndef WEFT_APPS_SERVE_PART_H
#define WEFT_APPS_SERVE_PART_H

#include <stdint.h>
#include <sys/types.h>

#include <weft/density.h>

struct serve_part;
struct serve_trace;

/* Where the trace's bytes are. 0, or an error: WEFT_ERROR_UNSUPPORTED if it cannot be read in
 * parts. */
int serve_part_weigh(const struct serve_trace *trace, struct weft_density *ret_density);

/* The part of [start_ns, end_ns), on the trace's clock. It is cut while it is read, in memory that
 * depends on the part alone. 0 or an error. */
int serve_part_open(const struct serve_trace *trace, uint64_t start_ns, uint64_t end_ns,
	struct serve_part **ret_part);
void serve_part_close(struct serve_part *part);

/* The next bytes, up to `room`: their number; 0 at the end; or a negative error. */
ssize_t serve_part_read(struct serve_part *part, char *bytes, size_t room);

#endif

/* SPDX-License-Identifier: ISC
 *
 * Traces that are too large to be read at once, of which the window shows a part.
 */
#ifndef WEFT_GTK_PARTS_H
#define WEFT_GTK_PARTS_H

#include <stdint.h>

#include <weft/input.h>

struct read_part {
	struct weft_density density; /* of the whole trace */
	uint64_t start_ns, end_ns;   /* what is read, on the trace's clock */
};

/* Sets the size of the largest trace that is read as a whole, in bytes. */
void parts_set_whole(uint64_t bytes);

/* The size of a part, in bytes. */
double parts_bytes(void);

/* Chooses the first part of the trace in the file at `path`. The caller frees it; NULL: the trace
 * is read as a whole. */
struct read_part *parts_choose(const char *path);

/* Builds a model of the part. 0 or an error. */
int parts_build(const struct read_part *part, struct weft_input *input,
	const struct weft_progress *progress, struct weft_model **ret_model);

#endif

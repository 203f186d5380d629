/* SPDX-License-Identifier: ISC
 *
 * For tests of streams: the pieces of a drain, one after the other in memory.
 */
#ifndef WEFT_TESTS_DRAINED_H
#define WEFT_TESTS_DRAINED_H

#include <string.h>

#include "format/weft/drain/drain.h"

/* Appends all pieces that the drain has now. Returns WEFT_AGAIN, WEFT_END or an error. */
static inline int drained_append(
	struct weft__drain *drain, unsigned char *file, size_t room, size_t *size)
{
	const void *bytes;
	size_t more;
	int status;
	while ((status = weft__format_drain_next(drain, &bytes, &more)) == WEFT_OK) {
		assert_true(more % 8 == 0 && more <= room - *size);
		memcpy(file + *size, bytes, more);
		*size += more;
	}
	return status;
}

#endif

/* SPDX-License-Identifier: ISC
 *
 * The layout of a file of checkpoints, in the byte order of its machine: the checkpoints, each a
 * trace; the losses of the whole trace; a row for each checkpoint; the tail.
 */
#ifndef WEFT_EXPORT_CHECKPOINT_FILE_H
#define WEFT_EXPORT_CHECKPOINT_FILE_H

#include <weft/checkpoint.h>

#include "base/hash.h"

/* Higher with each change of this file, of what a rundown says, or of what an event means. */
#define WEFT__CHECKPOINT_VERSION 2

#define WEFT__CHECKPOINT_MAGIC UINT64_C(0x7865646e69746677) /* "wftindex" */

/* Every part begins at a multiple of this. */
#define WEFT__CHECKPOINT_ALIGNMENT 8

struct weft__checkpoint_row {
	uint64_t time_ns, offset, size;
	uint64_t hash; /* of the checkpoint's bytes */
};

struct weft__checkpoint_tail {
	struct weft_checkpoint_key key;
	uint64_t losses[WEFT_LOSS_CAUSES];
	uint64_t periods_offset, period_count;
	uint64_t rows_offset, row_count;
	uint64_t rows_hash; /* of periods and rows, which are next to each other */
	uint64_t version;
	uint64_t hash; /* of the members above */
	uint64_t magic;
};

/* Finds damage, not malice: the key is known. */
static inline uint64_t weft__checkpoint_hash(const void *bytes, size_t size)
{
	const struct weft__hash_key key = {WEFT__CHECKPOINT_MAGIC, WEFT__CHECKPOINT_VERSION};
	return weft__hash_bytes(&key, bytes, size);
}

#endif

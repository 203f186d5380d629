/* SPDX-License-Identifier: ISC
 *
 * Rings that were found without a path.
 */
#ifndef WEFT_SOURCE_RING_H
#define WEFT_SOURCE_RING_H

#include <weft/source.h>

/* As weft_source_open_ring, of the file of a descriptor that was opened with O_PATH. */
int weft__source_ring_open_found(
	int found, pid_t pid, unsigned access, struct weft_ring_check *ret_check);

#endif

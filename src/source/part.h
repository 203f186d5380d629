/* SPDX-License-Identifier: ISC
 *
 * Some bytes of a source as a source of their own, such as a file in an archive.
 */
#ifndef WEFT_SOURCE_PART_H
#define WEFT_SOURCE_PART_H

#include <weft/source.h>

/* The bytes stay those of the whole, which is closed after its parts. 0 or WEFT_ERROR_MEMORY. */
int weft__source_part(
	struct weft_source *whole, size_t offset, size_t size, struct weft_source **ret_part);

#endif

/* SPDX-License-Identifier: ISC
 *
 * The mappings that weft_source_survive_truncation protects.
 */
#ifndef WEFT_SOURCE_MAPPING_H
#define WEFT_SOURCE_MAPPING_H

#include <stddef.h>

/* Protects a mapping. 0, or WEFT_ERROR_LIMIT if too many are mapped at once. Any thread. */
int weft__source_mapping_guard(void *address, size_t size);

/* Ends the protection; call after munmap. */
void weft__source_mapping_release(void *address);

#endif

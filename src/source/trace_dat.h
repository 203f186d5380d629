/* SPDX-License-Identifier: ISC
 *
 * Unpacks trace.dat of trace-cmd's seventh version.
 */
#ifndef WEFT_SOURCE_TRACE_DAT_H
#define WEFT_SOURCE_TRACE_DAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool weft__source_is_trace_dat(const void *bytes, size_t size);

/* Writes the file as one of the sixth version, which is not compressed. 0 or an error of the
 * library; WEFT_ERROR_SIZE if that exceeds `max_bytes`. */
int weft__source_expand_trace_dat(const void *bytes, size_t size, uint64_t max_bytes, int fd);

#endif

/* SPDX-License-Identifier: ISC
 *
 * The samples of what a program runs that still records.
 */
#ifndef WEFT_FORMAT_WEFT_RAN_LIVE_H
#define WEFT_FORMAT_WEFT_RAN_LIVE_H

#include <stdbool.h>

#include <weft/buffer.h>

#include "format/weft/tables.h"

/* See weft_watch_add_samples. The buffer is mapped for writing. */
uint32_t weft__format_ran_add(
	const struct weft__buffer *buffer, const struct weft_buffer_sampling *sampling);

/* True if there are tables of samples, to which more may be added. */
bool weft__format_ran_is_growing(const struct weft__live_table *tables, uint32_t count);

/* A function's row (ran.c). */
struct weft_abi_code_row weft__format_ran_code(const struct weft_buffer_code *code);

#endif

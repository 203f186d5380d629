/* SPDX-License-Identifier: ISC
 *
 * Columns that one owner appends to while others read the rows that they have seen. Owner and
 * readers hold references to the memory; there is no lock, because the owner writes only rows that
 * no reader knows. To grow, the owner copies the columns to other memory, unless there are no
 * readers.
 */
#ifndef WEFT_BASE_SHARED_H
#define WEFT_BASE_SHARED_H

#include <stddef.h>

#include "base/array.h"

#define WEFT__SHARED_COLUMNS 4

struct weft__shared;

/* Returns another reference to the memory of up to WEFT__SHARED_COLUMNS columns; NULL without
 * memory. `*owner` is the owner's own reference, NULL at first. */
struct weft__shared *weft__shared_hold(
	struct weft__shared **owner, const struct weft__column *columns, size_t count);

/* Releases a reference; any thread may call. The last one frees the memory. NULL is allowed. */
void weft__shared_release(struct weft__shared *shared);

/* Ends the sharing: afterwards the columns' memory belongs to the owner alone, and `*owner` is
 * NULL. If there are readers, the first `rows` rows are copied. 0, or WEFT_ERROR_MEMORY without a
 * change.
 */
int weft__shared_own(
	struct weft__shared **owner, const struct weft__column *columns, size_t count, size_t rows);

#endif

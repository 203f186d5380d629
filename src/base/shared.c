/* SPDX-License-Identifier: ISC
 *
 * A count of references beside the addresses of the columns.
 */
#include "base/shared.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <weft/error.h>

struct weft__shared {
	atomic_uint references;
	void *memory[WEFT__SHARED_COLUMNS];
};

struct weft__shared *weft__shared_hold(
	struct weft__shared **owner, const struct weft__column *columns, size_t count)
{
	if (!*owner) {
		struct weft__shared *shared = calloc(1, sizeof(*shared));
		if (!shared)
			return NULL;
		atomic_init(&shared->references, 1);
		for (size_t i = 0; i < count; i++)
			memcpy(&shared->memory[i], columns[i].array, sizeof(void *));
		*owner = shared;
	}
	atomic_fetch_add_explicit(&(*owner)->references, 1, memory_order_relaxed);
	return *owner;
}

void weft__shared_release(struct weft__shared *shared)
{
	/* acq_rel: all readers' loads come before the memory is freed. */
	if (!shared || atomic_fetch_sub_explicit(&shared->references, 1, memory_order_acq_rel) > 1)
		return;
	for (size_t i = 0; i < WEFT__SHARED_COLUMNS; i++)
		free(shared->memory[i]);
	free(shared);
}

static int copy_columns(
	void **copies, const struct weft__column *columns, size_t count, size_t rows)
{
	for (size_t i = 0; i < count; i++) {
		void *from;
		memcpy(&from, columns[i].array, sizeof(from));
		copies[i] = malloc(rows * columns[i].element_bytes + 1);
		if (!copies[i]) {
			while (i-- > 0)
				free(copies[i]);
			return WEFT_ERROR_MEMORY;
		}
		if (rows)
			memcpy(copies[i], from, rows * columns[i].element_bytes);
	}
	return 0;
}

int weft__shared_own(
	struct weft__shared **owner, const struct weft__column *columns, size_t count, size_t rows)
{
	void *copies[WEFT__SHARED_COLUMNS];
	if (!*owner)
		return 0;
	if (atomic_load_explicit(&(*owner)->references, memory_order_acquire) == 1) {
		free(*owner);
		*owner = NULL;
		return 0;
	}
	int error = copy_columns(copies, columns, count, rows);
	if (error)
		return error;
	for (size_t i = 0; i < count; i++)
		memcpy(columns[i].array, &copies[i], sizeof(void *));
	weft__shared_release(*owner);
	*owner = NULL;
	return 0;
}

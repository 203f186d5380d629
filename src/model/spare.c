/* SPDX-License-Identifier: ISC
 *
 * Keeps one destroyed snapshot, so that its memory can be used again. The builder and all its
 * snapshots share this struct, and different threads may destroy them in any order; so it is one
 * atomic pointer.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "model/live.h"

struct weft__spare {
	atomic_uint references;
	_Atomic(struct weft__model *) model;
	struct weft__model closed; /* its address marks a builder that has ended */
};

int weft__model_spare_create(struct weft__spare **ret_spare)
{
	struct weft__spare *spare = calloc(1, sizeof(*spare));
	if (!spare)
		return WEFT_ERROR_MEMORY;
	atomic_init(&spare->references, 1);
	atomic_init(&spare->model, NULL);
	*ret_spare = spare;
	return 0;
}

struct weft__spare *weft__model_spare_hold(struct weft__spare *spare)
{
	atomic_fetch_add(&spare->references, 1);
	return spare;
}

void weft__model_spare_release(struct weft__spare *spare)
{
	if (spare && atomic_fetch_sub(&spare->references, 1) == 1)
		free(spare);
}

struct weft__model *weft__model_spare_put(struct weft__spare *spare, struct weft__model *model)
{
	struct weft__model *old = atomic_load(&spare->model);
	do {
		if (old == &spare->closed)
			return model;
	} while (!atomic_compare_exchange_weak(&spare->model, &old, model));
	return old;
}

struct weft__model *weft__model_spare_take(struct weft__spare *spare)
{
	return atomic_exchange(&spare->model, NULL);
}

struct weft__model *weft__model_spare_close(struct weft__spare *spare)
{
	return atomic_exchange(&spare->model, &spare->closed);
}

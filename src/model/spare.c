/* SPDX-License-Identifier: ISC
 *
 * A place for one snapshot that nobody reads any more. The builder and all its snapshots share it,
 * and they may be destroyed by different threads in any order; so it is one atomic pointer.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "model/live.h"

struct weft__spare {
	atomic_uint references;
	_Atomic(struct weft__model *) model;
	struct weft__model closed; /* its address means that the builder takes no more */
};

int weft__spare_create(struct weft__spare **ret_spare)
{
	struct weft__spare *spare = calloc(1, sizeof(*spare));
	if (!spare)
		return WEFT_ERROR_MEMORY;
	atomic_init(&spare->references, 1);
	atomic_init(&spare->model, NULL);
	*ret_spare = spare;
	return 0;
}

struct weft__spare *weft__spare_hold(struct weft__spare *spare)
{
	atomic_fetch_add(&spare->references, 1);
	return spare;
}

void weft__spare_release(struct weft__spare *spare)
{
	if (spare && atomic_fetch_sub(&spare->references, 1) == 1)
		free(spare);
}

struct weft__model *weft__spare_put(struct weft__spare *spare, struct weft__model *model)
{
	struct weft__model *old = atomic_load(&spare->model);
	do {
		if (old == &spare->closed)
			return model;
	} while (!atomic_compare_exchange_weak(&spare->model, &old, model));
	return old;
}

struct weft__model *weft__spare_take(struct weft__spare *spare)
{
	return atomic_exchange(&spare->model, NULL);
}

struct weft__model *weft__spare_close(struct weft__spare *spare)
{
	return atomic_exchange(&spare->model, &spare->closed);
}

/* SPDX-License-Identifier: ISC
 *
 * A layout is four columns beside the model's, in one allocation each.
 */
#include "layout/layout.h"

#include <stdlib.h>

#include "base/export.h"

struct whole_layout {
	struct weft_layout public; /* first: what callers hold */
	struct weft__columns columns;
};

static int allocate(struct weft__columns *columns, size_t count)
{
	size_t some = count ? count : 1;
	columns->start = malloc(some * sizeof(*columns->start));
	columns->parent = malloc(some * sizeof(*columns->parent));
	columns->row = malloc(some * sizeof(*columns->row));
	columns->moved = malloc(some * sizeof(*columns->moved));
	if (!columns->start || !columns->parent || !columns->row || !columns->moved)
		return WEFT_ERROR_MEMORY;
	return 0;
}

static void publish(struct whole_layout *whole, const struct weft_model *model, uint32_t row_count)
{
	whole->public = (struct weft_layout){
		.model = model,
		.row_count = row_count,
		.start = whole->columns.start,
		.parent = whole->columns.parent,
		.row = whole->columns.row,
		.moved = whole->columns.moved,
	};
}

WEFT__EXPORT int weft_layout_create(const struct weft_model *model,
	const struct weft_layout_options *options, struct weft_layout **ret_layout)
{
	uint32_t row_count = 0;
	struct whole_layout *whole = calloc(1, sizeof(*whole));
	if (!whole)
		return WEFT_ERROR_MEMORY;
	int error = allocate(&whole->columns, model->tasks.count);
	if (error)
		goto out;
	weft__layout_copy(model, &whole->columns);
	if (!options || !options->no_simplify)
		error = weft__layout_simplify(model, &whole->columns);
	if (!error)
		error = weft__layout_place(model, &whole->columns, &row_count);
	publish(whole, model, row_count);
out:
	if (error)
		weft_layout_destroy(&whole->public);
	else
		*ret_layout = &whole->public;
	return error;
}

WEFT__EXPORT void weft_layout_destroy(struct weft_layout *layout)
{
	struct whole_layout *whole = (struct whole_layout *)layout;
	if (!whole)
		return;
	free(whole->columns.start);
	free(whole->columns.parent);
	free(whole->columns.row);
	free(whole->columns.moved);
	free(whole);
}

/* SPDX-License-Identifier: ISC
 *
 * A layout is a set of columns beside the model's, in one allocation each, made one after the
 * other.
 */
#include "layout/layout.h"

#include <stdlib.h>

#include "base/both.h"
#include "base/export.h"
#include "base/options.h"
#include "layout/growth.h"

struct whole_layout {
	struct weft_layout public; /* first member: callers hold a pointer to it */
	struct weft__columns columns;
	const struct weft_layout *former; /* the layout from which it grew, or NULL */
	struct weft__layout_growth growth;
};

static int allocate(struct weft__columns *columns, size_t count)
{
	size_t some = count ? count : 1;
	columns->start = malloc(some * sizeof(*columns->start));
	columns->parent = malloc(some * sizeof(*columns->parent));
	columns->row = malloc(some * sizeof(*columns->row));
	columns->moved = malloc(some * sizeof(*columns->moved));
	columns->form = malloc(some * sizeof(*columns->form));
	if (!columns->start || !columns->parent || !columns->row || !columns->moved || !columns->form)
		return WEFT_ERROR_MEMORY;
	return 0;
}

static void publish(struct whole_layout *whole, const struct weft_model *model,
	enum weft_group_by group_by, uint32_t row_count)
{
	const struct weft__columns *c = &whole->columns;
	whole->public = (struct weft_layout){
		.model = model,
		.row_count = row_count,
		.start = c->start,
		.parent = c->parent,
		.row = c->row,
		.moved = c->moved,
		.form = c->form,
		.fold_of = c->fold_of,
		.folds = c->folds,
		.fold_count = c->fold_count,
		.fold_members = c->members,
		.fold_ends = c->member_ends,
		.group_of = c->group_of,
		.groups = c->groups,
		.group_count = c->group_count,
		.group_by = c->group_count ? group_by : WEFT_GROUP_BY_NONE,
	};
}

static int settle_parents(const struct weft_model *model, const struct weft_layout_options *options,
	struct weft__columns *columns)
{
	int error = weft__layout_simplify(model, options, columns);
	if (!error && options->hidden)
		weft__layout_hide(model, options->hidden, columns);
	if (!error)
		error = weft__layout_group(model, options, columns);
	return error;
}

/* Reports progress; each part's share is about its share of the time. */
static int report_progress(const struct weft_layout_options *options, double part)
{
	const struct weft_progress *progress = options->progress;
	return progress && progress->step && !progress->step(progress->context, part)
			   ? WEFT_ERROR_CANCELED
			   : 0;
}

/* The two jobs that follow when starts and parents are known: the walk, and the occupancy. They are
 * independent. */
struct expecting {
	const struct weft_model *model;
	struct weft__columns *columns;
	struct weft__tree tree;
	struct weft__occupancy occupancy;
	int tree_error, occupancy_error;
};

static void make_tree(void *context)
{
	struct expecting *e = context;
	e->tree_error = weft__tree_init(&e->tree, e->model, e->columns);
}

static void make_occupancy(void *context)
{
	struct expecting *e = context;
	if (!e->columns->group_count)
		e->occupancy_error = weft__layout_expect(e->model, e->columns, &e->occupancy);
}

static int expect(struct expecting *e, const struct weft_layout_options *options)
{
	weft__both(options->progress ? options->progress->help : NULL, make_tree, e, make_occupancy, e);
	return e->tree_error ? e->tree_error : e->occupancy_error;
}

static int make(const struct weft_model *model, const struct weft_layout_options *options,
	struct weft__columns *columns, uint32_t *ret_row_count)
{
	struct expecting e = {.model = model, .columns = columns};
	int error = allocate(columns, model->tasks.count);
	if (!error)
		error = report_progress(options, 0);
	if (!error)
		error = settle_parents(model, options, columns);
	if (!error)
		error = report_progress(options, 0.3);
	if (!error)
		error = expect(&e, options);
	if (!error && (options->fold || options->fold_exception_count))
		error = weft__layout_fold(model, options, &e.tree, columns);
	if (!error)
		error = report_progress(options, 0.5);
	if (!error)
		error = weft__layout_place(model, options, &e.tree, columns, &e.occupancy, ret_row_count);
	weft__tree_finish(&e.tree);
	weft__occupancy_finish(&e.occupancy);
	if (columns->above != columns->parent)
		free(columns->above);
	columns->above = NULL;
	return error;
}

static void free_columns(struct weft__columns *c)
{
	void *columns[] = {c->start, c->parent, c->row, c->moved, c->form, c->fold_of, c->folds,
		c->members, c->member_ends, c->group_of, c->groups, c->group_names, c->changed, c->refused};
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		free(columns[i]);
	weft__forest_destroy(c->forest);
	weft__tries_finish(&c->tries);
	*c = (struct weft__columns){0};
}

/* Makes the columns from the previous layout's; WEFT_AGAIN if they must be made as a whole. */
static int grow(const struct weft_model *model, const struct weft_layout_options *options,
	struct whole_layout *whole, uint32_t *ret_row_count)
{
	const struct weft_layout *previous = options->previous;
	if (!previous)
		return WEFT_AGAIN;
	/* The columns that callers see are never changed, only what is behind them. */
	struct whole_layout *former = (struct whole_layout *)(uintptr_t)previous;
	int error = weft__layout_grow(model, options, &former->columns, &whole->columns, ret_row_count);
	whole->columns.above = NULL;
	if (error) {
		free_columns(&whole->columns);
		return error;
	}
	if (!whole->columns.has_shifted)
		whole->former = previous;
	whole->growth =
		(struct weft__layout_growth){whole->columns.changed, whole->columns.changed_count};
	return 0;
}

const struct weft__layout_growth *weft__layout_growth(
	const struct weft_layout *layout, const struct weft_layout *former)
{
	const struct whole_layout *whole = (const struct whole_layout *)layout;
	return former && whole->former == former ? &whole->growth : NULL;
}

WEFT__EXPORT int weft_layout_create(const struct weft_model *model,
	const struct weft_layout_options *options, struct weft_layout **ret_layout)
{
	struct weft_layout_options settled = {0};
	uint32_t row_count = 0;
	struct whole_layout *whole = calloc(1, sizeof(*whole));
	if (!whole)
		return WEFT_ERROR_MEMORY;
	if (options)
		WEFT__OPTIONS_COPY(&settled, options);
	settled.group_by = weft__layout_settle_group_by(model, settled.group_by);
	if (settled.previous && settled.previous->model->tasks.count > model->tasks.count)
		settled.previous = NULL; /* it belongs to something else */
	int error = grow(model, &settled, whole, &row_count);
	if (error == WEFT_AGAIN)
		error = make(model, &settled, &whole->columns, &row_count);
	publish(whole, model, settled.group_by, row_count);
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
	free_columns(&whole->columns);
	free(whole);
}

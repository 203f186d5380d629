/* SPDX-License-Identifier: ISC
 *
 * A layout is a set of columns beside the model's, in one allocation each, made one after the
 * other, in steps.
 */
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/both.h"
#include "base/export.h"
#include "base/options.h"
#include "layout/growth.h"
#include "layout/maker.h"

struct whole_layout {
	struct weft_layout public; /* first member: callers hold a pointer to it */
	struct weft__columns columns;
	const struct weft_layout *former; /* the layout from which it grew, or NULL */
	struct weft__layout_growth growth;
};

struct weft__layout_maker {
	const struct weft_model *model;
	struct weft_layout_options options;
	struct whole_layout *whole;
	unsigned done; /* stages */
	struct weft__tree tree;
	struct weft__occupancy occupancy;
	int tree_error, occupancy_error;
	struct weft__placing *placing;
	uint32_t row_count;
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
	const struct weft_layout_options *options, uint32_t row_count)
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
		.has_waits = c->has_waits,
		.shows_kicks = options->no_simplify,
		.fold_of = c->fold_of,
		.folds = c->folds,
		.fold_count = c->fold_count,
		.fold_members = c->members,
		.fold_ends = c->member_ends,
		.group_of = c->group_of,
		.groups = c->groups,
		.group_count = c->group_count,
		.group_by = c->group_count ? options->group_by : WEFT_GROUP_BY_NONE,
	};
}

static void free_columns(struct weft__columns *c)
{
	void *columns[] = {c->start, c->parent, c->row, c->moved, c->form, c->fold_of, c->folds,
		c->members, c->member_ends, c->group_of, c->groups, c->group_names, c->changed, c->refused};
	for (size_t i = 0; i < sizeof(columns) / sizeof(*columns); i++)
		free(columns[i]);
	weft__layout_forest_destroy(c->forest);
	weft__layout_tries_finish(&c->tries);
	*c = (struct weft__columns){0};
}

/* Makes the columns from the previous layout's; WEFT_AGAIN if they must be made as a whole. */
static int grow(struct weft__layout_maker *maker)
{
	const struct weft_layout *previous = maker->options.previous;
	struct whole_layout *whole = maker->whole;
	if (!previous)
		return WEFT_AGAIN;
	/* The columns that callers see are never changed, only what is behind them. */
	struct whole_layout *former = (struct whole_layout *)(uintptr_t)previous;
	int error = weft__layout_grow(
		maker->model, &maker->options, &former->columns, &whole->columns, &maker->row_count);
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

static int settle_parents(struct weft__layout_maker *maker)
{
	const struct weft_layout_options *options = &maker->options;
	struct weft__columns *columns = &maker->whole->columns;
	const uint32_t count = maker->model->tasks.count;
	int error = allocate(columns, count);
	if (!error)
		error = weft__layout_simplify(maker->model, options, columns);
	if (!error && options->hidden)
		weft__layout_hide(maker->model, options->hidden, columns);
	/* The column was scratch so far. */
	if (!error && options->no_rows && count)
		memset(columns->row, 0xff, count * sizeof(*columns->row));
	return error;
}

static int group(struct weft__layout_maker *maker)
{
	return weft__layout_group(maker->model, &maker->options, &maker->whole->columns);
}

static int find_waits(struct weft__layout_maker *maker)
{
	const struct weft_layout_options *options = &maker->options;
	return options->no_simplify ? 0
								: weft__layout_find_waits(maker->model, options->previous, 0, 0,
									  &maker->whole->columns);
}

/* The two jobs that follow when starts and parents are known: the walk, and the occupancy. They are
 * independent. */
static void make_tree(void *context)
{
	struct weft__layout_maker *maker = context;
	maker->tree_error = weft__layout_tree_init(&maker->tree, maker->model, &maker->whole->columns);
}

static void make_occupancy(void *context)
{
	struct weft__layout_maker *maker = context;
	if (!maker->whole->columns.group_count)
		maker->occupancy_error =
			weft__layout_expect(maker->model, &maker->whole->columns, &maker->occupancy);
}

static int expect(struct weft__layout_maker *maker)
{
	const struct weft_progress *progress = maker->options.progress;
	weft__both(progress ? progress->help : NULL, make_tree, maker, make_occupancy, maker);
	return maker->tree_error ? maker->tree_error : maker->occupancy_error;
}

static int fold(struct weft__layout_maker *maker)
{
	const struct weft_layout_options *options = &maker->options;
	if (!options->fold && !options->fold_exception_count)
		return 0;
	return weft__layout_fold(maker->model, options, &maker->tree, &maker->whole->columns);
}

static int find_rows(struct weft__layout_maker *maker)
{
	int error = 0;
	if (!maker->placing)
		error = weft__layout_placing_create(maker->model, &maker->options, &maker->tree,
			&maker->whole->columns, &maker->occupancy, &maker->placing);
	return error ? error : weft__layout_placing_step(maker->placing, &maker->row_count);
}

/* The functions that make a layout, in this order. Each stage's `begin` is about the share of the
 * time that those before it take. */
static const struct {
	int (*run)(struct weft__layout_maker *maker); /* WEFT_AGAIN: it goes on in the next step */
	double begin;
} stages[] = {{grow, 0}, {settle_parents, 0}, {group, 0.25}, {find_waits, 0.3}, {expect, 0.35},
	{fold, 0.45}, {find_rows, 0.55}};

#define STAGES        (sizeof(stages) / sizeof(stages[0]))
#define PARENT_STAGES 2 /* after these, only rows are missing */

static unsigned count_stages(const struct weft__layout_maker *maker)
{
	return maker->options.no_rows ? PARENT_STAGES : STAGES;
}

/* Asks whether to go on. */
static int report_progress(const struct weft__layout_maker *maker)
{
	const struct weft_progress *progress = maker->options.progress;
	double part = stages[maker->done].begin;
	return progress && progress->step && !progress->step(progress->context, part)
			   ? WEFT_ERROR_CANCELED
			   : 0;
}

static int run_stage(struct weft__layout_maker *maker)
{
	int status = report_progress(maker);
	if (!status)
		status = stages[maker->done].run(maker);
	if (maker->done == 0) {
		/* A layout that grew lacks nothing. */
		maker->done = status == WEFT_AGAIN ? 1 : status ? 0 : STAGES;
		return status;
	}
	maker->done += status == WEFT_OK;
	return status == WEFT_OK && maker->done < count_stages(maker) ? WEFT_AGAIN : status;
}

/* Frees what is only needed while a layout is made. */
static void free_scratch(struct weft__layout_maker *maker)
{
	struct weft__columns *columns = &maker->whole->columns;
	weft__layout_placing_destroy(maker->placing);
	weft__layout_tree_finish(&maker->tree);
	weft__layout_occupancy_finish(&maker->occupancy);
	if (columns->above != columns->parent)
		free(columns->above);
	columns->above = NULL;
}

int weft__layout_maker_create(const struct weft_model *model,
	const struct weft_layout_options *options, struct weft__layout_maker **ret_maker)
{
	struct weft__layout_maker *maker = calloc(1, sizeof(*maker));
	if (maker)
		maker->whole = calloc(1, sizeof(*maker->whole));
	if (!maker || !maker->whole) {
		free(maker);
		return WEFT_ERROR_MEMORY;
	}
	maker->model = model;
	if (options)
		WEFT__OPTIONS_COPY(&maker->options, options);
	maker->options.group_by = weft__layout_settle_group_by(model, maker->options.group_by);
	if (maker->options.previous && maker->options.previous->model->tasks.count > model->tasks.count)
		maker->options.previous = NULL; /* it belongs to something else */
	if (maker->options.no_rows)
		maker->options.previous = NULL; /* whose rows would be kept */
	*ret_maker = maker;
	return 0;
}

int weft__layout_maker_step(struct weft__layout_maker *maker, struct weft_layout **ret_layout)
{
	int status = run_stage(maker);
	if (status)
		return status;
	free_scratch(maker);
	publish(maker->whole, maker->model, &maker->options, maker->row_count);
	*ret_layout = &maker->whole->public;
	maker->whole = NULL;
	return 0;
}

void weft__layout_maker_destroy(struct weft__layout_maker *maker)
{
	if (maker && maker->whole) {
		free_scratch(maker);
		weft_layout_destroy(&maker->whole->public);
	}
	free(maker);
}

WEFT__EXPORT int weft_layout_create(const struct weft_model *model,
	const struct weft_layout_options *options, struct weft_layout **ret_layout)
{
	struct weft__layout_maker *maker = NULL;
	int status = weft__layout_maker_create(model, options, &maker);
	if (status)
		return status;
	do
		status = weft__layout_maker_step(maker, ret_layout);
	while (status == WEFT_AGAIN);
	weft__layout_maker_destroy(maker);
	return status;
}

const struct weft__layout_growth *weft__layout_growth(
	const struct weft_layout *layout, const struct weft_layout *former)
{
	const struct whole_layout *whole = (const struct whole_layout *)layout;
	return former && whole->former == former ? &whole->growth : NULL;
}

WEFT__EXPORT void weft_layout_destroy(struct weft_layout *layout)
{
	struct whole_layout *whole = (struct whole_layout *)layout;
	if (!whole)
		return;
	free_columns(&whole->columns);
	free(whole);
}

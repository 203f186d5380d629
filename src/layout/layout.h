/* SPDX-License-Identifier: ISC
 *
 * The parts of layout: a layout's columns while they are made, in the order of making.
 *
 *     simplify.c  starts and parents
 *     hide.c      without what is hidden
 *     groups.c    which group a task is in
 *     tree.c      the order of the walk
 *     labels.c    which labels are alike
 *     folds.c     which siblings fold
 *     rows.c      rows
 */
#ifndef WEFT_LAYOUT_LAYOUT_H
#define WEFT_LAYOUT_LAYOUT_H

#include <weft/error.h>
#include <weft/layout.h>

#include "layout/occupancy.h"

struct weft__columns {
	uint64_t *start;
	uint32_t *parent;
	uint32_t *above; /* the parent, if it is in the same group; `parent` itself without groups */
	uint32_t *row;
	bool *moved;
	uint8_t *form;
	uint32_t *fold_of;
	struct weft_fold *folds;
	uint32_t fold_count;
	size_t fold_capacity;
	uint32_t *members;
	uint64_t *member_ends;
	uint32_t member_count;
	size_t member_capacity;
	uint32_t *group_of;
	struct weft_group *groups;
	char *group_names;
	uint32_t group_count;
};

/* The walk: depth first, group by group. What hangs below a task is right behind it. */
struct weft__tree {
	uint32_t *order; /* tasks that are shown */
	uint32_t *size;  /* by task: it and all below it */
	uint32_t count;
};

/* Fills start, parent, moved and form: as created, each task reachable from a root, then by the
 * rule of simplification; what moved in the previous layout stays moved. 0 or WEFT_ERROR_MEMORY. */
int weft__layout_simplify(const struct weft_model *model, const struct weft_layout_options *options,
	struct weft__columns *columns);

/* Hangs what is below a hidden task under the nearest that is shown. */
void weft__layout_hide(
	const struct weft_model *model, const uint8_t *hidden, struct weft__columns *columns);

/* Fills above; group_of and groups, if there is more than one. 0 or WEFT_ERROR_MEMORY. */
int weft__layout_group(const struct weft_model *model, const struct weft_layout_options *options,
	struct weft__columns *columns);

/* 0 or WEFT_ERROR_MEMORY. */
int weft__tree_init(
	struct weft__tree *tree, const struct weft_model *model, const struct weft__columns *columns);
void weft__tree_finish(struct weft__tree *tree);

/* A number by string, equal for strings that differ in digits only. 0 or WEFT_ERROR_MEMORY; the
 * caller frees. */
int weft__labels_classify(const struct weft_model *model, uint32_t **ret_class);

/* Fills fold_of, folds and members, and makes members and what is below them FOLDED. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__layout_fold(const struct weft_model *model, const struct weft_layout_options *options,
	const struct weft__tree *tree, struct weft__columns *columns);

/* An occupancy for all that is shown, if there are no groups, which have one each. It wants no walk
 * and no folds. 0 or WEFT_ERROR_MEMORY; finish must follow either. */
int weft__layout_expect(const struct weft_model *model, struct weft__columns *columns,
	struct weft__occupancy *ret_occupancy);

/* Fills row, and the rows of folds and groups. 0 or WEFT_ERROR_MEMORY. */
int weft__layout_place(const struct weft_model *model, const struct weft_layout_options *options,
	const struct weft__tree *tree, struct weft__columns *columns, struct weft__occupancy *occupancy,
	uint32_t *ret_row_count);

#endif

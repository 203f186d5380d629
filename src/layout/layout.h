/* SPDX-License-Identifier: ISC
 *
 * The parts of layout: a layout's columns while they are made, in this order.
 *
 *     simplify.c  starts and parents
 *     hide.c      removes hidden tasks
 *     groups.c    each task's group
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
	uint32_t *above; /* the parent, if it is in the same group; equals `parent` without groups */
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

/* The walk: depth first, group by group. A task's descendants directly follow it. */
struct weft__tree {
	uint32_t *order; /* shown tasks */
	uint32_t *size;  /* by task: 1 + the number of its descendants */
	uint32_t count;
};

/* Fills start, parent, moved and form: first as created, with each task reachable from a root, then
 * by the rule of simplification; tasks that moved in the previous layout stay moved. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__layout_simplify(const struct weft_model *model, const struct weft_layout_options *options,
	struct weft__columns *columns);

/* Moves children of hidden tasks under their nearest ancestor that is shown. */
void weft__layout_hide(
	const struct weft_model *model, const uint8_t *hidden, struct weft__columns *columns);

/* Fills above; group_of and groups, if there is more than one. 0 or WEFT_ERROR_MEMORY. */
int weft__layout_group(const struct weft_model *model, const struct weft_layout_options *options,
	struct weft__columns *columns);

/* 0 or WEFT_ERROR_MEMORY. */
int weft__tree_init(
	struct weft__tree *tree, const struct weft_model *model, const struct weft__columns *columns);
void weft__tree_finish(struct weft__tree *tree);

/* Assigns a number to each string, equal for strings that differ only in digits. 0 or
 * WEFT_ERROR_MEMORY; the caller frees it. */
int weft__labels_classify(const struct weft_model *model, uint32_t **ret_class);

/* Fills fold_of, folds and members, and marks members and their descendants FOLDED. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__layout_fold(const struct weft_model *model, const struct weft_layout_options *options,
	const struct weft__tree *tree, struct weft__columns *columns);

/* Makes an occupancy for all shown tasks, unless there are groups, which have one each. It needs
 * neither walk nor folds. 0 or WEFT_ERROR_MEMORY; call finish in both cases. */
int weft__layout_expect(const struct weft_model *model, struct weft__columns *columns,
	struct weft__occupancy *ret_occupancy);

/* Fills row, and the rows of folds and groups. 0 or WEFT_ERROR_MEMORY. */
int weft__layout_place(const struct weft_model *model, const struct weft_layout_options *options,
	const struct weft__tree *tree, struct weft__columns *columns, struct weft__occupancy *occupancy,
	uint32_t *ret_row_count);

#endif

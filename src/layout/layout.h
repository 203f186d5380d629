/* SPDX-License-Identifier: ISC
 *
 * The parts of layout: a layout's columns while they are made, in this order.
 *
 *     simplify.c  starts and parents
 *     hide.c      removes hidden tasks
 *     groups.c    each task's group
 *     waits.c     which promises need no row
 *     tree.c      the order of the walk
 *     labels.c    which labels are alike
 *     folds.c     which siblings fold
 *     rows.c      rows
 *
 *     grow.c      all of that at once for the next snapshot of a growing trace
 */
#ifndef WEFT_LAYOUT_LAYOUT_H
#define WEFT_LAYOUT_LAYOUT_H

#include <weft/error.h>
#include <weft/layout.h>

#include "layout/forest.h"
#include "layout/occupancy.h"
#include "layout/tries.h"

struct weft__columns {
	uint64_t *start;
	uint32_t *parent;
	uint32_t *above; /* the parent, if it is in the same group; equals `parent` without groups */
	uint32_t *row;
	bool *moved;
	uint8_t *form;
	bool has_waits;
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
	/* Only for a live model: for the next layout, which takes them over. */
	struct weft__forest *forest; /* of the parents */
	struct weft__tries tries;
	/* Tasks that would have moved below themselves, in ascending order: they may move later. */
	uint32_t *refused;
	uint32_t refused_count;
	size_t refused_capacity;
	/* Only of a layout that grew: see growth.h. */
	uint32_t *changed;
	uint32_t changed_count;
	bool has_shifted; /* groups that were below others have moved */
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

/* The read at which a task starts if the rule moves it, unless another task tried to read it before
 * then; or WEFT_NONE. */
uint32_t weft__layout_waking_read(const struct weft_model *model, uint32_t task);
/* Moves a task to that read, unless it would become its own descendant. 0 or WEFT_ERROR_MEMORY. */
int weft__layout_move(const struct weft_model *model, struct weft__forest *forest, uint32_t task,
	uint32_t read, struct weft__columns *columns);

/* Makes the columns of the next snapshot from those of the former one, options->previous, as far as
 * they do not depend on what is new. 0, WEFT_AGAIN if this is not possible, or WEFT_ERROR_MEMORY.
 * In all cases, `former` loses its working memory. */
int weft__layout_grow(const struct weft_model *model, const struct weft_layout_options *options,
	struct weft__columns *former, struct weft__columns *columns, uint32_t *ret_row_count);

/* Moves children of hidden tasks under their nearest ancestor that is shown. */
void weft__layout_hide(
	const struct weft_model *model, const uint8_t *hidden, struct weft__columns *columns);

/* Replaces WEFT_GROUP_BY_AUTO. */
enum weft_group_by weft__layout_settle_group_by(
	const struct weft_model *model, enum weft_group_by by);
/* Fills above; group_of and groups, if there is more than one. 0 or WEFT_ERROR_MEMORY. */
int weft__layout_group(const struct weft_model *model, const struct weft_layout_options *options,
	struct weft__columns *columns);

/* Fills group_of and groups from those of options->previous, of the former snapshot. 0; WEFT_AGAIN
 * if there are other groups now, or some are folded; or WEFT_ERROR_MEMORY. */
int weft__layout_keep_groups(const struct weft_model *model,
	const struct weft_layout_options *options, struct weft__columns *columns);

/* Gives WEFT_FORM_WAIT to tasks from `first` on, of which no edge before `first_edge` knows; those
 * that the previous layout has only if they had it there. `previous` may be NULL. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__layout_find_waits(const struct weft_model *model, const struct weft_layout *previous,
	uint32_t first, uint32_t first_edge, struct weft__columns *columns);

/* 0 or WEFT_ERROR_MEMORY. */
int weft__layout_tree_init(
	struct weft__tree *tree, const struct weft_model *model, const struct weft__columns *columns);
void weft__layout_tree_finish(struct weft__tree *tree);

/* The class of each string that is a task's name: see labels.h. 0 or WEFT_ERROR_MEMORY; the caller
 * frees it. */
int weft__layout_labels_classify(const struct weft_model *model, uint32_t **ret_class);

/* Fills fold_of, folds and members, and marks members and their descendants FOLDED. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__layout_fold(const struct weft_model *model, const struct weft_layout_options *options,
	const struct weft__tree *tree, struct weft__columns *columns);

/* Makes an occupancy for all shown tasks, unless there are groups, which have one each. It needs
 * neither walk nor folds. 0 or WEFT_ERROR_MEMORY; call finish in both cases. */
int weft__layout_expect(const struct weft_model *model, struct weft__columns *columns,
	struct weft__occupancy *ret_occupancy);

/* Places new tasks, in an order in which parents come first: those that start before `known_from`
 * from row `bottom` on, because the occupancy does not know what was there before. 0 or
 * WEFT_ERROR_MEMORY. */
int weft__layout_place_new(const struct weft_model *model, const struct weft_help *help,
	const struct weft__tree *tree, struct weft__columns *columns, struct weft__occupancy *occupancy,
	uint64_t known_from, uint32_t bottom);
/* Makes an occupancy of the starts of the tasks in the tree, and of one more. */
int weft__layout_expect_new(const struct weft_model *model, const struct weft__tree *tree,
	struct weft__columns *columns, uint64_t start, struct weft__occupancy *ret_occupancy);

/* Fills row, and the rows of folds and groups, in steps: WEFT_AGAIN until the last one, which sets
 * `*ret_row_count`; or WEFT_ERROR_MEMORY. */
struct weft__placing;
int weft__layout_placing_create(const struct weft_model *model,
	const struct weft_layout_options *options, const struct weft__tree *tree,
	struct weft__columns *columns, struct weft__occupancy *occupancy,
	struct weft__placing **ret_placing);
int weft__layout_placing_step(struct weft__placing *placing, uint32_t *ret_row_count);
void weft__layout_placing_destroy(struct weft__placing *placing);

#endif

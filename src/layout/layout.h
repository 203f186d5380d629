/* SPDX-License-Identifier: ISC
 *
 * The parts of layout: a layout's columns while they are made.
 */
#ifndef WEFT_LAYOUT_LAYOUT_H
#define WEFT_LAYOUT_LAYOUT_H

#include <weft/error.h>
#include <weft/layout.h>

struct weft__columns {
	uint64_t *start;
	uint32_t *parent;
	uint32_t *row;
	bool *moved;
};

/* Fills start, parent and moved: as created, each task reachable from a root. */
void weft__layout_copy(const struct weft_model *model, struct weft__columns *columns);

/* Applies the rule of simplification to them. 0 or WEFT_ERROR_MEMORY. */
int weft__layout_simplify(const struct weft_model *model, struct weft__columns *columns);

/* Fills row. 0 or WEFT_ERROR_MEMORY. */
int weft__layout_place(
	const struct weft_model *model, struct weft__columns *columns, uint32_t *ret_row_count);

#endif

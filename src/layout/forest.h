/* SPDX-License-Identifier: ISC
 *
 * A forest whose nodes change parents. It finds out whether a node is a descendant of another in
 * O(log n) amortized, however deep the forest is.
 */
#ifndef WEFT_LAYOUT_FOREST_H
#define WEFT_LAYOUT_FOREST_H

#include <stdbool.h>
#include <stdint.h>

struct weft__forest;

/* `parents[i]` is i's parent or WEFT_NONE; there are no cycles. NULL without memory. */
struct weft__forest *weft__layout_forest_create(const uint32_t *parents, uint32_t count);
/* Adds nodes up to `count`; no parent may be below its own child. False without memory: then the
 * forest is as before. */
bool weft__layout_forest_add(struct weft__forest **forest, const uint32_t *parents, uint32_t count);
void weft__layout_forest_destroy(struct weft__forest *forest);

/* Moves `node`, with its descendants, under `parent`. False without a change if `parent` is `node`
 * itself or its descendant. `current` is its present parent, or WEFT_NONE. */
bool weft__layout_forest_move(
	struct weft__forest *forest, uint32_t node, uint32_t current, uint32_t parent);

#endif

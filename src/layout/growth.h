/* SPDX-License-Identifier: ISC
 *
 * The new parts of the layout of a growing trace, compared with the former one; for the scene.
 */
#ifndef WEFT_LAYOUT_GROWTH_H
#define WEFT_LAYOUT_GROWTH_H

#include <weft/layout.h>

struct weft__layout_growth {
	/* Tasks of the former layout whose start, parent or `moved` differ, in ascending order. Rows,
	 * forms and folds are equal. */
	const uint32_t *changed;
	uint32_t changed_count;
};

/* NULL unless `former` was the `previous` layout of `layout`, and only the columns that depend on
 * what is new were made, and no group has moved. The result is the layout's. */
const struct weft__layout_growth *weft__layout_growth(
	const struct weft_layout *layout, const struct weft_layout *former);

#endif

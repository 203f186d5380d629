/* SPDX-License-Identifier: ISC
 *
 * The row axis, solved anew whenever what it depends on has changed.
 */
#ifndef WEFT_VIEW_ROWS_H
#define WEFT_VIEW_ROWS_H

#include <weft/view.h>

/* Fills view->rows from height, row_count and focus, which it clamps. */
void weft__view_solve_rows(struct weft_view *view);

#endif

/* SPDX-License-Identifier: ISC
 *
 * The row axis, recomputed whenever its inputs change.
 */
#ifndef WEFT_VIEW_ROWS_H
#define WEFT_VIEW_ROWS_H

#include <weft/view.h>

/* Fills view->rows from height, row_count and focus; clamps the focus. */
void weft__view_solve_rows(struct weft_view *view);

#endif

/* SPDX-License-Identifier: ISC
 *
 * Handles of folds: a click on one folds or unfolds.
 */
#ifndef WEFT_RENDER_HANDLES_H
#define WEFT_RENDER_HANDLES_H

#include "render/scene/scene.h"

/* The handle's middle on the canvas; false if it is not visible. */
bool weft__render_handle_point(const struct weft_layout *layout, const struct weft_box *picture,
	const struct weft_view *view, uint32_t fold, double *ret_x, double *ret_y);

#endif

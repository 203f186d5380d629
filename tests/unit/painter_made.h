/* SPDX-License-Identifier: ISC
 *
 * Painters for tests of single steps of a picture.
 */
#ifndef WEFT_TESTS_PAINTER_MADE_H
#define WEFT_TESTS_PAINTER_MADE_H

#include <stdlib.h>
#include <string.h>

#include "render/painter.h"

/* A painter at the begin of a picture without lanes, in the light theme; the caller frees it. */
static inline struct painter *painter_made(const struct weft_scene *scene,
	const struct weft_frame *frame, const struct weft_view *view, struct weft_canvas *canvas)
{
	static const struct weft_render_options options;
	const struct painter begun = {
		.scene = scene,
		.model = scene->model,
		.layout = scene->layout,
		.frame = frame,
		.view = view,
		.options = &options,
		.font = &weft_font_builtin,
		.theme = weft__render_theme(WEFT_THEME_LIGHT),
		.x0 = frame->picture.x,
		.y0 = frame->picture.y,
		.left = weft_view_time(view, 0),
		.right = weft_view_time(view, frame->picture.width) + 1,
		.canvas = canvas,
	};
	struct painter *painter = malloc(sizeof(*painter));
	assert_non_null(painter);
	memcpy(painter, &begun, sizeof(begun)); /* members are const: an assignment is refused */
	return painter;
}

#endif

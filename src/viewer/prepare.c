/* SPDX-License-Identifier: ISC
 *
 * Makes model, layout and scene of a large trace in another thread, so that the window responds
 * until the viewer takes them over.
 */
#include <stdlib.h>

#include "base/export.h"
#include "viewer/state.h"

WEFT__EXPORT int weft_viewer_prepare(struct weft_model *model, const struct weft_progress *progress,
	struct weft_viewer_prepared **ret_prepared)
{
	struct weft_viewer_prepared *p = calloc(1, sizeof(*p));
	const struct weft__rows rows = {.no_fold = false};
	if (!p)
		return WEFT_ERROR_MEMORY;
	int error = weft__viewer_rows_lay_out(&rows, model, NULL, progress, &p->layout, &p->scene);
	p->story = (struct weft_story){.model = model, .layout = p->layout};
	if (error) {
		weft_viewer_prepared_destroy(p);
		return error;
	}
	p->model = model;
	*ret_prepared = p;
	return 0;
}

WEFT__EXPORT void weft_viewer_prepared_destroy(struct weft_viewer_prepared *prepared)
{
	if (!prepared)
		return;
	weft_scene_destroy(prepared->scene);
	weft_layout_destroy(prepared->layout);
	weft_model_destroy(prepared->model);
	free(prepared);
}

/* SPDX-License-Identifier: ISC
 *
 * The bars of a track.
 */
#ifndef WEFT_RENDER_TASKS_TRACKS_H
#define WEFT_RENDER_TASKS_TRACKS_H

#include <weft/model.h>

#include "render/tasks/bars.h"

/* Draws the spans of a track as bars. */
void weft__render_draw_track(struct painter *p, uint32_t task, const struct weft__bar_box *box);

static inline bool weft__render_is_track(const struct weft_model *model, uint32_t task)
{
	return model->tasks.kind[task] == WEFT_KIND_TRACK;
}

#endif

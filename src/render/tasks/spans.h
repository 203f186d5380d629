/* SPDX-License-Identifier: ISC
 *
 * The spans of one frame: what the step that draws tasks passes to the one that writes names.
 */
#ifndef WEFT_RENDER_TASKS_SPANS_H
#define WEFT_RENDER_TASKS_SPANS_H

#include <stdint.h>

#include "render/tasks/bars.h"

/* How light a span in a bar is, and a part of it in which it may have ended beside that. */
#define WEFT__SPAN_LIGHT     0.62
#define WEFT__SPAN_UNCERTAIN 0.45

struct painter;
struct weft__spans;

/* NULL without memory. */
struct weft__spans *weft__render_spans_create(void);
void weft__render_spans_destroy(struct weft__spans *spans);

/* Draws the spans of a task above its bars. */
void weft__render_draw_spans(struct painter *p, uint32_t task, const struct weft__bar_box *box);
/* Writes their names, where names of tasks leave room. */
void weft__render_name_spans(struct painter *p);

#endif

/* SPDX-License-Identifier: ISC
 *
 * Bars whose threads had no processor for a part of the time.
 */
#ifndef WEFT_RENDER_TASKS_OFF_CPU_H
#define WEFT_RENDER_TASKS_OFF_CPU_H

#include <stdint.h>

#include "render/tasks/bars.h"

struct painter;

/* Hollows out the bars of a task that have been drawn. */
void weft__render_draw_off_cpu(struct painter *p, uint32_t task, const struct weft__bar_box *box);

#endif

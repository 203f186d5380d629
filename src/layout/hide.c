/* SPDX-License-Identifier: ISC
 *
 * A filter takes tasks out of the picture, never what hangs below them: that comes under the
 * nearest ancestor that is left, or becomes a root.
 */
#include "layout/layout.h"

/* The nearest that is shown, from `task` upwards; every step on the way then leads there directly,
 * so that all ways together cost no more than twice the tasks. */
static uint32_t nearest_shown(uint32_t *parent, const uint8_t *hidden, uint32_t task)
{
	uint32_t shown = task;
	while (shown != WEFT_NONE && hidden[shown])
		shown = parent[shown];
	while (task != WEFT_NONE && hidden[task]) {
		uint32_t next = parent[task];
		parent[task] = shown;
		task = next;
	}
	return shown;
}

void weft__layout_hide(
	const struct weft_model *model, const uint8_t *hidden, struct weft__columns *columns)
{
	for (uint32_t task = 0; task < model->tasks.count; task++) {
		columns->parent[task] = nearest_shown(columns->parent, hidden, columns->parent[task]);
		if (hidden[task])
			columns->form[task] = WEFT_FORM_HIDDEN;
	}
}

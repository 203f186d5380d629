/* SPDX-License-Identifier: ISC
 *
 * Hides tasks by a filter, but not their children: these move under the nearest ancestor that is
 * shown, or become roots.
 */
#include "layout/layout.h"

/* The nearest shown ancestor, with path compression: all calls together cost at most twice the
 * number of tasks. */
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

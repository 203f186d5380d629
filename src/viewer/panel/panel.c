/* SPDX-License-Identifier: ISC
 *
 * The panel as a list that the shell shows with its own widgets. It is rebuilt when something in it
 * has changed. Its strings lie in one growing text, which may move; so until the list is complete,
 * items hold offsets instead of pointers.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/export.h"
#include "viewer/commands/commands.h"
#include "viewer/state.h"

const char *weft__viewer_panel_format(char buffer[256], const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(buffer, 256, format, arguments);
	va_end(arguments);
	return buffer;
}

/* Returns an offset, stored as a pointer. */
static const char *keep(struct weft__panel *panel, const char *string)
{
	size_t at = panel->text.size, size = strlen(string), need = 3 * size + 1;
	char small[512], *clean = need <= sizeof(small) ? small : malloc(need);
	if (!clean) {
		panel->error = WEFT_ERROR_MEMORY;
		return NULL;
	}
	size_t length = weft_canvas_clean_text(string, size, clean, need);
	weft_text_add(&panel->text, clean, length);
	weft_text_add(&panel->text, "", 1);
	if (clean != small)
		free(clean);
	return (const char *)(uintptr_t)at;
}

void weft__viewer_panel_add(struct weft_viewer *viewer, enum weft_viewer_item_type type,
	const char *text, const char *detail, const char *command)
{
	struct weft__panel *panel = &viewer->panel;
	uint32_t count = panel->shown.item_count;
	if (panel->error)
		return;
	if (count == panel->capacity) {
		size_t capacity = weft__array_next_capacity(panel->capacity, count + (size_t)1);
		panel->error = weft__array_resize(&panel->items, capacity, sizeof(*panel->items));
		if (panel->error)
			return;
		panel->capacity = capacity;
	}
	panel->items[count] = (struct weft_viewer_item){
		.type = (uint8_t)type,
		.text = keep(panel, text),
		.detail = keep(panel, detail),
		.command = keep(panel, command),
	};
	panel->shown.item_count++;
}

void weft__viewer_panel_add_command(
	struct weft_viewer *viewer, const char *command, const char *text)
{
	const struct weft__command *row = weft__viewer_command_row(command);
	char key[WEFT__KEY_BYTES];
	weft__viewer_panel_add(viewer, row->is_on ? WEFT_VIEWER_TOGGLE : WEFT_VIEWER_LINK,
		text ? text : row->text, weft__viewer_key_name(viewer, row, key), command);
	weft__viewer_panel_last(viewer)->is_selected = weft__viewer_command_is_on(viewer, row);
}

struct weft_viewer_item *weft__viewer_panel_last(struct weft_viewer *viewer)
{
	struct weft__panel *panel = &viewer->panel;
	uint32_t count = panel->shown.item_count;
	return count ? &panel->items[count - 1] : &panel->unused;
}

void weft__viewer_panel_set_command(struct weft_viewer *viewer, const char *command)
{
	weft__viewer_panel_last(viewer)->command = keep(&viewer->panel, command);
}

static const struct {
	const char *name, *title;
	void (*fill)(struct weft_viewer *viewer);
	bool needs_trace;
} kinds[WEFT__PANELS] = {
	[WEFT__PANEL_NONE] = {"", "", NULL, false},
	[WEFT__PANEL_STORY] = {"story", "Task", weft__viewer_fill_story, true},
	[WEFT__PANEL_CHAIN] = {"chain", "Wait chain", weft__viewer_fill_chain, true},
	[WEFT__PANEL_PROBLEMS] = {"problems", "Problems", weft__viewer_fill_problems, true},
	[WEFT__PANEL_SEARCH] = {"search", "Search", weft__viewer_fill_search, true},
	[WEFT__PANEL_COUNTERS] = {"counters", "Counters", weft__viewer_fill_counters, true},
	[WEFT__PANEL_ROWS] = {"rows", "Rows", weft__viewer_fill_rows, true},
	[WEFT__PANEL_MARKS] = {"marks", "Bookmarks", weft__viewer_fill_marks, true},
	[WEFT__PANEL_HELP] = {"help", "Keys", weft__viewer_fill_help, false},
	[WEFT__PANEL_MENU] = {"menu", "Menu", weft__viewer_fill_menu, false},
	[WEFT__PANEL_EXPORT] = {"export", "Export", weft__viewer_fill_export, true},
	[WEFT__PANEL_STATISTICS] = {"stats", "Statistics", weft__viewer_fill_statistics, true},
	[WEFT__PANEL_FLAME] = {"flame", "Flame graph", weft__viewer_fill_flame, true},
};

enum weft__panel_kind weft__viewer_panel_named(const char *name)
{
	for (unsigned i = 1; i < WEFT__PANELS; i++)
		if (strcmp(kinds[i].name, name) == 0)
			return (enum weft__panel_kind)i;
	return WEFT__PANEL_NONE;
}

void weft__viewer_open_panel(struct weft_viewer *viewer, enum weft__panel_kind kind)
{
	bool was_open = viewer->panel.kind != WEFT__PANEL_NONE;
	if (kinds[kind].needs_trace && !viewer->model)
		return;
	if (kind == WEFT__PANEL_STORY && viewer->selection.task == WEFT_NONE)
		kind = WEFT__PANEL_NONE;
	viewer->panel.kind = kind;
	viewer->panel.is_stale = true;
	weft__viewer_statistics_want(viewer);
	if (was_open != (kind != WEFT__PANEL_NONE))
		weft__viewer_arrange(viewer);
	weft__viewer_place_buttons(viewer);
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

static void place_strings(struct weft__panel *panel)
{
	for (uint32_t i = 0; i < panel->shown.item_count; i++) {
		struct weft_viewer_item *item = &panel->items[i];
		const char **strings[] = {&item->text, &item->detail, &item->command};
		for (unsigned s = 0; s < 3; s++)
			*strings[s] = panel->text.bytes + (uintptr_t)*strings[s];
	}
	panel->shown.items = panel->items;
}

void weft__viewer_fill_panel(struct weft_viewer *viewer)
{
	struct weft__panel *panel = &viewer->panel;
	if (weft__viewer_statistics_are_stale(viewer))
		panel->is_stale = true;
	if (!panel->is_stale || weft__viewer_statistics_may_wait(viewer))
		return;
	panel->is_stale = false;
	panel->error = 0;
	panel->text.size = 0;
	panel->text.error = 0;
	panel->shown = (struct weft_viewer_panel){
		.title = kinds[panel->kind].title, .items = panel->items, .selected = WEFT_NONE};
	viewer->changes |= WEFT_VIEWER_PANEL;
	if (!kinds[panel->kind].fill)
		return;
	kinds[panel->kind].fill(viewer);
	if (panel->error || panel->text.error)
		panel->shown.item_count = 0;
	else
		place_strings(panel);
}

WEFT__EXPORT const struct weft_viewer_panel *weft_viewer_panel(const struct weft_viewer *viewer)
{
	return &viewer->panel.shown;
}

/* SPDX-License-Identifier: ISC
 *
 * The panel: a list of items for native widgets.
 */
#ifndef WEFT_VIEWER_PANEL_H
#define WEFT_VIEWER_PANEL_H

#include <weft/text.h>
#include <weft/viewer.h>

struct weft_viewer;

enum weft__panel_kind {
	WEFT__PANEL_NONE,
	WEFT__PANEL_STORY,
	WEFT__PANEL_CHAIN,
	WEFT__PANEL_PROBLEMS,
	WEFT__PANEL_SEARCH,
	WEFT__PANEL_COUNTERS,
	WEFT__PANEL_ROWS,
	WEFT__PANEL_MARKS,
	WEFT__PANEL_HELP,
	WEFT__PANEL_MENU,
	WEFT__PANEL_EXPORT,
	WEFT__PANEL_STATISTICS,
	WEFT__PANEL_FLAME,
	WEFT__PANELS
};

struct weft__panel {
	enum weft__panel_kind kind;
	bool is_stale;
	struct weft_viewer_panel shown;
	struct weft_viewer_item *items;
	size_t capacity;
	struct weft_text text; /* the items' strings; items hold offsets until the list is complete */
	struct weft_viewer_item unused; /* stands in for an item that could not be allocated */
	int error;
};

/* panel.c, and the files that fill panels: chain.c, flame.c, lists.c, menus.c, statistics.c,
 * story.c */
void weft__viewer_open_panel(struct weft_viewer *viewer, enum weft__panel_kind kind);
/* The panel of a name such as "rows"; WEFT__PANEL_NONE for "" or an unknown name. */
enum weft__panel_kind weft__viewer_panel_named(const char *name);
void weft__viewer_fill_panel(struct weft_viewer *viewer);
void weft__viewer_panel_add(struct weft_viewer *viewer, enum weft_viewer_item_type type,
	const char *text, const char *detail, const char *command);
/* Adds a command of the table with its text and key: a toggle if it has a state, else a link.
 * `text`, if it is not NULL, replaces the table's text. */
void weft__viewer_panel_add_command(
	struct weft_viewer *viewer, const char *command, const char *text);
/* The item that was added last. */
struct weft_viewer_item *weft__viewer_panel_last(struct weft_viewer *viewer);
void weft__viewer_panel_set_command(struct weft_viewer *viewer, const char *command);
__attribute__((format(printf, 2, 3))) const char *weft__viewer_panel_format(
	char buffer[256], const char *format, ...);
void weft__viewer_fill_story(struct weft_viewer *viewer);
void weft__viewer_fill_chain(struct weft_viewer *viewer);
void weft__viewer_fill_problems(struct weft_viewer *viewer);
void weft__viewer_fill_search(struct weft_viewer *viewer);
void weft__viewer_fill_counters(struct weft_viewer *viewer);
void weft__viewer_fill_rows(struct weft_viewer *viewer);
void weft__viewer_fill_statistics(struct weft_viewer *viewer);
void weft__viewer_fill_flame(struct weft_viewer *viewer);
void weft__viewer_fill_marks(struct weft_viewer *viewer);
void weft__viewer_fill_help(struct weft_viewer *viewer);
void weft__viewer_fill_menu(struct weft_viewer *viewer);
void weft__viewer_fill_export(struct weft_viewer *viewer);

#endif

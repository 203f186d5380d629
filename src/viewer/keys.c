/* SPDX-License-Identifier: ISC
 *
 * What each key and gesture does: one table, for the keyboard and for the help.
 */
#include <string.h>

#include "base/export.h"
#include "viewer/state.h"

#define SHIFT   WEFT_VIEWER_SHIFT
#define CONTROL WEFT_VIEWER_CONTROL

const struct weft__key weft__keys[] = {
	{"Look around", NULL, 0, NULL, NULL},
	{"wheel, pinch", NULL, 0, "", "zoom at the pointer"},
	{"drag", NULL, 0, "", "move the picture"},
	{"Shift + wheel", NULL, 0, "", "move in time"},
	{"Alt + wheel", NULL, 0, "", "move through the rows"},
	{"\xe2\x86\x90", "ArrowLeft", 0, "pan left", "earlier"},
	{"\xe2\x86\x92", "ArrowRight", 0, "pan right", "later"},
	{"\xe2\x86\x91", "ArrowUp", 0, "pan up", "rows above"},
	{"\xe2\x86\x93", "ArrowDown", 0, "pan down", "rows below"},
	{"+", "+", 0, "zoom in", "zoom in"},
	{NULL, "=", 0, "zoom in", NULL},
	{"\xe2\x88\x92", "-", 0, "zoom out", "zoom out"},
	{"0", "0", 0, "fit", "everything"},
	{"z", "z", 0, "zoom selection", "zoom to the range, or the selected task"},
	{"[", "[", 0, "back", "the view before"},
	{"]", "]", 0, "forward", "the view after"},
	{"s", "s", 0, "start", "begin at an exact time"},
	{"d", "d", 0, "duration", "show an exact length of time"},
	{"g", "g", 0, "rows", "rows through a lens, or plain"},
	{"f", "f", 0, "fold", "fold or unfold a run of alike tasks"},
	{"F", "F", 0, "fold all", "fold all such runs, or none"},
	{"G", "G", 0, "group", "rows by thread, by process, or together"},
	{"i", "i", 0, "filter", "show or hide by label, kind, thread"},
	{"R", "R", 0, "panel rows", "all about rows"},
	{"Tasks", NULL, 0, NULL, NULL},
	{"click", NULL, 0, "", "select, then what lies below; unfold"},
	{"double click", NULL, 0, "", "all that belongs to a task"},
	{"Shift + \xe2\x86\x90", "ArrowLeft", SHIFT, "task left", "the task before in its row"},
	{"Shift + \xe2\x86\x92", "ArrowRight", SHIFT, "task right", "the task after in its row"},
	{"Shift + \xe2\x86\x91", "ArrowUp", SHIFT, "task up", "a task in the row above"},
	{"Shift + \xe2\x86\x93", "ArrowDown", SHIFT, "task down", "a task in the row below"},
	{"Enter", "Enter", 0, "open", "its story; from an edge, the task at its other end"},
	{"Tab", "Tab", 0, "edge next", "its next edge"},
	{"Shift + Tab", "Tab", SHIFT, "edge previous", "the edge before"},
	{"w", "w", 0, "wait", "what it waits for"},
	{"b", "b", 0, "waker", "what woke it"},
	{"c", "c", 0, "creator", "who created it"},
	{"a", "a", 0, "related", "all that belongs to it"},
	{"Esc", "Escape", 0, "escape", "a step back out"},
	{"Find", NULL, 0, NULL, NULL},
	{"p", "p", 0, "problem next", "the next problem"},
	{"P", "P", 0, "problem previous", "the problem before"},
	{"/", "/", 0, "search", "search"},
	{NULL, "f", CONTROL, "search", NULL},
	{"n", "n", 0, "match next", "the next that was found"},
	{"N", "N", 0, "match previous", "the one before"},
	{"Measure", NULL, 0, NULL, NULL},
	{"Shift + drag", NULL, 0, "", "choose a range; Alt: without snapping"},
	{"v", "v", 0, "measure", "choose a range; of the selected task, its life"},
	{"m", "m", 0, "mark", "a bookmark at the pointer"},
	{"M", "M", 0, "marks", "all bookmarks"},
	{"o", "o", 0, "note", "change the note of a bookmark"},
	{"Delete", "Delete", 0, "unmark", "remove a bookmark"},
	{NULL, "Backspace", 0, "unmark", NULL},
	{"space", " ", 0, "counters", "counters on or off"},
	{"C", "C", 0, "panel counters", "each counter"},
	{"D", "D", 0, "rates", "how fast counters change"},
	{"Window", NULL, 0, NULL, NULL},
	{"l", "l", 0, "follow", "follow what is still being recorded, or pause"},
	{"r", "r", 0, "repack", "pack the rows anew"},
	{"e", "e", 0, "panel export", "export"},
	{"y", "y", 0, "copy link", "copy a link to this view"},
	{"Y", "Y", 0, "copy command", "copy a command line that draws it"},
	{"t", "t", 0, "times", "times from the start, or of the day"},
	{"T", "T", 0, "theme", "the next theme"},
	{"Ctrl + O", "o", CONTROL, "open trace", "open another trace"},
	{"Ctrl + N", "n", CONTROL, "window", "the same in another window"},
	{"F5", "F5", 0, "reload", "read the trace again"},
	{"?", "?", 0, "help", "this list"},
	{NULL, "F1", 0, "help", NULL},
};

const unsigned weft__key_count = sizeof(weft__keys) / sizeof(weft__keys[0]);

/* Letters and signs bring their Shift with them. */
static bool implies_shift(const char *key)
{
	return key[1] == '\0' && key[0] != ' ';
}

static const struct weft__key *find(const char *key, unsigned modifiers)
{
	if (implies_shift(key))
		modifiers &= ~(unsigned)SHIFT;
	for (unsigned i = 0; i < weft__key_count; i++) {
		const struct weft__key *entry = &weft__keys[i];
		if (entry->key && strcmp(entry->key, key) == 0 && entry->modifiers == modifiers)
			return entry;
	}
	return NULL;
}

/* Without a trace there is little to be done; and Tab without a selection, or beyond its last edge,
 * is the window's. */
static bool is_of_use(struct weft_viewer *viewer, const char *command)
{
	if (strcmp(command, "open") == 0)
		return viewer->model && viewer->selection.task != WEFT_NONE;
	if (strcmp(command, "edge next") == 0)
		return viewer->model && !weft__viewer_leaves_edges(viewer, 1);
	if (strcmp(command, "edge previous") == 0)
		return viewer->model && !weft__viewer_leaves_edges(viewer, -1);
	return true;
}

WEFT__EXPORT bool weft_viewer_key(
	struct weft_viewer *viewer, const char *key, unsigned modifiers, double now_ms)
{
	weft__viewer_begin(viewer, now_ms);
	viewer->pointer.modifiers = modifiers;
	const struct weft__key *entry = find(key, modifiers);
	if (!entry || !is_of_use(viewer, entry->command)) {
		weft__viewer_settle(viewer);
		return false;
	}
	weft__viewer_run(viewer, entry->command);
	weft__viewer_settle(viewer);
	return true;
}

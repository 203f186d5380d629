/* SPDX-License-Identifier: ISC
 *
 * The state of the terminal's view: the tree, which row is selected, a search that is being typed.
 * Keys change it (keys.c, search.c), the screen shows it (screen.c).
 */
#ifndef WEFT_APPS_TOP_VIEW_H
#define WEFT_APPS_TOP_VIEW_H

#include <wchar.h>

#include "curses.h"
#include "top.h"

#define TOP_SEARCH_CHARACTERS 64

struct top_search {
	bool is_typing;
	wchar_t text[TOP_SEARCH_CHARACTERS + 1];
	size_t size;
	uint32_t origin; /* the node that was selected before; Escape returns to it */
	bool has_failed; /* nothing has the text */
};

struct top_view {
	struct top_forest forest;
	struct top_rows rows;
	uint32_t selected; /* a node; TOP_NONE if there is none */
	uint32_t first;    /* the row at the top */
	uint32_t height;   /* rows that fit */
	struct top_search search;
	double interval_s;
	bool has_utf8, is_over;
};

/* ---- live.c ---- */

/* Takes the programs' present values. False without memory. */
bool top_view_sample(struct top_view *view, const struct top_programs *programs);

/* ---- keys.c ---- */

/* Does what a key means: a character, or if `is_function` one of KEY_. False without memory. */
bool top_view_key(struct top_view *view, wint_t key, bool is_function);

/* ---- search.c ---- */

void top_search_start(struct top_view *view);
void top_search_key(struct top_view *view, wint_t key, bool is_function);

/* ---- screen.c ---- */

void top_view_draw(struct top_view *view, WINDOW *window);

#endif

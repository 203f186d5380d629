/* SPDX-License-Identifier: ISC
 *
 * The search: each character that is typed moves to the next node that has the text, also below
 * folded ones, which are unfolded for as long as it is selected. Enter stays there, Escape returns.
 */
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

#include "view.h"

/* Folds what the search has unfolded. */
static void fold_again(struct top_view *view)
{
	for (uint32_t i = 0; i < view->forest.count; i++) {
		struct top_node *node = &view->forest.nodes[i];
		if (node->was_opened)
			node->is_open = node->was_opened = false;
	}
}

static void keep_unfolded(struct top_view *view)
{
	for (uint32_t i = 0; i < view->forest.count; i++)
		view->forest.nodes[i].was_opened = false;
}

static void unfold_above(struct top_view *view, uint32_t node)
{
	for (uint32_t at = view->forest.nodes[node].parent; at != TOP_NONE;
		 at = view->forest.nodes[at].parent) {
		struct top_node *above = &view->forest.nodes[at];
		above->was_opened = above->was_opened || !above->is_open;
		above->is_open = true;
	}
}

/* True if the text begins with the wanted one, in letters of either case. */
static bool begins_with(const char *text, const struct top_search *search)
{
	mbstate_t state = {0};
	for (size_t i = 0; i < search->size; i++) {
		wchar_t character;
		size_t size = mbrtowc(&character, text, MB_CUR_MAX, &state);
		if (size == 0 || size > MB_CUR_MAX ||
			towlower((wint_t)character) != towlower((wint_t)search->text[i]))
			return false;
		text += size;
	}
	return true;
}

static bool has_text(const struct top_node *node, const struct top_search *search)
{
	for (const char *at = node->text; *at; at++)
		if (begins_with(at, search))
			return true;
	return false;
}

/* The next node that has the text, from `node` + `step` on, around the end; or TOP_NONE. */
static uint32_t find_match(const struct top_view *view, uint32_t node, int step)
{
	const uint32_t count = view->forest.count;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = (uint32_t)((node + (uint64_t)count + (uint64_t)(int64_t)step) % count);
		if (has_text(&view->forest.nodes[at], &view->search))
			return at;
		node = at;
		step = step ? step : 1;
	}
	return TOP_NONE;
}

/* Goes to a match; `step` 0: the selected node may be one. */
static void look(struct top_view *view, uint32_t from, int step)
{
	struct top_search *search = &view->search;
	uint32_t found = TOP_NONE;
	if (view->forest.count)
		found = find_match(view, from == TOP_NONE ? 0 : from, step);
	search->has_failed = found == TOP_NONE;
	if (found == TOP_NONE)
		return;
	fold_again(view);
	unfold_above(view, found);
	view->selected = found;
}

static void end_search(struct top_view *view)
{
	keep_unfolded(view);
	view->search.is_typing = false;
}

static void cancel(struct top_view *view)
{
	fold_again(view);
	view->selected = view->search.origin;
	view->search.is_typing = false;
}

static void change_text(struct top_view *view, wint_t key)
{
	struct top_search *search = &view->search;
	if (key && search->size < TOP_SEARCH_CHARACTERS)
		search->text[search->size++] = (wchar_t)key;
	else if (!key && search->size)
		search->size--;
	search->text[search->size] = L'\0';
	search->has_failed = false;
	if (search->size)
		look(view, search->origin, 0);
}

void top_search_start(struct top_view *view)
{
	view->search = (struct top_search){.is_typing = true, .origin = view->selected};
}

void top_search_key(struct top_view *view, wint_t key, bool is_function)
{
	enum {
		ESCAPE = 27,
		DELETE = 127
	};
	if (is_function) {
		if (key == KEY_DOWN || key == KEY_UP)
			look(view, view->selected, key == KEY_DOWN ? 1 : -1);
		else if (key == KEY_BACKSPACE)
			change_text(view, 0);
		else if (key == KEY_ENTER)
			end_search(view);
	} else if (key == '\n' || key == '\r') {
		end_search(view);
	} else if (key == ESCAPE) {
		cancel(view);
	} else if (key == '\b' || key == DELETE) {
		change_text(view, 0);
	} else if (iswprint(key)) {
		change_text(view, key);
	}
}

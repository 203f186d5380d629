/* SPDX-License-Identifier: ISC
 *
 * Keys and their meanings.
 */
#include "view.h"

static const struct top_node *selected_node(const struct top_view *view)
{
	return view->selected == TOP_NONE ? NULL : &view->forest.nodes[view->selected];
}

/* Moves by rows; stops at both ends. */
static void move_by(struct top_view *view, int64_t rows)
{
	int64_t row = (int64_t)top_rows_find(&view->rows, &view->forest, view->selected) + rows;
	const int64_t last = (int64_t)view->rows.count - 1;
	if (last < 0)
		return;
	row = row > last ? last : row < 0 ? 0 : row;
	view->selected = view->rows.list[row];
}

static void set_open(struct top_view *view, bool is_open)
{
	struct top_node *node = &view->forest.nodes[view->selected];
	node->is_open = is_open;
	node->was_opened = false;
}

static void set_all_open(struct top_view *view, bool is_open)
{
	for (uint32_t i = 0; i < view->forest.count; i++)
		view->forest.nodes[i].is_open = is_open;
}

/* Unfolds the node, or if it is that already, enters it. */
static void go_right(struct top_view *view)
{
	const struct top_node *node = selected_node(view);
	if (!node || !top_forest_has_below(&view->forest, view->selected))
		return;
	if (node->is_open)
		move_by(view, 1);
	else
		set_open(view, true);
}

/* Folds the node, or if there is nothing to fold, leaves it. */
static void go_left(struct top_view *view)
{
	const struct top_node *node = selected_node(view);
	if (!node)
		return;
	if (node->is_open && top_forest_has_below(&view->forest, view->selected))
		set_open(view, false);
	else if (node->parent != TOP_NONE)
		view->selected = node->parent;
}

static void toggle(struct top_view *view)
{
	if (selected_node(view))
		set_open(view, !selected_node(view)->is_open);
}

/* The same order again: the other way round. */
static void sort(struct top_view *view, enum top_sort order)
{
	view->rows.is_reversed = view->rows.sort == order && !view->rows.is_reversed;
	view->rows.sort = order;
}

static void press_function(struct top_view *view, wint_t key)
{
	switch (key) {
	case KEY_UP:
		move_by(view, -1);
		break;
	case KEY_DOWN:
		move_by(view, 1);
		break;
	case KEY_PPAGE:
		move_by(view, -(int64_t)view->height);
		break;
	case KEY_NPAGE:
		move_by(view, view->height);
		break;
	case KEY_HOME:
		move_by(view, INT32_MIN);
		break;
	case KEY_END:
		move_by(view, INT32_MAX);
		break;
	case KEY_LEFT:
		go_left(view);
		break;
	case KEY_RIGHT:
		go_right(view);
		break;
	case KEY_ENTER:
		toggle(view);
		break;
	default:
		break;
	}
}

static void press_character(struct top_view *view, wint_t key)
{
	switch (key) {
	case 'q':
		view->is_over = true;
		break;
	case 'k':
		move_by(view, -1);
		break;
	case 'j':
		move_by(view, 1);
		break;
	case 'g':
		move_by(view, INT32_MIN);
		break;
	case 'G':
		move_by(view, INT32_MAX);
		break;
	case 'h':
		go_left(view);
		break;
	case 'l':
		go_right(view);
		break;
	case ' ':
	case '\n':
	case '\r':
		toggle(view);
		break;
	case '*':
		set_all_open(view, true);
		break;
	case '-':
		set_all_open(view, false);
		break;
	case 'n':
		sort(view, TOP_BY_NAME);
		break;
	case 'v':
		sort(view, TOP_BY_VALUE);
		break;
	case 'r':
		sort(view, TOP_BY_RATE);
		break;
	case 'c': /* from the next sample on */
		view->forest.has_children = !view->forest.has_children;
		break;
	case '/':
		top_search_start(view);
		break;
	default:
		break;
	}
}

bool top_view_key(struct top_view *view, wint_t key, bool is_function)
{
	if (view->search.is_typing)
		top_search_key(view, key, is_function);
	else if (is_function)
		press_function(view, key);
	else
		press_character(view, key);
	if (!top_rows_update(&view->rows, &view->forest))
		return false;
	/* A fold may have hidden the selected row. */
	if (view->rows.count)
		view->selected = view->rows.list[top_rows_find(&view->rows, &view->forest, view->selected)];
	return true;
}

/* SPDX-License-Identifier: ISC
 *
 * The buttons: the bar, which a shell may have in its own header, the actions of a chosen range at
 * its end, and notes about rows outside of the picture. Each runs a command; the status line shows
 * what it does.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "render/theme.h"
#include "viewer/commands/commands.h"
#include "viewer/state.h"

#define BUTTON_WIDTH 33.0
#define TOUCH_WIDTH  44.0  /* minimum width of a button for fingers */
#define LEAST_WIDTH  40.0  /* minimum width of a button if the bar has its own line */
#define TITLE_WIDTH  348.0 /* px for the title beside all buttons, */
#define TITLE_LEAST  220.0 /* and beside those that a narrow window has */
#define HEADER_FROM  840.0 /* px: narrower windows have less buttons in their header bar */
#define MARGIN       8.0
#define TEXT_SIZE    12.0
#define RANGE_HEIGHT 40.0
#define RANGE_GAP    6.0
#define NOTE_HEIGHT  24.0
#define NOTE_PADDING 16.0
#define NOTES_FROM   160.0 /* minimum height of a picture with notes */

struct plan {
	uint8_t icon;
	bool is_before; /* stands before the title */
	bool is_spare;  /* a narrow window has it in the menu instead */
	const char *command;
};

/* clang-format off */
static const struct plan bar_plan[] = {
	{WEFT__ICON_OPEN,     true,  true,  "open trace"}, /* not spare if it leads to a list of traces */
	{WEFT__ICON_BACK,     true,  false, "back"},
	{WEFT__ICON_FORWARD,  true,  true,  "forward"},
	{WEFT__ICON_ZOOM_OUT, false, true,  "zoom out"},
	{WEFT__ICON_ZOOM_IN,  false, true,  "zoom in"},
	{WEFT__ICON_FIT,      false, false, "fit"},
	{WEFT__ICON_MEASURE,  false, false, "measure"},
	{WEFT__ICON_PROBLEMS, false, false, "panel problems"},
	{WEFT__ICON_SEARCH,   false, false, "search"},
	{WEFT__ICON_COUNTERS, false, false, "panel counters"},
	{WEFT__ICON_ROWS,     false, false, "panel rows"},
	{WEFT__ICON_THEME,    false, true,  "theme"},
	{WEFT__ICON_HELP,     false, true,  "help"},
	{WEFT__ICON_MENU,     false, false, "panel menu"}, /* a header bar has a menu of its own */
};
/* clang-format on */

#define BAR_COUNT   (sizeof(bar_plan) / sizeof(bar_plan[0]))
#define RANGE_COUNT 4 /* buttons beside a chosen range */
#define NOTES       2 /* about rows outside of the picture */

_Static_assert(BAR_COUNT + RANGE_COUNT + 1 + NOTES <= WEFT__BUTTONS_MAX, "room for all buttons");

static struct weft__button *add_button(struct weft_viewer *viewer, const struct plan *plan,
	double x, double y, double width, double height)
{
	const struct weft__command *row = weft__viewer_command_row(plan->command);
	struct weft__button *button = &viewer->toolbar.buttons[viewer->toolbar.count++];
	*button = (struct weft__button){
		.box = {x, y, width, height},
		.icon = plan->icon,
		.command = plan->command,
		.tip = row->keys[0] ? row->tip : row->text,
		.is_on = weft__viewer_command_is_on(viewer, row),
		.is_faint = row->needs != WEFT__NEEDS_NOTHING && !viewer->model,
	};
	return button;
}

static void mark_state(const struct weft_viewer *viewer, struct weft__button *button)
{
	const struct weft__history *history = &viewer->history;
	if (button->icon == WEFT__ICON_OPEN && viewer->has_list)
		button->icon = WEFT__ICON_LIST;
	if (button->icon == WEFT__ICON_BACK && history->at == 0)
		button->is_faint = true;
	if (button->icon == WEFT__ICON_FORWARD && history->at + 1 >= history->count)
		button->is_faint = true;
	if (button->icon == WEFT__ICON_SEARCH && viewer->panel.kind == WEFT__PANEL_SEARCH)
		button->is_on = true;
	if (button->icon == WEFT__ICON_PROBLEMS && viewer->problems.count) {
		button->color = weft__render_theme(viewer->theme)->failed;
		snprintf(button->text, sizeof(button->text), "%u", (unsigned)viewer->problems.count);
	}
}

uint32_t weft__viewer_button_color(
	const struct weft_viewer *viewer, const struct weft__button *button)
{
	const struct weft__theme *theme = weft__render_theme(viewer->theme);
	if (button->is_faint)
		return weft__render_faded(theme->dim, 0.45);
	return button->color ? button->color : theme->text;
}

static double button_width(const struct weft_viewer *viewer)
{
	return viewer->is_touched ? TOUCH_WIDTH : BUTTON_WIDTH;
}

static bool has_button(const struct weft_viewer *viewer, const struct plan *plan)
{
	bool is_spare = plan->is_spare;
	if (viewer->has_header && plan->icon == WEFT__ICON_MENU)
		return false; /* the shell has a menu of its own */
	if (plan->icon == WEFT__ICON_OPEN)
		is_spare = !viewer->has_header && !viewer->has_list; /* only in the menu */
	return !viewer->toolbar.is_short || !is_spare;
}

static unsigned count_buttons(const struct weft_viewer *viewer, bool is_before)
{
	unsigned count = 0;
	for (unsigned i = 0; i < BAR_COUNT; i++)
		count += bar_plan[i].is_before == is_before && has_button(viewer, &bar_plan[i]);
	return count;
}

void weft__viewer_fit_bar(
	struct weft_viewer *viewer, double width, double *ret_before, double *ret_behind)
{
	struct weft__toolbar *toolbar = &viewer->toolbar;
	/* Fingers need all buttons more than the picture needs their line. */
	for (int is_short = 0; is_short <= !viewer->is_touched; is_short++) {
		toolbar->is_short = is_short;
		*ret_before = count_buttons(viewer, true) * button_width(viewer) + MARGIN;
		*ret_behind = count_buttons(viewer, false) * button_width(viewer) + MARGIN;
		toolbar->is_own =
			width < *ret_before + *ret_behind + (is_short ? TITLE_LEAST : TITLE_WIDTH);
		if (!toolbar->is_own)
			return;
	}
	toolbar->is_short = width < BAR_COUNT * LEAST_WIDTH;
	*ret_before = *ret_behind = 0;
}

/* The buttons of a bar with its own line share its width. */
static void place_bar(struct weft_viewer *viewer)
{
	const struct weft__toolbar *toolbar = &viewer->toolbar;
	const struct weft_box *bar = &toolbar->bar;
	unsigned before = count_buttons(viewer, true), behind = count_buttons(viewer, false);
	double width = toolbar->is_own ? bar->width / (before + behind) : button_width(viewer);
	double x = toolbar->is_own ? 0 : MARGIN;
	bool was_before = true;
	for (unsigned i = 0; i < BAR_COUNT; i++) {
		if (!has_button(viewer, &bar_plan[i]))
			continue;
		if (was_before && !bar_plan[i].is_before && !toolbar->is_own)
			x = bar->x + bar->width - MARGIN - width * behind;
		was_before = bar_plan[i].is_before;
		mark_state(viewer, add_button(viewer, &bar_plan[i], x, bar->y, width, bar->height));
		x += width;
	}
}

/* Says how far the picture is behind a program that still records, and pauses it. */
static struct weft__button *add_pill(struct weft_viewer *viewer)
{
	static const struct plan plan = {WEFT__ICON_LIVE, false, false, "follow"};
	const struct weft_box *box = &viewer->pill.box;
	struct weft__button *pill = add_button(viewer, &plan, box->x, box->y, box->width, box->height);
	pill->is_pill = true;
	pill->is_on = false;
	weft__viewer_pill_describe(viewer, pill);
	return pill;
}

static void list_header(struct weft_viewer *viewer)
{
	bool was_before = true;
	viewer->toolbar.is_short = viewer->width < HEADER_FROM;
	for (unsigned i = 0; i < BAR_COUNT; i++) {
		if (!has_button(viewer, &bar_plan[i]))
			continue;
		if (was_before && !bar_plan[i].is_before && weft__viewer_has_pill(viewer))
			add_pill(viewer)->position = WEFT_VIEWER_AFTER_TITLE;
		was_before = bar_plan[i].is_before;
		struct weft__button *button = add_button(viewer, &bar_plan[i], 0, 0, 0, 0);
		button->position =
			bar_plan[i].is_before ? WEFT_VIEWER_BEFORE_TITLE : WEFT_VIEWER_AFTER_TITLE;
		mark_state(viewer, button);
	}
}

/* The buttons stand at the end that was dragged, where the pointer is. */
static void place_range(struct weft_viewer *viewer)
{
	static const struct plan plan[RANGE_COUNT] = {
		{WEFT__ICON_NONE, false, false, "zoom selection"},
		{WEFT__ICON_NONE, false, false, "panel stats"},
		{WEFT__ICON_NONE, false, false, "panel export"},
		{WEFT__ICON_CLOSE, false, false, "measure"},
	};
	static const char *const texts[RANGE_COUNT] = {"zoom", "stats", "export", ""};
	static const char *const tips[RANGE_COUNT] = {"Zoom to the range ( z )",
		"Statistics of the range ( h )", "Export the range as a smaller trace ( e )",
		"Forget the range ( Esc )"};
	static const double widths[RANGE_COUNT] = {56, 52, 62, 40};
	const struct weft_box *box = &viewer->frame.picture;
	const double width = 56 + 52 + 62 + 40;
	bool is_dragged = viewer->pointer.drag == WEFT__DRAG_RANGE;
	if (!viewer->range.is_set || is_dragged || box->width < width + 8 || box->height < 80)
		return;
	double end = weft__viewer_canvas_x(viewer, viewer->range.to);
	bool leftwards = viewer->range.to < viewer->range.from;
	double x = leftwards ? end - RANGE_GAP - width : end + RANGE_GAP;
	x = fmin(fmax(x, box->x + 4), box->x + box->width - width - 4);
	for (unsigned i = 0; i < RANGE_COUNT; i++) {
		struct weft__button *button =
			add_button(viewer, &plan[i], floor(x), box->y + 28, widths[i], RANGE_HEIGHT);
		snprintf(button->text, sizeof(button->text), "%s", texts[i]);
		button->tip = tips[i];
		button->is_on = false;
		button->is_framed = true;
		x += widths[i];
	}
}

/* Writes how many rows with tasks are outside of the picture, at its edge. */
static void place_note(struct weft_viewer *viewer, uint32_t rows, bool is_below)
{
	static const struct plan plan[] = {{.command = "page up"}, {.command = "page down"}};
	const struct weft_font *font = viewer->font ? viewer->font : &weft_font_builtin;
	const struct weft_box *box = &viewer->frame.picture;
	double height = viewer->is_touched ? TOUCH_WIDTH : NOTE_HEIGHT;
	char text[sizeof(viewer->toolbar.buttons[0].text)];
	int size = snprintf(text, sizeof(text), "%u row%s with tasks %s", (unsigned)rows,
		rows == 1 ? "" : "s", is_below ? "below \xe2\x86\x93" : "above \xe2\x86\x91");
	double width =
		font->measure(font->context, text, (size_t)size, TEXT_SIZE, false) + NOTE_PADDING;
	double right = box->x + box->width - weft__viewer_rows_bar(viewer).width - 4;
	if (rows == 0 || width > box->width / 2)
		return;
	double y = is_below ? box->y + box->height - height : box->y;
	struct weft__button *button =
		add_button(viewer, &plan[is_below], floor(right - width), y, floor(width), height);
	memcpy(button->text, text, sizeof(text));
	button->is_framed = true;
}

static void place_notes(struct weft_viewer *viewer)
{
	struct weft__outside outside = weft__viewer_outside(viewer, &viewer->view);
	if (viewer->frame.picture.height < NOTES_FROM)
		return;
	place_note(viewer, outside.above, false);
	place_note(viewer, outside.below, true);
}

void weft__viewer_place_buttons(struct weft_viewer *viewer)
{
	viewer->toolbar.count = 0;
	if (viewer->has_header)
		list_header(viewer);
	else if (viewer->toolbar.bar.width > 0)
		place_bar(viewer);
	if (!viewer->has_header && viewer->pill.box.width > 0)
		add_pill(viewer);
	if (!viewer->model || viewer->flame.is_shown)
		return;
	place_notes(viewer);
	place_range(viewer); /* above the notes */
}

uint32_t weft__viewer_button_at(const struct weft_viewer *viewer, double x, double y)
{
	for (uint32_t i = viewer->toolbar.count; i-- > 0;)
		if (weft__viewer_inside(&viewer->toolbar.buttons[i].box, x, y))
			return i;
	return WEFT__NO_BUTTON;
}

static void draw_ground(const struct weft_viewer *viewer, const struct weft__button *button,
	bool is_hovered, bool is_pressed, struct weft_canvas *canvas)
{
	const struct weft__theme *theme = weft__render_theme(viewer->theme);
	const struct weft_box *box = &button->box;
	struct weft_pen pen = {theme->grid, 1, WEFT_DASH_SOLID};
	double x = box->x + 1, y = box->y + 3, x2 = box->x + box->width - 1,
		   y2 = box->y + box->height - 3;
	if (button->is_framed)
		weft_canvas_rect(canvas, x - 1, y, x2 + 1, y2, theme->background);
	if (button->is_on || is_pressed)
		weft_canvas_rect(canvas, x, y, x2, y2, weft__render_faded(theme->selection, 0.22));
	else if (is_hovered)
		weft_canvas_rect(canvas, x, y, x2, y2, theme->grid);
	if (button->is_framed)
		weft_canvas_polyline(canvas,
			(double[]){x - 0.5, y + 0.5, x2 + 0.5, y + 0.5, x2 + 0.5, y2 - 0.5, x - 0.5, y2 - 0.5,
				x - 0.5, y + 0.5},
			5, &pen);
}

static void draw_button(
	const struct weft_viewer *viewer, uint32_t number, struct weft_canvas *canvas)
{
	const struct weft__button *button = &viewer->toolbar.buttons[number];
	const struct weft_font *font = viewer->font ? viewer->font : &weft_font_builtin;
	bool is_pressed = viewer->pointer.drag == WEFT__DRAG_BUTTON && viewer->pointer.button == number;
	uint32_t color = weft__viewer_button_color(viewer, button);
	struct weft_text_style style = {color, TEXT_SIZE, false, false, 0};
	double middle = button->box.x + button->box.width / 2;
	double y = floor(button->box.y + button->box.height / 2), width = 0;
	size_t size = strlen(button->text);
	if (button->is_pill) {
		weft__viewer_pill_draw(viewer, button, canvas);
		return;
	}
	draw_ground(viewer, button, viewer->toolbar.hovered == number, is_pressed, canvas);
	if (size)
		width = font->measure(font->context, button->text, size, style.size, style.bold);
	if (button->icon) {
		double shift = size ? (width + 4) / 2 : 0;
		weft__viewer_draw_icon(
			canvas, (enum weft__icon)button->icon, floor(middle - shift) + 0.5, y + 0.5, color);
		middle += 8;
	}
	if (size)
		weft_canvas_text(
			canvas, floor(middle - width / 2), y + 4.5, button->text, size, width, &style);
}

void weft__viewer_draw_buttons(const struct weft_viewer *viewer, struct weft_canvas *canvas)
{
	const struct weft__theme *theme = weft__render_theme(viewer->theme);
	const struct weft_box *bar = &viewer->toolbar.bar;
	struct weft_pen pen = {theme->grid, 1, WEFT_DASH_SOLID};
	if (bar->width > 0 && viewer->toolbar.is_own)
		weft_canvas_line(
			canvas, 0, bar->y + bar->height - 0.5, bar->width, bar->y + bar->height - 0.5, &pen);
	for (uint32_t i = 0; i < viewer->toolbar.count; i++)
		if (viewer->toolbar.buttons[i].box.width > 0)
			draw_button(viewer, i, canvas);
}

/* SPDX-License-Identifier: ISC
 *
 * Buttons that are drawn: the bar, and the actions of a chosen range at its end. Each runs a
 * command; the status line shows what it does.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "render/theme.h"
#include "viewer/commands.h"
#include "viewer/state.h"

#define BUTTON_WIDTH 33.0
#define TOUCH_WIDTH  44.0 /* minimum width of a button for fingers */
#define LEAST_WIDTH  40.0 /* minimum width of a button if the bar has its own line */
#define MARGIN       8.0
#define TEXT_SIZE    12.0
#define RANGE_HEIGHT 40.0
#define RANGE_GAP    6.0

struct plan {
	uint8_t icon;
	bool is_spare; /* a narrow window has it in the menu instead */
	const char *command;
};

static const struct plan bar_plan[] = {
	{WEFT__ICON_LIST, false, "open trace"}, /* only if the shell has a list of traces */
	{WEFT__ICON_BACK, false, "back"},
	{WEFT__ICON_ZOOM_OUT, true, "zoom out"},
	{WEFT__ICON_ZOOM_IN, true, "zoom in"},
	{WEFT__ICON_FIT, false, "fit"},
	{WEFT__ICON_MEASURE, false, "measure"},
	{WEFT__ICON_PROBLEMS, false, "panel problems"},
	{WEFT__ICON_SEARCH, false, "search"},
	{WEFT__ICON_COUNTERS, false, "panel counters"},
	{WEFT__ICON_ROWS, false, "panel rows"},
	{WEFT__ICON_THEME, true, "theme"},
	{WEFT__ICON_HELP, true, "help"},
	{WEFT__ICON_MENU, false, "panel menu"},
};

#define BAR_COUNT   (sizeof(bar_plan) / sizeof(bar_plan[0]))
#define RANGE_COUNT 4 /* buttons beside a chosen range */

_Static_assert(BAR_COUNT + RANGE_COUNT <= WEFT__BUTTONS_MAX, "room for all buttons");

static struct weft__button *add(struct weft_viewer *viewer, const struct plan *plan, double x,
	double y, double width, double height)
{
	const struct weft__command *row = weft__command_row(plan->command);
	struct weft__button *button = &viewer->toolbar.buttons[viewer->toolbar.count++];
	*button = (struct weft__button){
		.box = {x, y, width, height},
		.icon = plan->icon,
		.command = plan->command,
		.tip = row->keys[0] ? row->tip : row->text,
		.is_on = weft__command_is_on(viewer, row),
		.is_faint = row->needs != WEFT__NEEDS_NOTHING && !viewer->model,
	};
	return button;
}

static void mark_state(const struct weft_viewer *viewer, struct weft__button *button)
{
	if (button->icon == WEFT__ICON_BACK && viewer->history.at == 0)
		button->is_faint = true;
	if (button->icon == WEFT__ICON_SEARCH && viewer->panel.kind == WEFT__PANEL_SEARCH)
		button->is_on = true;
	if (button->icon == WEFT__ICON_PROBLEMS && viewer->problems.count) {
		button->color = weft__theme(viewer->theme)->failed;
		snprintf(button->text, sizeof(button->text), "%u", (unsigned)viewer->problems.count);
	}
}

static double button_width(const struct weft_viewer *viewer)
{
	return viewer->is_touched ? TOUCH_WIDTH : BUTTON_WIDTH;
}

static unsigned first_of_bar(const struct weft_viewer *viewer)
{
	return viewer->has_list ? 0 : 1;
}

static unsigned bar_count(const struct weft_viewer *viewer)
{
	return BAR_COUNT - first_of_bar(viewer);
}

double weft__viewer_bar_width(const struct weft_viewer *viewer)
{
	return bar_count(viewer) * button_width(viewer) + 2 * MARGIN;
}

bool weft__viewer_bar_is_short(const struct weft_viewer *viewer)
{
	return viewer->toolbar.bar.y > 0 && viewer->toolbar.bar.width < bar_count(viewer) * LEAST_WIDTH;
}

static void place_bar(struct weft_viewer *viewer)
{
	const struct weft_box *bar = &viewer->toolbar.bar;
	bool is_own = bar->y > 0, is_short = weft__viewer_bar_is_short(viewer);
	unsigned count = 0;
	if (bar->width == 0)
		return;
	for (unsigned i = first_of_bar(viewer); i < BAR_COUNT; i++)
		count += !is_short || !bar_plan[i].is_spare;
	double width = is_own ? bar->width / count : button_width(viewer);
	double x = is_own ? 0 : bar->x + bar->width - MARGIN - width * count;
	for (unsigned i = first_of_bar(viewer); i < BAR_COUNT; i++) {
		if (is_short && bar_plan[i].is_spare)
			continue;
		mark_state(viewer, add(viewer, &bar_plan[i], x, bar->y, width, bar->height));
		x += width;
	}
}

/* The buttons stand at the end that was dragged, where the pointer is. */
static void place_range(struct weft_viewer *viewer)
{
	static const struct plan plan[RANGE_COUNT] = {
		{WEFT__ICON_NONE, false, "zoom selection"},
		{WEFT__ICON_NONE, false, "panel stats"},
		{WEFT__ICON_NONE, false, "panel export"},
		{WEFT__ICON_CLOSE, false, "measure"},
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
	double end = weft__canvas_x(viewer, viewer->range.to);
	bool leftwards = viewer->range.to < viewer->range.from;
	double x = leftwards ? end - RANGE_GAP - width : end + RANGE_GAP;
	x = fmin(fmax(x, box->x + 4), box->x + box->width - width - 4);
	for (unsigned i = 0; i < RANGE_COUNT; i++) {
		struct weft__button *button =
			add(viewer, &plan[i], floor(x), box->y + 28, widths[i], RANGE_HEIGHT);
		snprintf(button->text, sizeof(button->text), "%s", texts[i]);
		button->tip = tips[i];
		button->is_on = false;
		button->is_framed = true;
		x += widths[i];
	}
}

void weft__viewer_place_buttons(struct weft_viewer *viewer)
{
	viewer->toolbar.count = 0;
	place_bar(viewer);
	if (viewer->model)
		place_range(viewer);
}

uint32_t weft__viewer_button_at(const struct weft_viewer *viewer, double x, double y)
{
	for (uint32_t i = viewer->toolbar.count; i-- > 0;)
		if (weft__inside(&viewer->toolbar.buttons[i].box, x, y))
			return i;
	return WEFT__NO_BUTTON;
}

static void draw_ground(const struct weft_viewer *viewer, const struct weft__button *button,
	bool is_hovered, bool is_pressed, struct weft_canvas *canvas)
{
	const struct weft__theme *theme = weft__theme(viewer->theme);
	const struct weft_box *box = &button->box;
	struct weft_pen pen = {theme->grid, 1, WEFT_DASH_SOLID};
	double x = box->x + 1, y = box->y + 3, x2 = box->x + box->width - 1,
		   y2 = box->y + box->height - 3;
	if (button->is_framed)
		weft_canvas_rect(canvas, x - 1, y, x2 + 1, y2, theme->background);
	if (button->is_on || is_pressed)
		weft_canvas_rect(canvas, x, y, x2, y2, weft__faded(theme->selection, 0.22));
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
	const struct weft__theme *theme = weft__theme(viewer->theme);
	const struct weft__button *button = &viewer->toolbar.buttons[number];
	const struct weft_font *font = viewer->font ? viewer->font : &weft_font_builtin;
	bool is_pressed = viewer->pointer.drag == WEFT__DRAG_BUTTON && viewer->pointer.button == number;
	uint32_t color = button->is_faint ? weft__faded(theme->dim, 0.45)
					 : button->color  ? button->color
									  : theme->text;
	struct weft_text_style style = {color, TEXT_SIZE, false, false, 0};
	double middle = button->box.x + button->box.width / 2;
	double y = floor(button->box.y + button->box.height / 2), width = 0;
	size_t size = strlen(button->text);
	draw_ground(viewer, button, viewer->toolbar.hovered == number, is_pressed, canvas);
	if (size)
		width = font->measure(font->context, button->text, size, style.size, style.bold);
	if (button->icon) {
		double shift = size ? (width + 4) / 2 : 0;
		weft__draw_icon(
			canvas, (enum weft__icon)button->icon, floor(middle - shift) + 0.5, y + 0.5, color);
		middle += 8;
	}
	if (size)
		weft_canvas_text(
			canvas, floor(middle - width / 2), y + 4.5, button->text, size, width, &style);
}

void weft__viewer_draw_buttons(const struct weft_viewer *viewer, struct weft_canvas *canvas)
{
	const struct weft__theme *theme = weft__theme(viewer->theme);
	const struct weft_box *bar = &viewer->toolbar.bar;
	struct weft_pen pen = {theme->grid, 1, WEFT_DASH_SOLID};
	if (bar->width > 0 && bar->y > 0)
		weft_canvas_line(
			canvas, 0, bar->y + bar->height - 0.5, bar->width, bar->y + bar->height - 0.5, &pen);
	for (uint32_t i = 0; i < viewer->toolbar.count; i++)
		draw_button(viewer, i, canvas);
}

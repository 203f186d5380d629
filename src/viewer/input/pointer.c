/* SPDX-License-Identifier: ISC
 *
 * Mice and fingers: presses, releases and moves become clicks, drags, pinches and long presses.
 * There is one drag at a time; its type depends on where it began and on its first few pixels.
 */
#include <math.h>

#include "base/export.h"
#include "viewer/commands/commands.h"
#include "viewer/state.h"

#define CLICK_PX        4.0
#define CLICK_TOUCH_PX  9.0
#define DOUBLE_MS       400.0
#define DOUBLE_PX       8.0
#define DOUBLE_TOUCH_PX 24.0
#define LONG_MS         500.0
#define LET_GO_MS       60.0 /* ms after the last move: a drag that rested is not thrown */
#define BAR_WIDTH       12.0

/* The scroll bar of plain rows that do not fit. */
struct weft_box weft__viewer_rows_bar(const struct weft_viewer *viewer)
{
	const struct weft_box *box = &viewer->frame.picture;
	double first, last, rows = viewer->view.row_count;
	if (!viewer->model || !viewer->view.is_plain || rows < 2)
		return (struct weft_box){0, 0, 0, 0};
	weft_view_rows_seen(&viewer->view, &first, &last);
	if (last - first >= rows - 1)
		return (struct weft_box){0, 0, 0, 0};
	return (struct weft_box){box->x + box->width - BAR_WIDTH, box->y, BAR_WIDTH, box->height};
}

static void grab(struct weft_viewer *viewer, double x, double y)
{
	const struct weft_box *box = &viewer->frame.picture;
	struct weft__pointer *p = &viewer->pointer;
	p->held_ns = weft__view_ns(&viewer->view, x - box->x);
	p->held_row = weft_view_row(&viewer->view, y - box->y);
	p->speed_x = p->speed_y = 0;
	p->moved_ms = viewer->now_ms;
}

static void begin_grab(struct weft_viewer *viewer, double x, double y)
{
	weft__viewer_remember(viewer, false);
	grab(viewer, x, y);
	viewer->pointer.drag = WEFT__DRAG_GRAB;
}

static void drag_picture(struct weft_viewer *viewer, double x, double y)
{
	struct weft__pointer *p = &viewer->pointer;
	struct weft_view view = viewer->view;
	double ms = fmax(viewer->now_ms - p->moved_ms, 1), weight = fmin(1, ms / 40);
	p->speed_x += ((x - p->x) / ms - p->speed_x) * weight;
	p->speed_y += ((y - p->y) / ms - p->speed_y) * weight;
	p->moved_ms = viewer->now_ms;
	if (weft__viewer_inside(&viewer->frame.lanes, p->press_x, p->press_y))
		weft_view_pan(&view, x - p->x); /* lanes have no rows to hold */
	else
		weft__viewer_hold_point(viewer, &view, p->held_ns, p->held_row, x, y);
	weft__viewer_jump(viewer, &view);
}

/* The length of the scroll bar represents all rows. */
static void drag_rows(struct weft_viewer *viewer, double y)
{
	const struct weft_box *box = &viewer->frame.picture;
	struct weft_view view = *weft__viewer_wanted(viewer);
	weft_view_set_focus(&view, (y - box->y) / box->height * view.row_count);
	weft__viewer_jump(viewer, &view);
}

static bool is_range_wanted(const struct weft_viewer *viewer, unsigned modifiers, double y)
{
	const struct weft_box *ruler = &viewer->frame.ruler;
	return (modifiers & WEFT_VIEWER_SHIFT) || viewer->range.is_armed ||
		   (y >= ruler->y && y < ruler->y + ruler->height);
}

/* A press that has moved far enough becomes a drag that starts at the press. */
static void begin_drag(struct weft_viewer *viewer)
{
	struct weft__pointer *p = &viewer->pointer;
	p->long_ms = INFINITY;
	weft__viewer_hover_nothing(viewer);
	if (!is_range_wanted(viewer, p->modifiers, p->press_y)) {
		begin_grab(viewer, p->press_x, p->press_y);
		return;
	}
	bool is_free = p->modifiers & WEFT_VIEWER_ALT;
	weft__viewer_begin_range(viewer, weft__viewer_snap(viewer, p->press_x, p->press_y, is_free));
	p->drag = WEFT__DRAG_RANGE;
}

static void drag_range(struct weft_viewer *viewer, double x, double y)
{
	bool is_free = viewer->pointer.modifiers & WEFT_VIEWER_ALT;
	viewer->range.to = weft__viewer_snap(viewer, x, y, is_free);
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

static void drag_to(struct weft_viewer *viewer, double x, double y)
{
	struct weft__pointer *p = &viewer->pointer;
	double far = p->is_touch ? CLICK_TOUCH_PX : CLICK_PX;
	if (p->drag == WEFT__DRAG_PRESSED && hypot(x - p->press_x, y - p->press_y) >= far)
		begin_drag(viewer);
	switch (p->drag) {
	case WEFT__DRAG_GRAB:
		drag_picture(viewer, x, y);
		break;
	case WEFT__DRAG_RANGE:
		drag_range(viewer, x, y);
		break;
	case WEFT__DRAG_ROWS:
		drag_rows(viewer, y);
		break;
	case WEFT__DRAG_LANE:
		weft__viewer_drag_lane(viewer, y);
		break;
	case WEFT__DRAG_WINDOW:
	case WEFT__DRAG_WINDOW_START:
	case WEFT__DRAG_WINDOW_END:
	case WEFT__DRAG_STRIP_RANGE:
		weft__viewer_drag_strip(viewer, x);
		break;
	case WEFT__DRAG_FLAME:
		weft__viewer_scroll_flame(viewer, p->y - y);
		break;
	case WEFT__DRAG_HOVER:
		weft__viewer_hover_at(viewer, x, y, 0);
		break;
	case WEFT__DRAG_NONE:
	case WEFT__DRAG_PRESSED:
	case WEFT__DRAG_BUTTON:
	case WEFT__DRAG_STATUS:
	case WEFT__DRAG_PINCH:
	case WEFT__DRAG_OVER:
		break;
	}
}

/* ---- Fingers ---- */

static struct weft__finger *find_finger(struct weft__pointer *p, uint32_t id)
{
	for (unsigned i = 0; i < p->finger_count; i++)
		if (p->fingers[i].id == id)
			return &p->fingers[i];
	return NULL;
}

static void add_finger(struct weft__pointer *p, const struct weft_viewer_pointer *pointer)
{
	struct weft__finger finger = {pointer->id, pointer->x, pointer->y};
	if (p->finger_count < 2)
		p->fingers[p->finger_count++] = finger;
}

static void remove_finger(struct weft__pointer *p, uint32_t id)
{
	struct weft__finger *finger = find_finger(p, id);
	if (!finger)
		return;
	if (finger == &p->fingers[0])
		p->fingers[0] = p->fingers[1];
	p->finger_count--;
}

static double finger_distance(const struct weft__pointer *p)
{
	return fmax(hypot(p->fingers[0].x - p->fingers[1].x, p->fingers[0].y - p->fingers[1].y), 16);
}

/* Keeps the time and row that were between the fingers between them. */
static void pinch(struct weft_viewer *viewer, struct weft__finger *finger, double x, double y)
{
	struct weft__pointer *p = &viewer->pointer;
	struct weft_view view = viewer->view;
	double before = finger_distance(p);
	finger->x = x;
	finger->y = y;
	double middle_x = (p->fingers[0].x + p->fingers[1].x) / 2;
	double middle_y = (p->fingers[0].y + p->fingers[1].y) / 2;
	weft_view_zoom(&view, middle_x - viewer->frame.picture.x, finger_distance(p) / before);
	weft__viewer_hold_point(viewer, &view, p->held_ns, p->held_row, middle_x, middle_y);
	weft__viewer_jump(viewer, &view);
}

static void begin_pinch(struct weft_viewer *viewer)
{
	struct weft__pointer *p = &viewer->pointer;
	p->long_ms = INFINITY;
	weft__viewer_remember(viewer, false);
	grab(viewer, (p->fingers[0].x + p->fingers[1].x) / 2, (p->fingers[0].y + p->fingers[1].y) / 2);
	p->drag = WEFT__DRAG_PINCH;
}

/* ---- Presses and releases ---- */

static void press(struct weft_viewer *viewer, double x, double y)
{
	struct weft__pointer *p = &viewer->pointer;
	const struct weft_box bar = weft__viewer_rows_bar(viewer);
	weft__viewer_halt(viewer);
	p->press_x = x;
	p->press_y = y;
	p->button = weft__viewer_button_at(viewer, x, y);
	p->lane = weft__viewer_lane_edge_at(viewer, x, y);
	if (p->button != WEFT__NO_BUTTON) {
		p->drag = WEFT__DRAG_BUTTON;
	} else if (!viewer->model) {
		p->drag = WEFT__DRAG_OVER;
	} else if (weft__viewer_is_over_flame(viewer, x, y)) {
		p->drag = WEFT__DRAG_FLAME;
	} else if (weft__viewer_inside(&viewer->frame.strip, x, y)) {
		weft__viewer_press_strip(viewer, x);
	} else if (weft__viewer_inside(&bar, x, y)) {
		weft__viewer_remember(viewer, false);
		p->drag = WEFT__DRAG_ROWS;
		drag_rows(viewer, y);
	} else if (p->lane) {
		p->drag = WEFT__DRAG_LANE;
	} else if (y < viewer->frame.ruler.y) {
		p->drag = WEFT__DRAG_OVER;
	} else if (weft__viewer_inside(&viewer->frame.status, x, y)) {
		p->drag = WEFT__DRAG_STATUS;
	} else {
		p->drag = WEFT__DRAG_PRESSED;
		p->long_ms = p->is_touch ? viewer->now_ms + LONG_MS : INFINITY;
	}
}

/* A click on a bookmark's flag also shows its actions. */
static void click_sign(struct weft_viewer *viewer, double x, double y)
{
	struct weft__sign sign = weft__viewer_sign_at(viewer, x, y);
	if (sign.type == WEFT__SIGN_MARK)
		weft__viewer_open_panel(viewer, WEFT__PANEL_MARKS);
	weft__viewer_go_sign(viewer, &sign);
}

static void click(struct weft_viewer *viewer, double x, double y)
{
	struct weft__pointer *p = &viewer->pointer;
	double near = p->is_touch ? DOUBLE_TOUCH_PX : DOUBLE_PX;
	bool is_again = hypot(x - p->click_x, y - p->click_y) <= near;
	bool is_double = is_again && viewer->now_ms - p->click_ms <= DOUBLE_MS;
	/* A third click counts as a first one. */
	p->click_ms = is_double ? -INFINITY : viewer->now_ms;
	p->click_x = x;
	p->click_y = y;
	if (weft__viewer_inside(&viewer->frame.strip, x, y)) {
		if (is_double)
			weft__viewer_fit(viewer);
		else
			click_sign(viewer, x, y);
	} else if (weft__viewer_inside(&viewer->frame.ruler, x, y)) {
		click_sign(viewer, x, y);
	} else if (weft__viewer_inside(&viewer->frame.groups, x, y)) {
		weft__viewer_toggle_group(viewer, weft__viewer_group_at(viewer, y));
	} else if (weft__viewer_inside(&viewer->frame.lanes, x, y)) {
		weft__viewer_click_counter(viewer, weft__viewer_counter_at(viewer, x, y), x);
	} else if (weft__viewer_inside(&viewer->frame.picture, x, y)) {
		viewer->is_clicking = true;
		weft__viewer_click(viewer, x, y, is_again, is_double);
		viewer->is_clicking = false;
	}
}

/* A click on the status line opens the panel that has the full text. */
static void click_status(struct weft_viewer *viewer)
{
	if (viewer->flame.is_shown)
		weft__viewer_open_panel(viewer, WEFT__PANEL_FLAME);
	else if (viewer->selection.task != WEFT_NONE)
		weft__viewer_open_panel(viewer, WEFT__PANEL_STORY);
	else if (viewer->problems.count)
		weft__viewer_open_panel(viewer, WEFT__PANEL_PROBLEMS);
}

static void click_flame(struct weft_viewer *viewer, double x, double y)
{
	weft__viewer_hover_flame(viewer, x, y);
	if (viewer->flame.hovered != WEFT_NONE)
		weft__viewer_zoom_flame(viewer, viewer->flame.hovered);
	weft__viewer_hover_flame(viewer, x, y);
}

static void end_range(struct weft_viewer *viewer)
{
	viewer->range.is_armed = false;
	viewer->snap.is_set = false;
	if (viewer->range.from == viewer->range.to)
		viewer->range.is_set = false;
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

static void release(struct weft_viewer *viewer, double x, double y)
{
	struct weft__pointer *p = &viewer->pointer;
	enum weft__drag drag = p->drag;
	unsigned button = p->button;
	p->drag = WEFT__DRAG_NONE;
	p->button = WEFT__NO_BUTTON;
	p->long_ms = INFINITY;
	viewer->changes |= WEFT_VIEWER_CANVAS;
	switch (drag) {
	case WEFT__DRAG_BUTTON:
		if (weft__viewer_button_at(viewer, x, y) == button)
			weft__viewer_run(viewer, viewer->toolbar.buttons[button].command);
		break;
	case WEFT__DRAG_PRESSED:
	case WEFT__DRAG_WINDOW:
	case WEFT__DRAG_WINDOW_START:
	case WEFT__DRAG_WINDOW_END:
	case WEFT__DRAG_STRIP_RANGE:
		if (hypot(x - p->press_x, y - p->press_y) < CLICK_TOUCH_PX)
			click(viewer, x, y);
		if (drag == WEFT__DRAG_STRIP_RANGE)
			end_range(viewer);
		break;
	case WEFT__DRAG_FLAME:
		if (hypot(x - p->press_x, y - p->press_y) < (p->is_touch ? CLICK_TOUCH_PX : CLICK_PX))
			click_flame(viewer, x, y);
		break;
	case WEFT__DRAG_STATUS:
		if (weft__viewer_inside(&viewer->frame.status, x, y))
			click_status(viewer);
		break;
	case WEFT__DRAG_RANGE:
		end_range(viewer);
		break;
	case WEFT__DRAG_GRAB:
		if (viewer->now_ms - p->moved_ms < LET_GO_MS)
			weft__viewer_throw(viewer);
		break;
	case WEFT__DRAG_NONE:
	case WEFT__DRAG_ROWS:
	case WEFT__DRAG_LANE:
	case WEFT__DRAG_PINCH:
	case WEFT__DRAG_HOVER:
	case WEFT__DRAG_OVER:
		break;
	}
}

void weft__viewer_cancel_drag(struct weft_viewer *viewer)
{
	struct weft__pointer *p = &viewer->pointer;
	if (p->drag == WEFT__DRAG_RANGE || p->drag == WEFT__DRAG_STRIP_RANGE)
		viewer->range.is_set = false;
	p->drag = p->finger_count ? WEFT__DRAG_OVER : WEFT__DRAG_NONE;
	p->long_ms = INFINITY;
	viewer->snap.is_set = false;
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

static void on_press(struct weft_viewer *viewer, const struct weft_viewer_pointer *pointer)
{
	struct weft__pointer *p = &viewer->pointer;
	if (find_finger(p, pointer->id))
		return; /* another button of the same mouse */
	add_finger(p, pointer);
	p->is_touch = pointer->is_touch;
	p->x = pointer->x;
	p->y = pointer->y;
	if (p->finger_count == 1 && p->drag == WEFT__DRAG_NONE)
		press(viewer, pointer->x, pointer->y);
	else if (p->drag == WEFT__DRAG_PRESSED || p->drag == WEFT__DRAG_GRAB)
		begin_pinch(viewer);
}

static void on_release(struct weft_viewer *viewer, const struct weft_viewer_pointer *pointer)
{
	struct weft__pointer *p = &viewer->pointer;
	if (!find_finger(p, pointer->id))
		return;
	remove_finger(p, pointer->id);
	if (p->drag == WEFT__DRAG_PINCH && p->finger_count == 1) {
		p->x = p->fingers[0].x; /* the other finger goes on alone */
		p->y = p->fingers[0].y;
		begin_grab(viewer, p->x, p->y);
	} else if (p->finger_count == 0) {
		release(viewer, pointer->x, pointer->y);
	}
	if (p->is_touch && p->finger_count == 0)
		p->is_inside = false; /* a lifted finger no longer points */
}

static void on_move(struct weft_viewer *viewer, const struct weft_viewer_pointer *pointer)
{
	struct weft__pointer *p = &viewer->pointer;
	struct weft__finger *finger = find_finger(p, pointer->id);
	if (p->drag == WEFT__DRAG_PINCH && finger) {
		pinch(viewer, finger, pointer->x, pointer->y);
		return;
	}
	if (p->finger_count && finger != &p->fingers[0])
		return;
	if (finger) {
		finger->x = pointer->x;
		finger->y = pointer->y;
		drag_to(viewer, pointer->x, pointer->y);
	} else if (viewer->model) {
		weft__viewer_hover_at(viewer, pointer->x, pointer->y, WEFT__HOVER_MS);
	}
	viewer->changes |= WEFT_VIEWER_CANVAS; /* the ruler shows the pointer's time */
}

static void leave(struct weft_viewer *viewer)
{
	viewer->pointer.is_inside = false;
	viewer->snap.is_set = false;
	weft__viewer_hover_nothing(viewer);
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

WEFT__EXPORT void weft_viewer_pointer(
	struct weft_viewer *viewer, const struct weft_viewer_pointer *pointer, double now_ms)
{
	struct weft__pointer *p = &viewer->pointer;
	if (!isfinite(pointer->x) || !isfinite(pointer->y))
		return;
	weft__viewer_begin(viewer, now_ms);
	p->modifiers = pointer->modifiers;
	if (!p->is_inside) { /* entering is not moving: the window may have opened below the pointer */
		viewer->status.message_x = pointer->x;
		viewer->status.message_y = pointer->y;
	}
	p->is_inside = pointer->action != WEFT_VIEWER_LEAVE;
	if (pointer->action == WEFT_VIEWER_PRESS)
		on_press(viewer, pointer);
	else if (pointer->action == WEFT_VIEWER_RELEASE)
		on_release(viewer, pointer);
	else if (pointer->action == WEFT_VIEWER_MOVE)
		on_move(viewer, pointer);
	else if (pointer->action == WEFT_VIEWER_LEAVE)
		leave(viewer);
	if (pointer->action == WEFT_VIEWER_CANCEL) {
		p->finger_count = 0;
		weft__viewer_cancel_drag(viewer);
	}
	if (p->drag != WEFT__DRAG_PINCH) {
		p->x = pointer->x;
		p->y = pointer->y;
	}
	weft__viewer_settle(viewer);
}

double weft__viewer_pointer_due(const struct weft_viewer *viewer)
{
	return viewer->pointer.long_ms;
}

/* A long press of a finger hovers, as a resting mouse does. */
void weft__viewer_advance_pointer(struct weft_viewer *viewer)
{
	struct weft__pointer *p = &viewer->pointer;
	if (p->drag != WEFT__DRAG_PRESSED || viewer->now_ms < p->long_ms)
		return;
	p->drag = WEFT__DRAG_HOVER;
	p->long_ms = INFINITY;
	weft__viewer_hover_at(viewer, p->press_x, p->press_y, 0);
}

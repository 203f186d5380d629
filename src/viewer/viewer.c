/* SPDX-License-Identifier: ISC
 *
 * Creates and destroys a viewer, advances its time, and answers the shell's questions. The other
 * files of the folder handle input; state.h has its state.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "base/options.h"
#include "render/facts.h"
#include "render/theme.h"
#include "render/things.h"
#include "viewer/state.h"

#define PROBLEMS_EVERY_MS 3000.0
#define PROBLEMS_SHARE    4.0    /* pause between two searches, as a multiple of what one takes */
#define TOOK_MAX_MS       5000.0 /* a search that took longer had to wait for a hidden window */
#define AT_ONCE           (1 << 18)
#define FIRST_PICTURE_MS  50.0 /* time from the preparation of a frame until it has been drawn */

static char *copy_text(const char *text)
{
	size_t size = text ? strlen(text) + 1 : 1;
	char *copy = malloc(size);
	if (copy)
		memcpy(copy, text ? text : "", size);
	return copy;
}

/* Removes control characters, as the title is drawn. */
static char *copy_title(const char *title)
{
	size_t size = 3 * (title ? strlen(title) : 0) + 1;
	char *copy = malloc(size);
	if (copy)
		weft_canvas_clean_text(title ? title : "", title ? strlen(title) : 0, copy, size);
	return copy;
}

WEFT__EXPORT int weft_viewer_create(
	const struct weft_viewer_options *given, struct weft_viewer **ret_viewer)
{
	struct weft_viewer_options known;
	const struct weft_viewer_options *options = &known;
	WEFT__OPTIONS_COPY(&known, given);
	struct weft_viewer *viewer = calloc(1, sizeof(*viewer));
	if (!viewer)
		return WEFT_ERROR_MEMORY;
	viewer->theme = options->theme;
	viewer->font = options->font;
	viewer->reduced_motion = options->reduced_motion;
	viewer->is_touched = options->is_touched;
	viewer->has_wasd = options->has_wasd;
	viewer->has_list = options->has_list;
	viewer->has_header = options->has_header;
	viewer->title = copy_title(options->title);
	viewer->path = copy_text(options->path ? options->path : options->title);
	viewer->notice = copy_text("");
	viewer->things = weft__render_things_create();
	viewer->progress = -1;
	viewer->at_once = AT_ONCE;
	viewer->width = viewer->height = 1;
	viewer->selection.task = viewer->selection.edge = WEFT_NONE;
	viewer->measured_fold.fold = viewer->flame.hovered = WEFT_NONE;
	weft__viewer_forget_hover(viewer);
	viewer->pointer.long_ms = INFINITY;
	viewer->status.message_until_ms = viewer->history.moved_ms = viewer->pointer.click_ms =
		-INFINITY;
	viewer->problems.current = viewer->search.match = WEFT_NONE;
	viewer->marks.current = WEFT__NO_MARK;
	viewer->toolbar.hovered = viewer->pointer.button = WEFT__NO_BUTTON;
	viewer->panel.shown = (struct weft_viewer_panel){.title = "", .selected = WEFT_NONE};
	viewer->prompt.shown = (struct weft_viewer_prompt){false, "", "", "", false};
	if (!viewer->title || !viewer->path || !viewer->notice || !viewer->things) {
		weft_viewer_destroy(viewer);
		return WEFT_ERROR_MEMORY;
	}
	weft__viewer_arrange(viewer);
	*ret_viewer = viewer;
	return 0;
}

static void drop_trace(struct weft_viewer *viewer)
{
	weft__viewer_forget_next_rows(viewer);
	weft__viewer_forget(viewer);
	weft__viewer_slide_stop(viewer);
	weft__render_things_clear(viewer->things);
	weft_squeeze_destroy(viewer->squeezing.squeeze);
	weft_scene_destroy(viewer->scene);
	weft_layout_destroy(viewer->layout);
	weft_model_destroy(viewer->model);
}

WEFT__EXPORT void weft_viewer_destroy(struct weft_viewer *viewer)
{
	struct weft_viewer_request request;
	if (!viewer)
		return;
	while (weft_viewer_next_request(viewer, &request)) {
	}
	weft__viewer_forget_related(viewer);
	weft__viewer_forget_search(viewer);
	weft__viewer_forget_marks(viewer);
	weft__viewer_forget_flame(viewer);
	weft__viewer_known_forget(viewer);
	drop_trace(viewer);
	weft__render_things_destroy(viewer->things);
	weft_text_finish(&viewer->link);
	weft_text_finish(&viewer->panel.text);
	free(viewer->panel.items);
	weft__viewer_rows_finish(&viewer->rows);
	free(viewer->standing.edges);
	free(viewer->counters.hidden);
	weft__viewer_free_heights(viewer);
	free(viewer->search.text);
	free(viewer->title);
	free(viewer->path);
	free(viewer->notice);
	free(viewer->part.density);
	free(viewer);
}

WEFT__EXPORT int weft_viewer_set_title(struct weft_viewer *viewer, const char *title)
{
	char *copy = copy_title(title);
	if (!copy)
		return WEFT_ERROR_MEMORY;
	free(viewer->title);
	viewer->title = copy;
	viewer->changes |= WEFT_VIEWER_CANVAS;
	return 0;
}

WEFT__EXPORT int weft_viewer_show_text(
	struct weft_viewer *viewer, const char *text, double fraction)
{
	char *copy = copy_title(text);
	if (!copy)
		return WEFT_ERROR_MEMORY;
	if (strcmp(copy, viewer->notice) == 0 && fraction == viewer->progress) {
		free(copy);
		return 0;
	}
	free(viewer->notice);
	viewer->notice = copy;
	viewer->progress = fraction;
	viewer->changes |= WEFT_VIEWER_CANVAS;
	weft__viewer_settle(viewer);
	return 0;
}

WEFT__EXPORT void weft_viewer_resize(
	struct weft_viewer *viewer, double width, double height, double now_ms)
{
	weft__viewer_begin(viewer, now_ms);
	viewer->width = width > 1 ? fmin(width, 1e5) : 1;
	viewer->height = height > 1 ? fmin(height, 1e5) : 1;
	weft__viewer_halt(viewer);
	weft__viewer_arrange(viewer);
	weft__viewer_settle(viewer);
}

void weft__viewer_begin(struct weft_viewer *viewer, double now_ms)
{
	if (isfinite(now_ms) && now_ms > viewer->now_ms)
		viewer->now_ms = now_ms;
	weft__viewer_move_on(viewer);
	weft__viewer_slide_move_on(viewer);
}

static enum weft_viewer_cursor choose_cursor(const struct weft_viewer *viewer)
{
	const struct weft__pointer *p = &viewer->pointer;
	enum weft__drag part = p->drag;
	if (!p->is_inside || !viewer->model)
		return viewer->toolbar.hovered != WEFT__NO_BUTTON ? WEFT_VIEWER_CURSOR_POINTER
														  : WEFT_VIEWER_CURSOR_DEFAULT;
	if (p->drag == WEFT__DRAG_NONE && weft__viewer_is_over_flame(viewer, p->x, p->y))
		return viewer->flame.hovered == WEFT_NONE ? WEFT_VIEWER_CURSOR_DEFAULT
												  : WEFT_VIEWER_CURSOR_POINTER;
	if (p->drag == WEFT__DRAG_NONE && viewer->hover.sign.type != WEFT__SIGN_NONE)
		return WEFT_VIEWER_CURSOR_POINTER;
	if (part == WEFT__DRAG_NONE && weft__viewer_inside(&viewer->frame.strip, p->x, p->y))
		part = weft__viewer_strip_part(viewer, p->x);
	if (part == WEFT__DRAG_WINDOW_START || part == WEFT__DRAG_WINDOW_END)
		return WEFT_VIEWER_CURSOR_RESIZE;
	if (p->drag == WEFT__DRAG_LANE ||
		(p->drag == WEFT__DRAG_NONE && weft__viewer_lane_edge_at(viewer, p->x, p->y)))
		return WEFT_VIEWER_CURSOR_RESIZE_ROWS;
	if (part == WEFT__DRAG_GRAB || (part == WEFT__DRAG_WINDOW && p->drag == part))
		return WEFT_VIEWER_CURSOR_GRABBING;
	if (part == WEFT__DRAG_STRIP_RANGE || part == WEFT__DRAG_RANGE || viewer->range.is_armed ||
		weft__viewer_inside(&viewer->frame.ruler, p->x, p->y))
		return WEFT_VIEWER_CURSOR_CROSSHAIR;
	if (viewer->toolbar.hovered != WEFT__NO_BUTTON || viewer->hover.task != WEFT_NONE ||
		viewer->hover.edge != WEFT_NONE || viewer->hover.handle != WEFT_NONE ||
		viewer->hover.max != WEFT_NONE || viewer->hover.counter != WEFT_NONE ||
		weft__viewer_inside(&viewer->frame.groups, p->x, p->y))
		return WEFT_VIEWER_CURSOR_POINTER;
	return WEFT_VIEWER_CURSOR_DEFAULT;
}

bool weft__viewer_is_small(const struct weft_viewer *viewer)
{
	const struct weft_model *model = viewer->model;
	return model->edges.count + (size_t)model->tasks.count < viewer->at_once;
}

void weft__viewer_settle(struct weft_viewer *viewer)
{
	enum weft_viewer_cursor cursor = choose_cursor(viewer);
	if (cursor != viewer->cursor)
		viewer->changes |= WEFT_VIEWER_CURSOR;
	viewer->cursor = cursor;
	weft__viewer_look_at_part(viewer);
	weft__viewer_follow_view(viewer, &viewer->view);
	weft__viewer_settle_flame(viewer);
	weft__viewer_fill_panel(viewer);
	weft__viewer_place_buttons(viewer);
	weft__viewer_list_controls(viewer);
	weft__viewer_write_status(viewer);
}

static double until(double due_ms, double now_ms)
{
	return due_ms > now_ms ? due_ms - now_ms : 0;
}

/* The pause between two searches for problems while the trace grows. */
static double problems_pause(const struct weft_viewer *viewer)
{
	return fmax(PROBLEMS_EVERY_MS, PROBLEMS_SHARE * fmin(viewer->problems.took_ms, TOOK_MAX_MS));
}

/* When to look for problems next: after the first picture, and now and then while the trace grows.
 */
static double problems_due(const struct weft_viewer *viewer)
{
	double due = viewer->now_ms + FIRST_PICTURE_MS;
	return viewer->is_live ? fmax(due, viewer->problems.pulse_ms + problems_pause(viewer)) : due;
}

static bool lacks_problems(const struct weft_viewer *viewer)
{
	return viewer->model && (!viewer->problems.found || viewer->problems.is_old);
}

static bool needs_problems(const struct weft_viewer *viewer)
{
	if (!viewer->was_drawn || !lacks_problems(viewer))
		return false;
	return !viewer->is_live || viewer->survey ||
		   viewer->now_ms - viewer->problems.pulse_ms > problems_pause(viewer);
}

WEFT__EXPORT double weft_viewer_advance(struct weft_viewer *viewer, double now_ms)
{
	weft__viewer_begin(viewer, now_ms);
	weft__viewer_advance_pointer(viewer);
	weft__viewer_advance_hover(viewer);
	weft__viewer_ask_for_part(viewer);
	bool learns = needs_problems(viewer) && weft__viewer_learn_problems(viewer);
	bool searches = weft__viewer_learn_search(viewer);
	bool makes_rows = weft__viewer_learn_rows(viewer);
	bool makes_statistics = weft__viewer_learn_statistics(viewer);
	weft__viewer_learn_flame(viewer);
	bool has_message = viewer->status.message_until_ms > viewer->now_ms;
	weft__viewer_settle(viewer);
	bool makes_flame = viewer->flame.is_making; /* it may have begun just now */
	if (viewer->problems.is_pulsing)
		viewer->changes |= WEFT_VIEWER_CANVAS;
	viewer->problems.is_pulsing =
		viewer->problems.is_pulsing && viewer->now_ms - viewer->problems.pulse_ms < WEFT__PULSE_MS;
	if (learns || searches || makes_rows || makes_statistics || makes_flame ||
		viewer->problems.is_pulsing || viewer->motion.is_running || viewer->slide.is_running ||
		viewer->fade.strength != viewer->fade.is_shown)
		return 0;
	double due = fmin(viewer->hover.due_ms, weft__viewer_pointer_due(viewer));
	if (has_message)
		due = fmin(due, viewer->status.message_until_ms);
	due = fmin(due, weft__viewer_pill_due(viewer));
	if (viewer->part.density)
		due = fmin(due, viewer->part.due_ms);
	if (isfinite(weft__viewer_flame_due(viewer)))
		due = fmin(due, weft__viewer_flame_due(viewer));
	if (lacks_problems(viewer))
		due = fmin(due, problems_due(viewer));
	return isinf(due) ? INFINITY : until(due, viewer->now_ms);
}

WEFT__EXPORT unsigned weft_viewer_changes(struct weft_viewer *viewer)
{
	unsigned changes = viewer->changes;
	viewer->changes = 0;
	return changes;
}

WEFT__EXPORT void weft_viewer_boxes(
	const struct weft_viewer *viewer, struct weft_viewer_boxes *ret_boxes)
{
	*ret_boxes = viewer->boxes;
}

WEFT__EXPORT const char *weft_viewer_status(const struct weft_viewer *viewer)
{
	return viewer->status.text;
}

WEFT__EXPORT const char *weft_viewer_facts(struct weft_viewer *viewer)
{
	viewer->facts[0] = '\0';
	if (viewer->model)
		weft__render_describe_trace(viewer->model, viewer->facts, sizeof(viewer->facts));
	return viewer->facts;
}

WEFT__EXPORT enum weft_viewer_cursor weft_viewer_cursor(const struct weft_viewer *viewer)
{
	return viewer->cursor;
}

WEFT__EXPORT void weft_viewer_colors(
	const struct weft_viewer *viewer, struct weft_viewer_colors *ret_colors)
{
	const struct weft__theme *t = weft__render_theme(viewer->theme);
	*ret_colors = (struct weft_viewer_colors){
		t->background, t->text, t->dim, t->grid, t->selection, t->failed};
}

WEFT__EXPORT uint32_t weft_viewer_role_color(const struct weft_viewer *viewer, unsigned role)
{
	const struct weft__theme *t = weft__render_theme(viewer->theme);
	const uint32_t colors[] = {
		t->text, t->failed, t->read, t->resolve, t->try_read, t->signal, t->dim};
	if (role >= WEFT_VIEWER_ROLE_COUNTER)
		return t->counters[(role - WEFT_VIEWER_ROLE_COUNTER) % WEFT__COUNTER_COLORS];
	return colors[role];
}

/* SPDX-License-Identifier: ISC
 *
 * See viewer.h.
 */
#include <weft/viewer.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "render/theme.h"

#define NOTCH        120.0 /* px of a wheel's notch */
#define ZOOM_A_NOTCH 1.2
#define PAN_STEP     0.1 /* of the view, a key */

struct weft_viewer {
	struct weft_model *model;
	struct weft_layout *layout;
	struct weft_scene *scene;
	struct weft_view view;
	struct weft_frame frame;
	enum weft_theme theme;
	const struct weft_font *font;
	char *title, *path, *said;
	double width, height;
	unsigned changes;
	bool is_dragged;
	double grabbed_x, grabbed_row;
	char link[128];
};

static char *copy_text(const char *text)
{
	size_t size = text ? strlen(text) + 1 : 1;
	char *copy = malloc(size);
	if (copy)
		memcpy(copy, text ? text : "", size);
	return copy;
}

WEFT__EXPORT int weft_viewer_create(
	const struct weft_viewer_options *options, struct weft_viewer **ret_viewer)
{
	struct weft_viewer *viewer = calloc(1, sizeof(*viewer));
	if (!viewer)
		return WEFT_ERROR_MEMORY;
	viewer->theme = options->theme;
	viewer->font = options->font;
	viewer->title = copy_text(options->title);
	viewer->path = copy_text(options->path ? options->path : options->title);
	viewer->said = copy_text("");
	viewer->width = viewer->height = 1;
	if (!viewer->title || !viewer->path || !viewer->said) {
		weft_viewer_destroy(viewer);
		return WEFT_ERROR_MEMORY;
	}
	*ret_viewer = viewer;
	return 0;
}

static void drop_trace(struct weft_viewer *viewer)
{
	weft_scene_destroy(viewer->scene);
	weft_layout_destroy(viewer->layout);
	weft_model_destroy(viewer->model);
}

WEFT__EXPORT void weft_viewer_destroy(struct weft_viewer *viewer)
{
	if (!viewer)
		return;
	drop_trace(viewer);
	free(viewer->title);
	free(viewer->path);
	free(viewer->said);
	free(viewer);
}

WEFT__EXPORT int weft_viewer_show(
	struct weft_viewer *viewer, struct weft_model *model, bool is_live)
{
	struct weft_layout *layout = NULL;
	struct weft_scene *scene = NULL;
	(void)is_live;
	int error = weft_layout_create(model, NULL, &layout);
	if (!error)
		error = weft_scene_create(model, layout, &scene);
	if (error) {
		weft_layout_destroy(layout);
		return error;
	}
	drop_trace(viewer);
	viewer->model = model;
	viewer->layout = layout;
	viewer->scene = scene;
	weft_frame_place(layout, viewer->width, viewer->height, &viewer->frame);
	weft_frame_view(layout, &viewer->frame, &viewer->view);
	viewer->changes |= WEFT_VIEWER_CANVAS | WEFT_VIEWER_STATUS;
	return 0;
}

WEFT__EXPORT int weft_viewer_say(struct weft_viewer *viewer, const char *text, double fraction)
{
	char *copy = copy_text(text);
	(void)fraction;
	if (!copy)
		return WEFT_ERROR_MEMORY;
	free(viewer->said);
	viewer->said = copy;
	viewer->changes |= WEFT_VIEWER_CANVAS | WEFT_VIEWER_STATUS;
	return 0;
}

WEFT__EXPORT void weft_viewer_resize(
	struct weft_viewer *viewer, double width, double height, double now_ms)
{
	(void)now_ms;
	viewer->width = fmax(width, 1);
	viewer->height = fmax(height, 1);
	viewer->changes |= WEFT_VIEWER_CANVAS | WEFT_VIEWER_BOXES;
	if (!viewer->model)
		return;
	weft_frame_place(viewer->layout, viewer->width, viewer->height, &viewer->frame);
	weft_view_resize(&viewer->view, viewer->frame.picture.width, viewer->frame.picture.height);
}

static void drag(struct weft_viewer *viewer, double x, double y)
{
	weft_view_pan(&viewer->view, x - viewer->grabbed_x);
	weft_view_drag_row(&viewer->view, viewer->grabbed_row, y - viewer->frame.picture.y);
	viewer->grabbed_x = x;
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

WEFT__EXPORT void weft_viewer_pointer(
	struct weft_viewer *viewer, const struct weft_viewer_pointer *pointer, double now_ms)
{
	(void)now_ms;
	if (!viewer->model)
		return;
	if (pointer->action == WEFT_VIEWER_PRESS && pointer->button == 1) {
		viewer->is_dragged = true;
		viewer->grabbed_x = pointer->x;
		viewer->grabbed_row = weft_view_row(&viewer->view, pointer->y - viewer->frame.picture.y);
	} else if (pointer->action != WEFT_VIEWER_MOVE) {
		viewer->is_dragged = false;
	} else if (viewer->is_dragged) {
		drag(viewer, pointer->x, pointer->y);
	}
}

WEFT__EXPORT void weft_viewer_wheel(struct weft_viewer *viewer, double x, double y, double dx,
	double dy, unsigned modifiers, double now_ms)
{
	(void)y, (void)modifiers, (void)now_ms;
	if (!viewer->model)
		return;
	weft_view_zoom(&viewer->view, x - viewer->frame.picture.x, pow(ZOOM_A_NOTCH, -dy / NOTCH));
	weft_view_pan(&viewer->view, -dx);
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

WEFT__EXPORT void weft_viewer_pinch(
	struct weft_viewer *viewer, double x, double y, double factor, double now_ms)
{
	(void)y, (void)now_ms;
	if (!viewer->model)
		return;
	weft_view_zoom(&viewer->view, x - viewer->frame.picture.x, factor);
	viewer->changes |= WEFT_VIEWER_CANVAS;
}

WEFT__EXPORT bool weft_viewer_key(
	struct weft_viewer *viewer, const char *key, unsigned modifiers, double now_ms)
{
	double step = viewer->view.width * PAN_STEP, middle = viewer->view.width / 2;
	(void)modifiers, (void)now_ms;
	if (!viewer->model)
		return false;
	if (strcmp(key, "ArrowLeft") == 0)
		weft_view_pan(&viewer->view, step);
	else if (strcmp(key, "ArrowRight") == 0)
		weft_view_pan(&viewer->view, -step);
	else if (strcmp(key, "ArrowUp") == 0)
		weft_view_set_focus(&viewer->view, viewer->view.focus - 1);
	else if (strcmp(key, "ArrowDown") == 0)
		weft_view_set_focus(&viewer->view, viewer->view.focus + 1);
	else if (strcmp(key, "+") == 0)
		weft_view_zoom(&viewer->view, middle, 2);
	else if (strcmp(key, "-") == 0)
		weft_view_zoom(&viewer->view, middle, 0.5);
	else if (strcmp(key, "0") == 0)
		weft_view_fit(&viewer->view);
	else if (strcmp(key, "T") == 0)
		viewer->theme = (viewer->theme + 1) % WEFT_THEMES;
	else
		return false;
	viewer->changes |= WEFT_VIEWER_CANVAS;
	return true;
}

WEFT__EXPORT bool weft_viewer_command(
	struct weft_viewer *viewer, const char *command, double now_ms)
{
	return strcmp(command, "fit") == 0 && weft_viewer_key(viewer, "0", 0, now_ms);
}

WEFT__EXPORT double weft_viewer_advance(struct weft_viewer *viewer, double now_ms)
{
	(void)viewer, (void)now_ms;
	return INFINITY;
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
	*ret_boxes = (struct weft_viewer_boxes){.canvas = {0, 0, viewer->width, viewer->height}};
}

static void draw_words(const struct weft_viewer *viewer, struct weft_canvas *canvas)
{
	const struct weft__theme *theme = weft__theme(viewer->theme);
	struct weft_text_style style = {theme->dim, 13, false, false, 0};
	const struct weft_font *font = viewer->font ? viewer->font : &weft_font_builtin;
	size_t size = strlen(viewer->said);
	double width = font->measure(font->context, viewer->said, size, style.size, style.bold);
	weft_canvas_rect(canvas, 0, 0, viewer->width, viewer->height, theme->background);
	weft_canvas_text(canvas, fmax((viewer->width - width) / 2, 8), viewer->height / 2, viewer->said,
		size, width, &style);
}

WEFT__EXPORT int weft_viewer_draw(struct weft_viewer *viewer, struct weft_canvas *canvas)
{
	struct weft_render_options options = {
		.theme = viewer->theme,
		.title = viewer->title,
		.font = viewer->font,
	};
	if (viewer->scene)
		return weft_render_frame(viewer->scene, &viewer->frame, &viewer->view, &options, canvas);
	draw_words(viewer, canvas);
	return weft_canvas_error(canvas);
}

WEFT__EXPORT const char *weft_viewer_status(const struct weft_viewer *viewer)
{
	return viewer->said;
}

WEFT__EXPORT enum weft_viewer_cursor weft_viewer_cursor(const struct weft_viewer *viewer)
{
	return viewer->is_dragged ? WEFT_VIEWER_CURSOR_GRABBING : WEFT_VIEWER_CURSOR_DEFAULT;
}

WEFT__EXPORT const struct weft_viewer_panel *weft_viewer_panel(const struct weft_viewer *viewer)
{
	static const struct weft_viewer_panel none = {.title = "", .selected = WEFT_NONE};
	(void)viewer;
	return &none;
}

WEFT__EXPORT const struct weft_viewer_prompt *weft_viewer_prompt(const struct weft_viewer *viewer)
{
	static const struct weft_viewer_prompt none = {.label = "", .text = "", .message = ""};
	(void)viewer;
	return &none;
}

WEFT__EXPORT void weft_viewer_prompt_text(
	struct weft_viewer *viewer, const char *text, bool is_done, double now_ms)
{
	(void)viewer, (void)text, (void)is_done, (void)now_ms;
}

WEFT__EXPORT bool weft_viewer_next_request(
	struct weft_viewer *viewer, struct weft_viewer_request *ret_request)
{
	(void)viewer, (void)ret_request;
	return false;
}

WEFT__EXPORT uint32_t weft_viewer_load_notes(
	struct weft_viewer *viewer, const char *text, size_t size)
{
	(void)viewer, (void)text, (void)size;
	return 0;
}

WEFT__EXPORT const char *weft_viewer_link(struct weft_viewer *viewer)
{
	strcpy(viewer->link, "fit");
	return viewer->link;
}

WEFT__EXPORT void weft_viewer_colors(
	const struct weft_viewer *viewer, struct weft_viewer_colors *ret_colors)
{
	const struct weft__theme *t = weft__theme(viewer->theme);
	*ret_colors = (struct weft_viewer_colors){
		t->background, t->text, t->dim, t->grid, t->selection, t->failed};
}

WEFT__EXPORT uint32_t weft_viewer_role_color(const struct weft_viewer *viewer, unsigned role)
{
	const struct weft__theme *t = weft__theme(viewer->theme);
	const uint32_t colors[] = {t->text, t->failed, t->read, t->resolve, t->try_read, t->signal};
	if (role >= WEFT_VIEWER_ROLE_COUNTER)
		return t->counters[(role - WEFT_VIEWER_ROLE_COUNTER) % WEFT__COUNTER_COLORS];
	return colors[role];
}

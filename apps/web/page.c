/* SPDX-License-Identifier: ISC
 *
 * The viewer for JavaScript: one function for each function of viewer.h. Text comes in through one
 * buffer, and goes out as an address; structs go out as addresses of arrays of their members.
 */
#include "page.h"

#include <stdlib.h>
#include <string.h>

#include <weft/seed.h>

struct weft_viewer *page_viewer;
uint64_t page_shown_ns;

static struct weft_canvas *canvas;
static struct weft_viewer_request request;
static char *text;
static uint32_t text_room;

/* The address for `size` bytes of text and a NUL. */
char *PAGE_EXPORT(page_text_room)(uint32_t size)
{
	if (size >= text_room) {
		char *larger = realloc(text, (size_t)size + 1);
		if (!larger)
			return NULL;
		text = larger;
		text_room = size + 1;
	}
	text[size] = '\0';
	return text;
}

const char *page_text(void)
{
	return text ? text : "";
}

/* Sets the hash key: four random words, before the first trace. */
void PAGE_EXPORT(page_seed)(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	weft_seed_hashes((const uint32_t[]){a, b, c, d});
}

int PAGE_EXPORT(page_create)(uint32_t theme, uint32_t reduced_motion, uint32_t is_touched,
	uint32_t has_wasd, uint32_t has_list)
{
	struct weft_viewer_options options = {
		.theme = theme < WEFT_THEMES ? (enum weft_theme)theme : WEFT_THEME_LIGHT,
		.title = page_text(),
		.font = &page_font,
		.reduced_motion = reduced_motion,
		.is_touched = is_touched,
		.has_wasd = has_wasd,
		.has_list = has_list,
	};
	struct weft_viewer *viewer = NULL;
	int error = weft_viewer_create(&options, &viewer);
	if (!error && !canvas)
		error = weft_canvas_create(1, 1, &canvas);
	if (error) {
		weft_viewer_destroy(viewer);
		return error;
	}
	weft_viewer_destroy(page_viewer);
	page_viewer = viewer;
	return 0;
}

int PAGE_EXPORT(page_show_text)(double fraction)
{
	return weft_viewer_show_text(page_viewer, page_text(), fraction);
}

/* ---- Input ---- */

/* Renames the trace that is shown; the text is its name. */
int PAGE_EXPORT(page_set_title)(void)
{
	return weft_viewer_set_title(page_viewer, page_text());
}

void PAGE_EXPORT(page_resize)(double width, double height, double now_ms)
{
	weft_viewer_resize(page_viewer, width, height, now_ms);
}

void PAGE_EXPORT(page_pointer)(uint32_t action, uint32_t button, uint32_t is_touch,
	uint32_t modifiers, uint32_t id, double x, double y, double now_ms)
{
	struct weft_viewer_pointer pointer = {
		.action = (uint8_t)action,
		.button = (uint8_t)button,
		.is_touch = is_touch,
		.modifiers = modifiers,
		.id = id,
		.x = x,
		.y = y,
	};
	weft_viewer_pointer(page_viewer, &pointer, now_ms);
}

void PAGE_EXPORT(page_wheel)(
	double x, double y, double dx, double dy, uint32_t modifiers, double now_ms)
{
	weft_viewer_wheel(page_viewer, x, y, dx, dy, modifiers, now_ms);
}

void PAGE_EXPORT(page_pinch)(double x, double y, double factor, double now_ms)
{
	weft_viewer_pinch(page_viewer, x, y, factor, now_ms);
}

bool PAGE_EXPORT(page_key)(uint32_t modifiers, double now_ms)
{
	return weft_viewer_key(page_viewer, page_text(), modifiers, now_ms);
}

bool PAGE_EXPORT(page_command)(double now_ms)
{
	return weft_viewer_command(page_viewer, page_text(), now_ms);
}

void PAGE_EXPORT(page_prompt_text)(uint32_t is_done, double now_ms)
{
	weft_viewer_prompt_text(page_viewer, page_text(), is_done, now_ms);
}

uint32_t PAGE_EXPORT(page_load_notes)(void)
{
	return weft_viewer_load_notes(page_viewer, page_text(), strlen(page_text()));
}

double PAGE_EXPORT(page_advance)(double now_ms)
{
	return weft_viewer_advance(page_viewer, now_ms);
}

/* ---- Output ---- */

uint32_t PAGE_EXPORT(page_changes)(void)
{
	return weft_viewer_changes(page_viewer);
}

/* Boxes of the canvas and the panel. */
const double *PAGE_EXPORT(page_boxes)(void)
{
	static struct weft_viewer_boxes boxes;
	weft_viewer_boxes(page_viewer, &boxes);
	return &boxes.canvas.x;
}

/* Computes how many points and bytes of text the operations refer to. */
static void measure_canvas(uint32_t *ret_points, uint32_t *ret_bytes)
{
	uint32_t points = 0, bytes = 0;
	for (uint32_t i = 0; i < canvas->op_count; i++) {
		const struct weft_canvas_op *op = &canvas->ops[i];
		uint32_t end = op->first + op->count;
		if (op->type == WEFT_CANVAS_TEXT && end > bytes)
			bytes = end;
		if (op->type < WEFT_CANVAS_TEXT && end > points)
			points = end;
	}
	*ret_points = points;
	*ret_bytes = bytes;
}

/* Draws. Returns the addresses and sizes of the canvas' operations, points and text; NULL if memory
 * ran out. */
const uint32_t *PAGE_EXPORT(page_draw)(void)
{
	static uint32_t list[6];
	struct weft_viewer_boxes boxes;
	uint32_t points, bytes;
	weft_viewer_boxes(page_viewer, &boxes);
	weft_canvas_clear(canvas, boxes.canvas.width, boxes.canvas.height);
	if (weft_viewer_draw(page_viewer, canvas))
		return NULL;
	measure_canvas(&points, &bytes);
	list[0] = (uint32_t)canvas->ops;
	list[1] = canvas->op_count * (uint32_t)sizeof(*canvas->ops);
	list[2] = (uint32_t)canvas->points;
	list[3] = points * 2 * (uint32_t)sizeof(*canvas->points);
	list[4] = (uint32_t)canvas->text;
	list[5] = bytes;
	return list;
}

const char *PAGE_EXPORT(page_status)(void)
{
	return weft_viewer_status(page_viewer);
}

uint32_t PAGE_EXPORT(page_cursor)(void)
{
	return weft_viewer_cursor(page_viewer);
}

/* The address and number of the controls: see struct weft_viewer_control. */
const uint32_t *PAGE_EXPORT(page_controls)(void)
{
	static uint32_t list[2];
	list[0] = (uint32_t)weft_viewer_controls(page_viewer, &list[1]);
	return list;
}

const struct weft_viewer_panel *PAGE_EXPORT(page_panel)(void)
{
	return weft_viewer_panel(page_viewer);
}

const struct weft_viewer_prompt *PAGE_EXPORT(page_prompt)(void)
{
	return weft_viewer_prompt(page_viewer);
}

/* The next request; NULL if there is none. */
const struct weft_viewer_request *PAGE_EXPORT(page_request)(void)
{
	return weft_viewer_next_request(page_viewer, &request) ? &request : NULL;
}

const char *PAGE_EXPORT(page_link)(void)
{
	return weft_viewer_link(page_viewer);
}

const struct weft_viewer_colors *PAGE_EXPORT(page_colors)(void)
{
	static struct weft_viewer_colors colors;
	weft_viewer_colors(page_viewer, &colors);
	return &colors;
}

uint32_t PAGE_EXPORT(page_role_color)(uint32_t role)
{
	return weft_viewer_role_color(page_viewer, role);
}

/* The number of the theme with that name, or -1. */
int PAGE_EXPORT(page_theme)(void)
{
	for (int theme = 0; theme < WEFT_THEMES; theme++)
		if (strcmp(weft_theme_name((enum weft_theme)theme), page_text()) == 0)
			return theme;
	return -1;
}

/* The canvas as it was drawn last, as SVG: address and size. NULL if memory ran out. */
const uint32_t *PAGE_EXPORT(page_svg)(void)
{
	static struct weft_text svg;
	static uint32_t span[2];
	weft_text_finish(&svg);
	svg = (struct weft_text){0};
	if (weft_canvas_write_svg(canvas, &(struct weft_svg_options){.title = page_text()}, &svg))
		return NULL;
	span[0] = (uint32_t)svg.bytes;
	span[1] = (uint32_t)svg.size;
	return span;
}

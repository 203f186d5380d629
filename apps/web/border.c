/* SPDX-License-Identifier: ISC
 *
 * The numbers that C and the page's JavaScript share. border.py compiles this file for WebAssembly,
 * reads the numbers off the result, and writes them as constants for the page's scripts. So a
 * changed enum or struct changes both sides, and JavaScript has no copy of a number.
 *
 * JavaScript reads structs through typed arrays, by these offsets. What it assumes about their
 * layout beyond the offsets is asserted here.
 */
#include <stddef.h>
#include <stdint.h>

#include <weft/canvas.h>
#include <weft/error.h>
#include <weft/render.h>
#include <weft/source.h>
#include <weft/viewer.h>

#include "page.h"

#define NUMBER(name, value) const int64_t border_##name = (int64_t)(value);

/* A member, in bytes from the struct's start. */
#define MEMBER(prefix, type, member) NUMBER(prefix##_##member, offsetof(struct type, member))

/* ---- Results and errors ---- */

NUMBER(OK, WEFT_OK)
NUMBER(END, WEFT_END)
NUMBER(AGAIN, WEFT_AGAIN)
#define X(name, number, text) NUMBER(ERROR_##name, number)
WEFT_ERRORS(X)
#undef X

/* ---- The canvas ---- */

NUMBER(RECT, WEFT_CANVAS_RECT)
NUMBER(LINE, WEFT_CANVAS_LINE)
NUMBER(POLYLINE, WEFT_CANVAS_POLYLINE)
NUMBER(POLYGON, WEFT_CANVAS_POLYGON)
NUMBER(DISC, WEFT_CANVAS_DISC)
NUMBER(RING, WEFT_CANVAS_RING)
NUMBER(HATCH, WEFT_CANVAS_HATCH)
NUMBER(TEXT, WEFT_CANVAS_TEXT)
NUMBER(CLIP, WEFT_CANVAS_CLIP)
NUMBER(UNCLIP, WEFT_CANVAS_UNCLIP)

NUMBER(HATCH_STEP, WEFT_CANVAS_HATCH_STEP)
#define DASH(name, on, off)               \
	NUMBER(DASH_##name, WEFT_DASH_##name) \
	NUMBER(DASH_##name##_ON, on) NUMBER(DASH_##name##_OFF, off)
WEFT_CANVAS_DASHES(DASH)
#undef DASH

NUMBER(OP_BYTES, sizeof(struct weft_canvas_op))
MEMBER(OP, weft_canvas_op, type)
MEMBER(OP, weft_canvas_op, dash)
MEMBER(OP, weft_canvas_op, bold)
MEMBER(OP, weft_canvas_op, halo)
MEMBER(OP, weft_canvas_op, color)
MEMBER(OP, weft_canvas_op, back)
MEMBER(OP, weft_canvas_op, x)
MEMBER(OP, weft_canvas_op, y)
MEMBER(OP, weft_canvas_op, x2)
MEMBER(OP, weft_canvas_op, y2)
MEMBER(OP, weft_canvas_op, width)
MEMBER(OP, weft_canvas_op, size)
MEMBER(OP, weft_canvas_op, first)
MEMBER(OP, weft_canvas_op, count)

/* A list of operations is seen as bytes, words and floats at once. */
_Static_assert(sizeof(struct weft_canvas_op) % 4 == 0, "operations are whole words");
_Static_assert(sizeof(((struct weft_canvas_op *)0)->color) == 4, "words of an operation");
_Static_assert(sizeof(((struct weft_canvas_op *)0)->x) == 4, "floats of an operation");
_Static_assert(offsetof(struct weft_canvas_op, y2) == offsetof(struct weft_canvas_op, x) + 12,
	"the corners of a box are neighbours: x, y, x2, y2");

/* ---- The viewer's input ---- */

NUMBER(SHIFT, WEFT_VIEWER_SHIFT)
NUMBER(CONTROL, WEFT_VIEWER_CONTROL)
NUMBER(ALT, WEFT_VIEWER_ALT)
NUMBER(MOVE, WEFT_VIEWER_MOVE)
NUMBER(PRESS, WEFT_VIEWER_PRESS)
NUMBER(RELEASE, WEFT_VIEWER_RELEASE)
NUMBER(LEAVE, WEFT_VIEWER_LEAVE)
NUMBER(CANCEL, WEFT_VIEWER_CANCEL)

NUMBER(THEME_LIGHT, WEFT_THEME_LIGHT)
NUMBER(THEME_DARK, WEFT_THEME_DARK)
NUMBER(THEME_SAFE, WEFT_THEME_SAFE)
NUMBER(THEME_SAFE_DARK, WEFT_THEME_SAFE_DARK)

/* ---- The viewer's output ---- */

NUMBER(CHANGED_CANVAS, WEFT_VIEWER_CANVAS)
NUMBER(CHANGED_PANEL, WEFT_VIEWER_PANEL)
NUMBER(CHANGED_PROMPT, WEFT_VIEWER_PROMPT)
NUMBER(CHANGED_STATUS, WEFT_VIEWER_STATUS)
NUMBER(CHANGED_CURSOR, WEFT_VIEWER_CURSOR)
NUMBER(CHANGED_BOXES, WEFT_VIEWER_BOXES)
NUMBER(CHANGED_REQUEST, WEFT_VIEWER_REQUEST)
NUMBER(CHANGED_CONTROLS, WEFT_VIEWER_CONTROLS)

NUMBER(CURSOR_DEFAULT, WEFT_VIEWER_CURSOR_DEFAULT)
NUMBER(CURSOR_POINTER, WEFT_VIEWER_CURSOR_POINTER)
NUMBER(CURSOR_GRABBING, WEFT_VIEWER_CURSOR_GRABBING)
NUMBER(CURSOR_RESIZE, WEFT_VIEWER_CURSOR_RESIZE)
NUMBER(CURSOR_CROSSHAIR, WEFT_VIEWER_CURSOR_CROSSHAIR)
NUMBER(CURSOR_RESIZE_ROWS, WEFT_VIEWER_CURSOR_RESIZE_ROWS)

NUMBER(NONE, WEFT_NONE)
NUMBER(ROLE_NONE, WEFT_VIEWER_ROLE_NONE)
NUMBER(ITEM_HEADING, WEFT_VIEWER_HEADING)
NUMBER(ITEM_TEXT, WEFT_VIEWER_TEXT)
NUMBER(ITEM_FACT, WEFT_VIEWER_FACT)
NUMBER(ITEM_LINK, WEFT_VIEWER_LINK)
NUMBER(ITEM_TOGGLE, WEFT_VIEWER_TOGGLE)
NUMBER(ITEM_BUTTON, WEFT_VIEWER_BUTTON)

NUMBER(ITEM_BYTES, sizeof(struct weft_viewer_item))
MEMBER(ITEM, weft_viewer_item, type)
MEMBER(ITEM, weft_viewer_item, role)
MEMBER(ITEM, weft_viewer_item, is_selected)
MEMBER(ITEM, weft_viewer_item, text)
MEMBER(ITEM, weft_viewer_item, detail)
MEMBER(ITEM, weft_viewer_item, command)

MEMBER(PANEL, weft_viewer_panel, title)
MEMBER(PANEL, weft_viewer_panel, items)
MEMBER(PANEL, weft_viewer_panel, item_count)
MEMBER(PANEL, weft_viewer_panel, selected)

NUMBER(CONTROL_HANDLE, WEFT_VIEWER_HANDLE)
NUMBER(CONTROL_BYTES, sizeof(struct weft_viewer_control))
MEMBER(CONTROL, weft_viewer_control, box)
MEMBER(CONTROL, weft_viewer_control, name)
MEMBER(CONTROL, weft_viewer_control, value)
MEMBER(CONTROL, weft_viewer_control, command)
MEMBER(CONTROL, weft_viewer_control, type)
MEMBER(CONTROL, weft_viewer_control, is_on)
MEMBER(CONTROL, weft_viewer_control, is_off)

MEMBER(PROMPT, weft_viewer_prompt, is_open)
MEMBER(PROMPT, weft_viewer_prompt, label)
MEMBER(PROMPT, weft_viewer_prompt, text)
MEMBER(PROMPT, weft_viewer_prompt, message)
MEMBER(PROMPT, weft_viewer_prompt, is_error)

NUMBER(REQUEST_COPY, WEFT_VIEWER_COPY)
NUMBER(REQUEST_SAVE_NOTES, WEFT_VIEWER_SAVE_NOTES)
NUMBER(REQUEST_SAVE_SVG, WEFT_VIEWER_SAVE_SVG)
NUMBER(REQUEST_SAVE_PNG, WEFT_VIEWER_SAVE_PNG)
NUMBER(REQUEST_SAVE_CUT, WEFT_VIEWER_SAVE_CUT)
NUMBER(REQUEST_OPEN, WEFT_VIEWER_OPEN)
NUMBER(REQUEST_RELOAD, WEFT_VIEWER_RELOAD)
NUMBER(REQUEST_FOLLOW, WEFT_VIEWER_FOLLOW)
NUMBER(REQUEST_NEW_WINDOW, WEFT_VIEWER_NEW_WINDOW)
NUMBER(REQUEST_THEME, WEFT_VIEWER_THEME)
NUMBER(REQUEST_READ, WEFT_VIEWER_READ)
NUMBER(REQUEST_WASD, WEFT_VIEWER_WASD)
MEMBER(REQUEST, weft_viewer_request, type)
MEMBER(REQUEST, weft_viewer_request, text)
MEMBER(REQUEST, weft_viewer_request, start)
MEMBER(REQUEST, weft_viewer_request, end)

NUMBER(DENSITY_COLUMNS, WEFT_DENSITY_COLUMNS)
MEMBER(DENSITY, weft_density, start_ns)
MEMBER(DENSITY, weft_density, end_ns)
MEMBER(DENSITY, weft_density, bytes)

NUMBER(COLORS, sizeof(struct weft_viewer_colors) / sizeof(uint32_t))
NUMBER(BOX_DOUBLES, sizeof(struct weft_box) / sizeof(double))

_Static_assert(sizeof(void *) == 4, "addresses are words");
_Static_assert(sizeof(struct weft_box) == 4 * sizeof(double), "a box is x, y, width, height");
_Static_assert(sizeof(struct weft_viewer_boxes) == 2 * sizeof(struct weft_box),
	"boxes: the canvas, then the panel");
_Static_assert(offsetof(struct weft_viewer_colors, failed) == 5 * sizeof(uint32_t),
	"colours: background, text, dim, grid, selection, failed");
_Static_assert(sizeof(bool) == 1, "flags are bytes");

/* ---- Limits and text ---- */

NUMBER(EXPANDED_BYTES, WEFT_SOURCE_EXPANDED_BYTES)
NUMBER(EXPANDED_RATIO, WEFT_SOURCE_EXPANDED_RATIO)

NUMBER(EM, PAGE_EM)

/* SPDX-License-Identifier: ISC
 *
 * The viewer core: everything that a shell (a desktop window or a browser page) would otherwise
 * decide for itself. A shell passes input in and replays what comes out; it has no drawing, layout,
 * gestures or formatting of its own. */

/* clang-format off */
/*     pointer, wheel, pinch, ─▶ viewer ─▶ canvas, panel, prompt, status, cursor,
 *     key, command, time                  requests
 */
/* clang-format on */

/* Input never waits for drawing: it only changes what is wanted. After any input, and when
 * weft_viewer_advance() asks for it, the shell calls weft_viewer_changes() and fetches what has
 * changed.
 *
 * Long work that input asks for, such as a search, a filter, other rows or statistics of a large
 * trace, goes on in weft_viewer_advance(), a part of it in each call. Meanwhile the viewer shows
 * what it has, and answers input; "Escape" ends the work and leaves everything as it was. The rows
 * and statistics of a live trace are made at once when it grows.
 *
 * A viewer belongs to one thread at a time. It owns the model that it shows, its layout and its
 * scene. Nothing here does I/O: copying, saving and opening are requests to the shell. Lengths are
 * logical pixels from the window's top left; times of input are milliseconds of any steady clock.
 * What a getter returns is valid until the viewer gets the next input, model or time. */
#ifndef WEFT_VIEWER_H
#define WEFT_VIEWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/canvas.h>
#include <weft/density.h>
#include <weft/model.h>
#include <weft/render.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_viewer;

struct weft_viewer_options {
	size_t size; /* sizeof(struct weft_viewer_options), or 0; members that an older header lacks are
					0 */
	enum weft_theme theme;
	const char *title; /* the trace's name; copied */
	const char *path;  /* the trace as a command line names it; copied; NULL: the title */
	const struct weft_font *font; /* borrowed; NULL for the built-in one */
	bool reduced_motion;          /* no animations */
	bool is_touched;              /* touch is the only input: controls are larger */
	bool has_wasd;                /* W A S D zoom and move; see WEFT_VIEWER_WASD */
	bool has_list;   /* WEFT_VIEWER_OPEN shows a list of traces: a button leads to it */
	bool has_header; /* the shell has a header bar of its own: it shows the title,
						weft_viewer_facts() and the buttons with a `position` there; the canvas then
						begins with the overview */
};

int weft_viewer_create(const struct weft_viewer_options *options, struct weft_viewer **ret_viewer);
void weft_viewer_destroy(struct weft_viewer *viewer);

/* Changes the trace's name, for a trace that grows to several files. 0 or WEFT_ERROR_MEMORY. */
int weft_viewer_set_title(struct weft_viewer *viewer, const char *title);

/* Shows a model and takes ownership of it, except on an error. If it is a later state of the model
 * shown so far (`is_live`, or a reload), the view, selection and search stay. Tasks of a snapshot
 * keep their rows; a complete model is laid out as when it is opened. */
int weft_viewer_show(struct weft_viewer *viewer, struct weft_model *model, bool is_live);

/* A model together with its layout, scene and index, which weft_viewer_show() would take long to
 * make. */
struct weft_viewer_prepared;

/* Makes one, on any thread and without a viewer. `progress` may be NULL. Takes ownership of the
 * model, except on an error. */
int weft_viewer_prepare(struct weft_model *model, const struct weft_progress *progress,
	struct weft_viewer_prepared **ret_prepared);
void weft_viewer_prepared_destroy(struct weft_viewer_prepared *prepared);

/* Like weft_viewer_show() with a model that is not live. Takes ownership of `prepared`, except on
 * an error. If a trace is read again while rows are folded, grouped or filtered, the rows are made
 * here, which takes time. */
int weft_viewer_show_prepared(struct weft_viewer *viewer, struct weft_viewer_prepared *prepared);

/* Says of a trace that it is too large to be read at once, and where its bytes are; copied. The
 * model that is shown is of a range (weft_decoder_build_range(), weft_model_builder_set_part()).
 * The viewer shows that range first. When the user then shows a time that was not read, it requests
 * WEFT_VIEWER_READ, of `most_bytes` at most. 0 or WEFT_ERROR_MEMORY. */
int weft_viewer_set_density(
	struct weft_viewer *viewer, const struct weft_density *density, double most_bytes);

/* Tells up to which time a live trace is complete: at `at_ms`, a time like those of input and
 * perhaps past, it had all events before `time_ns`. `is_shown`: so has the model that is shown.
 * From these times the viewer estimates the trace's present, and says how far the picture is behind
 * it. */
void weft_viewer_complete(
	struct weft_viewer *viewer, uint64_t time_ns, double at_ms, bool is_shown);

/* Shows a text instead of the picture: why there is none, or how far loading is. `fraction` is from
 * 0 to 1, or negative if unknown. If there is a picture it stays, and the text goes to the status.
 */
int weft_viewer_show_text(struct weft_viewer *viewer, const char *text, double fraction);

/* ---- Input ---- */

enum weft_viewer_modifiers {
	WEFT_VIEWER_SHIFT = 1 << 0,
	WEFT_VIEWER_CONTROL = 1 << 1,
	WEFT_VIEWER_ALT = 1 << 2,
};

enum weft_viewer_action {
	WEFT_VIEWER_MOVE,
	WEFT_VIEWER_PRESS,
	WEFT_VIEWER_RELEASE,
	WEFT_VIEWER_LEAVE,  /* the pointer is outside the canvas */
	WEFT_VIEWER_CANCEL, /* the system took the gesture away */
};

/* A mouse, or one of several fingers. The viewer itself recognizes clicks, double clicks, long
 * presses, drags and pinches. */
struct weft_viewer_pointer {
	uint8_t action; /* enum weft_viewer_action */
	uint8_t button; /* 1 left, 2 middle, 3 right; 0 when it only moves */
	bool is_touch;
	unsigned modifiers;
	uint32_t id; /* distinguishes fingers */
	double x, y; /* in the canvas */
};

void weft_viewer_resize(struct weft_viewer *viewer, double width, double height, double now_ms);
void weft_viewer_pointer(
	struct weft_viewer *viewer, const struct weft_viewer_pointer *pointer, double now_ms);

/* `dx` and `dy` in pixels, positive to the right and downwards; a notch of a mouse wheel is 120. */
void weft_viewer_wheel(struct weft_viewer *viewer, double x, double y, double dx, double dy,
	unsigned modifiers, double now_ms);

/* A pinch on a touchpad: `factor` since the last call, around (x, y). */
void weft_viewer_pinch(
	struct weft_viewer *viewer, double x, double y, double factor, double now_ms);

/* `key` as browsers name it: "a", "A", "?", "ArrowLeft", "Escape", "Enter", "Tab", " ", "F5".
 * Returns whether the viewer used the key; the shell handles the others. */
bool weft_viewer_key(
	struct weft_viewer *viewer, const char *key, unsigned modifiers, double now_ms);

/* Runs a command, as panels, menus, buttons and links contain them: "fit", "theme dark", "select
 * task:12", "view start=12ms duration=3ms task=12". docs/viewer.md lists them. False if there is no
 * such command; the status then says so. */
bool weft_viewer_command(struct weft_viewer *viewer, const char *command, double now_ms);

/* Passes the time, for animations, long presses and long work. Returns the milliseconds until it
 * should be called again: INFINITY if nothing is moving, 0 for the next frame. */
double weft_viewer_advance(struct weft_viewer *viewer, double now_ms);

/* ---- Output ---- */

enum weft_viewer_changed {
	WEFT_VIEWER_CANVAS = 1 << 0,
	WEFT_VIEWER_PANEL = 1 << 1,
	WEFT_VIEWER_PROMPT = 1 << 2,
	WEFT_VIEWER_STATUS = 1 << 3,
	WEFT_VIEWER_CURSOR = 1 << 4,
	WEFT_VIEWER_BOXES = 1 << 5,
	WEFT_VIEWER_REQUEST = 1 << 6,
	WEFT_VIEWER_CONTROLS = 1 << 7,
};

/* The changes since the last call: enum weft_viewer_changed. */
unsigned weft_viewer_changes(struct weft_viewer *viewer);

/* Where the window's parts are. The panel is beside the canvas, or below it in a narrow window. A
 * part with no width is absent. */
struct weft_viewer_boxes {
	struct weft_box canvas, panel;
};

void weft_viewer_boxes(const struct weft_viewer *viewer, struct weft_viewer_boxes *ret_boxes);

/* Draws the canvas box, from (0, 0) on, into an empty canvas. 0 or WEFT_ERROR_MEMORY. */
int weft_viewer_draw(struct weft_viewer *viewer, struct weft_canvas *canvas);

/* Draws the same for a file, into a canvas of any size, which is emptied first: with a title line,
 * if the shell's header bar has the title. 0 or WEFT_ERROR_MEMORY. */
int weft_viewer_draw_file(struct weft_viewer *viewer, struct weft_canvas *canvas);

/* One sentence about what is under the pointer, or selected. Shells pass it to screen readers, too.
 */
const char *weft_viewer_status(const struct weft_viewer *viewer);

enum weft_viewer_cursor {
	WEFT_VIEWER_CURSOR_DEFAULT,
	WEFT_VIEWER_CURSOR_POINTER, /* over something that can be clicked */
	WEFT_VIEWER_CURSOR_GRABBING,
	WEFT_VIEWER_CURSOR_RESIZE, /* left and right: over an edge of the overview's window */
	WEFT_VIEWER_CURSOR_CROSSHAIR,
	WEFT_VIEWER_CURSOR_RESIZE_ROWS, /* up and down: over the edge of a counter's lane */
};

enum weft_viewer_cursor weft_viewer_cursor(const struct weft_viewer *viewer);

enum weft_viewer_control_type {
	WEFT_VIEWER_PUSH,   /* a button */
	WEFT_VIEWER_HANDLE, /* moves left and right: send `command`, a space, and "left" or "right" */
};

enum weft_viewer_position {
	WEFT_VIEWER_IN_CANVAS,
	WEFT_VIEWER_BEFORE_TITLE, /* in the shell's header bar */
	WEFT_VIEWER_AFTER_TITLE,
};

/* Something that can be operated. For each that is drawn in the canvas, in this order, the shell
 * lays a widget over it that takes keyboard focus and lets pointer input through to the viewer.
 * Those of the header bar come first; the shell makes a button of each. */
struct weft_viewer_control {
	struct weft_box box; /* in the canvas; no width: in the header bar */
	const char *name;    /* what it does, with its key if it has one */
	const char *value;   /* a handle's position; else "" */
	const char *command;
	const char *text; /* beside a button's icon: a number; or "" */
	uint32_t color;   /* of a button's icon and text, 0xRRGGBBAA */
	uint8_t type;     /* enum weft_viewer_control_type */
	uint8_t position; /* enum weft_viewer_position */
	uint8_t icon;     /* of a button: for weft_viewer_draw_icon(); or 0 */
	bool is_on;       /* the panel or mode that it opens is open */
	bool is_off;      /* disabled */
};

const struct weft_viewer_control *weft_viewer_controls(
	const struct weft_viewer *viewer, uint32_t *ret_count);

/* Draws a button's icon, 16 px wide, in the middle of an empty canvas. */
void weft_viewer_draw_icon(const struct weft_viewer_control *control, struct weft_canvas *canvas);

/* The trace's length, events, tasks and losses, for a header bar; "" without a trace. It changes
 * together with the controls. */
const char *weft_viewer_facts(struct weft_viewer *viewer);

enum weft_viewer_item_type {
	WEFT_VIEWER_HEADING,
	WEFT_VIEWER_TEXT,   /* a paragraph */
	WEFT_VIEWER_FACT,   /* `text` is its name, `detail` its value */
	WEFT_VIEWER_LINK,   /* a line that can be activated: `command` */
	WEFT_VIEWER_TOGGLE, /* a link that is on or off */
	WEFT_VIEWER_BUTTON, /* a link that looks like a button */
};

struct weft_viewer_item {
	uint8_t type;     /* enum weft_viewer_item_type */
	uint8_t role;     /* enum weft_viewer_role: a colour of the theme */
	bool is_selected; /* the current one of a list; of a TOGGLE: on */
	const char *text;
	const char *detail;  /* at the right, dim: a time, a count; or "" */
	const char *command; /* for weft_viewer_command() when the item is activated; or "" */
};

enum weft_viewer_role {
	WEFT_VIEWER_ROLE_NONE,
	WEFT_VIEWER_ROLE_FAILED,
	WEFT_VIEWER_ROLE_READ,
	WEFT_VIEWER_ROLE_RESOLVE,
	WEFT_VIEWER_ROLE_TRY_READ,
	WEFT_VIEWER_ROLE_SIGNAL,
	WEFT_VIEWER_ROLE_DIM,     /* no longer so */
	WEFT_VIEWER_ROLE_COUNTER, /* and WEFT_VIEWER_ROLE_COUNTER + n: the n-th counter's colour */
};

/* A list from top to bottom, for native widgets. It has only a title and items; the shell makes it
 * scroll and puts it into the Tab order. */
struct weft_viewer_panel {
	const char *title; /* "" if there is no panel */
	const struct weft_viewer_item *items;
	uint32_t item_count;
	uint32_t selected; /* the item to scroll to, or WEFT_NONE */
};

const struct weft_viewer_panel *weft_viewer_panel(const struct weft_viewer *viewer);

/* A request for one line of text. */
struct weft_viewer_prompt {
	bool is_open;
	const char *label;   /* "Search" */
	const char *text;    /* the text when it opens */
	const char *message; /* "3 of 17", or what is wrong with the text */
	bool is_error;
};

const struct weft_viewer_prompt *weft_viewer_prompt(const struct weft_viewer *viewer);

/* Passes the line at each change; `is_done` with Enter. Escape goes to weft_viewer_key(). */
void weft_viewer_prompt_text(
	struct weft_viewer *viewer, const char *text, bool is_done, double now_ms);

enum weft_viewer_request_type {
	WEFT_VIEWER_COPY,       /* copy `text` to the clipboard */
	WEFT_VIEWER_SAVE_NOTES, /* save `text` beside the trace, for weft_viewer_load_notes() */
	WEFT_VIEWER_SAVE_SVG,   /* save the canvas; `text` is the suggested name */
	WEFT_VIEWER_SAVE_PNG,   /* save the canvas; `text` is the suggested name */
	WEFT_VIEWER_SAVE_CUT,   /* save the events from `start` to `end` as a trace; `text` is the
							   suggested name */
	WEFT_VIEWER_OPEN,       /* let the user choose another trace */
	WEFT_VIEWER_RELOAD,     /* read the trace again */
	WEFT_VIEWER_FOLLOW,     /* a live trace: go on fetching (`start` is 1) or pause (0) */
	WEFT_VIEWER_NEW_WINDOW, /* open another window with the same trace */
	WEFT_VIEWER_THEME, /* the theme is now `text`; `start` is 1 if the user chose it, 0 if a link
						  did */
	WEFT_VIEWER_READ,  /* show the part from `start` to `end`: see weft_viewer_set_density() */
	WEFT_VIEWER_WASD,  /* W A S D zoom and move (`start` is 1) or not (0): keep the choice */
};

struct weft_viewer_request {
	uint8_t type; /* enum weft_viewer_request_type */
	const char *text;
	uint64_t start, end; /* on the trace's clock */
};

/* Returns the next request to the shell, if any: each once, in order. */
bool weft_viewer_next_request(struct weft_viewer *viewer, struct weft_viewer_request *ret_request);

/* Loads bookmarks and notes as they were saved. Returns the number of malformed lines, which are
 * skipped. */
uint32_t weft_viewer_load_notes(struct weft_viewer *viewer, const char *text, size_t size);

/* The view as one command, for links and for the next start: "view start=… duration=… …". */
const char *weft_viewer_link(struct weft_viewer *viewer);

/* The colours of the viewer's theme, 0xRRGGBBAA, for the shell's widgets. */
struct weft_viewer_colors {
	uint32_t background, text, dim, grid, selection, failed;
};

void weft_viewer_colors(const struct weft_viewer *viewer, struct weft_viewer_colors *ret_colors);
uint32_t weft_viewer_role_color(const struct weft_viewer *viewer, unsigned role);

#ifdef __cplusplus
}
#endif
#endif

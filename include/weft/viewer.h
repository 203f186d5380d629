/* SPDX-License-Identifier: ISC
 *
 * One person's look at one trace: everything that a shell, be it a desktop window or a browser
 * page, would otherwise decide for itself. A shell passes input in and replays what comes out; it
 * holds no drawing, layout, gesture or formatting of its own:
 *
 *     pointer, wheel, pinch, key, command ─▶ viewer ─▶ canvas, panel, prompt, status, cursor,
 * requests the time ─▶
 *
 * Input never waits for drawing: it only changes what is wanted. After any input, or when
 * weft_viewer_advance() said so, the shell asks weft_viewer_changes() and fetches what has changed.
 *
 * A viewer belongs to one thread at a time. It owns the model that it shows, its layout and scene.
 * Nothing here does I/O: what needs the system (copying, saving, opening) is a request to the
 * shell. Lengths are logical pixels from the window's top left, times of input are milliseconds of
 * any steady clock. What a getter returns lives until the viewer is given the next input, model or
 * time.
 */
#ifndef WEFT_VIEWER_H
#define WEFT_VIEWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/canvas.h>
#include <weft/model.h>
#include <weft/render.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weft_viewer;

struct weft_viewer_options {
	enum weft_theme theme;
	const char *title;            /* the trace's name; copied */
	const char *path;             /* what a command line calls the trace; copied; NULL: the title */
	const struct weft_font *font; /* borrowed; NULL for the built-in one */
	bool reduced_motion;          /* no glides and fades */
	bool is_touched;              /* fingers are all there is: what is tapped is larger */
};

int weft_viewer_create(const struct weft_viewer_options *options, struct weft_viewer **ret_viewer);
void weft_viewer_destroy(struct weft_viewer *viewer);

/* Shows a model, which from then on is the viewer's; on an error it stays the caller's. If it is a
 * later state of the one shown so far (`is_live`, or a reload), what is looked at, selected and
 * searched stays. */
int weft_viewer_show(struct weft_viewer *viewer, struct weft_model *model, bool is_live);

/* A model with all that its first picture needs: what weft_viewer_show() would take long for. */
struct weft_viewer_prepared;

/* In any thread, and without a viewer. `progress`, which may be NULL, is told how far it is and may
 * stop it. The model is the result's from then on; on an error it stays the caller's. */
int weft_viewer_prepare(struct weft_model *model, const struct weft_progress *progress,
	struct weft_viewer_prepared **ret_prepared);
void weft_viewer_prepared_destroy(struct weft_viewer_prepared *prepared);

/* As weft_viewer_show() of a model that is not live; `prepared` is the viewer's from then on, but
 * stays the caller's on an error. Rows that were folded, grouped or filtered by now, in a trace
 * that is read again, take their time here. */
int weft_viewer_show_prepared(struct weft_viewer *viewer, struct weft_viewer_prepared *prepared);

/* Words where the picture would be: why there is none, or how far loading is. `fraction` from 0 to
 * 1, or negative if nobody knows. A picture that is there stays, and the words go to the status. */
int weft_viewer_say(struct weft_viewer *viewer, const char *text, double fraction);

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

/* A mouse, or one of several fingers. The viewer itself makes clicks, double clicks, long presses,
 * drags and pinches of them. */
struct weft_viewer_pointer {
	uint8_t action; /* enum weft_viewer_action */
	uint8_t button; /* 1 left, 2 middle, 3 right; 0 when it only moves */
	bool is_touch;
	unsigned modifiers;
	uint32_t id; /* tells fingers apart */
	double x, y; /* in the canvas */
};

void weft_viewer_resize(struct weft_viewer *viewer, double width, double height, double now_ms);
void weft_viewer_pointer(
	struct weft_viewer *viewer, const struct weft_viewer_pointer *pointer, double now_ms);

/* `dx` and `dy` in pixels: a notch of a mouse's wheel is 120, to the right and downwards positive.
 */
void weft_viewer_wheel(struct weft_viewer *viewer, double x, double y, double dx, double dy,
	unsigned modifiers, double now_ms);

/* A touchpad's pinch: `factor` since the last call, around (x, y). */
void weft_viewer_pinch(
	struct weft_viewer *viewer, double x, double y, double factor, double now_ms);

/* `key` as browsers name it: "a", "A", "?", "ArrowLeft", "Escape", "Enter", "Tab", " ", "F5".
 * Whether the viewer has a use for it; what it has not is the shell's. */
bool weft_viewer_key(
	struct weft_viewer *viewer, const char *key, unsigned modifiers, double now_ms);

/* One action in words, as the panel's links, menus, buttons and copied links have it: "fit",
 * "theme dark", "select task:12", "view start=12ms duration=3ms task=12". docs/viewer.md lists
 * them. false if there is no such command; the status line then says so. */
bool weft_viewer_command(struct weft_viewer *viewer, const char *command, double now_ms);

/* Brings the time: glides, fades, long presses. Milliseconds until it wants to be called again;
 * INFINITY if nothing is under way, 0 for the next frame. */
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

/* What has changed since the last call: enum weft_viewer_changed. */
unsigned weft_viewer_changes(struct weft_viewer *viewer);

/* Where the window's parts are: the panel is beside the canvas, in a narrow window below it;
 * nothing is where a box has no width. */
struct weft_viewer_boxes {
	struct weft_box canvas, panel;
};

void weft_viewer_boxes(const struct weft_viewer *viewer, struct weft_viewer_boxes *ret_boxes);

/* Draws the canvas' box, from (0, 0) on, into an empty canvas. 0 or WEFT_ERROR_MEMORY. */
int weft_viewer_draw(struct weft_viewer *viewer, struct weft_canvas *canvas);

/* One sentence: what is under the pointer, or selected. Readers of screens are told it, too. */
const char *weft_viewer_status(const struct weft_viewer *viewer);

enum weft_viewer_cursor {
	WEFT_VIEWER_CURSOR_DEFAULT,
	WEFT_VIEWER_CURSOR_POINTER, /* over what can be clicked */
	WEFT_VIEWER_CURSOR_GRABBING,
	WEFT_VIEWER_CURSOR_RESIZE, /* left and right: over an edge of the overview's window */
	WEFT_VIEWER_CURSOR_CROSSHAIR,
};

enum weft_viewer_cursor weft_viewer_cursor(const struct weft_viewer *viewer);

enum weft_viewer_control_type {
	WEFT_VIEWER_PUSH,   /* a button */
	WEFT_VIEWER_HANDLE, /* moved to the left or right: `command`, a space, and that word */
};

/* Something that is drawn and can be used. A shell lays what takes the keyboard over it, in this
 * order, and lets pointers through: they are the viewer's. */
struct weft_viewer_control {
	struct weft_box box; /* in the canvas */
	const char *name;    /* what it does, perhaps with its key */
	const char *value;   /* of a handle: where it is; else "" */
	const char *command;
	uint8_t type; /* enum weft_viewer_control_type */
	bool is_on;   /* what it opens is open */
	bool is_off;  /* of no use now */
};

const struct weft_viewer_control *weft_viewer_controls(
	const struct weft_viewer *viewer, uint32_t *ret_count);

enum weft_viewer_item_type {
	WEFT_VIEWER_HEADING,
	WEFT_VIEWER_TEXT,   /* a paragraph */
	WEFT_VIEWER_FACT,   /* `text` is its name, `detail` its value */
	WEFT_VIEWER_LINK,   /* a line that can be activated: `command` */
	WEFT_VIEWER_TOGGLE, /* likewise, and is on or off */
	WEFT_VIEWER_BUTTON, /* likewise */
};

struct weft_viewer_item {
	uint8_t type;     /* enum weft_viewer_item_type */
	uint8_t role;     /* enum weft_viewer_role: a colour of the theme */
	bool is_selected; /* the current one of a list; of a TOGGLE: on */
	const char *text;
	const char *detail;  /* at the right, dim: a time, a count; or "" */
	const char *command; /* for weft_viewer_command() when it is activated; or "" */
};

enum weft_viewer_role {
	WEFT_VIEWER_ROLE_NONE,
	WEFT_VIEWER_ROLE_FAILED,
	WEFT_VIEWER_ROLE_READ,
	WEFT_VIEWER_ROLE_RESOLVE,
	WEFT_VIEWER_ROLE_TRY_READ,
	WEFT_VIEWER_ROLE_SIGNAL,
	WEFT_VIEWER_ROLE_COUNTER, /* and WEFT_VIEWER_ROLE_COUNTER + n: the n-th counter's colour */
};

/* A list from top to bottom, for native widgets. Only its title and items; the shell makes it
 * scroll, and reachable by Tab. */
struct weft_viewer_panel {
	const char *title; /* "" if there is no panel */
	const struct weft_viewer_item *items;
	uint32_t item_count;
	uint32_t selected; /* the item to scroll to, or WEFT_NONE */
};

const struct weft_viewer_panel *weft_viewer_panel(const struct weft_viewer *viewer);

/* A line of text that the person is asked for. */
struct weft_viewer_prompt {
	bool is_open;
	const char *label;   /* "Search" */
	const char *text;    /* when it opens */
	const char *message; /* "3 of 17", or what is wrong with the text */
	bool is_error;
};

const struct weft_viewer_prompt *weft_viewer_prompt(const struct weft_viewer *viewer);

/* What stands in the line, at each change; `is_done` with Enter. Escape is weft_viewer_key(). */
void weft_viewer_prompt_text(
	struct weft_viewer *viewer, const char *text, bool is_done, double now_ms);

enum weft_viewer_request_type {
	WEFT_VIEWER_COPY,       /* `text` to the clipboard */
	WEFT_VIEWER_SAVE_NOTES, /* `text` beside the trace: what weft_viewer_load_notes() takes */
	WEFT_VIEWER_SAVE_SVG,   /* the canvas as it is, under a name like `text` */
	WEFT_VIEWER_SAVE_PNG,   /* likewise */
	WEFT_VIEWER_SAVE_CUT,   /* the events from `start` to `end` as a trace, under a name like `text`
							 */
	WEFT_VIEWER_OPEN,       /* another trace: the person chooses */
	WEFT_VIEWER_RELOAD,     /* the trace again from where it came */
	WEFT_VIEWER_FOLLOW,     /* a live trace: go on fetching (`start` is 1) or pause (0) */
	WEFT_VIEWER_NEW_WINDOW, /* of the same trace */
	WEFT_VIEWER_THEME,      /* the theme has changed to that of the name `text`; `start` is 1 if the
							   person chose it, 0 if a link did */
};

struct weft_viewer_request {
	uint8_t type; /* enum weft_viewer_request_type */
	const char *text;
	uint64_t start, end; /* on the trace's clock */
};

/* The next thing that the shell is to do, if any: each is given once, in order. */
bool weft_viewer_next_request(struct weft_viewer *viewer, struct weft_viewer_request *ret_request);

/* Bookmarks and notes as they were saved. Lines that make no sense are left out; their number. */
uint32_t weft_viewer_load_notes(struct weft_viewer *viewer, const char *text, size_t size);

/* The view as one command, for links and for the next start: "view start=… duration=… …". */
const char *weft_viewer_link(struct weft_viewer *viewer);

/* What colour a role or part has in the viewer's theme now, 0xRRGGBBAA, for the shell's widgets. */
struct weft_viewer_colors {
	uint32_t background, text, dim, grid, selection, failed;
};

void weft_viewer_colors(const struct weft_viewer *viewer, struct weft_viewer_colors *ret_colors);
uint32_t weft_viewer_role_color(const struct weft_viewer *viewer, unsigned role);

#ifdef __cplusplus
}
#endif
#endif

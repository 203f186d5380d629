/* SPDX-License-Identifier: ISC
 *
 * Buttons that are drawn, and the controls that a shell lays over them.
 */
#ifndef WEFT_VIEWER_TOOLBAR_H
#define WEFT_VIEWER_TOOLBAR_H

#include <weft/viewer.h>

struct weft_viewer;

enum weft__icon {
	WEFT__ICON_NONE,
	WEFT__ICON_LIST,
	WEFT__ICON_OPEN,
	WEFT__ICON_BACK,
	WEFT__ICON_FORWARD,
	WEFT__ICON_ZOOM_OUT,
	WEFT__ICON_ZOOM_IN,
	WEFT__ICON_FIT,
	WEFT__ICON_MEASURE,
	WEFT__ICON_PROBLEMS,
	WEFT__ICON_SEARCH,
	WEFT__ICON_COUNTERS,
	WEFT__ICON_ROWS,
	WEFT__ICON_THEME,
	WEFT__ICON_HELP,
	WEFT__ICON_MENU,
	WEFT__ICON_CLOSE,
	WEFT__ICON_LIVE,
	WEFT__ICON_PAUSED,
	WEFT__ICON_ENDED,
};

#define WEFT__BUTTON_TEXT_BYTES 40

struct weft__button {
	struct weft_box box;    /* no width: in the shell's header bar, at `position` */
	uint8_t icon, position; /* enum weft_viewer_position */
	bool is_on, is_faint, is_framed, is_pill;
	uint32_t color; /* 0: the theme's */
	const char *command;
	const char *tip;
	char text[WEFT__BUTTON_TEXT_BYTES];
};

#define WEFT__BUTTONS_MAX 24
#define WEFT__NO_BUTTON   UINT32_MAX

struct weft__toolbar {
	struct weft_box bar; /* the line with the buttons; no width: there is none */
	bool is_own;         /* the bar has a line of its own, below the title */
	bool is_short;       /* some buttons have no room: the menu has their commands */
	struct weft__button buttons[WEFT__BUTTONS_MAX];
	uint32_t count, hovered; /* hovered: or WEFT__NO_BUTTON */
	struct weft_viewer_control controls[WEFT__BUTTONS_MAX + 2];
	char control_texts[WEFT__BUTTONS_MAX][WEFT__BUTTON_TEXT_BYTES];
	uint32_t control_count;
	char handle_values[2][32];
};

/* toolbar.c */
void weft__viewer_place_buttons(struct weft_viewer *viewer);
/* Decides which buttons the bar has, and whether they stand beside the title. Returns the widths
 * that they take before and behind it. */
void weft__viewer_fit_bar(
	struct weft_viewer *viewer, double width, double *ret_before, double *ret_behind);
uint32_t weft__viewer_button_color(
	const struct weft_viewer *viewer, const struct weft__button *button);
uint32_t weft__viewer_button_at(const struct weft_viewer *viewer, double x, double y);
void weft__viewer_draw_buttons(const struct weft_viewer *viewer, struct weft_canvas *canvas);

/* controls.c */
void weft__viewer_list_controls(struct weft_viewer *viewer);
/* Moves the begin or end of the view by a step: -1 or 1. */
void weft__viewer_stretch_view(struct weft_viewer *viewer, bool is_end, int step);

/* icons.c: around (x, y). */
void weft__viewer_draw_icon(
	struct weft_canvas *canvas, enum weft__icon icon, double x, double y, uint32_t color);

#endif

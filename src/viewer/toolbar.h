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
	WEFT__ICON_BACK,
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
};

struct weft__button {
	struct weft_box box;
	uint8_t icon;
	bool is_on, is_faint, is_framed;
	uint32_t color; /* 0: the theme's */
	const char *command;
	const char *tip;
	char text[16];
};

#define WEFT__BUTTONS_MAX 24
#define WEFT__NO_BUTTON   UINT32_MAX

struct weft__toolbar {
	struct weft_box bar;
	struct weft__button buttons[WEFT__BUTTONS_MAX];
	uint32_t count, hovered; /* hovered: or WEFT__NO_BUTTON */
	struct weft_viewer_control controls[WEFT__BUTTONS_MAX + 2];
	uint32_t control_count;
	char handle_values[2][32];
};

/* toolbar.c */
void weft__viewer_place_buttons(struct weft_viewer *viewer);
/* The width of the bar beside a title; true if the bar is too short for all buttons. */
double weft__viewer_bar_width(const struct weft_viewer *viewer);
bool weft__viewer_bar_is_short(const struct weft_viewer *viewer);
uint32_t weft__viewer_button_at(const struct weft_viewer *viewer, double x, double y);
void weft__viewer_draw_buttons(const struct weft_viewer *viewer, struct weft_canvas *canvas);

/* controls.c */
void weft__viewer_list_controls(struct weft_viewer *viewer);
/* Moves the begin or end of the view by a step: -1 or 1. */
void weft__viewer_stretch_view(struct weft_viewer *viewer, bool is_end, int step);

/* icons.c: around (x, y). */
void weft__draw_icon(
	struct weft_canvas *canvas, enum weft__icon icon, double x, double y, uint32_t color);

#endif

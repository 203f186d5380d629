/* SPDX-License-Identifier: ISC
 *
 * What a viewer keeps, by subject, and what its files ask of each other. Input only changes state
 * and says what is stale; weft__viewer_settle() then makes the window's texts, lists and boxes
 * agree with it, once an input.
 */
#ifndef WEFT_VIEWER_STATE_H
#define WEFT_VIEWER_STATE_H

#include <weft/filter.h>
#include <weft/problems.h>
#include <weft/search.h>
#include <weft/story.h>
#include <weft/text.h>
#include <weft/viewer.h>

/* ---- The view and its way there: motion.c, history.c ---- */

#define WEFT__GLIDE_MS 120.0
#define WEFT__THROW_MS 300.0

struct weft__motion {
	bool is_running;
	bool is_thrown; /* goes on as it was dragged; else from `from` to `to` */
	double begin_ms, end_ms;
	struct weft_view from, to;
	/* Of what is thrown: the point that was held, where it was let go and how fast. */
	double held_ns, held_row, x, y, speed_x, speed_y; /* px, px a ms */
};

/* ---- Rows on their way: slide.c ---- */

#define WEFT__SLIDE_MS 200.0

struct weft__slide {
	bool is_running;
	double begin_ms, share; /* share: what is left of it, 1 to 0 */
	double *shifts;         /* px, by row: from where it is to where it was */
	uint32_t count;
};

#define WEFT__HISTORY_MAX 64

struct weft__history {
	struct weft_view views[WEFT__HISTORY_MAX];
	unsigned count, at;
	double moved_ms; /* the last move: moves in one go are one step */
};

/* ---- Pointers: pointer.c, overview.c ---- */

enum weft__drag {
	WEFT__DRAG_NONE,
	WEFT__DRAG_PRESSED, /* may still become a click */
	WEFT__DRAG_GRAB,
	WEFT__DRAG_RANGE,
	WEFT__DRAG_ROWS,   /* the bar at the right of plain rows */
	WEFT__DRAG_WINDOW, /* the overview's */
	WEFT__DRAG_WINDOW_START,
	WEFT__DRAG_WINDOW_END,
	WEFT__DRAG_STRIP_RANGE,
	WEFT__DRAG_BUTTON,
	WEFT__DRAG_STATUS,
	WEFT__DRAG_PINCH,
	WEFT__DRAG_HOVER, /* after a long press */
	WEFT__DRAG_OVER,  /* until the last finger is lifted */
};

struct weft__finger {
	uint32_t id;
	double x, y;
};

struct weft__pointer {
	bool is_inside, is_touch;
	double x, y;
	unsigned modifiers;
	enum weft__drag drag;
	struct weft__finger fingers[2];
	unsigned finger_count;
	double press_x, press_y, long_ms; /* when the press is a long one */
	double held_ns, held_row;         /* the grabbed point; ns from the trace's start */
	double speed_x, speed_y, moved_ms;
	double click_x, click_y, click_ms; /* the last click */
	bool click_folded;                 /* it folded or unfolded something */
	unsigned button;                   /* pressed, of `buttons` */
};

/* ---- Buttons that are drawn: toolbar.c ---- */

enum weft__icon {
	WEFT__ICON_NONE,
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
	WEFT__ICON_FOLLOW,
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

/* ---- A range of time that was chosen: range.c ---- */

struct weft__range {
	bool is_set;
	uint64_t from, to; /* where it began and where the pointer is: in any order */
	bool is_armed;     /* the next drag chooses one */
};

/* A time near the pointer that a range or mark keeps to. */
struct weft__snap {
	bool is_set;
	uint64_t time;
};

/* ---- Tasks that stand out: select.c, edges.c ---- */

#define WEFT__HOVER_MS 80.0
#define WEFT__FADE_MS  120.0
#define WEFT__PULSE_MS 900.0
#define WEFT__HITS_MAX 8

/* What is under a point. */
struct weft__hit {
	uint32_t tasks[WEFT__HITS_MAX]; /* the nearest first */
	uint32_t fold;                  /* that the nearest is a tooth of, or WEFT_NONE */
	uint32_t handle;                /* the fold whose handle it is, or WEFT_NONE */
	uint32_t handle_task;           /* a member of that fold, or WEFT_NONE */
	unsigned count;
	bool is_cell; /* a density: more tasks than can be told apart */
	struct weft_story_group group;
};

struct weft__selection {
	uint32_t task, edge; /* or WEFT_NONE; the edge that Tab is at */
	uint64_t at;         /* the moment that is asked about, ns */
	uint32_t *related;   /* ascending; only while `related_count` is not 0 */
	uint32_t related_count;
};

struct weft__hover {
	uint32_t task, fold;          /* or WEFT_NONE */
	uint32_t wanted, wanted_fold; /* will be, once the pointer has rested */
	double due_ms;                /* when */
	uint32_t handle;              /* of a run that is not folded, or WEFT_NONE */
	bool is_cell;
	struct weft_story_group group;
};

struct weft__fade {
	bool is_shown;   /* where it goes: something stands out */
	double strength; /* 0 to 1 */
	double from, begin_ms;
};

/* The edges that stand out in a frame: gather.c. */
struct weft__standing {
	uint32_t *edges, count;
	size_t capacity;
};

/* ---- Rows: rows.c ---- */

#define WEFT__FILTER_BYTES 1024

struct weft__numbers {
	uint32_t *list, count;
	size_t capacity;
};

struct weft__rows {
	bool no_fold, no_simplify;
	enum weft_group_by group_by;
	struct weft__numbers exceptions;    /* tasks, of whose folds the opposite holds */
	struct weft__numbers folded_groups; /* keys */
	char filter[WEFT__FILTER_BYTES];
};

/* ---- What can be made ahead: prepare.c ---- */

struct weft_viewer_prepared {
	struct weft_model *model;
	struct weft_layout *layout;
	struct weft_scene *scene;
	struct weft_story story;
};

/* ---- Prompts: prompt.c ---- */

enum weft__asked {
	WEFT__ASK_NOTHING,
	WEFT__ASK_START,
	WEFT__ASK_DURATION,
	WEFT__ASK_SEARCH,
	WEFT__ASK_NOTE,
	WEFT__ASK_FILTER,
};

/* ---- Bookmarks: notes.c ---- */

#define WEFT__NO_MARK SIZE_MAX

struct weft__bookmark {
	uint64_t time;
	char *text;
};

/* ---- Panels: panel.c ---- */

enum weft__panel_kind {
	WEFT__PANEL_NONE,
	WEFT__PANEL_STORY,
	WEFT__PANEL_PROBLEMS,
	WEFT__PANEL_SEARCH,
	WEFT__PANEL_COUNTERS,
	WEFT__PANEL_ROWS,
	WEFT__PANEL_MARKS,
	WEFT__PANEL_HELP,
	WEFT__PANEL_MENU,
	WEFT__PANEL_EXPORT,
	WEFT__PANELS
};

struct weft__panel {
	enum weft__panel_kind kind;
	bool is_stale;
	struct weft_viewer_panel shown;
	struct weft_viewer_item *items;
	size_t capacity;
	struct weft_text text;          /* of the items: offsets until it is whole */
	struct weft_viewer_item unused; /* stands in for an item that could not be allocated */
	int error;
};

#define WEFT__REQUESTS_MAX 32

struct weft_viewer {
	/* What is looked at. */
	struct weft_model *model;
	struct weft_layout *layout;
	struct weft_scene *scene;
	bool is_live, is_following;
	/* How. */
	enum weft_theme theme;
	const struct weft_font *font;
	char *title, *path, *said;
	double said_fraction;
	bool reduced_motion, is_touched, clock_times, is_clicking;
	bool counters_hidden, counter_rates;
	uint8_t *hidden_counters; /* a byte each; NULL: none is hidden */
	uint32_t hidden_count;    /* bytes of it */
	/* The window. */
	double width, height, now_ms;
	struct weft_viewer_boxes boxes;
	struct weft_frame frame; /* within the canvas */
	struct weft_box bar;     /* of the buttons */
	struct weft__button buttons[WEFT__BUTTONS_MAX];
	uint32_t button_count, button_hovered;
	struct weft_viewer_control controls[WEFT__BUTTONS_MAX + 2];
	uint32_t control_count;
	char handle_values[2][32];
	unsigned changes;
	enum weft_viewer_cursor cursor;
	/* State by subject. */
	struct weft_view view;
	struct weft__motion motion;
	struct weft__slide slide;
	struct weft__history history;
	struct weft__pointer pointer;
	struct weft__range range;
	struct weft__snap snap;
	struct weft__selection selection;
	struct weft__rows rows;
	uint32_t fold_known; /* of which `fold_group` tells, or WEFT_NONE */
	struct weft_story_group fold_group;
	struct weft__hover hover;
	struct weft__fade fade;
	struct weft__standing standing;
	struct weft_story story; /* its index is made when it is first needed */
	struct weft_problems *problems;
	struct weft_story_index_maker *index_maker; /* both in steps between inputs */
	struct weft_problems_maker *problems_maker;
	uint32_t *problem_order; /* the most severe first, then by type and time */
	uint32_t problem;        /* the current one in that order, or WEFT_NONE */
	uint32_t problem_count;  /* as last known, of a trace that grows */
	bool shows_problem;      /* marks its time, until something else is selected */
	double pulse_ms;         /* since when the overview says that there are any */
	bool is_pulsing;
	bool was_drawn;
	struct weft_search *search;
	char *search_text;
	bool is_expression;
	uint32_t match;               /* the current one, or WEFT_NONE */
	struct weft__bookmark *marks; /* by time */
	size_t mark_count, mark_capacity;
	size_t mark; /* the one that was set or gone to last, or WEFT__NO_MARK */
	struct weft__panel panel;
	enum weft__asked asked;
	struct weft_viewer_prompt prompt;
	char prompt_text[WEFT__FILTER_BYTES], prompt_message[256];
	/* What the status says, and what it was told to say until then. */
	char status[512], told[512];
	double told_until_ms;
	double told_x, told_y; /* where the pointer was then */
	struct weft_viewer_request requests[WEFT__REQUESTS_MAX];
	char *request_texts[WEFT__REQUESTS_MAX];
	unsigned request_first, request_count;
	char *request_given;
	struct weft_text link;
};

/* viewer.c: before and after any input. */
void weft__viewer_begin(struct weft_viewer *viewer, double now_ms);
void weft__viewer_settle(struct weft_viewer *viewer);

/* window.c */
void weft__viewer_place(struct weft_viewer *viewer);
bool weft__inside(const struct weft_box *box, double x, double y);

/* motion.c: what is wanted, which the view may still be on its way to. */
const struct weft_view *weft__viewer_wanted(const struct weft_viewer *viewer);
/* Goes there in 120 ms, or at once. */
void weft__viewer_glide(struct weft_viewer *viewer, const struct weft_view *to);
void weft__viewer_jump(struct weft_viewer *viewer, const struct weft_view *to);
/* Stays where it is now. */
void weft__viewer_halt(struct weft_viewer *viewer);
/* Goes on for 300 ms, ever slower. */
void weft__viewer_throw(struct weft_viewer *viewer);
/* Whether it goes on. */
bool weft__viewer_move_on(struct weft_viewer *viewer);
/* So that the held point is at (x, y) of the canvas. */
void weft__hold_point(const struct weft_viewer *viewer, struct weft_view *view, double held_ns,
	double held_row, double x, double y);

/* slide.c: before the viewer takes a new layout and scene, and afterwards. */
void weft__slide_prepare(
	struct weft_viewer *viewer, const struct weft_layout *layout, const struct weft_scene *scene);
void weft__slide_begin(struct weft_viewer *viewer);
void weft__slide_move_on(struct weft_viewer *viewer);
void weft__slide_stop(struct weft_viewer *viewer);

/* history.c: before a move. Moves that follow each other within a second are one, unless `is_jump`.
 */
void weft__viewer_remember(struct weft_viewer *viewer, bool is_jump);
/* -1 or 1 */
bool weft__viewer_recall(struct weft_viewer *viewer, int step);

/* moves.c: moves in steps. */
void weft__viewer_zoom(struct weft_viewer *viewer, double x, double factor);
void weft__viewer_pan(struct weft_viewer *viewer, double dx, double dy);
void weft__viewer_fit(struct weft_viewer *viewer);
void weft__viewer_show_range(struct weft_viewer *viewer, uint64_t start, double duration);
/* How much time is between the margins. */
double weft__viewer_duration(const struct weft_view *view);
uint64_t weft__viewer_start(const struct weft_view *view);

/* pointer.c, overview.c */
void weft__viewer_advance_pointer(struct weft_viewer *viewer);
double weft__viewer_pointer_due(const struct weft_viewer *viewer);
void weft__viewer_begin_grab(struct weft_viewer *viewer, double x, double y);
void weft__viewer_press_strip(struct weft_viewer *viewer, double x);
void weft__viewer_drag_strip(struct weft_viewer *viewer, double x);
void weft__viewer_cancel_drag(struct weft_viewer *viewer);
enum weft__drag weft__strip_part(const struct weft_viewer *viewer, double x);
uint64_t weft__strip_time(const struct weft_viewer *viewer, double x);
double weft__strip_x(const struct weft_viewer *viewer, uint64_t time);
struct weft_box weft__rows_bar(const struct weft_viewer *viewer);

/* range.c */
void weft__viewer_begin_range(struct weft_viewer *viewer, uint64_t time);
void weft__viewer_order_range(
	const struct weft_viewer *viewer, uint64_t *ret_start, uint64_t *ret_end);
/* Moves its end: -1 or 1. */
void weft__viewer_stretch_range(struct weft_viewer *viewer, int step);
/* The time at x, or one within 6 px that means something. */
uint64_t weft__viewer_snap(struct weft_viewer *viewer, double x, double y, bool is_free);

/* hit.c: what is within 16 px. */
void weft__viewer_hit(
	const struct weft_viewer *viewer, double x, double y, struct weft__hit *ret_hit);

/* select.c */
void weft__viewer_hover_at(struct weft_viewer *viewer, double x, double y, double after_ms);
void weft__viewer_hover_nothing(struct weft_viewer *viewer);
void weft__viewer_advance_hover(struct weft_viewer *viewer);
void weft__viewer_click(
	struct weft_viewer *viewer, double x, double y, bool is_again, bool is_double);
/* WEFT_NONE: nothing. `at`: the moment that is asked about. */
void weft__viewer_select(struct weft_viewer *viewer, uint32_t task, uint64_t at);
void weft__viewer_show_related(struct weft_viewer *viewer, uint32_t task);
void weft__viewer_forget_related(struct weft_viewer *viewer);

/* reveal.c: brings into view what is not; `is_close`: and large enough to be seen. */
void weft__viewer_reveal(
	struct weft_viewer *viewer, uint32_t row, uint64_t start, uint64_t end, bool is_close);
void weft__viewer_reveal_task(struct weft_viewer *viewer, uint32_t task, uint64_t at);
/* The task in words: "task:12", "task:3/12" in buffer 3. */
void weft__write_task(const struct weft_model *model, uint32_t task, char text[64]);
uint32_t weft__parse_task(const struct weft_model *model, const char *text);

/* steps.c: what keys do to the selection. They say it when there is nowhere to go. */
void weft__viewer_step_edge(struct weft_viewer *viewer, int step);
/* Whether there is no other edge that way; then none is spoken of any more. */
bool weft__viewer_leaves_edges(struct weft_viewer *viewer, int step);
void weft__viewer_step_task(struct weft_viewer *viewer, int across, int down);
void weft__viewer_follow_wait(struct weft_viewer *viewer);
void weft__viewer_go_waker(struct weft_viewer *viewer);
void weft__viewer_go_creator(struct weft_viewer *viewer);

/* knowledge.c: what is found out when it is first needed. False without memory. */
bool weft__viewer_know_story(struct weft_viewer *viewer);
bool weft__viewer_know_problems(struct weft_viewer *viewer);
/* Places in the list, the first to be looked at first; NULL without memory. */
uint32_t *weft__viewer_order(const struct weft_problems *problems);
/* A step towards them; whether there are more. */
bool weft__viewer_learn_problems(struct weft_viewer *viewer);
void weft__viewer_forget(struct weft_viewer *viewer);
void weft__viewer_step_problem(struct weft_viewer *viewer, int step);
void weft__viewer_go_problem(struct weft_viewer *viewer, uint32_t number);

/* find.c */
void weft__viewer_search(struct weft_viewer *viewer, const char *text);
void weft__viewer_step_match(struct weft_viewer *viewer, int step);
void weft__viewer_go_match(struct weft_viewer *viewer, uint32_t number);
void weft__viewer_forget_search(struct weft_viewer *viewer);

/* notes.c */
void weft__viewer_add_mark(struct weft_viewer *viewer);
/* The one under the pointer, else the current one, else WEFT__NO_MARK. */
size_t weft__viewer_meant_mark(const struct weft_viewer *viewer);
size_t weft__viewer_mark_at(const struct weft_viewer *viewer, double x);
void weft__viewer_go_mark(struct weft_viewer *viewer, size_t number);
void weft__viewer_edit_mark(struct weft_viewer *viewer, size_t number);
void weft__viewer_remove_mark(struct weft_viewer *viewer, size_t number);
void weft__viewer_name_mark(struct weft_viewer *viewer, const char *text);
void weft__viewer_forget_marks(struct weft_viewer *viewer);

/* rows.c */
int weft__rows_lay_out(const struct weft__rows *rows, const struct weft_model *model,
	const struct weft_layout *previous, const struct weft_progress *progress,
	struct weft_layout **ret_layout, struct weft_scene **ret_scene);
bool weft__rows_are_as_at_first(const struct weft__rows *rows);
void weft__viewer_relayout(struct weft_viewer *viewer);
/* The fold of a task, which keeps its height on the screen. */
void weft__viewer_toggle_fold(struct weft_viewer *viewer, uint32_t task);
void weft__viewer_fold_all(struct weft_viewer *viewer, bool is_folded);
void weft__viewer_simplify(struct weft_viewer *viewer, bool is_simplified);
void weft__viewer_group_by(struct weft_viewer *viewer, enum weft_group_by by);
/* "none", "thread", "process" */
const char *weft__group_name(enum weft_group_by by);
uint32_t weft__viewer_group_at(const struct weft_viewer *viewer, double y);
void weft__viewer_toggle_group(struct weft_viewer *viewer, uint32_t group);
/* false if it is too long. */
bool weft__viewer_set_filter(struct weft_viewer *viewer, const char *filter);
/* Takes what `rows` owns. */
void weft__viewer_set_rows(struct weft_viewer *viewer, const struct weft__rows *rows);
bool weft__numbers_add(struct weft__numbers *numbers, uint32_t number);
void weft__rows_finish(struct weft__rows *rows);

/* toolbar.c */
void weft__viewer_place_buttons(struct weft_viewer *viewer);
/* How wide the bar is beside a title; and whether one on a line of its own has no room for all. */
double weft__viewer_bar_width(const struct weft_viewer *viewer);
bool weft__viewer_bar_is_short(const struct weft_viewer *viewer);
uint32_t weft__viewer_button_at(const struct weft_viewer *viewer, double x, double y);
void weft__viewer_draw_buttons(const struct weft_viewer *viewer, struct weft_canvas *canvas);
/* controls.c */
void weft__viewer_list_controls(struct weft_viewer *viewer);
/* Moves an edge of what is seen: -1 or 1. */
void weft__viewer_stretch_view(struct weft_viewer *viewer, bool is_end, int step);
/* icons.c: around (x, y). */
void weft__draw_icon(
	struct weft_canvas *canvas, enum weft__icon icon, double x, double y, uint32_t color);

/* `is_chosen` by hand, not by a link. */
bool weft__viewer_set_theme(struct weft_viewer *viewer, const char *name, bool is_chosen);

/* prompt.c */
void weft__viewer_ask(struct weft_viewer *viewer, enum weft__asked asked);
void weft__viewer_close_prompt(struct weft_viewer *viewer);

/* panel.c; menus.c, lists.c and story_panel.c fill it */
void weft__viewer_open_panel(struct weft_viewer *viewer, enum weft__panel_kind kind);
/* "rows", or "" and WEFT__PANEL_NONE if there is no such panel. */
enum weft__panel_kind weft__panel_named(const char *name);
void weft__viewer_fill_panel(struct weft_viewer *viewer);
void weft__panel_add(struct weft_viewer *viewer, enum weft_viewer_item_type type, const char *text,
	const char *detail, const char *command);
/* A command of the table with its text and key: a toggle if it has a state, else a link. `text`, if
 * it is not NULL, stands instead of the table's. */
void weft__panel_add_command(struct weft_viewer *viewer, const char *command, const char *text);
/* The item that was added last. */
struct weft_viewer_item *weft__panel_last(struct weft_viewer *viewer);
void weft__panel_set_command(struct weft_viewer *viewer, const char *command);
__attribute__((format(printf, 2, 3))) const char *weft__panel_format(
	char buffer[256], const char *format, ...);
void weft__fill_story(struct weft_viewer *viewer);
void weft__fill_problems(struct weft_viewer *viewer);
void weft__fill_search(struct weft_viewer *viewer);
void weft__fill_counters(struct weft_viewer *viewer);
void weft__fill_rows(struct weft_viewer *viewer);
void weft__fill_marks(struct weft_viewer *viewer);
void weft__fill_help(struct weft_viewer *viewer);
void weft__fill_menu(struct weft_viewer *viewer);
void weft__fill_export(struct weft_viewer *viewer);

/* status.c */
__attribute__((format(printf, 2, 3))) void weft__viewer_tell(
	struct weft_viewer *viewer, const char *format, ...);
bool weft__viewer_has_moved_since_told(const struct weft_viewer *viewer);
void weft__viewer_write_status(struct weft_viewer *viewer);

/* requests.c */
void weft__viewer_request(struct weft_viewer *viewer, enum weft_viewer_request_type type,
	const char *text, uint64_t start, uint64_t end);

/* link.c */
void weft__viewer_copy_link(struct weft_viewer *viewer);
void weft__viewer_copy_command(struct weft_viewer *viewer);
void weft__viewer_copy_window(struct weft_viewer *viewer);
/* "start=12ms duration=3ms task=12"; false if a part of it makes no sense, and was left out. */
bool weft__viewer_run_view(struct weft_viewer *viewer, const char *arguments);

/* times.c: as the command line has them: "12.5ms", "@123". What is wrong, or NULL. */
const char *weft__parse_time(const char *text, uint64_t trace_start, uint64_t *ret_time);
const char *weft__parse_duration(const char *text, uint64_t *ret_ns);
/* So that it is read back as the same: "12500ns" as "12.5us". */
void weft__write_duration(uint64_t ns, char text[32]);

/* gather.c */
void weft__viewer_gather(struct weft_viewer *viewer, struct weft_highlight *ret_highlight);

/* trace.c */
bool weft__viewer_shows_all(const struct weft_viewer *viewer);

/* counters.c */
bool weft__viewer_hides_counter(const struct weft_viewer *viewer, uint32_t counter);
void weft__viewer_toggle_counter(struct weft_viewer *viewer, uint32_t counter);
/* Whatever was chosen, this one is drawn now. */
void weft__viewer_see_counter(struct weft_viewer *viewer, uint32_t counter);
/* Of a model that is shown now; and as if nobody had chosen. */
void weft__viewer_use_counters(struct weft_viewer *viewer);
void weft__viewer_forget_counters(struct weft_viewer *viewer);
/* More than are drawn unless they are chosen. */
bool weft__viewer_has_many_counters(const struct weft_viewer *viewer);
bool weft__viewer_has_all_counters(const struct weft_viewer *viewer);
void weft__viewer_take_all_counters(struct weft_viewer *viewer);
void weft__viewer_link_counters(const struct weft_viewer *viewer,
	void (*add)(void *context, const char *key, uint32_t counter), void *context);
/* Whether any is drawn. */
bool weft__viewer_has_counters(const struct weft_viewer *viewer);

/* draw.c */
double weft__canvas_x(const struct weft_viewer *viewer, uint64_t time);

#endif

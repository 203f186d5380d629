/* SPDX-License-Identifier: ISC
 *
 * A window: one viewer, its picture, and the widgets around it. Each file of this folder that takes
 * a window is about one of its parts.
 */
#ifndef WEFT_GTK_WINDOW_H
#define WEFT_GTK_WINDOW_H

#include <gtk/gtk.h>

#include <weft/cairo.h>
#include <weft/viewer.h>

struct controls;
struct follower;
struct loading;
struct panel;
struct picture;
struct prompt;

struct window {
	GtkApplication *application; /* borrowed */
	GtkWidget *widget, *parts;   /* `parts`: the picture, with panel and prompt over it */
	struct weft_viewer *viewer;
	struct weft_cairo_font *pango;
	struct weft_font font; /* by pango; the viewer borrows it */
	struct picture *picture;
	struct controls *controls;
	struct panel *panel;
	struct prompt *prompt;
	GtkWidget *notice, *notice_text; /* what is wrong with the file */
	/* The trace, trace.c. */
	char *path;                        /* NULL: none yet */
	pid_t pid;                         /* of the process whose ring it is; 0: any file */
	char *command;                     /* for the viewer once the trace is there; or NULL */
	bool is_followed;                  /* it may grow */
	bool is_shown;                     /* there is a picture */
	bool is_paused;                    /* it does not follow now */
	struct loading *loading;           /* while it goes on */
	struct follower *follower;         /* likewise */
	int64_t file_size;                 /* of what was loaded */
	guint loading_timer, growth_timer; /* sources; 0 if there is none */
	/* The viewer's time, window.c. */
	guint tick, timer;
	int64_t busy_us; /* with a live model, since it came */
	/* What the viewer is not told at once, input.c. */
	double pointer_x, pointer_y; /* where it was last seen */
	double pinch;                /* of the gesture that goes on */
	char *theme_class;           /* look.c */
	char *link;                  /* the last one that other windows were told, together.c */
};

/* What a window begins with. */
struct window_options {
	enum weft_theme theme;
	const char *command;     /* for the viewer; or NULL */
	const char *path;        /* or NULL */
	pid_t pid;               /* of the process whose ring that must be; 0: any file */
	struct loading *loading; /* of that path; becomes the window's; or NULL */
	bool is_followed;        /* the file may grow */
};

struct window *window_open(GtkApplication *application, const struct window_options *options);

/* Another one, with its look; of the same trace if `path` is window->path. */
struct window *window_open_like(const struct window *window, const char *path, const char *command);

/* The window of a widget in it. */
struct window *window_of(GtkWidget *widget);

/* To be called when the viewer was given anything. */
void window_refresh(struct window *window);

/* Words to the person: in the picture's place, or in the status line. */
void window_say(struct window *window, const char *words);

/* May only its owner read the trace, or is it standard input? Then the same holds for what is made
 * of it. */
bool window_is_private(const struct window *window);

/* One of the viewer's commands. */
void window_command(struct window *window, const char *command);

/* Milliseconds of the clock that the viewer is told. */
double window_now(void);

/* ---- input.c: pointer, wheel, touch and keys ---- */

void input_attach(struct window *window);

/* ---- trace.c: from a file to the viewer ---- */

/* Takes the loading if it has begun; else NULL. */
void trace_begin(struct window *window, struct loading *loading);
void trace_reload(struct window *window);
void trace_pause(struct window *window, bool is_paused);
/* False if nothing was under way that the person waits for. */
bool trace_cancel(struct window *window);
void trace_stop(struct window *window);

/* ---- actions.c: menu, header bar, keys of the window ---- */

void actions_add_to_application(GtkApplication *application);
GtkWidget *actions_header(void);
void actions_add(struct window *window);
/* Each GFile in a window of its own; if this one shows nothing, it goes. */
void actions_open_files(struct window *window, GListModel *files);

/* ---- requests.c: what the viewer asks for ---- */

void requests_execute(struct window *window);
void requests_choose_file(struct window *window);

/* ---- cutting.c: a part of the trace's time as a trace ---- */

/* The outcome is said in the window. */
void cutting_start(struct window *window, GFile *output, uint64_t start_ns, uint64_t end_ns);

/* ---- look.c: colours and sizes ---- */

#define LOOK_ROLES 32 /* classes weft-role-N that have a colour */

/* As the desktop has it. */
enum weft_theme look_system_theme(void);
void look_apply(struct window *window, const char *theme);
/* How large the desktop's text is; 1 is usual. */
double look_text_scale(void);

/* ---- together.c: windows that show the same time ---- */

void together_add(struct window *window);
void together_remove(struct window *window);
bool together_is_on(void);
void together_set(struct window *window, bool is_on);
/* This window was moved, perhaps. */
void together_follow(struct window *window);

#endif

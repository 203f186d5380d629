/* SPDX-License-Identifier: ISC
 *
 * A window: one viewer, its picture, and the widgets around it. Each file of this folder that takes
 * a window handles one of its parts.
 */
#ifndef WEFT_GTK_WINDOW_H
#define WEFT_GTK_WINDOW_H

#include <gtk/gtk.h>

#include <weft/cairo.h>
#include <weft/viewer.h>

struct controls;
struct files;
struct follower;
struct header;
struct loading;
struct panel;
struct read_part;
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
	struct header *header;
	struct panel *panel;
	struct prompt *prompt;
	GtkWidget *notice, *notice_text; /* a bar with problems of the file */
	/* The trace, trace.c. */
	char **paths;              /* ends with NULL; NULL: none yet */
	char *path;                /* the first of them; NULL: none yet */
	pid_t pid;                 /* the process whose ring it is; 0: an ordinary file */
	char *command;             /* run in the viewer once the trace is shown; or NULL */
	bool is_followed;          /* the file may grow */
	bool is_shown;             /* a picture is shown */
	bool is_paused;            /* following is paused */
	struct read_part *part;    /* the part that is shown; NULL: all */
	bool is_part_new;          /* the viewer does not know the whole trace yet */
	struct loading *loading;   /* while loading */
	struct follower *follower; /* while following */
	struct files *files;       /* when it was loaded; or NULL */
	int64_t file_size;         /* size of what is shown, see files_size() */
	char **shown_paths;        /* of several files: those that can be followed; or NULL */
	char *left_out;            /* a line for each file that is not shown; or NULL */
	char *hosts;               /* a line for each host of which the clock was placed; or NULL */
	int64_t load_begun_us, next_look_us; /* by g_get_monotonic_time() */
	guint loading_timer, growth_timer;   /* GLib sources; 0: none */
	/* The viewer's time, window.c. */
	guint tick, timer;
	int64_t busy_us; /* processor time that the current live model took */
	/* State of input that the viewer does not need at once, */
	double pointer_x, pointer_y; /* the pointer's last position */
	double pinch;                /* scale of the current pinch gesture */
	char *theme_class;           /* look.c */
	char *link;                  /* the last view that was passed to other windows, together.c */
};

/* Initial settings of a window. */
struct window_options {
	enum weft_theme theme;
	const char *command;     /* for the viewer; or NULL */
	char **paths;            /* of one trace, ends with NULL; or NULL */
	pid_t pid;               /* the process whose ring it must be; 0: an ordinary file */
	struct loading *loading; /* loading of that path; the window takes ownership; or NULL */
	bool is_followed;        /* the file may grow */
};

struct window *window_open(GtkApplication *application, const struct window_options *options);

/* Opens another window with the same look; for the same trace if `paths` is window->paths. */
struct window *window_open_like(const struct window *window, char **paths, const char *command);

/* True if the trace is a single file, which can have bookmarks beside it, and be cut. */
bool window_has_file(const struct window *window);

/* The window that contains a widget. */
struct window *window_of(GtkWidget *widget);

/* Call after any input to the viewer. */
void window_refresh(struct window *window);

/* Shows a message: instead of the picture, or in the status line. */
void window_show_text(struct window *window, const char *words);

/* True if only its owner may read the trace, or if it is not a single file: files made from it are
 * then private, too. */
bool window_is_private(const struct window *window);

/* Runs a command of the viewer. */
void window_command(struct window *window, const char *command);

/* The viewer's clock in milliseconds. */
double window_now(void);

/* ---- input.c: pointer, wheel, touch and keys ---- */

void input_attach(struct window *window);

/* ---- trace.c: from a file to the viewer ---- */

/* Starts to load, or takes over a loading that was started; NULL: none was. */
void trace_begin(struct window *window, struct loading *loading);
void trace_reload(struct window *window);
/* Shows another part of a trace that is too large to be read at once. */
void trace_read_part(struct window *window, uint64_t start_ns, uint64_t end_ns);
void trace_pause(struct window *window, bool is_paused);
/* Cancels loading; false if there was nothing to cancel. */
bool trace_cancel(struct window *window);
void trace_stop(struct window *window);

/* ---- actions.c: keys of the window, opening files ---- */

void actions_add_to_application(GtkApplication *application);
void actions_add(struct window *window);
/* Opens each GFile in a window of its own; if this window shows nothing, it is closed. */
void actions_open_files(struct window *window, GListModel *files);

/* ---- requests.c: the viewer's requests ---- */

void requests_execute(struct window *window);

/* ---- cutting.c: saving a time range as a trace ---- */

/* The window shows the result. */
void cutting_start(struct window *window, GFile *output, uint64_t start_ns, uint64_t end_ns);

/* ---- look.c: colours and sizes ---- */

#define LOOK_ROLES 32 /* CSS classes weft-role-N with a colour */

/* The desktop's theme. */
enum weft_theme look_system_theme(void);
void look_apply(struct window *window, const char *theme);
/* The desktop's text scale; 1 is normal. */
double look_text_scale(void);

/* ---- together.c: windows that show the same time ---- */

void together_add(struct window *window);
void together_remove(struct window *window);
bool together_is_on(void);
void together_set(struct window *window, bool is_on);
/* Call when this window's view may have moved. */
void together_follow(struct window *window);

#endif

/* SPDX-License-Identifier: ISC
 *
 * Gives the viewer a trace: a file's content, the events of a running program, and the notes that
 * were saved beside the file.
 */
#include "window.h"

#include <string.h>

#include <glib/gstdio.h>

#include "files.h"
#include "follower.h"
#include "loading.h"
#include "opening.h"
#include "parts.h"

#define PROGRESS_MS 100
#define GROWTH_MS   500
#define LOOK_SHARE  4 /* hosts' traces are read again after as many times what reading them took */
#define NOTES_MAX   (16 << 20) /* bytes */

/* ---- Messages ---- */

static char *shown_name(const struct window *window)
{
	if (strcmp(window->path, "-") == 0 && !window->paths[1])
		return g_strdup("standard input");
	return g_strdup(gtk_window_get_title(GTK_WINDOW(window->widget)));
}

bool window_is_private(const struct window *window)
{
	GStatBuf status;
	return !window_has_file(window) || g_stat(window->path, &status) != 0 ||
		   (status.st_mode & 077) == 0;
}

static void show_notice(struct window *window, const char *text)
{
	bool is_there = text && text[0];
	/* A screen reader finds the text of a hidden bar, too. */
	gtk_label_set_text(GTK_LABEL(window->notice_text), is_there ? text : "");
	gtk_info_bar_set_revealed(GTK_INFO_BAR(window->notice), is_there);
}

static void show_damage(struct window *window, const char *damage)
{
	const char *left_out = window->left_out ? window->left_out : "";
	const char *hosts = window->hosts ? window->hosts : "";
	const char *between = left_out[0] && damage[0] ? "\n" : "";
	char *name = shown_name(window), *text = NULL;
	if (left_out[0] || damage[0])
		text = g_strdup_printf("%s is damaged; what could be read is shown.\n%s%s%s%s%s", name,
			left_out, between, damage, hosts[0] ? "\n" : "", hosts);
	else if (hosts[0])
		text = g_strdup(hosts);
	show_notice(window, text);
	g_free(text);
	g_free(name);
}

static gboolean show_progress(void *context)
{
	struct window *window = context;
	bool is_read;
	double millions = (double)loading_events(window->loading) / 1e6;
	double part = loading_part(window->loading, &is_read);
	char *name = shown_name(window), *text;
	char number[G_ASCII_DTOSTR_BUF_SIZE]; /* with a point, as everywhere in the window */
	g_ascii_formatd(number, sizeof(number), "%.1f", millions);
	if (is_read)
		text = g_strdup_printf("Laying out %s: %s million events", name, number);
	else if (millions > 0)
		text = g_strdup_printf("Reading %s: %s million events", name, number);
	else
		text = g_strdup_printf("Reading %s", name);
	weft_viewer_show_text(window->viewer, text, millions > 0 ? part : -1);
	window_refresh(window);
	g_free(text);
	g_free(name);
	return G_SOURCE_CONTINUE;
}

/* ---- Notes ---- */

static void load_notes(struct window *window)
{
	char *path = g_strconcat(window->path, ".notes", NULL), *bytes;
	gsize size;
	GStatBuf status;
	if (window_has_file(window) && g_stat(path, &status) == 0 && status.st_size <= NOTES_MAX &&
		g_file_get_contents(path, &bytes, &size, NULL)) {
		weft_viewer_load_notes(window->viewer, bytes, size);
		g_free(bytes);
	}
	g_free(path);
}

/* ---- Traces that arrive ---- */

/* Adds the file to the desktop's list of recent files. */
static void remember(struct window *window)
{
	char *path = window_has_file(window) ? g_canonicalize_filename(window->path, NULL) : NULL;
	char *uri = path ? g_filename_to_uri(path, NULL, NULL) : NULL;
	char name[] = "weft-gtk", command[] = "weft-gtk %f", type[] = "application/x-weft";
	GtkRecentData data = {.app_name = name, .app_exec = command, .mime_type = type};
	if (uri)
		gtk_recent_manager_add_full(gtk_recent_manager_get_default(), uri, &data);
	g_free(uri);
	g_free(path);
}

static void end_loading(struct window *window)
{
	if (window->loading_timer)
		g_source_remove(window->loading_timer);
	window->loading_timer = 0;
	loading_abandon(window->loading);
	window->loading = NULL;
}

/* Called after each attempt to show a trace, whether from a model or prepared. */
static void shown(struct window *window, int error)
{
	if (error) {
		window_show_text(window, weft_error_text(error));
		return;
	}
	if (!window->is_shown) {
		remember(window);
		weft_viewer_show_text(window->viewer, "", -1);
		load_notes(window);
		if (window->command)
			weft_viewer_command(window->viewer, window->command, window_now());
	}
	window->is_shown = true;
}

static void show_model(struct window *window, struct weft_model *model, bool is_live)
{
	int error = weft_viewer_show(window->viewer, model, is_live);
	if (error)
		weft_model_destroy(model);
	shown(window, error);
}

/* Tells the viewer how far the events of its model go. */
static void show_complete(struct window *window)
{
	const struct weft_growing_state *state = follower_state(window->follower);
	bool is_shown;
	double at_ms = follower_read_ms(window->follower, &is_shown);
	if (state->mark_ns)
		weft_viewer_complete(window->viewer, state->mark_ns, at_ms, is_shown);
}

static void show_loaded(struct window *window, struct loading *loading)
{
	struct weft_viewer_prepared *prepared = loading_take(loading);
	struct weft_model *model = loading_take_model(loading);
	if (model) { /* see take_growth */
		show_model(window, model, true);
	} else {
		int error = weft_viewer_show_prepared(window->viewer, prepared);
		if (error)
			weft_viewer_prepared_destroy(prepared);
		else if (window->is_part_new)
			error = weft_viewer_set_density(window->viewer, &window->part->density, parts_bytes());
		shown(window, error);
	}
	show_damage(window, loading_damage(loading));
}

static void take_part(struct window *window, const struct loading *loading)
{
	const struct read_part *part = loading_part_read(loading);
	window->is_part_new = part && !window->part;
	g_free(window->part);
	window->part = g_memdup2(part, sizeof(*part));
	weft_viewer_show_text(window->viewer, "", -1); /* the progress of a part, in the status */
}

/* Keeps what was found out about the files. */
static void describe_files(struct window *window, struct loading *loading)
{
	g_strfreev(window->shown_paths);
	g_free(window->left_out);
	g_free(window->hosts);
	window->shown_paths = loading_take_shown(loading);
	window->left_out = g_strdup(loading_left_out(loading));
	window->hosts = g_strdup(loading_hosts(loading));
	if (window->shown_paths) {
		files_choose(window->files, window->shown_paths);
		window->file_size = files_size(window->files, window->files);
	}
}

/* True if the trace is of several hosts: what is new may change how their clocks compare. */
static bool has_hosts(const struct window *window)
{
	return window->hosts && window->hosts[0];
}

static void take_loaded(struct loading *loading, void *context)
{
	struct window *window = context;
	const int64_t now_us = g_get_monotonic_time();
	describe_files(window, loading);
	if (has_hosts(window))
		window->next_look_us = now_us + LOOK_SHARE * (now_us - window->load_begun_us);
	take_part(window, loading);
	if (loading_error(loading))
		window_show_text(window, loading_error(loading));
	else
		show_loaded(window, loading);
	end_loading(window);
	window_refresh(window);
}

static void load(struct window *window, struct loading *loading)
{
	end_loading(window);
	window->load_begun_us = g_get_monotonic_time();
	files_forget(window->files);
	window->files = files_look(window->paths);
	window->file_size = files_size(window->files, window->files);
	const struct loading_request request = {
		.paths = window->paths,
		.pid = window->pid,
		.is_prepared = !window->is_shown || !window->is_followed,
		.is_followed = window->is_followed,
		.part = window->part,
	};
	window->loading = loading ? loading : loading_start(&request);
	loading_notify(window->loading, take_loaded, window);
	/* The priority is lower than that of the loading's end: on a busy machine, where a drawing
	 * takes longer than the interval, the progress would otherwise be drawn for ever. */
	if (!window->is_shown || window->part)
		window->loading_timer =
			g_timeout_add_full(G_PRIORITY_LOW, PROGRESS_MS, show_progress, window, NULL);
}

/* ---- Files that grow ---- */

static void end_growth(struct window *window)
{
	const struct weft_growing_state *state = follower_state(window->follower);
	window->file_size = (int64_t)state->bytes + state->files; /* see files_size() */
	g_clear_pointer(&window->follower, follower_stop);
}

/* True if the trace says that its program has ended, so that it does not grow any more. */
static bool has_ended(const struct weft_model *model)
{
	const enum weft_ending ending =
		model->buffer_count == 1 ? model->buffers[0].ending : WEFT_ENDING_UNKNOWN;
	return ending != WEFT_ENDING_UNKNOWN && ending != WEFT_ENDING_RUNNING;
}

/* Files that grow are shown as a live trace, so that the view stays. */
static int64_t take_growth(void *context, struct weft_model *model, bool is_last)
{
	struct window *window = context;
	int64_t cost_us = window->busy_us;
	window->busy_us = 0;
	show_model(window, model, !is_last || !has_ended(model));
	show_complete(window);
	show_damage(window, follower_damage(window->follower));
	if (is_last)
		end_growth(window);
	window_refresh(window);
	return cost_us;
}

/* Reads the files as a whole, which works for some that cannot be followed, or says why it does
 * not. */
static void take_growth_error(void *context, const char *sentence)
{
	struct window *window = context;
	(void)sentence;
	end_growth(window);
	load(window, NULL);
}

/* Follows the files from their first growth on. They are read again if there are others now, if
 * they are of several hosts, or if they cannot be followed: a ring of a run directory is checked
 * when it is opened. */
static void take_files(struct window *window, const struct files *now)
{
	const struct follower_listener listener = {take_growth, take_growth_error, window};
	bool is_several = opening_is_several(window->paths), differ = files_differ(window->files, now);
	char **paths = is_several ? window->shown_paths : window->paths;
	if (!differ && (window->follower || files_size(window->files, now) == window->file_size))
		return;
	if (differ || window->pid || !paths || has_hosts(window)) {
		g_clear_pointer(&window->follower, follower_stop);
		load(window, NULL);
	} else {
		window->follower = follower_start_files(paths, &listener);
	}
}

static gboolean look_for_growth(void *context)
{
	struct window *window = context;
	if (window->loading || window->is_paused || g_get_monotonic_time() < window->next_look_us)
		return G_SOURCE_CONTINUE;
	struct files *now = files_look(window->paths);
	take_files(window, now);
	files_forget(now);
	return G_SOURCE_CONTINUE;
}

/* ---- A running program ---- */

static int64_t take_model(void *context, struct weft_model *model, bool is_last)
{
	struct window *window = context;
	int64_t cost_us = window->busy_us;
	window->busy_us = 0;
	show_model(window, model, !is_last);
	show_complete(window);
	if (is_last) {
		weft_viewer_show_text(
			window->viewer, weft_growing_sentence(follower_state(window->follower)), -1);
		g_clear_pointer(&window->follower, follower_stop);
	}
	window_refresh(window);
	return cost_us;
}

static void take_error(void *context, const char *sentence)
{
	struct window *window = context;
	g_clear_pointer(&window->follower, follower_stop);
	if (window->is_shown)
		show_notice(window, sentence);
	else
		window_show_text(window, sentence);
}

/* ---- Beginning and ending ---- */

static void follow(struct window *window)
{
	const struct follower_listener listener = {take_model, take_error, window};
	char *name = shown_name(window), *text = g_strdup_printf("%s: no event yet", name);
	window->follower = follower_start(window->path, window->pid, &listener);
	window_show_text(window, text);
	g_free(text);
	g_free(name);
}

void trace_begin(struct window *window, struct loading *loading)
{
	bool is_file = !opening_is_several(window->paths);
	if (!loading && is_file && follower_is_wanted(window->path, window->pid)) {
		follow(window);
		return;
	}
	load(window, loading);
	if (window->is_followed)
		window->growth_timer = g_timeout_add(GROWTH_MS, look_for_growth, window);
}

/* A part is chosen anew of a file that has changed. */
static void forget_changed_part(struct window *window)
{
	struct files *now = files_look(window->paths);
	if (files_differ(window->files, now) || files_size(window->files, now) != window->file_size)
		g_clear_pointer(&window->part, g_free);
	files_forget(now);
}

void trace_reload(struct window *window)
{
	if (window->follower && window->growth_timer)
		end_growth(window);
	if (window->path && !window->follower && strcmp(window->path, "-") != 0) {
		forget_changed_part(window);
		load(window, NULL);
	}
}

void trace_read_part(struct window *window, uint64_t start_ns, uint64_t end_ns)
{
	window->part->start_ns = start_ns;
	window->part->end_ns = end_ns;
	load(window, NULL);
}

void trace_pause(struct window *window, bool is_paused)
{
	window->is_paused = is_paused;
	if (window->follower)
		follower_pause(window->follower, is_paused);
}

bool trace_cancel(struct window *window)
{
	if (!window->loading || window->is_shown)
		return false;
	char *name = shown_name(window),
		 *text = g_strdup_printf("Reading %s was stopped; F5 begins again.", name);
	end_loading(window);
	window_show_text(window, text);
	g_free(text);
	g_free(name);
	return true;
}

void trace_stop(struct window *window)
{
	end_loading(window);
	g_clear_pointer(&window->follower, follower_stop);
	if (window->growth_timer)
		g_source_remove(window->growth_timer);
	window->growth_timer = 0;
	g_clear_pointer(&window->files, files_forget);
	g_clear_pointer(&window->shown_paths, g_strfreev);
	g_clear_pointer(&window->left_out, g_free);
	g_clear_pointer(&window->hosts, g_free);
	g_clear_pointer(&window->part, g_free);
}

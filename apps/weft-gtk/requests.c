/* SPDX-License-Identifier: ISC
 *
 * Carries out the viewer's requests to the system: clipboard, files, windows.
 */
#include "window.h"

#include <stdlib.h>
#include <string.h>

#include <weft/text.h>

#include "opening.h"
#include "picture.h"
#include "preferences.h"

/* The action to do with the file that the user chooses. */
struct saving {
	struct window *window;
	enum weft_viewer_request_type type;
	uint64_t start, end;
};

static void show_failure(struct window *window, const char *path, const char *reason)
{
	char *text = g_strdup_printf("%s was not written: %s", path, reason);
	window_show_text(window, text);
	g_free(text);
}

static bool write_file(struct window *window, const char *path, const char *bytes, size_t size)
{
	GError *error = NULL;
	int mode = window_is_private(window) ? 0600 : 0666;
	bool good = g_file_set_contents_full(
		path, bytes, (gssize)size, G_FILE_SET_CONTENTS_CONSISTENT, mode, &error);
	if (!good)
		show_failure(window, path, error->message);
	g_clear_error(&error);
	return good;
}

/* ---- Pictures ---- */

static int make_picture(struct window *window, bool is_svg, char **ret_bytes, size_t *ret_size)
{
	struct weft_canvas *canvas;
	struct weft_text text = {0};
	int error = weft_canvas_create(1, 1, &canvas);
	if (error)
		return error;
	error = weft_viewer_draw_file(window->viewer, canvas);
	if (!error && is_svg) {
		const struct weft_svg_options options = {
			.title = gtk_window_get_title(GTK_WINDOW(window->widget))};
		error = weft_canvas_write_svg(canvas, &options, &text);
		*ret_bytes = text.bytes;
		*ret_size = text.size;
	} else if (!error) {
		error = weft_cairo_write_png(canvas, window->pango, ret_bytes, ret_size);
	}
	weft_canvas_destroy(canvas);
	return error;
}

static void save_picture(struct saving *saving, const char *path)
{
	struct window *window = saving->window;
	char *bytes = NULL;
	size_t size = 0;
	int error = make_picture(window, saving->type == WEFT_VIEWER_SAVE_SVG, &bytes, &size);
	if (error)
		show_failure(window, path, weft_error_text(error));
	else
		write_file(window, path, bytes, size);
	free(bytes);
}

/* ---- Choosing ---- */

static void save(GtkNativeDialog *dialog, int response, void *context)
{
	struct saving *saving = context;
	GFile *file = response == GTK_RESPONSE_ACCEPT
					  ? gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog))
					  : NULL;
	char *path = file ? g_file_get_path(file) : NULL;
	if (path && saving->type == WEFT_VIEWER_SAVE_CUT)
		cutting_start(saving->window, file, saving->start, saving->end);
	else if (path)
		save_picture(saving, path);
	g_free(path);
	g_clear_object(&file);
	g_object_unref(dialog);
	g_free(saving);
}

static GFile *folder_of(const struct window *window)
{
	char *folder = window->path && strcmp(window->path, "-") != 0 ? g_path_get_dirname(window->path)
																  : g_get_current_dir();
	GFile *file = g_file_new_for_path(folder);
	g_free(folder);
	return file;
}

static void choose_name(struct window *window, const struct weft_viewer_request *request)
{
	struct saving *saving = g_new0(struct saving, 1);
	*saving = (struct saving){
		window, (enum weft_viewer_request_type)request->type, request->start, request->end};
	GtkFileChooserNative *dialog = gtk_file_chooser_native_new(
		"Save", GTK_WINDOW(window->widget), GTK_FILE_CHOOSER_ACTION_SAVE, NULL, NULL);
	GFile *folder = folder_of(window);
	gtk_file_chooser_set_current_folder(GTK_FILE_CHOOSER(dialog), folder, NULL);
	g_object_unref(folder);
	gtk_file_chooser_set_current_name(GTK_FILE_CHOOSER(dialog), request->text);
	gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(dialog), TRUE);
	g_signal_connect(dialog, "response", G_CALLBACK(save), saving);
	gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

static void open_chosen(GtkNativeDialog *dialog, int response, void *context)
{
	struct window *window = context;
	if (response == GTK_RESPONSE_ACCEPT) {
		GListModel *files = gtk_file_chooser_get_files(GTK_FILE_CHOOSER(dialog));
		actions_open_files(window, files);
		g_object_unref(files);
	}
	g_object_unref(dialog);
}

static void choose_file(struct window *window)
{
	GtkFileChooserNative *dialog = gtk_file_chooser_native_new(
		"Open a trace", GTK_WINDOW(window->widget), GTK_FILE_CHOOSER_ACTION_OPEN, NULL, NULL);
	GFile *folder = folder_of(window);
	gtk_file_chooser_set_current_folder(GTK_FILE_CHOOSER(dialog), folder, NULL);
	g_object_unref(folder);
	gtk_file_chooser_set_select_multiple(GTK_FILE_CHOOSER(dialog), TRUE);
	gtk_native_dialog_set_modal(GTK_NATIVE_DIALOG(dialog), TRUE);
	g_signal_connect(dialog, "response", G_CALLBACK(open_chosen), window);
	gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

/* ---- Each request ---- */

static void save_notes(struct window *window, const char *text)
{
	if (!window_has_file(window)) {
		window_show_text(window,
			"Cannot save bookmarks: they are kept beside the trace's file, and "
			"this trace is not one file.");
		return;
	}
	char *path = g_strconcat(window->path, ".notes", NULL);
	write_file(window, path, text, strlen(text));
	g_free(path);
}

static void save_cut(struct window *window, const struct weft_viewer_request *request)
{
	if (window_has_file(window))
		choose_name(window, request);
	else if (window->path && opening_is_several(window->paths))
		window_show_text(window, "Cannot save a part of several files: weft cut can.");
	else
		window_show_text(window, "Cannot save a part: this trace has no file to cut it from.");
}

static void execute(struct window *window, const struct weft_viewer_request *request)
{
	switch (request->type) {
	case WEFT_VIEWER_COPY:
		gdk_clipboard_set_text(gtk_widget_get_clipboard(window->widget), request->text);
		break;
	case WEFT_VIEWER_SAVE_NOTES:
		save_notes(window, request->text);
		break;
	case WEFT_VIEWER_SAVE_SVG:
	case WEFT_VIEWER_SAVE_PNG:
		choose_name(window, request);
		break;
	case WEFT_VIEWER_SAVE_CUT:
		save_cut(window, request);
		break;
	case WEFT_VIEWER_OPEN:
		choose_file(window);
		break;
	case WEFT_VIEWER_RELOAD:
		trace_reload(window);
		break;
	case WEFT_VIEWER_READ:
		trace_read_part(window, request->start, request->end);
		break;
	case WEFT_VIEWER_FOLLOW:
		trace_pause(window, request->start == 0);
		break;
	case WEFT_VIEWER_NEW_WINDOW:
		window_open_like(window, window->paths, weft_viewer_link(window->viewer));
		break;
	case WEFT_VIEWER_THEME:
		look_apply(window, request->text);
		break;
	case WEFT_VIEWER_WASD:
		preferences_set_wasd(request->start == 1);
		break;
	default:
		break;
	}
}

void requests_execute(struct window *window)
{
	struct weft_viewer_request request;
	while (weft_viewer_next_request(window->viewer, &request))
		execute(window, &request);
}

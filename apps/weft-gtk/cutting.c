/* SPDX-License-Identifier: ISC
 *
 * Saves the selected time range as a trace of its own. It is cut from the file, as `weft cut` does
 * it, because the model no longer has all that was recorded. Runs in a thread, since a file may be
 * large.
 */
#include "window.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <weft/cut.h>
#include <weft/input.h>

#include "opening.h"
#include "runs/file.h"

struct cutting {
	char *path, *name;
	pid_t pid;
	GFile *output;
	mode_t mode;
	struct weft_cut_range range;
};

static void forget(void *context)
{
	struct cutting *cutting = context;
	g_free(cutting->path);
	g_free(cutting->name);
	g_object_unref(cutting->output);
	g_free(cutting);
}

static int append(void *context, const void *bytes, size_t size)
{
	const struct weft__runs_file *file = context;
	return weft__runs_write_all(file->fd, bytes, size) ? 0 : WEFT_ERROR_SYSTEM;
}

static int copy_events(struct weft_decoder *decoder, struct weft_cut *cut)
{
	struct weft_event event;
	int status, written = WEFT_OK;
	while ((status = weft_decoder_next(decoder, &event)) == WEFT_OK && written == WEFT_OK)
		written = weft_cut_add(cut, &event, weft_decoder_describe(decoder));
	if (status < 0 || written < 0)
		return status < 0 ? status : written;
	return weft_cut_finish(cut, weft_decoder_describe(decoder));
}

static int cut_input(
	const struct cutting *cutting, struct weft_input *input, struct weft__runs_file *file)
{
	const struct weft_cut_sink sink = {append, file};
	struct weft_cut *cut = NULL;
	int error = weft_cut_create(&cutting->range, cutting->name, &sink, &cut);
	if (!error)
		error = copy_events(weft_input_decoder(input), cut);
	weft_cut_destroy(cut);
	return error;
}

/* The new file is complete, or the old one stays. */
static int write_file(const struct cutting *cutting, struct weft_input *input)
{
	struct weft__runs_file file;
	if (!weft__runs_file_create(g_file_peek_path(cutting->output), &file))
		return WEFT_ERROR_SYSTEM;
	int error = cut_input(cutting, input, &file);
	if (!error && fchmod(file.fd, cutting->mode) != 0)
		error = WEFT_ERROR_SYSTEM;
	if (error)
		weft__runs_file_abandon(&file);
	else if (!weft__runs_file_commit(&file))
		error = WEFT_ERROR_SYSTEM;
	return error;
}

static void run_cut(GTask *task, void *object, void *context, GCancellable *cancellable)
{
	const struct cutting *cutting = context;
	struct weft_source *source;
	struct weft_input *input = NULL;
	struct weft_ring_check check;
	(void)object, (void)cancellable;
	int error = opening_source(cutting->path, cutting->pid, &source, &check);
	if (!error)
		error = opening_input(source, &input);
	const char *failed = cutting->path;
	if (!error) {
		error = write_file(cutting, input);
		failed = g_file_peek_path(cutting->output);
	}
	int reason = errno;
	weft_input_close(input);
	if (error)
		g_task_return_new_error(task, G_IO_ERROR, G_IO_ERROR_FAILED, "%s: %s", failed,
			opening_reason(error, reason, &check));
	else
		g_task_return_boolean(task, TRUE);
}

static void report_result(GObject *widget, GAsyncResult *result, void *context)
{
	GError *error = NULL;
	bool good = g_task_propagate_boolean(G_TASK(result), &error);
	const struct cutting *cutting = g_task_get_task_data(G_TASK(result));
	char *name = g_file_get_parse_name(cutting->output);
	char *text = good ? g_strdup_printf("Written: %s", name)
					  : g_strdup_printf("%s was not written: %s", name, error->message);
	(void)context;
	/* The window may have been closed meanwhile. */
	if (gtk_widget_get_root(GTK_WIDGET(widget)) && !gtk_widget_in_destruction(GTK_WIDGET(widget)))
		window_show_text(window_of(GTK_WIDGET(widget)), text);
	g_free(text);
	g_free(name);
	g_clear_error(&error);
}

void cutting_start(struct window *window, GFile *output, uint64_t start_ns, uint64_t end_ns)
{
	mode_t mask = umask(0);
	umask(mask);
	if (!g_file_peek_path(output)) {
		window_show_text(window, "The trace was not written: choose a folder of this computer.");
		return;
	}
	struct cutting *cutting = g_new0(struct cutting, 1);
	cutting->path = g_strdup(window->path);
	cutting->pid = window->pid;
	cutting->name = g_path_get_basename(window->path);
	cutting->output = g_object_ref(output);
	cutting->mode = window_is_private(window) ? 0600 : 0666 & ~mask;
	cutting->range = (struct weft_cut_range){.start_ns = start_ns, .end_ns = end_ns};
	GTask *task = g_task_new(window->parts, NULL, report_result, NULL);
	g_task_set_task_data(task, cutting, forget);
	g_task_run_in_thread(task, run_cut);
	g_object_unref(task);
}

/* SPDX-License-Identifier: ISC
 *
 * Saves the selected time range as a trace of its own. It is cut from the file, as `weft cut` does
 * it, because the model no longer has all that was recorded. Runs in a thread, since a file may be
 * large.
 */
#include "window.h"

#include <errno.h>
#include <string.h>

#include <weft/cut.h>
#include <weft/decoder.h>

#include "opening.h"

struct cutting {
	char *path, *name;
	pid_t pid;
	GFile *output;
	bool is_private; /* only the trace's owner may read it */
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

/* The output file, and the first error in writing it. */
struct output {
	GOutputStream *stream;
	GError *error;
};

static int append(void *context, const void *bytes, size_t size)
{
	struct output *output = context;
	bool good = g_output_stream_write_all(output->stream, bytes, size, NULL, NULL, &output->error);
	return good ? 0 : WEFT_ERROR_SYSTEM;
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

static int cut_source(
	const struct cutting *cutting, struct weft_source *source, const struct weft_cut_sink *sink)
{
	struct weft_decoder *decoder = NULL;
	struct weft_cut *cut = NULL;
	size_t size;
	const void *bytes = weft_source_bytes(source, &size);
	int error = weft_decoder_create(&decoder);
	if (!error)
		error = weft_decoder_feed_borrowed(decoder, bytes, size);
	if (!error)
		error = weft_decoder_finish(decoder);
	if (!error)
		error = weft_cut_create(&cutting->range, cutting->name, sink, &cut);
	if (!error)
		error = copy_events(decoder, cut);
	weft_cut_destroy(cut);
	weft_decoder_destroy(decoder);
	return error;
}

/* Closes the file. After an error, canceling the close keeps the file's old content. */
static void close_output(struct output *output, int error)
{
	GCancellable *cancel = g_cancellable_new();
	if (error)
		g_cancellable_cancel(cancel);
	g_output_stream_close(output->stream, cancel, error ? NULL : &output->error);
	g_object_unref(cancel);
	g_object_unref(output->stream);
}

static void run(GTask *task, void *object, void *context, GCancellable *cancellable)
{
	const struct cutting *cutting = context;
	struct weft_source *source = NULL;
	struct output output = {0};
	struct weft_ring_check check;
	const struct weft_cut_sink sink = {append, &output};
	(void)object, (void)cancellable;
	int error = opening_source(cutting->path, cutting->pid, &source, &check);
	if (!error)
		output.stream = G_OUTPUT_STREAM(g_file_replace(cutting->output, NULL, FALSE,
			cutting->is_private ? G_FILE_CREATE_PRIVATE : G_FILE_CREATE_NONE, NULL, &output.error));
	if (output.stream) {
		error = cut_source(cutting, source, &sink);
		close_output(&output, error);
	}
	weft_source_close(source);
	if (output.error)
		g_task_return_error(task, output.error);
	else if (error)
		g_task_return_new_error(task, G_IO_ERROR, G_IO_ERROR_FAILED, "%s: %s", cutting->path,
			opening_reason(error, errno, &check));
	else
		g_task_return_boolean(task, TRUE);
}

static void tell(GObject *widget, GAsyncResult *result, void *context)
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
		window_say(window_of(GTK_WIDGET(widget)), text);
	g_free(text);
	g_free(name);
	g_clear_error(&error);
}

void cutting_start(struct window *window, GFile *output, uint64_t start_ns, uint64_t end_ns)
{
	struct cutting *cutting = g_new0(struct cutting, 1);
	cutting->path = g_strdup(window->path);
	cutting->pid = window->pid;
	cutting->name = g_path_get_basename(window->path);
	cutting->output = g_object_ref(output);
	cutting->is_private = window_is_private(window);
	cutting->range = (struct weft_cut_range){.start_ns = start_ns, .end_ns = end_ns};
	GTask *task = g_task_new(window->parts, NULL, tell, NULL);
	g_task_set_task_data(task, cutting, forget);
	g_task_run_in_thread(task, run);
	g_object_unref(task);
}

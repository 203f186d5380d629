/* SPDX-License-Identifier: ISC
 *
 * Loads a finished trace and shows it: in steps, between which the worker handles messages. The
 * bytes are kept once, and only until the model has been made.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <weft/decoder.h>
#include <weft/input.h>
#include <weft/layout.h>
#include <weft/model.h>
#include <weft/render.h>
#include <weft/text.h>

#include "files.h"
#include "page.h"

static struct {
	struct weft_input *input;
	struct weft_decoder *decoder;
	struct weft_model_builder *builder;
	struct weft_model *model;
	uint64_t events;
	struct weft_text text;
} load;

static void drop_readers(void)
{
	weft_model_builder_destroy(load.builder);
	load.builder = NULL;
	weft_input_close(load.input);
	load.input = NULL;
	load.decoder = NULL;
}

/* Call it before the files of another trace. */
void PAGE_EXPORT(page_load_drop)(void)
{
	drop_readers();
	files_drop();
	weft_model_destroy(load.model);
	weft_text_finish(&load.text);
	memset(&load, 0, sizeof(load));
}

/* True if a file cannot be shown together with the others, which is not for lack of content. */
static bool has_misfit(void)
{
	for (size_t i = 0; i < weft_input_file_count(load.input); i++) {
		const struct weft_input_file *file = weft_input_file(load.input, i);
		if (file->fit != WEFT_INPUT_OPEN && file->fit != WEFT_INPUT_UNREADABLE)
			return true;
	}
	return false;
}

/* Call when all files have been written. Files that do not fit to the others are left out or, with
 * `must_fit`, the result is WEFT_ERROR_ARGUMENT, as it is if no file is left:
 * page_load_left_out() says why. With `no_align` the clocks of several hosts stay as they are. `hz`
 * is the rate of a trace's cycles; 0: its own. */
int PAGE_EXPORT(page_load_open)(uint32_t must_fit, uint32_t no_align, double hz)
{
	drop_readers();
	load.events = 0;
	int error = files_open((uint64_t)hz, no_align, &load.input);
	if (error)
		return error;
	load.decoder = weft_input_decoder(load.input);
	if (!load.decoder || (must_fit && has_misfit()))
		return WEFT_ERROR_ARGUMENT;
	error = weft_model_builder_create(&load.builder);
	if (!error)
		page_part_set(load.builder);
	return error;
}

/* Processes events: WEFT_AGAIN if there are more, WEFT_END, or an error. */
int PAGE_EXPORT(page_load_step)(uint32_t events)
{
	struct weft_diagnostics *diagnostics = weft_decoder_diagnostics(load.decoder);
	struct weft_event event;
	for (uint32_t i = 0; i < events; i++) {
		int status = weft_decoder_next(load.decoder, &event);
		if (status == WEFT_OK)
			status = weft_model_builder_add(load.builder, &event, diagnostics);
		if (status)
			return status;
		load.events += event.type != WEFT_EVENT_TOTAL;
	}
	return WEFT_AGAIN;
}

/* Warms up the WebAssembly code. A browser optimizes a function after it has run for a while, and
 * uses the optimized code from the next call on, so a function that is called once for a whole
 * trace would stay slow to its end. Therefore the model, layout and scene of the trace's beginning
 * are made first, and dropped. 0 or an error, which comes again at the end. */
int PAGE_EXPORT(page_load_rehearse)(void)
{
	struct weft_model *model = NULL;
	struct weft_layout *layout = NULL;
	struct weft_scene *scene = NULL;
	const struct weft_layout_options options = {.fold = true, .group_by = WEFT_GROUP_BY_AUTO};
	int error =
		weft_model_builder_snapshot(load.builder, weft_decoder_describe(load.decoder), 0, &model);
	if (!error)
		error = weft_layout_create(model, &options, &layout);
	if (!error)
		error = weft_scene_create(model, layout, &scene);
	weft_scene_destroy(scene);
	weft_layout_destroy(layout);
	weft_model_destroy(model);
	return error;
}

double PAGE_EXPORT(page_load_events)(void)
{
	return (double)load.events;
}

double PAGE_EXPORT(page_load_fraction)(void)
{
	return weft_decoder_part(load.decoder);
}

/* Makes a model of what has been read; the bytes are then no longer needed. */
int PAGE_EXPORT(page_load_finish)(void)
{
	weft_model_destroy(load.model);
	load.model = NULL;
	int error =
		weft_model_builder_finish(load.builder, weft_decoder_describe(load.decoder), &load.model);
	drop_readers();
	if (!error)
		files_drop();
	return error;
}

/* Shows the model in the viewer. `is_live`: a program still records. */
int PAGE_EXPORT(page_load_show)(uint32_t is_live)
{
	uint64_t last_ns = load.model->summary.last;
	int error = weft_viewer_show(page_viewer, load.model, is_live);
	if (error)
		return error;
	load.model = NULL; /* the viewer owns it now */
	page_shown_ns = last_ns;
	return 0;
}

/* ---- What is wrong with the files ---- */

/* The file of a diagnostic of the merged decoder, whose offset names it; "" if the trace is one
 * file. */
static const char *file_of(uint64_t offset)
{
	for (size_t i = 0; i < weft_input_file_count(load.input); i++) {
		const struct weft_input_file *file = weft_input_file(load.input, i);
		if (file->decoder && file->part == offset >> 48)
			return file->path;
	}
	return "";
}

/* `file` is NULL for the decoder of all events. */
static void add_damage(const char *file, const struct weft_diagnostics *diagnostics)
{
	char line[300], message[256];
	for (size_t i = 0; i < diagnostics->count; i++) {
		const struct weft_diagnostic *d = &diagnostics->list[i];
		const char *name = file ? file : file_of(d->offset);
		weft_diagnostic_format(d, message, sizeof(message));
		snprintf(line, sizeof(line), "%soffset 0x%" PRIx64 ": %s\n", name[0] ? ": " : "",
			WEFT_PART_OFFSET(0, d->offset), message);
		weft_text_add_shown(&load.text, name, strlen(name));
		weft_text_add_string(&load.text, line);
	}
}

static void begin_text(void)
{
	weft_text_finish(&load.text);
	load.text = (struct weft_text){0};
}

static const char *end_text(void)
{
	weft_text_add(&load.text, "", 1);
	return load.text.error ? NULL : load.text.bytes;
}

/* A line for each type of damage; NULL if memory ran out. */
const char *PAGE_EXPORT(page_load_damage)(void)
{
	begin_text();
	for (size_t i = 0; i < weft_input_file_count(load.input); i++) {
		const struct weft_input_file *file = weft_input_file(load.input, i);
		if (file->decoder)
			add_damage(file->path, weft_decoder_diagnostics(file->decoder));
	}
	add_damage(NULL, weft_decoder_diagnostics(load.decoder));
	return end_text();
}

/* A line for each file that is left out, with the reason; NULL if memory ran out. */
const char *PAGE_EXPORT(page_load_left_out)(void)
{
	char reason[512];
	begin_text();
	for (size_t i = 0; i < weft_input_file_count(load.input); i++) {
		const struct weft_input_file *file = weft_input_file(load.input, i);
		if (file->decoder)
			continue;
		weft_input_explain(file, reason, sizeof(reason));
		weft_text_add_shown(&load.text, file->path, strlen(file->path));
		weft_text_add_string(&load.text, ": ");
		weft_text_add_shown(&load.text, reason, strlen(reason));
		weft_text_add_string(&load.text, "\n");
	}
	return end_text();
}

/* A line for each host, but the first, of a trace of several: how its clock was placed. */
const char *PAGE_EXPORT(page_load_hosts)(void)
{
	char sentence[512];
	begin_text();
	for (size_t i = 1; i < weft_input_host_count(load.input); i++) {
		const struct weft_input_host *host = weft_input_host(load.input, i);
		weft_input_explain_host(host, sentence, sizeof(sentence));
		weft_text_add_string(&load.text, "host ");
		weft_text_add_shown(&load.text, host->name, strlen(host->name));
		weft_text_add_string(&load.text, ": ");
		weft_text_add_string(&load.text, sentence);
		weft_text_add_string(&load.text, "\n");
	}
	return end_text();
}

const char *PAGE_EXPORT(page_error_text)(int error)
{
	return weft_error_text(error);
}

/* SPDX-License-Identifier: ISC
 *
 * The whole reading half in one program without an operating system: reads a trace from standard
 * input, and prints its description, model, sentences and pictures. tests/house/wasm.py compares
 * the output of the native program with that of the WebAssembly one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <weft/decoder.h>
#include <weft/layout.h>
#include <weft/lines.h>
#include <weft/model.h>
#include <weft/problems.h>
#include <weft/render.h>
#include <weft/search.h>
#include <weft/text.h>

static void read_standard_input(struct weft_text *text)
{
	static char bytes[65536];
	size_t size;
	while ((size = fread(bytes, 1, sizeof(bytes), stdin)) > 0)
		weft_text_add(text, bytes, size);
}

static int open_decoder(const struct weft_text *input, struct weft_decoder **ret_decoder)
{
	int error = weft_decoder_create(ret_decoder);
	if (!error && input->size)
		error = weft_decoder_feed(*ret_decoder, input->bytes, input->size);
	return error ? error : weft_decoder_finish(*ret_decoder);
}

static void print_diagnostics(const struct weft_diagnostics *diagnostics)
{
	for (size_t i = 0; i < diagnostics->count; i++) {
		const struct weft_diagnostic *one = &diagnostics->list[i];
		printf("offset 0x%" PRIx64 ": %s (x%" PRIu64 ")\n", one->offset, one->message, one->count);
	}
}

/* Prints every event in both forms, for programs and for people. */
static int print_events(const struct weft_text *input)
{
	struct weft_decoder *decoder = NULL;
	struct weft_event event;
	struct weft_lines lines;
	struct weft_text text = {0};
	int status = open_decoder(input, &decoder);
	if (status == 0) {
		weft_lines_init(&lines, weft_decoder_describe(decoder), 0);
		while ((status = weft_decoder_next(decoder, &event)) == WEFT_OK) {
			weft_lines_add_json(&lines, &event, &text);
			weft_lines_add_text(&lines, &event, &text);
		}
		fwrite(text.bytes, 1, text.size, stdout);
		print_diagnostics(weft_decoder_diagnostics(decoder));
	}
	weft_text_finish(&text);
	weft_decoder_destroy(decoder);
	return status == WEFT_END ? text.error : status;
}

static void print_model(const struct weft_model *model)
{
	const struct weft_tasks *tasks = &model->tasks;
	printf("%" PRIu64 " events, %" PRIu64 " to %" PRIu64 "\n", model->summary.events,
		model->summary.start, model->summary.end);
	for (uint32_t t = 0; t < tasks->count; t++) {
		char name[256];
		weft_model_format_name(model, t, name, sizeof(name));
		printf("task %s: %" PRIu64 " to %" PRIu64 ", ran %" PRIu64 " ns, flags %u\n", name,
			tasks->start[t], tasks->end[t], weft_model_running_ns(model, t), tasks->flags[t]);
	}
	for (uint32_t e = 0; e < model->edges.count; e++)
		printf("%s at %" PRIu64 ": %" PRIu32 " to %" PRIu32 "\n",
			weft_edge_name(model->edges.type[e]), model->edges.time[e], model->edges.from[e],
			model->edges.to[e]);
}

static void print_layout(const struct weft_layout *layout)
{
	printf("%" PRIu32 " rows\n", layout->row_count);
	for (uint32_t t = 0; t < layout->model->tasks.count; t++)
		printf("task %" PRIu32 ": row %" PRIu32 " from %" PRIu64 "\n", t, layout->row[t],
			layout->start[t]);
}

/* Prints a frame as operations and as SVG. The view is the middle of the trace, so that the lens
 * and clipping matter. */
static int print_picture(const struct weft_model *model, const struct weft_layout *layout)
{
	struct weft_scene *scene = NULL;
	struct weft_canvas *canvas = NULL;
	struct weft_text text = {0};
	struct weft_frame frame;
	struct weft_view view;
	double length = (double)(model->summary.end - model->summary.start);
	weft_frame_place(layout, 1400, 800, &frame);
	weft_frame_view(layout, &frame, &view);
	weft_view_set_range(&view, model->summary.start + (uint64_t)(length / 3), length / 4);
	int error = weft_scene_create(model, layout, &scene);
	if (!error)
		error = weft_canvas_create(frame.width, frame.height, &canvas);
	if (!error)
		error = weft_render_frame(scene, &frame, &view, &(struct weft_render_options){0}, canvas);
	if (!error)
		error = weft_canvas_write_text(canvas, &text);
	if (!error)
		error = weft_canvas_write_svg(canvas, &(struct weft_svg_options){0}, &text);
	if (!error)
		fwrite(text.bytes, 1, text.size, stdout);
	weft_text_finish(&text);
	weft_canvas_destroy(canvas);
	weft_scene_destroy(scene);
	return error;
}

static void print_stories(const struct weft_story *story)
{
	char text[WEFT_SENTENCE_BYTES];
	for (uint32_t task = 0; task < story->model->tasks.count; task++) {
		weft_story_sentence(story, task, WEFT_STORY_WHOLE, text, sizeof(text));
		puts(text);
	}
	for (uint32_t edge = 0; edge < story->model->edges.count; edge++) {
		weft_story_edge_sentence(story, edge, text, sizeof(text));
		puts(text);
	}
}

static int print_problems(const struct weft_story *story)
{
	struct weft_problems *problems = NULL;
	int error = weft_problems_create(story, &problems);
	for (uint32_t i = 0; !error && i < problems->count; i++)
		puts(problems->list[i].sentence);
	weft_problems_destroy(problems);
	return error;
}

static int print_search(const struct weft_model *model)
{
	static const char expression[] = "(re|wri)[^x]*d|\\d{2}$";
	struct weft_search *search = NULL;
	int error = weft_search_create(model, expression, sizeof(expression) - 1, true, NULL, &search);
	if (!error)
		printf("%" PRIu64 " found in %" PRIu32 " tasks\n", search->found, search->task_count);
	for (uint32_t i = 0; !error && i < search->match_count; i++)
		printf("%" PRIu64 " %s of %" PRIu32 "\n", search->matches[i].time,
			weft_search_field_name(search->matches[i].field), search->matches[i].task);
	weft_search_destroy(search);
	return error;
}

/* Prints sentences, problems and a search. */
static int print_words(const struct weft_model *model, const struct weft_layout *layout)
{
	struct weft_story_index *index = NULL;
	int error = weft_story_index_create(model, &index);
	const struct weft_story story = {model, layout, index};
	if (!error) {
		print_stories(&story);
		error = print_problems(&story);
	}
	if (!error)
		error = print_search(model);
	weft_story_index_destroy(index);
	return error;
}

static int print_meaning(const struct weft_text *input)
{
	struct weft_decoder *decoder = NULL;
	struct weft_model *model = NULL;
	struct weft_layout *layout = NULL;
	int error = open_decoder(input, &decoder);
	if (!error)
		error = weft_decoder_build_model(decoder, NULL, &model);
	if (!error) {
		print_model(model);
		error = weft_layout_create(model, NULL, &layout);
	}
	if (!error) {
		print_layout(layout);
		error = print_picture(model, layout);
		if (!error)
			error = print_words(model, layout);
	}
	weft_layout_destroy(layout);
	weft_model_destroy(model);
	weft_decoder_destroy(decoder);
	return error;
}

int main(void)
{
	struct weft_text input = {0};
	read_standard_input(&input);
	int error = input.error;
	if (!error)
		error = print_events(&input);
	if (!error)
		error = print_meaning(&input);
	if (error)
		printf("%s\n", weft_error_text(error));
	weft_text_finish(&input);
	return error ? 1 : 0;
}

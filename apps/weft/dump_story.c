/* SPDX-License-Identifier: ISC
 *
 * weft dump --problems and --story: prints the content of the viewer's panels, for terminals and
 * programs.
 */
#include "dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <weft/problems.h>
#include <weft/story.h>

struct story_dump {
	struct weft_story story;
	const struct dump_options *options;
	struct weft_text text;
};

/* ---- JSON ---- */

static void add_number(struct story_dump *t, const char *key, uint64_t number)
{
	weft_text_add_string(&t->text, key);
	weft_text_add_u64(&t->text, number);
}

static void add_string(struct story_dump *t, const char *key, const char *string)
{
	weft_text_add_string(&t->text, key);
	weft_text_add_json(&t->text, string, strlen(string));
}

static void add_task(struct story_dump *t, const char *key, uint32_t task)
{
	weft_text_add_string(&t->text, key);
	if (task == WEFT_NONE)
		weft_text_add_string(&t->text, "null");
	else
		weft_text_add_u64(&t->text, t->story.model->tasks.id[task]);
}

static void add_problem_json(struct story_dump *t, const struct weft_problem *problem)
{
	static const char *const severities[] = {"hint", "warning", "error"};
	add_string(t, "{\"problem\":", weft_problem_name(problem->type));
	add_string(t, ",\"severity\":", severities[problem->severity]);
	add_number(t, ",\"count\":", problem->count);
	add_number(t, ",\"start\":", problem->start);
	add_number(t, ",\"end\":", problem->end);
	add_task(t, ",\"task\":", problem->task);
	if (t->story.model->buffer_count > 1 && problem->task != WEFT_NONE)
		add_number(t, ",\"buffer\":", t->story.model->tasks.buffer[problem->task]);
	add_string(t, ",\"sentence\":", problem->sentence);
	weft_text_add_string(&t->text, "}\n");
}

static void add_line_json(struct story_dump *t, const struct weft_story_line *line)
{
	static const char *const types[WEFT_STORY_LINE_TYPES] = {[WEFT_STORY_FACT] = "fact",
		[WEFT_STORY_LABEL] = "label",
		[WEFT_STORY_NOTE] = "note",
		[WEFT_STORY_EDGE] = "edge",
		[WEFT_STORY_CHILD] = "child",
		[WEFT_STORY_ACTIVATION] = "activation",
		[WEFT_STORY_LEFT_OUT] = "left out"};
	add_string(t, "{\"line\":", types[line->type]);
	if (line->has_time)
		add_number(t, ",\"time\":", line->time);
	if (line->duration)
		add_number(t, ",\"duration\":", line->duration);
	add_string(t, ",\"title\":", line->title);
	add_string(t, ",\"text\":", line->text);
	add_task(t, ",\"task\":", line->task);
	weft_text_add_string(&t->text, "}\n");
}

/* ---- Text ---- */

/* Appends seconds from the trace's start, as everywhere in a dump. */
static void add_seconds(struct story_dump *t, uint64_t time)
{
	uint64_t ns = time - t->story.model->summary.start;
	char cell[48];
	int length =
		snprintf(cell, sizeof(cell), "%5" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
	weft_text_add(&t->text, cell, (size_t)length);
}

static void add_problem_text(struct story_dump *t, const struct weft_problem *problem)
{
	size_t start = t->text.size;
	add_seconds(t, problem->start);
	weft_text_add_string(&t->text, "  ");
	weft_text_add_string(&t->text, weft_problem_name(problem->type));
	weft_text_pad(&t->text, start, 35);
	weft_text_add_string(&t->text, problem->sentence);
	weft_text_add_string(&t->text, "\n");
}

/* Appends a line; facts have their time in their text. */
static void add_line_text(struct story_dump *t, const struct weft_story_line *line)
{
	size_t start = t->text.size;
	if (line->type != WEFT_STORY_FACT)
		add_seconds(t, line->time);
	weft_text_pad(&t->text, start, 17);
	weft_text_add_string(&t->text, line->title);
	weft_text_pad(&t->text, start, 36);
	weft_text_add_string(&t->text, line->text);
	weft_text_add_string(&t->text, "\n");
}

/* ---- Both ---- */

static int dump_problems(struct story_dump *t)
{
	struct weft_problems *problems;
	char sentence[WEFT_SENTENCE_BYTES];
	int error = weft_problems_create(&t->story, &problems);
	if (error)
		return error;
	for (uint32_t i = 0; i < problems->count; i++) {
		if (t->options->json)
			add_problem_json(t, &problems->list[i]);
		else
			add_problem_text(t, &problems->list[i]);
	}
	if (!t->options->json && (!problems->count || problems->left_out)) {
		weft_problems_sentence(problems, sentence, sizeof(sentence));
		weft_text_add_string(&t->text, sentence);
		weft_text_add_string(&t->text, "\n");
	}
	weft_problems_destroy(problems);
	return 0;
}

static int dump_task(struct story_dump *t, uint32_t task)
{
	struct weft_story_lines *lines;
	int error = weft_story_lines_create(&t->story, task, &lines);
	if (error)
		return error;
	for (uint32_t i = 0; i < lines->count; i++) {
		if (t->options->json)
			add_line_json(t, &lines->lines[i]);
		else
			add_line_text(t, &lines->lines[i]);
	}
	weft_story_lines_destroy(lines);
	return 0;
}

static int dump(struct story_dump *t, uint32_t task)
{
	const struct weft_layout_options options = {.no_simplify = t->options->no_simplify};
	struct weft_layout *layout = NULL;
	struct weft_story_index *index = NULL;
	int error = weft_layout_create(t->story.model, &options, &layout);
	if (!error)
		error = weft_story_index_create(t->story.model, &index);
	t->story.layout = layout;
	t->story.index = index;
	if (!error)
		error = t->options->what == DUMP_PROBLEMS ? dump_problems(t) : dump_task(t, task);
	if (!error && t->text.size)
		cli_write(&t->text);
	weft_text_finish(&t->text);
	weft_story_index_destroy(index);
	weft_layout_destroy(layout);
	return error;
}

void dump_list_problem_names(void)
{
	for (int i = 0; i < WEFT_PROBLEM_TYPES; i++) {
		enum weft_problem_type type = (enum weft_problem_type)i;
		printf("  %-16s %s\n", weft_problem_name(type), weft_problem_meaning(type));
	}
}

int dump_story(const struct dump_options *options, const struct cli_trace *trace)
{
	struct weft_model *model = NULL;
	uint32_t task = WEFT_NONE;
	int error = cli_trace_build_model(trace, &model), status = CLI_DONE;
	if (error)
		return cli_trace_fail(trace, error);
	if (model->summary.events == 0)
		cli_inform("%s: a valid trace without events", trace->name);
	if (options->what == DUMP_STORY)
		task = cli_find_task(model, options->buffer, options->task);
	if (options->what == DUMP_STORY && task == WEFT_NONE) {
		cli_inform("%s: no task %" PRIu64 "", trace->name, options->task);
		status = CLI_NO;
	} else {
		struct story_dump story_dump = {.story = {.model = model}, .options = options};
		error = dump(&story_dump, task);
		status = error ? cli_trace_fail(trace, error) : CLI_DONE;
	}
	weft_model_destroy(model);
	return status;
}

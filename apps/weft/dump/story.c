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
	const char *file; /* before each problem, or NULL */
	enum weft_problem_severity worst;
	bool has_problems;
	struct weft_text text;
};

static const char *const severities[] = {"hint", "warning", "error"};
static const char *const line_types[WEFT_STORY_LINE_TYPES] = {[WEFT_STORY_FACT] = "fact",
	[WEFT_STORY_LABEL] = "label",
	[WEFT_STORY_NOTE] = "note",
	[WEFT_STORY_EDGE] = "edge",
	[WEFT_STORY_CHILD] = "child",
	[WEFT_STORY_ACTIVATION] = "activation",
	[WEFT_STORY_LEFT_OUT] = "left out",
	[WEFT_STORY_WAIT] = "wait"};

/* ---- JSON ---- */

/* Names the reason so that its line can be found. */
static void add_reason_json(struct story_dump *t, const struct weft_problem *reason)
{
	cli_add_json(&t->text, ",\"because\":{\"problem\":", weft_problem_name(reason->type));
	cli_add_number(&t->text, ",\"start\":", reason->start);
	cli_add_task(&t->text, ",\"task\":", t->story.model, reason->task);
	weft_text_add_string(&t->text, "}");
}

static void add_problem_json(
	struct story_dump *t, const struct weft_problem *problem, const struct weft_problem *reason)
{
	cli_add_json(&t->text, "{\"problem\":", weft_problem_name(problem->type));
	if (t->file)
		cli_add_json(&t->text, ",\"file\":", t->file);
	cli_add_json(&t->text, ",\"severity\":", severities[problem->severity]);
	cli_add_number(&t->text, ",\"count\":", problem->count);
	cli_add_number(&t->text, ",\"start\":", problem->start);
	cli_add_number(&t->text, ",\"end\":", problem->end);
	cli_add_task(&t->text, ",\"task\":", t->story.model, problem->task);
	if (t->story.model->buffer_count > 1 && problem->task != WEFT_NONE)
		cli_add_number(&t->text, ",\"buffer\":", t->story.model->tasks.buffer[problem->task]);
	if (reason)
		add_reason_json(t, reason);
	cli_add_json(&t->text, ",\"sentence\":", problem->sentence);
	weft_text_add_string(&t->text, "}\n");
}

static void add_line_json(struct story_dump *t, const struct weft_story_line *line)
{
	cli_add_json(&t->text, "{\"line\":", line_types[line->type]);
	if (line->has_time)
		cli_add_number(&t->text, ",\"time\":", line->time);
	if (line->duration)
		cli_add_number(&t->text, ",\"duration\":", line->duration);
	cli_add_json(&t->text, ",\"title\":", line->title);
	cli_add_json(&t->text, ",\"text\":", line->text);
	cli_add_task(&t->text, ",\"task\":", t->story.model, line->task);
	weft_text_add_string(&t->text, "}\n");
}

/* ---- Columns with tabs between them ---- */

/* Appends a cell: control characters, which tabs and newlines are, become spaces. */
static void add_cell(struct story_dump *t, const char *text)
{
	for (const char *c = text; *c; c++)
		weft_text_add(&t->text, (unsigned char)*c < ' ' ? " " : c, 1);
}

static void add_tab(struct story_dump *t)
{
	weft_text_add(&t->text, "\t", 1);
}

static uint64_t since_start(const struct story_dump *t, uint64_t time)
{
	return time - t->story.model->summary.start;
}

/* [file] severity problem start length count task sentence because */
static void add_problem_tsv(
	struct story_dump *t, const struct weft_problem *problem, const struct weft_problem *reason)
{
	if (t->file) {
		add_cell(t, t->file);
		add_tab(t);
	}
	add_cell(t, severities[problem->severity]);
	add_tab(t);
	add_cell(t, weft_problem_name(problem->type));
	add_tab(t);
	cli_add_seconds(&t->text, 0, since_start(t, problem->start));
	add_tab(t);
	cli_add_seconds(&t->text, 0, problem->end - problem->start);
	add_tab(t);
	weft_text_add_u64(&t->text, problem->count);
	add_tab(t);
	if (problem->task != WEFT_NONE)
		weft_text_add_u64(&t->text, t->story.model->tasks.id[problem->task]);
	add_tab(t);
	add_cell(t, problem->sentence);
	add_tab(t);
	if (reason) {
		add_cell(t, weft_problem_name(reason->type));
		weft_text_add_string(&t->text, " at ");
		cli_add_seconds(&t->text, 0, since_start(t, reason->start));
	}
	weft_text_add_string(&t->text, "\n");
}

/* line time length title text */
static void add_line_tsv(struct story_dump *t, const struct weft_story_line *line)
{
	add_cell(t, line_types[line->type]);
	add_tab(t);
	if (line->has_time)
		cli_add_seconds(&t->text, 0, since_start(t, line->time));
	add_tab(t);
	if (line->duration)
		cli_add_seconds(&t->text, 0, line->duration);
	add_tab(t);
	add_cell(t, line->title);
	add_tab(t);
	add_cell(t, line->text);
	weft_text_add_string(&t->text, "\n");
}

/* ---- Text ---- */

/* A consequence of the problem above is indented. */
static void add_problem_text(
	struct story_dump *t, const struct weft_problem *problem, const struct weft_problem *reason)
{
	if (t->file) {
		add_cell(t, t->file);
		weft_text_add_string(&t->text, ": ");
	}
	size_t start = t->text.size;
	cli_add_seconds(&t->text, 5, since_start(t, problem->start));
	weft_text_add_string(&t->text, "  ");
	weft_text_add_string(&t->text, severities[problem->severity]);
	weft_text_pad(&t->text, start, 26);
	weft_text_add_string(&t->text, reason && !t->options->by_time ? "  " : "");
	weft_text_add_string(&t->text, weft_problem_name(problem->type));
	weft_text_pad(&t->text, start, 44);
	weft_text_add_string(&t->text, problem->sentence);
	weft_text_add_string(&t->text, "\n");
}

/* Appends a line; facts have their time in their text. */
static void add_line_text(struct story_dump *t, const struct weft_story_line *line)
{
	size_t start = t->text.size;
	if (line->type != WEFT_STORY_FACT)
		cli_add_seconds(&t->text, 5, since_start(t, line->time));
	weft_text_pad(&t->text, start, 17);
	weft_text_add_string(&t->text, line->title);
	weft_text_pad(&t->text, start, 36);
	weft_text_add_string(&t->text, line->text);
	weft_text_add_string(&t->text, "\n");
}

/* ---- Both ---- */

static void add_problem(struct story_dump *t, const struct weft_problems *problems, uint32_t number)
{
	const struct weft_problem *problem = &problems->list[number];
	const struct weft_problem *reason =
		problem->reason == WEFT_NONE ? NULL : &problems->list[problem->reason];
	if (t->options->json)
		add_problem_json(t, problem, reason);
	else if (t->options->tsv)
		add_problem_tsv(t, problem, reason);
	else
		add_problem_text(t, problem, reason);
}

static void add_line(struct story_dump *t, const struct weft_story_line *line)
{
	if (t->options->json)
		add_line_json(t, line);
	else if (t->options->tsv)
		add_line_tsv(t, line);
	else
		add_line_text(t, line);
}

static int dump_problems(struct story_dump *t)
{
	struct weft_problems *problems;
	char sentence[WEFT_SENTENCE_BYTES];
	int error = weft_problems_create(&t->story, &problems);
	if (error)
		return error;
	for (uint32_t i = 0; i < problems->count; i++)
		add_problem(t, problems, t->options->by_time ? i : problems->by_gravity[i]);
	if (!t->options->json && !t->options->tsv && (!problems->count || problems->left_out)) {
		weft_problems_sentence(problems, sentence, sizeof(sentence));
		if (t->file) {
			add_cell(t, t->file);
			weft_text_add_string(&t->text, ": ");
		}
		weft_text_add_string(&t->text, sentence);
		weft_text_add_string(&t->text, "\n");
	}
	t->has_problems = problems->count > 0;
	if (t->has_problems)
		t->worst = problems->list[problems->by_gravity[0]].severity;
	weft_problems_destroy(problems);
	return 0;
}

static int dump_task(struct story_dump *t, uint32_t task)
{
	struct weft_story_lines *lines;
	int error = weft_story_lines_create(&t->story, task, &lines);
	if (error)
		return error;
	for (uint32_t i = 0; i < lines->count; i++)
		add_line(t, &lines->lines[i]);
	weft_story_lines_destroy(lines);
	return 0;
}

static int dump(struct story_dump *t, uint32_t task)
{
	const struct weft_layout_options options = {
		.no_simplify = t->options->no_simplify, .no_rows = true};
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

/* The task for --story; WEFT_NONE after a message. */
static uint32_t find_task(const struct dump_options *options, const struct cli_trace *trace,
	const struct weft_model *model)
{
	uint32_t count, task = cli_find_task_named(trace->name, model, options->story, &count);
	if (task != WEFT_NONE && count > 1)
		cli_inform("%s: %" PRIu32 " tasks are called that; this is the first, task %" PRIu64,
			trace->name, count, model->tasks.id[task]);
	return task;
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
		task = find_task(options, trace, model);
	if (options->what == DUMP_STORY && task == WEFT_NONE) {
		status = CLI_NO;
	} else {
		struct story_dump story_dump = {.story = {.model = model},
			.options = options,
			.file = options->is_each ? trace->name : NULL};
		error = dump(&story_dump, task);
		status = error ? cli_trace_fail(trace, error) : CLI_DONE;
		if (!error && story_dump.has_problems && (int)story_dump.worst >= options->fail_on)
			status = CLI_NO;
	}
	weft_model_destroy(model);
	return status;
}

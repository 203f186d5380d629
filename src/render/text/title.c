/* SPDX-License-Identifier: ISC
 *
 * The line above the picture names the trace; the one below describes what the picture shows of it,
 * with a legend. Parts that do not fit are left out as a whole.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <weft/unseen.h>

#include "render/facts.h"
#include "render/painter.h"
#include "render/tasks/spans.h"

#define MARGIN     12.0
#define GAP        24.0
#define LEGEND_GAP 14.0
#define SAMPLE     20.0 /* px of a line in the legend */

static struct weft_slice as_slice(const char *text)
{
	return (struct weft_slice){text, strlen(text)};
}

/* Writes 1234567 as "1,234,567". */
static void format_count(uint64_t number, char text[32])
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, number), used = 0;
	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			text[used++] = ',';
		text[used++] = digits[i];
	}
	text[used] = '\0';
}

static uint64_t count_losses(const struct weft_model *model)
{
	uint64_t sum = 0;
	for (unsigned cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		sum += model->losses[cause];
	return sum;
}

static void append(char *text, size_t size, const char *format, const char *value)
{
	size_t used = strlen(text);
	snprintf(text + used, size - used, format, value);
}

static void append_count(
	char *text, size_t size, const char *before, uint64_t count, const char *one, const char *many)
{
	char number[32];
	format_count(count, number);
	append(text, size, "%s", before);
	append(text, size, "%s ", number);
	append(text, size, "%s", count == 1 ? one : many);
}

static void append_outcome(
	char *text, size_t size, const struct weft_model_summary *summary, enum weft_outcome outcome)
{
	const char *name = weft_outcome_name(outcome);
	if (summary->by_outcome[outcome])
		append_count(text, size, " \xc2\xb7 ", summary->by_outcome[outcome], name, name);
}

/* "40.4 s"; "50 ms of 40.4 s", if only that was read. */
static void append_length(char *text, size_t size, const struct weft_model_summary *s)
{
	char length[32];
	if (s->read_end) {
		const uint64_t end = s->read_end < s->end ? s->read_end : s->end;
		weft_format_duration(end > s->read_start ? end - s->read_start : 0, 4, length);
		append(text, size, "%s of ", length);
	}
	weft_format_duration(s->end - s->start, 4, length);
	append(text, size, "%s", length);
}

void weft__render_describe_trace(const struct weft_model *model, char *text, size_t size)
{
	const struct weft_model_summary *s = &model->summary;
	uint64_t lost = count_losses(model);
	struct weft_unseen_list unseen;
	text[0] = '\0';
	append_length(text, size, s);
	append_count(text, size, " \xc2\xb7 ", s->events, "event", "events");
	append_count(text, size, " \xc2\xb7 ", model->tasks.count - s->tracks, "task", "tasks");
	append_outcome(text, size, s, WEFT_OUTCOME_FAILED);
	append_outcome(text, size, s, WEFT_OUTCOME_NEVER_RESOLVED);
	if (lost)
		append_count(text, size, " \xc2\xb7 ", lost, "event lost", "events lost");
	else
		append(text, size, "%s", " \xc2\xb7 no losses");
	weft_unseen_collect(&unseen, model->buffers, model->buffer_count);
	if (unseen.count)
		append_count(text, size, " \xc2\xb7 ", unseen.count, "part not seen", "parts not seen");
}

/* Removes the last parts (after " · " or ", ") until the rest fits. */
static void drop_parts(
	const struct painter *p, char *text, double room, const struct weft_text_style *style)
{
	while (weft__render_measure(p, text, style) > room) {
		size_t at = strlen(text);
		while (at > 0 && strncmp(text + at, ", ", 2) != 0 && text[at] != '\xc2')
			at--;
		while (at > 0 && text[at - 1] == ' ')
			at--;
		if (at == 0)
			return;
		text[at] = '\0';
	}
}

void weft__render_draw_title(struct painter *p)
{
	const struct weft_box *box = &p->frame->title;
	struct weft_text_style name = {p->theme->text, 13, true, false, 0};
	struct weft_text_style facts = {p->theme->dim, 12, false, false, 0};
	double x = box->x + MARGIN, y = box->y + box->height / 2 + 5;
	double right = box->x + box->width - MARGIN;
	char text[256];
	if (box->height == 0)
		return;
	if (p->options->title)
		x += weft__render_put_text(p, x, y, as_slice(p->options->title), right - x, &name) + GAP;
	weft__render_describe_trace(p->model, text, sizeof(text));
	drop_parts(p, text, right - x, &facts);
	weft__render_put_text(p, x, y, as_slice(text), right - x, &facts);
}

/* Failed and never resolved tasks in the view. */
struct problems {
	uint32_t failed, never_resolved;
};

static struct problems count_problems(const struct painter *p)
{
	uint32_t first = weft__render_scene_problem_from(p->scene, 0, p->left);
	uint32_t last =
		weft__render_scene_problem_from(p->scene, 0, p->right + (p->right < UINT64_MAX));
	uint32_t never = p->scene->never_before[last] - p->scene->never_before[first];
	return (struct problems){last - first - never, never};
}

static bool has_problem(const struct painter *p)
{
	uint32_t first = weft__render_scene_problem_from(p->scene, 0, p->left);
	return first < p->scene->problem_count &&
		   p->model->tasks.end[p->scene->problems[first]] <= p->right;
}

/* The tasks of the view that have no line: because they are folded, or too small. */
static void describe_merged(const struct painter *p, char *text, size_t size)
{
	const struct weft__tally *tally = &p->tally;
	uint32_t drawn = tally->drawn + tally->fold_spans;
	uint32_t merged = tally->tasks > drawn ? tally->tasks - drawn : 0;
	uint32_t folded = tally->folded > tally->fold_spans ? tally->folded - tally->fold_spans : 0;
	folded = folded < merged ? folded : merged;
	if (folded)
		append_count(text, size, ", ", folded, "folded", "folded");
	if (merged > folded)
		append_count(text, size, ", ", merged - folded, "too small to distinguish",
			"too small to distinguish");
}

static void describe_view(const struct painter *p, char *text, size_t size)
{
	const struct weft__tally *tally = &p->tally;
	char shown[32], all[32];
	uint64_t whole = p->scene->end - p->scene->start;
	uint64_t from = p->left > p->scene->start ? p->left : p->scene->start;
	uint64_t to = p->right < p->scene->end ? p->right : p->scene->end;
	weft_format_duration(to - from, 3, shown);
	weft_format_duration(whole, 3, all);
	snprintf(text, size, "%s", shown);
	if (to - from < whole)
		append(text, size, " of %s", all);
	append_count(text, size, ": ", tally->tasks, "task", "tasks");
	describe_merged(p, text, size);
	struct problems problems = count_problems(p);
	if (problems.failed)
		append_count(text, size, ", ", problems.failed, "failed", "failed");
	if (problems.never_resolved)
		append_count(text, size, ", ", problems.never_resolved, "never resolved", "never resolved");
}

/* Writes " - wait 79 at 5.27 ms: Enoent", for the first failed task. */
static void describe_problem(const struct painter *p, char *text, size_t size)
{
	uint32_t task = p->scene->problems[weft__render_scene_problem_from(p->scene, 0, p->left)];
	char name[96], at[32];
	struct weft_slice message = weft_model_string(p->model, p->model->tasks.message[task]);
	weft_story_name(p->model, task, 60, name, sizeof(name));
	weft_format_duration(p->model->tasks.end[task] - p->scene->start, 4, at);
	snprintf(text, size, "first: %s at %s: %.*s", name, at,
		message.size < 120 ? (int)message.size : 120, message.bytes);
}

/* The name of the outcomes that are drawn as stopped, or NULL if there are none. */
static const char *name_of_stopped(const struct painter *p)
{
	const char *name = NULL;
	for (unsigned i = 0; i < WEFT_OUTCOMES; i++)
		if (p->tally.stopped[i])
			name = name ? "stopped" : weft_outcome_name((enum weft_outcome)i);
	return name;
}

struct entry {
	const char *name;
	uint32_t color;
	double width;
	enum weft_canvas_dash dash;
	bool shown;
};

static double legend_width(const struct painter *p, const struct entry *entries, size_t count,
	const struct weft_text_style *style)
{
	double width = 0;
	for (size_t i = 0; i < count; i++)
		if (entries[i].shown)
			width += SAMPLE + 5 + weft__render_measure(p, entries[i].name, style) + LEGEND_GAP;
	return width;
}

static void draw_legend(struct painter *p, double x, double y, const struct entry *entries,
	size_t count, const struct weft_text_style *style)
{
	for (size_t i = 0; i < count; i++) {
		const struct entry *entry = &entries[i];
		struct weft_pen pen = {entry->color, entry->width, entry->dash};
		if (!entry->shown)
			continue;
		weft_canvas_line(p->canvas, x, y - 3.5, x + SAMPLE, y - 3.5, &pen);
		x += SAMPLE + 5;
		double width = weft__render_measure(p, entry->name, style);
		weft_canvas_text(p->canvas, x, y, entry->name, strlen(entry->name), width, style);
		x += width + LEGEND_GAP;
	}
}

/* Draws the legend for the lines in this picture; returns where it begins. */
static double put_legend(struct painter *p, double left, double y)
{
	const struct weft__theme *t = p->theme;
	const bool *edges = p->tally.edges;
	const char *stopped = name_of_stopped(p);
	const struct entry entries[] = {
		{"waiting", t->waiting, 1.5, WEFT_DASH_SOLID, p->tally.tasks > 0},
		{"running", t->running, 7, WEFT_DASH_SOLID, p->model->activations.count > 0},
		{"runnable", t->runnable, 7, WEFT_DASH_SOLID, p->tally.runnable},
		{"may have ended",
			weft__render_faded(t->running, 1 - WEFT__SPAN_LIGHT * WEFT__SPAN_UNCERTAIN), 7,
			WEFT_DASH_SOLID, p->tally.uncertain},
		{"off CPU", t->running, 7, WEFT_DASH_SHORT, p->tally.off_cpu},
		{"failed", t->failed, 2, WEFT_DASH_SOLID, has_problem(p)},
		{stopped, t->waiting, 1.5, WEFT_DASH_LONG, stopped != NULL},
		{"read", t->read, 1.25, WEFT_DASH_SOLID, edges[WEFT_EDGE_READ]},
		{"resolve", t->resolve, 1.25, WEFT_DASH_SOLID, edges[WEFT_EDGE_RESOLVE]},
		{"try_read", t->try_read, 1.25, WEFT_DASH_SHORT, edges[WEFT_EDGE_TRY_READ]},
		{"signal", t->signal, 1.25, WEFT_DASH_DOTTED, edges[WEFT_EDGE_SIGNAL]},
		{"receive", t->signal, 1.25, WEFT_DASH_SOLID, edges[WEFT_EDGE_RECEIVE]},
	};
	struct weft_text_style style = {t->dim, 10.5, false, false, 0};
	size_t count = sizeof(entries) / sizeof(entries[0]);
	double right = p->frame->status.width - MARGIN + LEGEND_GAP;
	double x = right - legend_width(p, entries, count, &style);
	if (x < left)
		return p->frame->status.width - MARGIN;
	draw_legend(p, x, y, entries, count, &style);
	return x;
}

/* The bytes of the whole words that fit. */
static size_t line_size(
	const struct painter *p, const char *text, double room, const struct weft_text_style *style)
{
	char line[512];
	size_t fits = 0;
	for (size_t end = 0; text[end] && end < sizeof(line) - 1;) {
		end += strspn(text + end, " ");
		end += strcspn(text + end, " ");
		snprintf(line, sizeof(line), "%.*s", (int)end, text);
		if (weft__render_measure(p, line, style) > room)
			break;
		fits = end;
	}
	return fits;
}

/* Writes the viewer's status, on two lines in a narrow frame; returns the width of the last line.
 */
static double draw_text(struct painter *p, const char *text)
{
	const struct weft_text_style style = {p->theme->text, 12, false, false, 0};
	const struct weft_box *box = &p->frame->status;
	double y = box->y + 16, room = box->width - 2 * MARGIN;
	size_t first = box->height >= 40 ? line_size(p, text, room, &style) : 0;
	if (first && text[first]) {
		weft__render_put_text(p, MARGIN, y, (struct weft_slice){text, first}, room, &style);
		text += first + strspn(text + first, " ");
		y += 16;
	}
	return weft__render_put_text(p, MARGIN, y, as_slice(text), room, &style);
}

void weft__render_draw_status_text(struct painter *p)
{
	if (p->frame->status.height > 0 && p->options->status)
		draw_text(p, p->options->status);
}

void weft__render_draw_status(struct painter *p)
{
	const struct weft_box *box = &p->frame->status;
	struct weft_text_style facts = {p->theme->text, 12, false, false, 0};
	struct weft_text_style problem = {p->theme->failed, 12, false, false, 0};
	double x = MARGIN, y = box->y + 16;
	char text[400];
	if (box->height == 0)
		return;
	if (p->options->status && p->options->status[0]) {
		const double width = draw_text(p, p->options->status);
		if (box->height < 40)
			put_legend(p, x + width + GAP, y);
		return;
	}
	describe_view(p, text, sizeof(text));
	drop_parts(p, text, box->width - 2 * MARGIN, &facts);
	double width = weft__render_measure(p, text, &facts);
	double right = put_legend(p, x + width + GAP, y);
	x += weft__render_put_text(p, x, y, as_slice(text), right - x, &facts);
	if (!has_problem(p))
		return;
	describe_problem(p, text, sizeof(text));
	weft__render_put_text(p, x + GAP / 2, y, as_slice(text), right - GAP - x - GAP / 2, &problem);
}

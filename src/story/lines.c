/* SPDX-License-Identifier: ISC
 *
 * The whole story of a task, as lines. Each type of line is listed up to a limit, with one line for
 * the number of the rest; then all are put in the order of time. Text goes into one block, referred
 * to by offsets until the block no longer moves.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <weft/text.h>

#include "base/array.h"
#include "base/export.h"
#include "story/any.h"
#include "story/code.h"
#include "story/flame.h"
#include "story/holders.h"
#include "story/long_waits.h"
#include "story/verbs.h"
#include "story/words.h"

#define NAME_LETTERS 60
#define TEXT_LETTERS 400

/* This many consecutive alike children become one line. */
#define ALIKE_FROM 4
/* Minimum number of activations that become one line, and the maximum ratio of their lengths. */
#define RUNS_FROM  8
#define RUNS_RANGE 8
#define SHORT_NS   1000 /* shorter ones count as equal */

struct draft {
	struct weft_story_line line;
	size_t text;  /* offset */
	size_t order; /* order among equal times */
};

struct task_lines {
	const struct weft_story *story;
	const struct weft_model *model;
	uint32_t task;
	struct draft *drafts;
	size_t count, capacity;
	struct weft_text text;
	struct weft_story_line unused; /* used instead of a line that could not be allocated */
	int error;
};

struct owned_lines {
	struct weft_story_lines public; /* first: what callers hold */
	struct weft_story_line *lines;
	char *text;
};

/* ---- Lines ---- */

/* The text of a line that is being written. */
struct line_text {
	struct weft__words words;
	char buffer[4 * TEXT_LETTERS + 1];
};

static struct weft__words *begin_text(struct line_text *line_text)
{
	weft__story_words_init(&line_text->words, line_text->buffer, sizeof(line_text->buffer));
	return &line_text->words;
}

/* Adds a line. The caller fills its other members, which are read when all lines exist. */
static struct weft_story_line *add_line(struct task_lines *t, enum weft_story_line_type type,
	const char *title, const struct line_text *line_text)
{
	const struct weft__column column = {&t->drafts, sizeof(*t->drafts)};
	if (!t->error)
		t->error = weft__columns_reserve(&column, 1, &t->capacity, t->count + 1);
	if (t->error)
		return &t->unused;
	struct draft *draft = &t->drafts[t->count];
	*draft = (struct draft){
		.line = {.type = type, .title = title, .task = WEFT_NONE, .edge = WEFT_NONE},
		.text = t->text.size,
		.order = t->count,
	};
	t->count++;
	weft_text_add(&t->text, line_text->words.text, line_text->words.used + 1);
	return &draft->line;
}

static void set_time(struct weft_story_line *line, uint64_t time, uint64_t duration)
{
	line->has_time = true;
	line->time = time;
	line->duration = duration;
}

static void add_left_out(struct task_lines *t, uint64_t count, const char *what, uint64_t time)
{
	struct line_text line_text;
	weft__story_words_add_count(begin_text(&line_text), count, what);
	set_time(add_line(t, WEFT_STORY_LEFT_OUT, "not shown", &line_text), time, 0);
}

/* ---- Facts ---- */

static void add_fact_task(struct task_lines *t, const char *title, uint32_t other)
{
	struct line_text line_text;
	weft__story_words_add_subject(begin_text(&line_text), t->model, other, NAME_LETTERS);
	add_line(t, WEFT_STORY_FACT, title, &line_text)->task = other;
}

/* "in main (hello.c:12)" */
static void add_code(struct task_lines *t)
{
	struct line_text line_text;
	struct weft__code code;
	if (!weft__story_code_of(t->model, t->task, &code))
		return;
	struct weft__words *words = begin_text(&line_text);
	weft__story_words_add(words, "in ");
	weft__story_words_add_text(words, code.function, NAME_LETTERS);
	weft__story_words_add(words, " (");
	weft__story_words_add_text(words, code.location, NAME_LETTERS);
	weft__story_words_add(words, ")");
	add_line(t, WEFT_STORY_FACT, "code", &line_text);
}

static void add_identity(struct task_lines *t)
{
	const struct weft_tasks *tasks = &t->model->tasks;
	struct weft_slice label = weft_model_string(t->model, tasks->label[t->task]);
	struct line_text line_text;
	weft__story_words_add_kind(begin_text(&line_text), t->model, tasks->kind[t->task]);
	add_line(t, WEFT_STORY_FACT, "kind", &line_text);
	weft__story_words_add(begin_text(&line_text), "%" PRIu64, tasks->id[t->task]);
	add_line(t, WEFT_STORY_FACT, "id", &line_text);
	if (t->model->buffer_count > 1) {
		weft__story_words_add_process(begin_text(&line_text), t->model, tasks->buffer[t->task]);
		add_line(t, WEFT_STORY_FACT, "process", &line_text);
	}
	if (label.size) {
		weft__story_words_add_text(begin_text(&line_text), label, TEXT_LETTERS);
		add_line(t, WEFT_STORY_FACT, "label", &line_text);
	}
	add_code(t);
	if (tasks->parent[t->task] != WEFT_NONE)
		add_fact_task(t, "made by", tasks->parent[t->task]);
}

static void add_outcome(struct task_lines *t)
{
	const struct weft_tasks *tasks = &t->model->tasks;
	struct weft_slice message = weft_model_string(t->model, tasks->message[t->task]);
	struct line_text line_text;
	if (tasks->becomes[t->task] != WEFT_NONE) {
		add_fact_task(t, "became", tasks->becomes[t->task]);
		return;
	}
	struct weft__words *w = begin_text(&line_text);
	weft__story_words_add(w, "%s", weft_outcome_name((enum weft_outcome)tasks->outcome[t->task]));
	if (message.size && !(tasks->flags[t->task] & WEFT_TASK_NEVER_RESOLVED)) {
		weft__story_words_add(w, ": ");
		weft__story_words_add_text(w, message, TEXT_LETTERS);
	}
	if (tasks->outcome[t->task] == WEFT_OUTCOME_UNKNOWN)
		weft__story_words_add(w, ": events are missing from then on");
	set_time(add_line(t, WEFT_STORY_FACT, "outcome", &line_text), tasks->end[t->task], 0);
}

static void add_time(struct task_lines *t, const char *title, uint64_t time)
{
	struct line_text line_text;
	weft__story_words_add_time(begin_text(&line_text), t->model, time);
	set_time(add_line(t, WEFT_STORY_FACT, title, &line_text), time, 0);
}

/* The title of the last time: an unfinished task is open until the record of its program ends, or
 * until the trace does if it waits then. */
static const char *end_title(const struct task_lines *t)
{
	const struct weft_model *m = t->model;
	const struct weft_trace_buffer *buffer =
		weft_trace_buffer_at(m->buffers, m->buffer_count, m->tasks.buffer[t->task]);
	if (m->tasks.flags[t->task] & WEFT_TASK_RESOLVED)
		return "ends";
	uint64_t end = m->tasks.end[t->task];
	return (buffer->end_ns && end == buffer->end_ns) || end == m->summary.end ? "open until"
																			  : "last seen";
}

static void add_span(struct task_lines *t)
{
	const struct weft_tasks *tasks = &t->model->tasks;
	uint64_t start = weft__story_start_of(t->story, t->task), created = tasks->start[t->task];
	uint64_t end = tasks->end[t->task];
	struct line_text line_text;
	if (created < start)
		add_time(t, "created", created);
	add_time(t, "starts", start);
	add_time(t, end_title(t), end);
	weft__story_words_add_length(begin_text(&line_text), end > start ? end - start : 0);
	add_line(t, WEFT_STORY_FACT, "lives", &line_text)->duration = end > start ? end - start : 0;
}

/* "8 ms (67 %) without a processor: preempted, or blocked in a system call" */
static void add_off_cpu(struct task_lines *t, uint64_t runs_ns)
{
	uint64_t off_ns = weft_model_off_cpu_ns(t->model, t->task);
	struct line_text line_text;
	if (!off_ns)
		return;
	struct weft__words *w = begin_text(&line_text);
	weft__story_words_add_length(w, off_ns);
	weft__story_words_add(w, " (%.0f %%): preempted, or blocked in a system call",
		100 * (double)off_ns / (double)runs_ns);
	add_line(t, WEFT_STORY_FACT, "off CPU", &line_text)->duration = off_ns;
}

static void add_running(struct task_lines *t)
{
	const struct weft_tasks *tasks = &t->model->tasks;
	uint64_t start = weft__story_start_of(t->story, t->task), end = tasks->end[t->task];
	uint64_t runs_ns = weft_model_running_ns(t->model, t->task);
	uint64_t life = end > start ? end - start : 0, waits_ns = life > runs_ns ? life - runs_ns : 0;
	uint32_t runs = tasks->end_activation[t->task] - tasks->first_activation[t->task];
	struct line_text line_text;
	struct weft__words *w = begin_text(&line_text);
	if (runs) {
		weft__story_words_add_length(w, runs_ns);
		weft__story_words_add(w, " in ");
		weft__story_words_add_count(w, runs, "activation");
	} else {
		weft__story_words_add(w, "never");
	}
	add_line(t, WEFT_STORY_FACT, "runs", &line_text)->duration = runs_ns;
	add_off_cpu(t, runs_ns);
	weft__story_words_add_length(begin_text(&line_text), waits_ns);
	add_line(t, WEFT_STORY_FACT, "waits", &line_text)->duration = waits_ns;
}

static void add_last_wait(struct task_lines *t)
{
	struct weft_story_wait wait;
	if (t->model->tasks.flags[t->task] & WEFT_TASK_RESOLVED)
		return;
	if (!weft_story_wait_at(t->story, t->task, WEFT_STORY_WHOLE, &wait) || wait.source == WEFT_NONE)
		return;
	struct line_text line_text;
	struct weft__words *w = begin_text(&line_text);
	if (wait.is_held) {
		const struct weft_story_hold hold = {wait.source, wait.since};
		weft__story_words_add_holders(w, t->model, &hold, wait.others + 1, NAME_LETTERS);
		add_line(t, WEFT_STORY_FACT, "still held by", &line_text)->task = wait.source;
		return;
	}
	if (wait.any)
		weft__story_words_add_any(w, t->model, (struct weft__edge_list){wait.any, wait.any_count});
	else
		weft__story_words_add_subject(w, t->model, wait.source, NAME_LETTERS);
	weft__story_words_add(w, " since ");
	weft__story_words_add_time(w, t->model, wait.since);
	add_line(t, WEFT_STORY_FACT, "still waits for", &line_text)->task = wait.source;
}

static void add_due(struct task_lines *t)
{
	struct weft_story_timer timer;
	struct line_text line_text;
	if (!weft_story_timer(t->model, t->task, &timer))
		return;
	weft__story_words_add_due(begin_text(&line_text), t->model, &timer);
	set_time(add_line(t, WEFT_STORY_FACT, "timer", &line_text), timer.due, timer.late_ns);
}

/* Appends "request › deflate": the names of the nodes around one, and its own. */
static void write_path(
	struct weft__words *w, const struct task_lines *t, const struct weft__flame *f, uint32_t node)
{
	uint32_t path[WEFT__FLAME_NODES], length = 0;
	for (uint32_t i = node; i != WEFT_NONE; i = f->nodes[i].parent)
		path[length++] = i;
	while (length-- > 0) {
		weft__story_words_add_text(
			w, weft_model_string(t->model, f->nodes[path[length]].name), NAME_LETTERS);
		weft__story_words_add(w, "%s", length ? " \xe2\x80\xba " : "");
	}
}

/* "deflate: 3.2 ms (41 %) × 12"; the share is that of the task's life. */
static void add_node(
	struct task_lines *t, const struct weft__flame *f, uint32_t node, uint64_t life_ns)
{
	const struct weft__flame_node *n = &f->nodes[node];
	struct line_text line_text;
	struct weft__words *w = begin_text(&line_text);
	write_path(w, t, f, node);
	weft__story_words_add(w, n->is_at_most ? ": at most " : ": ");
	weft__story_words_add_length(w, n->ns);
	if (life_ns)
		weft__story_words_add(w, " (%.0f %%)", 100.0 * (double)n->ns / (double)life_ns);
	if (n->count > 1)
		weft__story_words_add(w, " \xc3\x97 %" PRIu64, n->count);
	set_time(add_line(t, WEFT_STORY_FACT, "span", &line_text), n->start, n->ns);
}

static void add_flame(struct task_lines *t)
{
	struct weft__flame f;
	struct line_text line_text;
	uint64_t start = weft__story_start_of(t->story, t->task), end = t->model->tasks.end[t->task];
	if (weft_model_span_count(t->model, t->task) == 0)
		return;
	weft__story_flame_make(t->model, t->task, &f);
	for (uint32_t i = 0; i < f.count; i++)
		add_node(t, &f, f.order[i], end > start ? end - start : 0);
	if (!f.left_out)
		return;
	weft__story_words_add_count(begin_text(&line_text), f.left_out, "further span");
	add_line(t, WEFT_STORY_FACT, "not shown", &line_text);
}

static void add_facts(struct task_lines *t)
{
	add_identity(t);
	add_outcome(t);
	add_span(t);
	add_running(t);
	add_due(t);
	add_last_wait(t);
	add_flame(t);
}

/* ---- What happened ---- */

/* Appends ", in say_hello (hello.c:12) ← main (hello.c:20)". */
static void add_calls(
	struct weft__words *w, const struct task_lines *t, const struct weft_story_wait *wait)
{
	const struct weft_slice calls = weft_model_stack_at(t->model, wait->task, wait->since);
	if (calls.size)
		weft__story_words_add(w, ", in ");
	weft__story_words_add_text(w, calls, TEXT_LETTERS);
}

/* "lock 1 'page table' for 869 ms" */
static void add_wait(struct task_lines *t, const struct weft_story_wait *wait)
{
	struct line_text line_text;
	struct weft__words *w = begin_text(&line_text);
	weft__story_words_add_subject(w, t->model, wait->source, NAME_LETTERS);
	weft__story_words_add(w, " for ");
	weft__story_words_add_length(w, wait->until - wait->since);
	add_calls(w, t, wait);
	struct weft_story_line *line = add_line(t, WEFT_STORY_WAIT, "waits for", &line_text);
	line->task = wait->source;
	set_time(line, wait->since, wait->until - wait->since);
}

static void add_waits(struct task_lines *t)
{
	struct weft_story_wait waits[WEFT__LONG_WAIT_PART];
	uint32_t count = weft__story_find_long_waits(t->story, t->task, waits);
	for (uint32_t i = 0; i < count; i++)
		add_wait(t, &waits[i]);
}

static const char *note_title(enum weft_note_type type)
{
	switch (type) {
	case WEFT_NOTE_LABEL:
		return "is called";
	case WEFT_NOTE_CHANGE:
	case WEFT_NOTE_SET:
	case WEFT_NOTE_REAL_CHANGE:
	case WEFT_NOTE_REAL_SET:
		return "counts";
	case WEFT_NOTE_TEXT:
	case WEFT_NOTE_VALUE:
	case WEFT_NOTE_MARK:
		break;
	}
	return "notes";
}

static void add_note(struct task_lines *t, uint32_t note)
{
	enum weft_note_type type = (enum weft_note_type)t->model->notes.type[note];
	char text[4 * TEXT_LETTERS];
	size_t length = weft_model_format_note(t->model, note, text, sizeof(text));
	struct line_text line_text;
	if (length >= sizeof(text))
		length = sizeof(text) - 1;
	weft__story_words_add_text(
		begin_text(&line_text), (struct weft_slice){text, length}, TEXT_LETTERS);
	struct weft_story_line *line = add_line(t,
		type == WEFT_NOTE_LABEL ? WEFT_STORY_LABEL : WEFT_STORY_NOTE, note_title(type), &line_text);
	set_time(line, t->model->notes.time[note], 0);
}

static void add_notes(struct task_lines *t)
{
	uint32_t first = t->model->tasks.first_note[t->task];
	uint32_t end = t->model->tasks.end_note[t->task];
	uint32_t shown = end - first < WEFT_STORY_LINES_MAX ? end : first + WEFT_STORY_LINES_MAX;
	for (uint32_t note = first; note < shown; note++)
		add_note(t, note);
	if (shown < end)
		add_left_out(t, end - shown, "further note", t->model->notes.time[shown]);
}

/* The length of a wait: until a read, or from a try_read on. */
static uint64_t length_of_edge(const struct weft_model *model, uint32_t edge)
{
	uint32_t to = model->edges.to[edge];
	uint64_t time = model->edges.time[edge], end = model->tasks.end[to];
	bool ends = model->tasks.flags[to] & WEFT_TASK_RESOLVED;
	return model->edges.type[edge] == WEFT_EDGE_TRY_READ && ends && end > time ? end - time : 0;
}

/* One line for all edges of a wait for any of several: "any of cancel, reply, timer; got reply
 * after 3.09 ms". */
static void add_any(struct task_lines *t, struct weft__edge_list any)
{
	const struct weft_edges *e = &t->model->edges;
	uint32_t edge = any.edges[0], read = weft__story_any_read(t->model, any);
	uint32_t got = read == WEFT_NONE ? WEFT_NONE : e->to[read];
	uint64_t length = read == WEFT_NONE ? 0 : e->time[read] - e->time[edge];
	struct line_text line_text;
	struct weft__words *w = begin_text(&line_text);
	weft__story_words_add_any(w, t->model, any);
	if (got != WEFT_NONE) {
		weft__story_words_add(w, "; got ");
		weft__story_words_add_task(w, t->model, got, NAME_LETTERS);
		weft__story_words_add(w, " after ");
		weft__story_words_add_length(w, length);
	}
	struct weft_story_line *line = add_line(t, WEFT_STORY_EDGE, "waits for", &line_text);
	line->task = got == WEFT_NONE ? e->to[edge] : got;
	line->edge = edge;
	set_time(line, e->time[edge], length);
}

static void add_edge(struct task_lines *t, uint32_t edge)
{
	const struct weft_edges *e = &t->model->edges;
	bool acts = e->from[edge] == t->task;
	if (acts && e->type[edge] == WEFT_EDGE_WAIT_ANY) {
		add_any(t, weft__story_any_of(t->model, edge));
		return;
	}
	uint32_t other = acts ? e->to[edge] : e->from[edge];
	struct line_text line_text;
	struct weft__words *w = begin_text(&line_text);
	if (other == WEFT_NONE)
		weft__story_words_add(w, "an unknown task");
	else if (other == t->task)
		weft__story_words_add(w, "itself");
	else
		weft__story_words_add_subject(w, t->model, other, NAME_LETTERS);
	if (acts)
		weft__story_words_add_circumstance(w, t->model, edge);
	const char *title =
		acts ? weft__story_verb(t->model, edge) : weft__story_verb_passive(t->model, edge);
	struct weft_story_line *line = add_line(t, WEFT_STORY_EDGE, title, &line_text);
	line->task = other == t->task ? WEFT_NONE : other;
	line->edge = edge;
	set_time(line, e->time[edge], length_of_edge(t->model, edge));
}

/* Merges several lists of edges by their numbers, which are in the order of time. */
struct merge {
	struct weft__edge_list lists[3];
};

static bool next_edge(struct merge *merge, uint32_t *ret_edge)
{
	struct weft__edge_list *least = NULL;
	for (int i = 0; i < 3; i++) {
		struct weft__edge_list *list = &merge->lists[i];
		if (list->count && (!least || list->edges[0] < least->edges[0]))
			least = list;
	}
	if (!least)
		return false;
	*ret_edge = *least->edges++;
	least->count--;
	return true;
}

/* True if both edges belong to one wait for any of several. */
static bool are_of_one_wait(const struct weft_edges *e, uint32_t a, uint32_t b)
{
	return a != WEFT_NONE && e->type[a] == WEFT_EDGE_WAIT_ANY && e->type[b] == WEFT_EDGE_WAIT_ANY &&
		   e->time[a] == e->time[b] && e->from[a] == e->from[b];
}

/* True if an edge is listed. Creations are listed as facts and as children; an edge to itself is in
 * two lists; the first edge of a wait for any stands for the others. A task that reads itself is an
 * artefact of libraries. `act`: the task's act before. */
static bool is_shown(const struct task_lines *t, uint32_t edge, uint32_t last, uint32_t act)
{
	const struct weft_edges *e = &t->model->edges;
	bool reads_itself = e->from[edge] == e->to[edge] && e->type[edge] != WEFT_EDGE_RESOLVE;
	return e->type[edge] != WEFT_EDGE_CREATE && edge != last && !reads_itself &&
		   !are_of_one_wait(e, act, edge);
}

static void add_edges(struct task_lines *t)
{
	struct merge merge = {{weft__story_edges_by(t->model, t->task),
		weft__story_edges_to(t->story, t->task), weft__story_edges_made(t->story, t->task)}};
	uint32_t edge, last = WEFT_NONE, act = WEFT_NONE, before, shown = 0;
	uint64_t left_out = 0, left_from = 0;
	for (; next_edge(&merge, &edge); last = edge) {
		before = act;
		if (t->model->edges.from[edge] == t->task)
			act = edge;
		if (!is_shown(t, edge, last, before))
			continue;
		if (shown < WEFT_STORY_LINES_MAX) {
			add_edge(t, edge);
			shown++;
		} else if (left_out++ == 0) {
			left_from = t->model->edges.time[edge];
		}
	}
	if (left_out)
		add_left_out(t, left_out, "further edge", left_from);
}

static bool are_alike(const struct weft_model *model, uint32_t a, uint32_t b)
{
	return model->tasks.kind[a] == model->tasks.kind[b] &&
		   model->tasks.label[a] == model->tasks.label[b];
}

/* The number of alike children from `first` on; all are creations. */
static uint32_t count_alike(const struct task_lines *t, struct weft__edge_list made, uint32_t first)
{
	const struct weft_edges *e = &t->model->edges;
	uint32_t i = first + 1;
	while (i < made.count && e->type[made.edges[i]] == WEFT_EDGE_CREATE &&
		   are_alike(t->model, e->to[made.edges[first]], e->to[made.edges[i]]))
		i++;
	return i - first;
}

static void add_children_line(
	struct task_lines *t, struct weft__edge_list made, uint32_t first, uint32_t count)
{
	const struct weft_edges *e = &t->model->edges;
	uint32_t edge = made.edges[first], child = e->to[edge];
	uint64_t last = e->time[made.edges[first + count - 1]];
	struct line_text line_text;
	struct weft__words *w = begin_text(&line_text);
	if (count > 1) {
		struct weft_slice label = weft_model_string(t->model, t->model->tasks.label[child]);
		weft__story_words_add(w, "%" PRIu32 " \xc3\x97 ", count);
		weft__story_words_add_kind(w, t->model, t->model->tasks.kind[child]);
		weft__story_words_add(w, label.size ? " '" : "");
		weft__story_words_add_text(w, label, NAME_LETTERS);
		weft__story_words_add(w, "%s until ", label.size ? "'" : "");
		weft__story_words_add_time(w, t->model, last);
	} else {
		weft__story_words_add_subject(w, t->model, child, NAME_LETTERS);
	}
	struct weft_story_line *line = add_line(t, WEFT_STORY_CHILD, "creates", &line_text);
	line->task = child;
	line->edge = edge;
	set_time(line, e->time[edge], last - e->time[edge]);
}

static void add_children(struct task_lines *t)
{
	struct weft__edge_list made = weft__story_edges_made(t->story, t->task);
	uint32_t lines = 0, left_out = 0;
	uint64_t left_from = 0;
	for (uint32_t i = 0, count; i < made.count; i += count) {
		count = 1;
		if (t->model->edges.type[made.edges[i]] != WEFT_EDGE_CREATE)
			continue;
		count = count_alike(t, made, i);
		if (count < ALIKE_FROM)
			count = 1;
		if (lines++ < WEFT_STORY_LINES_MAX) {
			add_children_line(t, made, i, count);
			continue;
		}
		if (!left_out)
			left_from = t->model->edges.time[made.edges[i]];
		left_out += count;
	}
	if (left_out)
		add_left_out(t, left_out, "further created task", left_from);
}

static void write_thread(struct task_lines *t, struct weft__words *w, uint32_t thread)
{
	if (t->model->thread_count < 2 || thread >= t->model->thread_count)
		return;
	const char *name = t->model->threads[thread].name;
	weft__story_words_add(w, " on ");
	if (name && name[0])
		weft__story_words_add_text(w, (struct weft_slice){name, strlen(name)}, NAME_LETTERS);
	else
		weft__story_words_add(w, "thread %" PRIu32, thread);
}

static void add_activation(struct task_lines *t, uint32_t activation)
{
	const struct weft_activations *a = &t->model->activations;
	uint64_t length = a->end[activation] - a->start[activation];
	struct line_text line_text;
	struct weft__words *w = begin_text(&line_text);
	weft__story_words_add(w, "for ");
	weft__story_words_add_length(w, length);
	write_thread(t, w, a->thread[activation]);
	set_time(add_line(t, WEFT_STORY_ACTIVATION, "runs", &line_text), a->start[activation], length);
}

/* Consecutive activations on one thread. */
struct runs {
	uint32_t first, count;
	uint64_t shortest, longest, total;
};

static struct runs alike_runs(const struct task_lines *t, uint32_t first, uint32_t end)
{
	const struct weft_activations *a = &t->model->activations;
	struct runs runs = {.first = first, .shortest = UINT64_MAX};
	for (uint32_t i = first; i < end && a->thread[i] == a->thread[first]; i++) {
		uint64_t length = a->end[i] - a->start[i];
		uint64_t shortest = length < runs.shortest ? length : runs.shortest;
		uint64_t longest = length > runs.longest ? length : runs.longest;
		if (longest / RUNS_RANGE > (shortest > SHORT_NS ? shortest : SHORT_NS))
			break;
		runs.shortest = shortest;
		runs.longest = longest;
		runs.total += length;
		runs.count++;
	}
	return runs;
}

static void add_runs(struct task_lines *t, const struct runs *runs)
{
	const struct weft_activations *a = &t->model->activations;
	uint64_t start = a->start[runs->first], end = a->end[runs->first + runs->count - 1];
	struct line_text line_text;
	struct weft__words *w = begin_text(&line_text);
	weft__story_words_add(w, "%" PRIu32 " \xc3\x97 for ", runs->count);
	weft__story_words_add_length(w, runs->shortest);
	if (runs->longest > runs->shortest) {
		weft__story_words_add(w, " to ");
		weft__story_words_add_length(w, runs->longest);
	}
	write_thread(t, w, a->thread[runs->first]);
	weft__story_words_add(w, ", ");
	weft__story_words_add_length(w, runs->total);
	weft__story_words_add(w, " in all, until ");
	weft__story_words_add_time(w, t->model, end);
	set_time(add_line(t, WEFT_STORY_ACTIVATION, "runs", &line_text), start, end - start);
}

static void add_activations(struct task_lines *t)
{
	uint32_t at = t->model->tasks.first_activation[t->task], lines = 0;
	uint32_t end = t->model->tasks.end_activation[t->task];
	while (at < end && lines < WEFT_STORY_LINES_MAX) {
		struct runs runs = alike_runs(t, at, end);
		if (runs.count >= RUNS_FROM) {
			add_runs(t, &runs);
			at += runs.count;
			lines++;
			continue;
		}
		/* Up to the one that was too different, which begins the next line. */
		for (uint32_t i = 0; i < runs.count && lines < WEFT_STORY_LINES_MAX; i++, lines++)
			add_activation(t, at++);
	}
	if (at < end)
		add_left_out(t, end - at, "further activation", t->model->activations.start[at]);
}

/* ---- The order of time ---- */

static int by_time(const void *left, const void *right)
{
	const struct draft *l = left, *r = right;
	if (l->line.time != r->line.time)
		return l->line.time < r->line.time ? -1 : 1;
	return l->order < r->order ? -1 : l->order > r->order;
}

static int publish(struct task_lines *t, struct weft_story_lines **ret_lines)
{
	struct owned_lines *owned = calloc(1, sizeof(*owned));
	if (!owned)
		return WEFT_ERROR_MEMORY;
	owned->lines = malloc((t->count + 1) * sizeof(*owned->lines));
	if (!owned->lines) {
		free(owned);
		return WEFT_ERROR_MEMORY;
	}
	for (size_t i = 0; i < t->count; i++) {
		owned->lines[i] = t->drafts[i].line;
		owned->lines[i].text = t->text.bytes + t->drafts[i].text;
	}
	owned->text = t->text.bytes;
	t->text = (struct weft_text){0};
	owned->public = (struct weft_story_lines){(uint32_t)t->count, owned->lines};
	*ret_lines = &owned->public;
	return 0;
}

WEFT__EXPORT int weft_story_lines_create(
	const struct weft_story *story, uint32_t task, struct weft_story_lines **ret_lines)
{
	struct task_lines t = {.story = story, .model = story->model, .task = task};
	add_facts(&t);
	size_t facts = t.count;
	add_activations(&t);
	add_notes(&t);
	add_edges(&t);
	add_children(&t);
	add_waits(&t);
	if (!t.error)
		t.error = t.text.error;
	if (!t.error) {
		qsort(t.drafts + facts, t.count - facts, sizeof(*t.drafts), by_time);
		t.error = publish(&t, ret_lines);
	}
	free(t.drafts);
	weft_text_finish(&t.text);
	return t.error;
}

WEFT__EXPORT void weft_story_lines_destroy(struct weft_story_lines *lines)
{
	struct owned_lines *owned = (struct owned_lines *)lines;
	if (!owned)
		return;
	free(owned->lines);
	free(owned->text);
	free(owned);
}

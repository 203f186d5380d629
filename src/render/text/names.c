/* SPDX-License-Identifier: ISC
 *
 * Names: the tasks' labels, kinds, failure messages and notes.
 *
 * All text of a row is placed above the row's line, in the order of its importance: failure
 * messages; labels; notes; ids. A text may reach up to the next text that is already there, or to
 * the next name that will be placed, also past its own task's end if there is room. Texts never
 * overlap, neither in a row nor between rows. A word is written once for a run of equals.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/ends.h>

#include "base/array.h"
#include "render/painter.h"

#define NAMED_FROM   16.0 /* px of a task, from which on it has a name */
#define HELD_AT      4.0  /* px from the left edge, for a task that begins before the view */
#define INDENT       3.0
#define GAP          6.0
#define LEAST_ROOM   22.0
#define NOTE_ROOM    30.0
#define AGAIN        400.0 /* px: a row's equal words are written once within this distance */
#define REASON_EVERY 40.0
#define KIND_SPACING 14.0
#define TEXT_SIZE    12.0
#define KIND_SIZE    10.5
#define TICK         6.0
#define DIM          0.35
#define ELLIPSIS     "\xe2\x80\xa6"

enum worth {
	MESSAGE,
	LABEL,
	NOTE,
	ID,
	OUTCOME, /* how a task was stopped */
	WORTHS
};

struct name {
	double x;    /* its desired beginning */
	double next; /* the desired beginning of the next name of equal importance */
	double end;  /* the task's end */
	double y, spacing;
	uint32_t task, note; /* note: if it is a NOTE */
	enum worth worth;
	bool has_kind, placed;
};

/* A word that was written last in a row: a string of the model, or the number of a kind. */
struct word {
	uint32_t number; /* or WEFT_NONE */
	double x;
};

struct names {
	struct name *list;
	size_t count, capacity;
	bool failed;
	struct word words[WORTHS], kind; /* of the row that is being collected */
};

static void forget_words(struct names *names)
{
	for (unsigned worth = 0; worth < WORTHS; worth++)
		names->words[worth].number = WEFT_NONE;
	names->kind.number = WEFT_NONE;
}

/* False for a word that the row has already, and near. `number`: WEFT_NONE for a text that is like
 * no other. */
static bool is_new(struct word *last, uint32_t number, double x)
{
	if (number != WEFT_NONE && number == last->number && x - last->x < AGAIN)
		return false;
	*last = (struct word){number, x};
	return true;
}

static void add_name(struct names *names, const struct name *name)
{
	if (names->count == names->capacity) {
		size_t capacity = weft__array_next_capacity(names->capacity, names->count + 1);
		if (weft__array_resize(&names->list, capacity, sizeof(*names->list))) {
			names->failed = true;
			return;
		}
		names->capacity = capacity;
	}
	names->list[names->count++] = *name;
}

/* The text size: smaller if rows are close to each other. */
static double text_size(double spacing)
{
	return fmin(TEXT_SIZE, fmax(8, spacing * 0.72));
}

/* "timed out", or "3.1 ms late" for a timer. */
static struct weft_slice outcome_text(
	const struct painter *p, uint32_t task, char *buffer, size_t size)
{
	const char *outcome = weft_outcome_name((enum weft_outcome)p->model->tasks.outcome[task]);
	struct weft_story_timer timer;
	char length[32];
	if (!weft_story_timer(p->model, task, &timer) || !timer.is_late)
		return (struct weft_slice){outcome, strlen(outcome)};
	weft_format_duration(timer.late_ns, 3, length);
	int written = snprintf(buffer, size, "%s late", length);
	return (struct weft_slice){buffer, (size_t)written};
}

static bool is_late(const struct weft_model *model, uint32_t task)
{
	struct weft_story_timer timer;
	return weft_story_timer(model, task, &timer) && timer.has_fired && timer.is_late;
}

static struct weft_slice name_text(
	const struct painter *p, const struct name *name, char *buffer, size_t size)
{
	const struct weft_tasks *tasks = &p->model->tasks;
	size_t length;
	if (name->worth == MESSAGE)
		return weft_model_string(p->model, tasks->message[name->task]);
	if (name->worth == LABEL)
		return weft_model_string(p->model, tasks->label[name->task]);
	if (name->worth == OUTCOME)
		return outcome_text(p, name->task, buffer, size);
	if (name->worth == NOTE)
		length = weft_model_format_note(p->model, name->note, buffer, size);
	else
		length = weft_story_name(p->model, name->task, 200, buffer, size);
	return (struct weft_slice){buffer, length < size ? length : size - 1};
}

static struct weft_text_style name_style(const struct painter *p, const struct name *name)
{
	const struct weft__theme *t = p->theme;
	uint32_t color = name->worth == MESSAGE ? t->failed : name->worth == LABEL ? t->text : t->dim;
	if (weft__render_is_dim(p, name->task))
		color = weft__render_faded(color, DIM);
	return (struct weft_text_style){color, text_size(name->spacing), false, true, t->background};
}

static void draw_tick(struct painter *p, double x, double y)
{
	struct weft_pen pen = {p->theme->dim, 1, WEFT_DASH_SOLID};
	weft_canvas_line(p->canvas, weft__render_crisp(x), y - TICK, weft__render_crisp(x), y, &pen);
}

/* The "4341" of "bind 4341". */
static struct weft_slice bare_id(struct weft_slice name)
{
	size_t at = name.size;
	while (at > 0 && name.bytes[at - 1] != ' ')
		at--;
	return (struct weft_slice){name.bytes + at, name.size - at};
}

/* False for numbers: a cut number would be a different one, and the curve shows it anyway. */
static bool may_be_cut(const struct painter *p, const struct name *name)
{
	uint8_t type = name->worth == NOTE ? p->model->notes.type[name->note] : WEFT_NOTE_LABEL;
	if (name->worth == NOTE)
		return type == WEFT_NOTE_TEXT || type == WEFT_NOTE_MARK || type == WEFT_NOTE_LABEL;
	return name->worth != ID && name->worth != OUTCOME;
}

/* Places a name if there is room; true if it was placed. */
static bool place(struct painter *p, const struct name *name)
{
	const struct weft_box *box = &p->frame->picture;
	struct weft_text_style style = name_style(p, name);
	char buffer[256], fitted[260];
	struct weft_slice text = name_text(p, name, buffer, sizeof(buffer));
	double y = name->y - weft__render_lift(name->spacing);
	double top = y - style.size * 0.8, bottom = y + style.size * 0.2;
	double x = name->x + INDENT, limit = fmin(name->next - GAP, box->x + box->width - 4);
	if (top < box->y || text.size == 0)
		return false;
	double room = weft__render_occupied_room(p->occupied, x - 2, top, bottom, limit + 4) - 4 - x;
	room = fmin(room, limit - x);
	if (room < (name->worth == NOTE ? NOTE_ROOM : 8))
		return false;
	double width = weft__render_fit_text(p, text, room, &style, fitted, sizeof(fitted));
	if (name->worth == ID && strlen(fitted) != text.size)
		width = weft__render_fit_text(p, bare_id(text), room, &style, fitted, sizeof(fitted));
	if (width <= 0 || (!may_be_cut(p, name) && strstr(fitted, ELLIPSIS)))
		return false;
	struct weft__rect rect = {x - 1, top, x + width + 1, bottom};
	if (!weft__render_occupied_take(p->occupied, rect))
		return false;
	if (name->worth == NOTE)
		draw_tick(p, name->x, name->y);
	weft_canvas_text(p->canvas, x, y, fitted, strlen(fitted), width, &style);
	return true;
}

static struct weft_slice kind_text(const struct painter *p, uint32_t task)
{
	unsigned kind = p->model->tasks.kind[task];
	const char *name = weft_model_kind_name(p->model, kind);
	if (kind == WEFT_KIND_TASK || weft__render_is_pcpu(p->model, task))
		name = NULL; /* the common case, or a label that is enough: not worth showing */
	return (struct weft_slice){name ? name : "", name ? strlen(name) : 0};
}

/* Writes the kind below the line, if the task has a label: other names begin with their kind. */
static void place_kind(struct painter *p, const struct name *name)
{
	const struct weft_box *box = &p->frame->picture;
	uint32_t color = p->theme->dim;
	if (weft__render_is_dim(p, name->task))
		color = weft__render_faded(color, DIM);
	struct weft_text_style style = {
		color, fmin(KIND_SIZE, text_size(name->spacing)), false, true, p->theme->background};
	struct weft_slice text = kind_text(p, name->task);
	double x = name->x + INDENT, baseline = name->y + 4 + style.size;
	double limit = fmin(name->end, box->x + box->width - 4);
	char fitted[64];
	if (!name->has_kind || name->spacing < KIND_SPACING || text.size == 0 ||
		baseline > box->y + box->height - 2)
		return;
	double width = weft__render_fit_text(p, text, limit - x, &style, fitted, sizeof(fitted));
	if (width <= 0 || strlen(fitted) != text.size)
		return;
	struct weft__rect rect = {
		x - 1, baseline - style.size * 0.8, x + width + 1, baseline + style.size * 0.2};
	if (weft__render_occupied_take(p->occupied, rect))
		weft_canvas_text(p->canvas, x, baseline, fitted, text.size, width, &style);
}

/* The note that is a task's name: its first label. */
static uint32_t find_label(const struct painter *p, uint32_t task)
{
	const struct weft_notes *notes = &p->model->notes;
	uint32_t i = p->model->tasks.first_note[task], last = p->model->tasks.end_note[task];
	if (p->model->tasks.label[task] == WEFT_NONE)
		return WEFT_NONE;
	while (i < last && notes->type[i] != WEFT_NOTE_LABEL)
		i++;
	return i < last ? i : WEFT_NONE;
}

/* True for a change of a counter that has a lane, which shows it already. */
static bool is_in_lane(const struct painter *p, uint32_t note)
{
	const struct weft_notes *notes = &p->model->notes;
	return notes->type[note] >= WEFT_NOTE_CHANGE && weft__render_has_lane(p, notes->text[note]);
}

/* True for the number by which the two ends of a pipe know each other. */
static bool is_end(const struct weft_model *model, uint32_t note)
{
	static const char *const tags[] = {WEFT_TAG_READS, WEFT_TAG_WRITES, WEFT_TAG_LEAVES};
	const struct weft_slice name = weft_model_string(model, model->notes.text[note]);
	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
		if (name.size == strlen(tags[i]) && memcmp(name.bytes, tags[i], name.size) == 0)
			return true;
	return false;
}

/* How often Xen continued a hypercall: dump and story say it. It would take the room of marks, such
 * as that of a domain's creation. Numbers of ends say nothing to a person. */
static bool is_detail(const struct painter *p, uint32_t task, uint32_t note)
{
	return p->model->notes.type[note] == WEFT_NOTE_VALUE &&
		   (weft__render_is_of_xen(p->model, task) || is_end(p->model, note));
}

/* Only of remarks without numbers: those of others differ. */
static uint32_t word_of_note(const struct painter *p, uint32_t note)
{
	const struct weft_notes *notes = &p->model->notes;
	bool is_text = notes->type[note] == WEFT_NOTE_TEXT || notes->type[note] == WEFT_NOTE_MARK;
	bool has_numbers = weft_model_attribute_count(p->model, note) > 0;
	return is_text && !has_numbers ? notes->text[note] : WEFT_NONE;
}

/* Collects a task's notes in view that are some pixels from each other. The first label is its name
 * already. */
static void collect_notes(
	struct painter *p, struct names *names, const struct name *of, uint32_t task)
{
	const uint64_t *times = p->model->notes.time;
	uint32_t i = p->model->tasks.first_note[task], last = p->model->tasks.end_note[task];
	uint32_t label = find_label(p, task);
	double after = of->x;
	i = weft__render_gallop_u64(times, i, last, p->left);
	while (i < last && times[i] <= p->right) {
		double x = weft__render_x(p, times[i]);
		if (x < after) {
			uint64_t next = weft_view_time(p->view, after - p->x0);
			uint32_t there = weft__render_gallop_u64(times, i, last, next);
			i = there > i ? there : i + 1;
			continue;
		}
		if (i != label && !is_in_lane(p, i) && !is_detail(p, task, i)) {
			struct name note = *of;
			note.x = x;
			note.note = i;
			note.worth = NOTE;
			if (is_new(&names->words[NOTE], word_of_note(p, i), x))
				add_name(names, &note);
			after = x + LEAST_ROOM;
		}
		i++;
	}
}

/* How a task was stopped, or how late it was. */
static void collect_outcome(struct painter *p, struct names *names, const struct name *of)
{
	const struct weft_tasks *tasks = &p->model->tasks;
	const struct weft_box *box = &p->frame->picture;
	bool late = is_late(p->model, of->task), stopped = tasks->flags[of->task] & WEFT_TASK_STOPPED;
	struct name name = *of;
	name.x = of->end + 3;
	name.worth = OUTCOME;
	if ((late || stopped) && of->end <= box->x + box->width &&
		is_new(&names->words[OUTCOME], late ? WEFT_NONE : tasks->outcome[of->task], name.x))
		add_name(names, &name);
}

/* A label is repeated for a task of another kind, and for the selected one. */
static bool is_new_label(const struct painter *p, struct names *names, uint32_t task, double x)
{
	const struct weft_tasks *tasks = &p->model->tasks;
	const struct weft_highlight *h = p->options->highlight;
	bool is_selected = h && h->selected == task;
	if (tasks->kind[task] != names->kind.number || is_selected)
		names->words[LABEL].number = WEFT_NONE;
	return is_new(&names->words[LABEL], tasks->label[task], x);
}

static void collect_task(
	struct painter *p, struct names *names, const struct weft__lane *lane, uint32_t task)
{
	const struct weft_tasks *tasks = &p->model->tasks;
	const struct weft_box *box = &p->frame->picture;
	double x = weft__render_x(p, p->layout->start[task]), end = weft__render_x(p, tasks->end[task]);
	struct name name = {
		.x = fmax(x, box->x + HELD_AT - INDENT),
		.end = end,
		.y = lane->y,
		.spacing = lane->spacing,
		.task = task,
		.worth = tasks->label[task] != WEFT_NONE ? LABEL : ID,
	};
	if ((tasks->flags[task] & WEFT_TASK_FAILED) && end <= box->x + box->width) {
		struct name message = name;
		message.x = end + 3;
		message.worth = MESSAGE;
		if (is_new(&names->words[MESSAGE], tasks->message[task], message.x))
			add_name(names, &message);
	}
	if (end - x < NAMED_FROM)
		return;
	if (is_new_label(p, names, task, name.x)) {
		name.has_kind = is_new(&names->kind, tasks->kind[task], name.x);
		add_name(names, &name);
	}
	collect_notes(p, names, &name, task);
	collect_outcome(p, names, &name);
}

/* Collects one failure message per pixel column, unless the same was just collected. */
static void collect_lane(struct painter *p, struct names *names, const struct weft__lane *lane)
{
	double last_reason = -INFINITY;
	forget_words(names);
	for (uint32_t i = lane->first_piece; i < lane->last_piece; i++) {
		const struct weft__lane_piece *piece = &p->pieces[i];
		if (piece->is_line) {
			collect_task(p, names, lane, p->scene->by_row[piece->index]);
		} else if (piece->failed != WEFT_NONE && piece->x >= last_reason + REASON_EVERY) {
			collect_task(p, names, lane, p->scene->by_row[piece->failed]);
			last_reason = piece->x;
		}
	}
}

/* Limits each name to the beginning of the next one of at least equal importance. */
static void set_limits(struct names *names)
{
	double next[WORTHS], y = -1;
	for (size_t i = names->count; i-- > 0;) {
		struct name *name = &names->list[i];
		if (name->y != y)
			for (unsigned worth = 0; worth < WORTHS; worth++)
				next[worth] = INFINITY;
		y = name->y;
		name->next = INFINITY;
		for (unsigned worth = 0; worth <= name->worth; worth++)
			if (next[worth] > name->x)
				name->next = fmin(name->next, next[worth]);
		next[name->worth] = name->x;
	}
}

static void place_all(struct painter *p, struct names *names)
{
	for (unsigned worth = 0; worth < WORTHS; worth++)
		for (size_t i = 0; i < names->count; i++) {
			struct name *name = &names->list[i];
			if (name->worth == worth)
				name->placed = place(p, name);
		}
	for (size_t i = 0; i < names->count; i++)
		if (names->list[i].worth == LABEL && names->list[i].placed)
			place_kind(p, &names->list[i]);
}

void weft__render_draw_names(struct painter *p)
{
	struct names names = {0};
	for (uint32_t i = 0; i < p->lane_count; i++)
		if (p->lanes[i].row_count == 1 && p->lanes[i].spacing >= WEFT__NAME_SPACING)
			collect_lane(p, &names, &p->lanes[i]);
	if (names.failed)
		p->error = WEFT_ERROR_MEMORY;
	set_limits(&names);
	place_all(p, &names);
	free(names.list);
}

/* SPDX-License-Identifier: ISC
 *
 * A search first tests each distinct string, and stores one byte for each; then it passes over the
 * columns once: whatever refers to a matching string is a match.
 */
#include <weft/search.h>

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/export.h"
#include "base/search.h"
#include "base/sort.h"
#include "pattern/pattern.h"

/* Buckets of time, to find the earliest matches if there are too many to list. */
#define BUCKETS 4096

struct whole_search {
	struct weft_search public; /* first member: callers hold a pointer to it */
	struct weft_search_match *matches;
	uint32_t *tasks;
};

struct searcher {
	const struct weft_model *model;
	struct weft__pattern *pattern;
	uint8_t *strings; /* 1: the string matches */
	uint32_t string_count;
	uint8_t *kinds; /* 1: the kind matches */
	bool has_kind;
	bool outcomes[WEFT_OUTCOMES]; /* true: tasks of that outcome match */
	uint32_t
		*first_tasks; /* for each buffer whose process matches, its first task; else WEFT_NONE */
	uint8_t *marks; /* in the order of tasks, for each mark with attributes; 1: its text matches */
	uint32_t mark_count;
	size_t mark_capacity;
	char *text; /* of the mark that is being tested */
	size_t text_bytes;
	uint64_t id;
	bool has_id;
	struct whole_search *found;
	size_t capacity; /* capacity of matches */
	uint8_t *task_found;
	bool is_again;       /* in the second pass, which lists the earliest of too many matches */
	uint64_t sure, last; /* in it, all matches up to `sure` are listed, none after `last` … */
	uint32_t rest;       /* … and this many in between */
	uint64_t *buckets;
	uint64_t bucket_ns;
	int error;
};

#define KINDS 65536

/* A step tests so many characters: at the usual 3 ns for each, two milliseconds. */
#define STEP_WORK   (1 << 19)
#define STRING_WORK 16 /* for each string besides */

typedef void pass_function(struct searcher *s);

/* A search in steps: first it tests the strings, then it passes over the columns. */
struct weft_search_maker {
	struct searcher searcher;
	uint32_t string;              /* the next one to test */
	uint32_t task, note;          /* the next note to test: counted from the task's first one */
	struct weft__pattern_run run; /* how much of it was tested */
	unsigned pass;                /* the next one */
	bool is_empty;                /* the text is empty and matches nothing */
};

/* ---- Strings ---- */

/* Tests the next strings, for about STEP_WORK characters. */
static void judge_some_strings(struct weft_search_maker *m)
{
	struct searcher *s = &m->searcher;
	uint64_t work = STEP_WORK;
	while (m->string < s->string_count && work) {
		struct weft_slice text = weft_model_string(s->model, m->string);
		bool matches;
		work -= work < STRING_WORK ? work : STRING_WORK;
		if (!weft__pattern_go_on(s->pattern, text, &m->run, &work, &matches))
			continue;
		s->strings[m->string++] = matches;
		m->run = (struct weft__pattern_run){0};
	}
}

/* ---- Marks with attributes: their text is no string of the model ---- */

static bool is_mark(const struct weft_model *model, uint32_t note)
{
	return model->notes.type[note] == WEFT_NOTE_MARK && weft_model_attribute_count(model, note);
}

static struct weft_slice text_of_mark(struct searcher *s, uint32_t note)
{
	size_t length = weft_model_format_note(s->model, note, s->text, s->text_bytes);
	if (length >= s->text_bytes) {
		s->error = weft__array_resize(&s->text, length + 1, 1);
		if (s->error)
			return (struct weft_slice){"", 0};
		s->text_bytes = length + 1;
		weft_model_format_note(s->model, note, s->text, s->text_bytes);
	}
	return (struct weft_slice){s->text, length};
}

static void keep_mark(struct searcher *s, bool matches)
{
	const struct weft__column column = {&s->marks, sizeof(*s->marks)};
	s->error = weft__columns_reserve(&column, 1, &s->mark_capacity, s->mark_count + (size_t)1);
	if (!s->error)
		s->marks[s->mark_count++] = matches;
}

/* Tests the next notes, for about STEP_WORK characters. */
static void judge_some_marks(struct weft_search_maker *m)
{
	struct searcher *s = &m->searcher;
	const struct weft_tasks *tasks = &s->model->tasks;
	uint64_t work = STEP_WORK;
	while (m->task < tasks->count && work && !s->error) {
		uint32_t note = tasks->first_note[m->task] + m->note;
		bool matches, is_last = note == tasks->end_note[m->task];
		work--;
		if (is_last || !is_mark(s->model, note)) {
			m->note = is_last ? 0 : m->note + 1;
			m->task += is_last;
			continue;
		}
		struct weft_slice text = text_of_mark(s, note);
		work -= work < STRING_WORK ? work : STRING_WORK;
		if (s->error || !weft__pattern_go_on(s->pattern, text, &m->run, &work, &matches))
			continue;
		keep_mark(s, matches);
		m->run = (struct weft__pattern_run){0};
		m->note++;
	}
}

/* ---- Other names ---- */

/* Tests kinds; those without a name never match. */
static void judge_kinds(struct searcher *s)
{
	static const struct {
		uint16_t kind;
		const char *name;
	} names[] = {
		{WEFT_KIND_PREEXISTING, "preexisting"},
#define KIND(number, id, name) {number, name},
#include <weft/kinds.def>
#undef KIND
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct weft_slice text = {names[i].name, strlen(names[i].name)};
		s->kinds[names[i].kind] = weft__pattern_matches(s->pattern, text);
		s->has_kind = s->has_kind || s->kinds[names[i].kind];
	}
}

/* Tests the outcomes of stopped tasks. Failed tasks have a message; the others are too many. */
static void judge_outcomes(struct searcher *s)
{
#define OUTCOME(id, key, name, flags)       \
	s->outcomes[WEFT_OUTCOME_##id] =        \
		((flags)&WEFT_TASK_STOPPED) != 0 && \
		weft__pattern_matches(s->pattern, (struct weft_slice){name, sizeof(name) - 1});
#include <weft/outcomes.def>
#undef OUTCOME
}

/* Tests the processes if there are several. */
static void judge_processes(struct searcher *s)
{
	const struct weft_model *model = s->model;
	char name[256];
	for (uint32_t buffer = 0; buffer < model->buffer_count; buffer++)
		s->first_tasks[buffer] = WEFT_NONE;
	for (uint32_t task = model->tasks.count; model->buffer_count > 1 && task-- > 0;)
		if (model->tasks.buffer[task] < model->buffer_count)
			s->first_tasks[model->tasks.buffer[task]] = task;
	for (uint32_t buffer = 0; buffer < model->buffer_count; buffer++) {
		size_t size = weft_trace_format_process(
			model->buffers, model->buffer_count, buffer, name, sizeof(name));
		struct weft_slice text = {name, size < sizeof(name) ? size : sizeof(name) - 1};
		if (!weft__pattern_matches(s->pattern, text))
			s->first_tasks[buffer] = WEFT_NONE;
	}
}

/* True if a string matches; `string` may be WEFT_NONE. */
static bool string_matches(const struct searcher *s, uint32_t string)
{
	return string < s->string_count && s->strings[string];
}

/* Parses "#123" or "123". */
static bool parse_id(struct weft_slice text, uint64_t *ret_id)
{
	uint64_t id = 0;
	if (text.size && text.bytes[0] == '#')
		text = (struct weft_slice){text.bytes + 1, text.size - 1};
	for (size_t i = 0; i < text.size; i++) {
		char c = text.bytes[i];
		if (c < '0' || c > '9' || __builtin_mul_overflow(id, 10, &id) ||
			__builtin_add_overflow(id, (uint64_t)(c - '0'), &id))
			return false;
	}
	*ret_id = id;
	return text.size > 0;
}

static bool has_capital(struct weft_slice text, bool is_expression)
{
	for (size_t i = 0; i < text.size; i++) {
		if (is_expression && text.bytes[i] == '\\')
			i++; /* \W is not a capital letter */
		else if (text.bytes[i] >= 'A' && text.bytes[i] <= 'Z')
			return true;
	}
	return false;
}

/* ---- Matches ---- */

static void count_match(struct searcher *s, const struct weft_search_match *match)
{
	uint64_t start = s->model->summary.start;
	uint64_t bucket = match->time > start ? (match->time - start) / s->bucket_ns : 0;
	s->buckets[bucket < BUCKETS ? bucket : BUCKETS - 1]++;
	s->found->public.found++;
	if (match->task != WEFT_NONE)
		s->task_found[match->task] = 1;
}

/* True if a match is listed. `sure` is before the trace if not even the first bucket has room. */
static bool is_early(struct searcher *s, uint64_t time)
{
	if (time <= s->sure)
		return true;
	if (time > s->last || s->rest == 0)
		return false;
	s->rest--;
	return true;
}

static void list_match(struct searcher *s, const struct weft_search_match *match)
{
	struct whole_search *found = s->found;
	const struct weft__column column = {&found->matches, sizeof(*found->matches)};
	if (found->public.match_count == WEFT_SEARCH_MATCHES_MAX || s->error)
		return;
	s->error =
		weft__columns_reserve(&column, 1, &s->capacity, found->public.match_count + (size_t)1);
	if (!s->error)
		found->matches[found->public.match_count++] = *match;
}

static void add_match(struct searcher *s, struct weft_search_match match)
{
	if (!s->is_again)
		count_match(s, &match);
	else if (!is_early(s, match.time))
		return;
	list_match(s, &match);
}

static void pass_ids(struct searcher *s)
{
	const struct weft_tasks *t = &s->model->tasks;
	for (uint32_t task = 0; s->has_id && task < t->count; task++)
		if (t->id[task] == s->id)
			add_match(
				s, (struct weft_search_match){t->start[task], task, WEFT_NONE, WEFT_SEARCH_ID});
}

static void pass_kinds(struct searcher *s)
{
	const struct weft_tasks *t = &s->model->tasks;
	for (uint32_t task = 0; s->has_kind && task < t->count; task++)
		if (s->kinds[t->kind[task]])
			add_match(
				s, (struct weft_search_match){t->start[task], task, WEFT_NONE, WEFT_SEARCH_KIND});
}

static void pass_messages(struct searcher *s)
{
	const struct weft_tasks *t = &s->model->tasks;
	for (uint32_t task = 0; task < t->count; task++)
		if (string_matches(s, t->message[task]))
			add_match(
				s, (struct weft_search_match){t->end[task], task, WEFT_NONE, WEFT_SEARCH_MESSAGE});
}

static void pass_outcomes(struct searcher *s)
{
	const struct weft_tasks *t = &s->model->tasks;
	for (uint32_t task = 0; task < t->count; task++)
		if (s->outcomes[t->outcome[task]])
			add_match(
				s, (struct weft_search_match){t->end[task], task, WEFT_NONE, WEFT_SEARCH_OUTCOME});
}

/* Finds matches in notes; a counter matches once, not at each change. */
static void pass_notes(struct searcher *s)
{
	const struct weft_notes *n = &s->model->notes;
	const struct weft_tasks *t = &s->model->tasks;
	uint32_t mark = 0;
	for (uint32_t task = 0; task < t->count; task++)
		for (uint32_t note = t->first_note[task]; note < t->end_note[task]; note++) {
			uint8_t type = n->type[note];
			bool is_counter = type >= WEFT_NOTE_CHANGE;
			bool matches =
				is_mark(s->model, note) ? s->marks[mark++] : string_matches(s, n->text[note]);
			if (is_counter || !matches)
				continue;
			add_match(s, (struct weft_search_match){n->time[note], task, note,
							 type == WEFT_NOTE_LABEL ? WEFT_SEARCH_LABEL : WEFT_SEARCH_NOTE});
		}
}

static void pass_counters(struct searcher *s)
{
	for (uint32_t i = 0; i < s->model->counter_count; i++) {
		const struct weft_counter *counter = &s->model->counters[i];
		if (!string_matches(s, counter->name))
			continue;
		struct weft_search_match match = {
			s->model->summary.start, WEFT_NONE, i, WEFT_SEARCH_COUNTER};
		if (counter->count) {
			match.time = s->model->samples.time[counter->first];
			match.task = s->model->samples.task[counter->first];
		}
		add_match(s, match);
	}
}

static void pass_processes(struct searcher *s)
{
	const struct weft_tasks *t = &s->model->tasks;
	for (uint32_t buffer = 0; buffer < s->model->buffer_count; buffer++) {
		uint32_t task = s->first_tasks[buffer];
		if (task != WEFT_NONE)
			add_match(
				s, (struct weft_search_match){t->start[task], task, buffer, WEFT_SEARCH_PROCESS});
	}
}

static pass_function *const passes[] = {
	pass_ids, pass_kinds, pass_messages, pass_outcomes, pass_notes, pass_counters, pass_processes};

#define PASSES (sizeof(passes) / sizeof(passes[0]))

/* Chooses which matches are listed: all of the first buckets, and as many of the next one as there
 * is room for. */
static void limit_matches(struct searcher *s)
{
	uint64_t sum = 0, start = s->model->summary.start;
	uint32_t i = 0;
	while (i + 1 < BUCKETS && sum + s->buckets[i] <= WEFT_SEARCH_MATCHES_MAX)
		sum += s->buckets[i++];
	s->rest = WEFT_SEARCH_MATCHES_MAX - (uint32_t)sum;
	s->sure = i ? start + i * s->bucket_ns - 1 : 0;
	s->last = i + 1 < BUCKETS ? start + (i + (uint64_t)1) * s->bucket_ns - 1 : UINT64_MAX;
}

static int sort_matches(struct whole_search *w)
{
	uint32_t count = w->public.match_count;
	uint64_t *times = malloc((count + (size_t)1) * sizeof(*times));
	uint32_t *order = malloc((count + (size_t)1) * 2 * sizeof(*order));
	struct weft_search_match *sorted = malloc((count + (size_t)1) * sizeof(*sorted));
	bool good = times && order && sorted;
	if (good && count) {
		for (uint32_t i = 0; i < count; i++)
			times[i] = w->matches[i].time;
		weft__order_by_u64(times, order, order + count, count);
		for (uint32_t i = 0; i < count; i++)
			sorted[i] = w->matches[order[i]];
		struct weft_search_match *unsorted = w->matches;
		w->matches = sorted;
		sorted = unsorted;
	}
	free(times);
	free(order);
	free(sorted);
	return good ? 0 : WEFT_ERROR_MEMORY;
}

static int list_tasks(struct searcher *s)
{
	uint32_t tasks = s->model->tasks.count, count = 0;
	for (uint32_t task = 0; task < tasks; task++)
		count += s->task_found[task];
	s->found->tasks = malloc((count + (size_t)1) * sizeof(*s->found->tasks));
	if (!s->found->tasks)
		return WEFT_ERROR_MEMORY;
	count = 0;
	for (uint32_t task = 0; task < tasks; task++)
		if (s->task_found[task])
			s->found->tasks[count++] = task;
	s->found->public.task_count = count;
	return 0;
}

static int allocate(struct searcher *s)
{
	const struct weft_model *model = s->model;
	s->bucket_ns = (model->summary.end - model->summary.start) / BUCKETS + 1;
	s->string_count = weft_model_string_count(model);
	s->strings = malloc(s->string_count + (size_t)1);
	s->kinds = calloc(KINDS, 1);
	s->task_found = calloc(model->tasks.count + (size_t)1, 1);
	s->buckets = calloc(BUCKETS, sizeof(*s->buckets));
	s->first_tasks = calloc(model->buffer_count + (size_t)1, sizeof(*s->first_tasks));
	bool good = s->strings && s->kinds && s->task_found && s->buckets && s->first_tasks;
	return good ? 0 : WEFT_ERROR_MEMORY;
}

static void judge_others(struct searcher *s)
{
	judge_kinds(s);
	judge_outcomes(s);
	judge_processes(s);
}

/* Passes over the columns; a second time if there are too many matches, when the earliest are
 * known. */
static int step(struct weft_search_maker *m)
{
	struct searcher *s = &m->searcher;
	if (m->is_empty)
		return WEFT_OK;
	if (m->string < s->string_count) {
		judge_some_strings(m);
		return WEFT_AGAIN;
	}
	if (s->model->attributes.count && m->task < s->model->tasks.count) {
		judge_some_marks(m);
		return s->error ? s->error : WEFT_AGAIN;
	}
	if (m->pass == 0 && !s->is_again)
		judge_others(s);
	if (m->pass < PASSES) {
		passes[m->pass++](s);
		return s->error ? s->error : WEFT_AGAIN;
	}
	if (!s->is_again && s->found->public.found > WEFT_SEARCH_MATCHES_MAX) {
		s->is_again = true;
		s->found->public.match_count = 0;
		limit_matches(s);
		m->pass = 0;
		return WEFT_AGAIN;
	}
	int error = sort_matches(s->found);
	return error ? error : list_tasks(s);
}

WEFT__EXPORT int weft_search_maker_step(
	struct weft_search_maker *maker, struct weft_search **ret_search)
{
	int status = step(maker);
	if (status != WEFT_OK)
		return status;
	struct whole_search *found = maker->searcher.found;
	found->public.matches = found->matches;
	found->public.tasks = found->tasks;
	*ret_search = &found->public;
	maker->searcher.found = NULL;
	return WEFT_OK;
}

static int begin_search(struct weft_search_maker *m, struct weft_slice text, bool is_expression,
	struct weft_search_error *ret_error)
{
	struct searcher *s = &m->searcher;
	const struct weft__pattern_options options = {
		.ignore_case = !has_capital(text, is_expression), .literal = !is_expression};
	struct weft__pattern_error wrong = {NULL, 0};
	s->found = calloc(1, sizeof(*s->found));
	if (!s->found)
		return WEFT_ERROR_MEMORY;
	m->is_empty = text.size == 0;
	if (m->is_empty)
		return 0;
	s->has_id = parse_id(text, &s->id);
	int error = weft__pattern_create(text, &options, &wrong, &s->pattern);
	if (error == WEFT_ERROR_ARGUMENT && ret_error)
		*ret_error = (struct weft_search_error){wrong.message, wrong.offset};
	return error ? error : allocate(s);
}

WEFT__EXPORT int weft_search_maker_create(const struct weft_model *model, const char *text,
	size_t size, bool is_expression, struct weft_search_error *ret_error,
	struct weft_search_maker **ret_maker)
{
	struct weft_search_maker *maker = calloc(1, sizeof(*maker));
	if (!maker)
		return WEFT_ERROR_MEMORY;
	maker->searcher.model = model;
	int error = begin_search(maker, (struct weft_slice){text, size}, is_expression, ret_error);
	if (error)
		weft_search_maker_destroy(maker);
	else
		*ret_maker = maker;
	return error;
}

WEFT__EXPORT void weft_search_maker_destroy(struct weft_search_maker *maker)
{
	if (!maker)
		return;
	struct searcher *s = &maker->searcher;
	weft__pattern_destroy(s->pattern);
	free(s->strings);
	free(s->marks);
	free(s->text);
	free(s->kinds);
	free(s->task_found);
	free(s->buckets);
	free(s->first_tasks);
	weft_search_destroy(s->found ? &s->found->public : NULL);
	free(maker);
}

WEFT__EXPORT int weft_search_create(const struct weft_model *model, const char *text, size_t size,
	bool is_expression, struct weft_search_error *ret_error, struct weft_search **ret_search)
{
	struct weft_search_maker *maker;
	int error = weft_search_maker_create(model, text, size, is_expression, ret_error, &maker);
	if (error)
		return error;
	do
		error = weft_search_maker_step(maker, ret_search);
	while (error == WEFT_AGAIN);
	weft_search_maker_destroy(maker);
	return error;
}

WEFT__EXPORT void weft_search_destroy(struct weft_search *search)
{
	struct whole_search *whole = (struct whole_search *)search;
	if (!whole)
		return;
	free(whole->matches);
	free(whole->tasks);
	free(whole);
}

WEFT__EXPORT const char *weft_search_field_name(enum weft_search_field field)
{
	static const char *const names[WEFT_SEARCH_FIELDS] = {
		[WEFT_SEARCH_ID] = "id",
		[WEFT_SEARCH_LABEL] = "label",
		[WEFT_SEARCH_NOTE] = "note",
		[WEFT_SEARCH_KIND] = "kind",
		[WEFT_SEARCH_MESSAGE] = "message",
		[WEFT_SEARCH_COUNTER] = "counter",
		[WEFT_SEARCH_PROCESS] = "process",
		[WEFT_SEARCH_OUTCOME] = "outcome",
	};
	return field < WEFT_SEARCH_FIELDS ? names[field] : "unknown";
}

static bool is_match_until(const void *context, uint32_t row, uint64_t time)
{
	const struct weft_search *search = context;
	return search->matches[row].time <= time;
}

/* The number of matches at or before `time`. */
static uint32_t matches_until(const struct weft_search *search, uint64_t time)
{
	return weft__search(search, 0, search->match_count, is_match_until, time);
}

WEFT__EXPORT uint32_t weft_search_after(const struct weft_search *search, uint64_t time)
{
	uint32_t index = matches_until(search, time);
	return index < search->match_count ? index : WEFT_NONE;
}

WEFT__EXPORT uint32_t weft_search_before(const struct weft_search *search, uint64_t time)
{
	uint32_t count = time ? matches_until(search, time - 1) : 0;
	return count ? count - 1 : WEFT_NONE;
}

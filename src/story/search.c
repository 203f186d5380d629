/* SPDX-License-Identifier: ISC
 *
 * A search: which distinct strings match is found out first, one byte a string; then the columns
 * are passed over once, and what refers to such a string is a match.
 */
#include <weft/search.h>

#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "base/sort.h"
#include "story/pattern.h"

/* To find the earliest matches when there are too many, without listing all. */
#define BUCKETS 4096

struct whole_search {
	struct weft_search public; /* first: what callers hold */
	struct weft_search_match *matches;
	uint32_t *tasks;
};

enum verdict {
	UNASKED,
	YES,
	NO,
};

struct searcher {
	const struct weft_model *model;
	struct weft__pattern *pattern;
	uint8_t *verdicts; /* of strings: enum verdict */
	uint32_t string_count;
	uint8_t *kinds; /* likewise */
	uint64_t id;
	bool has_id;
	struct whole_search *found;
	uint8_t *task_found;
	bool listing;        /* the second pass: matches are listed, no longer counted */
	uint64_t sure, last; /* all are listed that are not after `sure`; none after `last` … */
	uint32_t rest;       /* … and of those between so many */
	uint64_t *buckets;
	uint64_t bucket_ns;
};

#define KINDS 65536

/* ---- Strings ---- */

/* The highest string that anything searched refers to, and one. */
static uint32_t count_strings(const struct weft_model *model)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < model->notes.count; i++)
		if (model->notes.text[i] >= count && model->notes.text[i] != WEFT_NONE)
			count = model->notes.text[i] + 1;
	for (uint32_t i = 0; i < model->tasks.count; i++)
		if (model->tasks.message[i] >= count && model->tasks.message[i] != WEFT_NONE)
			count = model->tasks.message[i] + 1;
	for (uint32_t i = 0; i < model->counter_count; i++)
		if (model->counters[i].name >= count && model->counters[i].name != WEFT_NONE)
			count = model->counters[i].name + 1;
	return count;
}

static bool string_matches(struct searcher *s, uint32_t string)
{
	if (string >= s->string_count)
		return false;
	if (s->verdicts[string] == UNASKED) {
		struct weft_slice text = weft_model_string(s->model, string);
		s->verdicts[string] = weft__pattern_matches(s->pattern, text) ? YES : NO;
	}
	return s->verdicts[string] == YES;
}

static bool kind_matches(struct searcher *s, unsigned kind)
{
	if (s->kinds[kind] == UNASKED) {
		const char *name = kind == WEFT_KIND_PREEXISTING ? "preexisting" : weft_kind_name(kind);
		struct weft_slice text = {name, name ? strlen(name) : 0};
		s->kinds[kind] = name && weft__pattern_matches(s->pattern, text) ? YES : NO;
	}
	return s->kinds[kind] == YES;
}

/* "#123" and "123" are ids. */
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
			i++; /* \W is no capital */
		else if (text.bytes[i] >= 'A' && text.bytes[i] <= 'Z')
			return true;
	}
	return false;
}

/* ---- Matches ---- */

static void count_match(struct searcher *s, const struct weft_search_match *match)
{
	uint64_t past = match->time - s->model->summary.start, bucket = past / s->bucket_ns;
	s->buckets[match->time < s->model->summary.start ? 0
			   : bucket < BUCKETS                    ? bucket
													 : BUCKETS - 1]++;
	s->found->public.found++;
	if (match->task != WEFT_NONE)
		s->task_found[match->task] = 1;
}

/* `sure` is before the trace if not even the first bucket has room. */
static bool is_in_rest(struct searcher *s, uint64_t time)
{
	if (time > s->last || s->rest == 0)
		return false;
	s->rest--;
	return true;
}

static void add_match(struct searcher *s, const struct weft_search_match *match)
{
	struct weft_search *found = &s->found->public;
	if (!s->listing)
		count_match(s, match);
	else if (match->time <= s->sure || is_in_rest(s, match->time))
		s->found->matches[found->match_count++] = *match;
}

static void pass_tasks(struct searcher *s)
{
	const struct weft_tasks *t = &s->model->tasks;
	for (uint32_t task = 0; task < t->count; task++) {
		struct weft_search_match match = {t->start[task], task, WEFT_NONE, 0};
		if (s->has_id && t->id[task] == s->id) {
			match.place = WEFT_SEARCH_ID;
			add_match(s, &match);
		}
		if (kind_matches(s, t->kind[task])) {
			match.place = WEFT_SEARCH_KIND;
			add_match(s, &match);
		}
		if (t->message[task] != WEFT_NONE && string_matches(s, t->message[task])) {
			match.place = WEFT_SEARCH_MESSAGE;
			match.time = t->end[task];
			add_match(s, &match);
		}
	}
}

static void pass_notes_of(struct searcher *s, uint32_t task)
{
	const struct weft_notes *n = &s->model->notes;
	uint32_t end = s->model->tasks.first_note[task + 1];
	for (uint32_t note = s->model->tasks.first_note[task]; note < end; note++) {
		uint8_t type = n->type[note];
		if (type == WEFT_NOTE_CHANGE || type == WEFT_NOTE_SET)
			continue; /* a counter is found once, not at each change */
		if (!string_matches(s, n->text[note]))
			continue;
		struct weft_search_match match = {n->time[note], task, note,
			type == WEFT_NOTE_LABEL ? WEFT_SEARCH_LABEL : WEFT_SEARCH_NOTE};
		add_match(s, &match);
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
		add_match(s, &match);
	}
}

static void pass(struct searcher *s)
{
	pass_tasks(s);
	for (uint32_t task = 0; task < s->model->tasks.count; task++)
		pass_notes_of(s, task);
	pass_counters(s);
}

/* Lists all matches of the first buckets, and of the next one as many as there is room for. */
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

static int list_matches(struct searcher *s)
{
	uint64_t found = s->found->public.found;
	size_t room = found < WEFT_SEARCH_MATCHES_MAX ? (size_t)found : WEFT_SEARCH_MATCHES_MAX;
	s->found->matches = malloc((room + 1) * sizeof(*s->found->matches));
	if (!s->found->matches)
		return WEFT_ERROR_MEMORY;
	s->listing = true;
	s->sure = UINT64_MAX;
	if (found > WEFT_SEARCH_MATCHES_MAX)
		limit_matches(s);
	if (found)
		pass(s);
	return sort_matches(s->found);
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

static int run(struct searcher *s)
{
	const struct weft_model *model = s->model;
	uint64_t length = model->summary.end - model->summary.start;
	s->bucket_ns = length / BUCKETS + 1;
	s->string_count = count_strings(model);
	s->verdicts = calloc(s->string_count + (size_t)1, 1);
	s->kinds = calloc(KINDS, 1);
	s->task_found = calloc(model->tasks.count + (size_t)1, 1);
	s->buckets = calloc(BUCKETS, sizeof(*s->buckets));
	if (!s->verdicts || !s->kinds || !s->task_found || !s->buckets)
		return WEFT_ERROR_MEMORY;
	pass(s);
	int error = list_matches(s);
	return error ? error : list_tasks(s);
}

static void publish(struct whole_search *w)
{
	w->public.matches = w->matches;
	w->public.tasks = w->tasks;
}

static int search(const struct weft_model *model, struct weft_slice text,
	const struct weft__pattern_options *options, struct weft_search_error *ret_error,
	struct whole_search *found)
{
	struct searcher s = {.model = model, .found = found};
	s.has_id = parse_id(text, &s.id);
	int error = weft__pattern_create(text, options, ret_error, &s.pattern);
	if (!error)
		error = run(&s);
	weft__pattern_destroy(s.pattern);
	free(s.verdicts);
	free(s.kinds);
	free(s.task_found);
	free(s.buckets);
	return error;
}

WEFT__EXPORT int weft_search_create(const struct weft_model *model, const char *text, size_t size,
	bool is_expression, struct weft_search_error *ret_error, struct weft_search **ret_search)
{
	struct weft_slice slice = {text, size};
	const struct weft__pattern_options options = {
		.ignore_case = !has_capital(slice, is_expression), .literal = !is_expression};
	struct weft_search_error unwanted;
	struct whole_search *found = calloc(1, sizeof(*found));
	if (!found)
		return WEFT_ERROR_MEMORY;
	int error = size ? search(model, slice, &options, ret_error ? ret_error : &unwanted, found) : 0;
	if (error) {
		weft_search_destroy(&found->public);
		return error;
	}
	publish(found);
	*ret_search = &found->public;
	return 0;
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

WEFT__EXPORT const char *weft_search_place_name(enum weft_search_place place)
{
	static const char *const names[WEFT_SEARCH_PLACES] = {
		[WEFT_SEARCH_ID] = "id",
		[WEFT_SEARCH_LABEL] = "label",
		[WEFT_SEARCH_NOTE] = "note",
		[WEFT_SEARCH_KIND] = "kind",
		[WEFT_SEARCH_MESSAGE] = "message",
		[WEFT_SEARCH_COUNTER] = "counter",
	};
	return place < WEFT_SEARCH_PLACES ? names[place] : "unknown";
}

/* How many matches are at or before `time`. */
static uint32_t matches_until(const struct weft_search *search, uint64_t time)
{
	uint32_t first = 0, end = search->match_count;
	while (first < end) {
		uint32_t middle = first + (end - first) / 2;
		if (search->matches[middle].time <= time)
			first = middle + 1;
		else
			end = middle;
	}
	return first;
}

WEFT__EXPORT uint32_t weft_search_after(const struct weft_search *search, uint64_t time)
{
	uint32_t place = matches_until(search, time);
	return place < search->match_count ? place : WEFT_NONE;
}

WEFT__EXPORT uint32_t weft_search_before(const struct weft_search *search, uint64_t time)
{
	uint32_t count = time ? matches_until(search, time - 1) : 0;
	return count ? count - 1 : WEFT_NONE;
}

WEFT__EXPORT bool weft_search_has_task(const struct weft_search *search, uint32_t task)
{
	uint32_t first = 0, end = search->task_count;
	while (first < end) {
		uint32_t middle = first + (end - first) / 2;
		if (search->tasks[middle] < task)
			first = middle + 1;
		else
			end = middle;
	}
	return first < search->task_count && search->tasks[first] == task;
}

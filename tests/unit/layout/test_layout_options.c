/* SPDX-License-Identifier: ISC
 *
 * Folds, groups and filters: the layout of random programs, compared with a naive look at all pairs
 * of tasks.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <weft/layout.h>

#include "random_program.h"

/* ---- Folds ---- */

static bool alike_labels(const struct weft_model *m, uint32_t a, uint32_t b)
{
	char text[2][64];
	uint32_t label[2] = {m->tasks.label[a], m->tasks.label[b]};
	for (int i = 0; i < 2; i++) {
		struct weft_slice s = weft_model_string(m, label[i]);
		size_t used = 0;
		for (size_t at = 0; at < s.size; at++) {
			bool digit = s.bytes[at] >= '0' && s.bytes[at] <= '9';
			if (!digit || used == 0 || text[i][used - 1] != '#')
				text[i][used++] = digit ? '#' : s.bytes[at];
		}
		text[i][used] = 0;
	}
	return (label[0] == WEFT_NONE) == (label[1] == WEFT_NONE) && strcmp(text[0], text[1]) == 0;
}

static bool alike(const struct weft_layout *l, uint32_t a, uint32_t b)
{
	const struct weft_tasks *t = &l->model->tasks;
	return l->parent[a] == l->parent[b] && t->buffer[a] == t->buffer[b] && same_group(l, a, b) &&
		   t->kind[a] == t->kind[b] && t->outcome[a] == t->outcome[b] &&
		   alike_labels(l->model, a, b);
}

/* The number of a task's descendants; or a too large number if it or one of them did not succeed.
 */
static uint32_t count_below(const struct weft_layout *l, uint32_t task, uint64_t *end)
{
	const struct weft_tasks *t = &l->model->tasks;
	uint32_t count = 0;
	*end = t->end[task];
	for (uint32_t other = 0; other < t->count; other++) {
		uint32_t up = other;
		while (up != WEFT_NONE && up != task)
			up = l->parent[up] != WEFT_NONE && same_group(l, up, l->parent[up]) ? l->parent[up]
																				: WEFT_NONE;
		if (up != task || l->form[other] == WEFT_FORM_HIDDEN)
			continue;
		count += other != task;
		*end = t->end[other] > *end ? t->end[other] : *end;
		if (!(t->flags[other] & WEFT_TASK_RESOLVED) || (t->flags[other] & WEFT_TASK_FAILED))
			return UINT32_MAX;
	}
	return count;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static bool is_before(const struct weft_layout *l, uint32_t a, uint32_t b)
{
	return l->start[a] < l->start[b] || (l->start[a] == l->start[b] && a < b);
}

/* The number of members of the fold that `task` would be in, according to layout.h; 0: none. */
static uint32_t naive_fold(const struct weft_layout *l, uint32_t task, bool *is_member)
{
	const struct weft_tasks *t = &l->model->tasks;
	uint64_t *length = calloc(t->count, sizeof(*length)),
			 *sorted = calloc(t->count, sizeof(*sorted));
	uint32_t count = 0, kept = 0, overlapping = 0;
	memset(is_member, 0, t->count);
	for (uint32_t other = 0; other < t->count; other++) {
		uint64_t end;
		uint32_t parent = l->parent[other];
		if (l->form[other] == WEFT_FORM_HIDDEN || !alike(l, task, other) ||
			count_below(l, other, &end) > 8 ||
			(parent != WEFT_NONE && same_group(l, other, parent) && t->becomes[parent] == other))
			continue;
		is_member[other] = true;
		length[other] = end - l->start[other];
		sorted[count++] = length[other];
	}
	qsort(sorted, count, sizeof(*sorted), compare_u64);
	uint64_t half = count ? sorted[(count - 1) / 2] : 0;
	for (uint32_t other = 0; count >= 5 && other < t->count; other++) {
		is_member[other] = is_member[other] && length[other] <= 8 * (half ? half : 1);
		if (!is_member[other])
			continue;
		kept++;
	}
	for (uint32_t other = 0; other < t->count; other++)
		for (uint32_t before = 0; is_member[other] && before < t->count; before++)
			if (is_member[before] && is_before(l, before, other) &&
				l->start[before] + length[before] > l->start[other]) {
				overlapping++;
				break;
			}
	free(length);
	free(sorted);
	if (kept < 5 || (kept <= 32 && overlapping * 4 > kept))
		return 0;
	return kept;
}

/* The figures of the members' own lives. */
static void check_lives(const struct weft_layout *l, const struct weft_fold *f)
{
	uint64_t *life = calloc(f->count, sizeof(*life));
	for (uint32_t i = 0; i < f->count; i++) {
		uint32_t task = l->fold_members[f->first + i];
		life[i] = l->model->tasks.end[task] - l->start[task];
	}
	qsort(life, f->count, sizeof(*life), compare_u64);
	assert_int_equal(f->life_p50_ns, life[(f->count - 1) / 2]);
	assert_int_equal(f->life_max_ns, life[f->count - 1]);
	free(life);
}

static void check_fold_figures(const struct weft_layout *l, const struct weft_fold *f)
{
	uint64_t *length = calloc(f->count, sizeof(*length)), running = 0;
	uint32_t below = 0;
	for (uint32_t i = 0; i < f->count; i++) {
		uint32_t task = l->fold_members[f->first + i];
		uint64_t end;
		assert_int_equal(&l->folds[l->fold_of[task]] - f, 0);
		assert_true(i == 0 || l->start[task] >= l->start[l->fold_members[f->first + i - 1]]);
		assert_true(l->start[task] >= f->start);
		below += count_below(l, task, &end);
		assert_int_equal(l->fold_ends[f->first + i], end);
		assert_true(end <= f->end);
		length[i] = end - l->start[task];
	}
	qsort(length, f->count, sizeof(*length), compare_u64);
	assert_int_equal(f->p50_ns, length[(f->count - 1) / 2]);
	assert_int_equal(f->max_ns, length[f->count - 1]);
	check_lives(l, f);
	assert_int_equal(f->below, below);
	for (uint32_t task = 0; task < l->model->tasks.count; task++)
		if (l->fold_of[task] == (uint32_t)(f - l->folds))
			running += weft_model_running_ns(l->model, task);
	if (f->folded)
		assert_int_equal(f->running_ns, running);
	free(length);
}

/* Descendants of a folded member cannot have a fold of their own. */
static bool is_below_fold(const struct weft_layout *l, uint32_t task)
{
	uint32_t parent = l->parent[task];
	return l->form[task] == WEFT_FORM_FOLDED && parent != WEFT_NONE &&
		   l->form[parent] == WEFT_FORM_FOLDED && same_group(l, task, parent);
}

static uint32_t check_folds(const struct weft_layout *l)
{
	bool *is_member = calloc(l->model->tasks.count + 1, 1);
	uint32_t members = 0;
	for (uint32_t f = 0; f < l->fold_count; f++)
		check_fold_figures(l, &l->folds[f]);
	for (uint32_t task = 0; task < l->model->tasks.count; task++) {
		if (l->form[task] == WEFT_FORM_HIDDEN || is_below_fold(l, task))
			continue;
		uint32_t count = naive_fold(l, task, is_member);
		bool folds = count && is_member[task];
		assert_int_equal(l->fold_of[task] != WEFT_NONE, folds);
		assert_true(!folds || l->folds[l->fold_of[task]].count == count);
		members += folds;
	}
	free(is_member);
	return members;
}

static void folds_are_what_the_words_say(void **state)
{
	(void)state;
	uint32_t members = 0;
	for (uint32_t round = 1; round < 40; round++) {
		struct weft_model *model = random_model(round, 40 + round * 12);
		struct weft_layout_options options = {
			.fold = true, .group_by = (enum weft_group_by)(round % 3)};
		struct weft_layout *layout = lay_out(model, &options);
		check_all(layout, NULL);
		check_children(layout);
		members += check_folds(layout);
		weft_layout_destroy(layout);
		weft_model_destroy(model);
	}
	assert_true(members > 200);
}

static void same_rows(const struct weft_layout *a, const struct weft_layout *b)
{
	size_t count = a->model->tasks.count;
	assert_int_equal(a->row_count, b->row_count);
	assert_memory_equal(a->row, b->row, count * sizeof(*a->row));
	assert_memory_equal(a->form, b->form, count);
}

/* Toggles each fold, by one member or by all, and back. */
static void folds_open_and_close(void **state)
{
	(void)state;
	uint32_t opened = 0;
	for (uint32_t round = 1; round < 20; round++) {
		struct weft_model *model = random_model(100 + round, 300);
		struct weft_layout_options options = {.fold = true};
		struct weft_layout *folded = lay_out(model, &options), *again = lay_out(model, &options);
		struct weft_layout *plain = lay_out(model, NULL);
		same_rows(folded, again);
		uint32_t all = 0, firsts[64];
		for (uint32_t f = 0; f < folded->fold_count && f < 64; f++) {
			const struct weft_fold *fold = &folded->folds[f];
			firsts[all++] = folded->fold_members[fold->first];
			uint32_t some = folded->fold_members[fold->first + pick(fold->count)];
			options.fold_exceptions = &some;
			options.fold_exception_count = 1;
			struct weft_layout *open = lay_out(model, &options);
			check_all(open, NULL);
			assert_int_equal(open->form[some], WEFT_FORM_LINE);
			assert_false(open->folds[open->fold_of[some]].folded);
			assert_int_equal(open->folds[open->fold_of[some]].row, WEFT_NONE);
			check_fold_figures(open, &open->folds[open->fold_of[some]]);
			options.fold = false;
			struct weft_layout *only = lay_out(model, &options);
			check_all(only, NULL);
			assert_int_equal(only->form[some], WEFT_FORM_FOLDED);
			weft_layout_destroy(open);
			weft_layout_destroy(only);
			options = (struct weft_layout_options){.fold = true};
			opened++;
		}
		options.fold_exceptions = firsts;
		options.fold_exception_count = all;
		struct weft_layout *none = lay_out(model, &options);
		for (uint32_t task = 0; task < model->tasks.count && none->fold_count == all; task++)
			assert_int_equal(none->form[task], WEFT_FORM_LINE);
		if (none->fold_count == all)
			same_rows(none, plain);
		weft_layout_destroy(none);
		weft_layout_destroy(folded);
		weft_layout_destroy(again);
		weft_layout_destroy(plain);
		weft_model_destroy(model);
	}
	assert_true(opened > 20);
}

struct step {
	uint64_t time;
	uint32_t task;
	bool is_end;
};

static int compare_steps(const void *a, const void *b)
{
	const struct step *x = a, *y = b;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->is_end - y->is_end;
}

static void make_named(struct program *p, uint32_t id)
{
	char name[32];
	uint64_t time = p->time;
	int size = snprintf(name, sizeof(name), "grant %u of %u", id, 2 * id);
	emit(p, 0,
		(struct weft_event){
			.type = WEFT_EVENT_CREATE, .task = 100000, .other = id, .kind = WEFT_KIND_TASK});
	p->time = time;
	emit(p, 0,
		(struct weft_event){.type = WEFT_EVENT_LABEL, .task = id, .text = {name, (size_t)size}});
}

#define LATE_NS 2000

/* One parent creates `count` tasks, 100 ns after each other, each of which lasts `length`; `late`
 * lasts for `late_length`, `failing` fails, `open` does not end. */
static struct weft_model *row_of_tasks(uint32_t count, uint64_t length, uint32_t late,
	uint64_t late_length, uint32_t failing, uint32_t open)
{
	struct program p;
	struct step *steps = calloc(2 * count, sizeof(*steps));
	program_start(&p, 1);
	for (uint32_t i = 0; i < count; i++) {
		steps[2 * i] = (struct step){10000 + i * 100, i, false};
		steps[2 * i + 1] =
			(struct step){10000 + i * 100 + (i == late ? late_length : length), i, true};
	}
	qsort(steps, 2 * count, sizeof(*steps), compare_steps);
	emit(&p, 0,
		(struct weft_event){.type = WEFT_EVENT_CREATE,
			.task = WEFT_TASK_NONE,
			.other = 100000,
			.kind = WEFT_KIND_TASK});
	for (uint32_t i = 0; i < 2 * count; i++) {
		p.time = steps[i].time;
		if (!steps[i].is_end)
			make_named(&p, steps[i].task);
		else if (steps[i].task != open)
			emit(&p, 0,
				(struct weft_event){
					.type = steps[i].task == failing ? WEFT_EVENT_FAIL : WEFT_EVENT_RESOLVE,
					.task = 100000,
					.other = steps[i].task,
					.text = {"no", 2}});
	}
	free(steps);
	return program_finish(&p);
}

static uint32_t members_of(const struct weft_model *model)
{
	struct weft_layout *layout = lay_out(model, &(struct weft_layout_options){.fold = true});
	uint32_t count = layout->fold_count ? layout->folds[0].count : 0;
	assert_true(layout->fold_count <= 1);
	for (uint32_t task = 0; task < model->tasks.count; task++)
		assert_int_equal(layout->form[task] == WEFT_FORM_FOLDED, layout->fold_of[task] == 0);
	check_all(layout, NULL);
	weft_layout_destroy(layout);
	return count;
}

static void special_tasks_are_not_folded(void **state)
{
	(void)state;
	const struct {
		uint32_t count, late, failing, open, members;
	} cases[] = {
		{514, 999, 999, 999, 514}, {5, 99, 99, 99, 5}, {4, 99, 99, 99, 0},
		{20, 0, 99, 99, 19},                  /* lasts 2000 ns */
		{20, 99, 7, 99, 19},                  /* fails */
		{20, 99, 99, 19, 19},                 /* does not end */
		{20, 0, 7, 19, 17}, {6, 0, 3, 99, 0}, /* four are left */
	};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_model *model = row_of_tasks(
			cases[i].count, 60, cases[i].late, LATE_NS, cases[i].failing, cases[i].open);
		assert_int_equal(members_of(model), cases[i].members);
		weft_model_destroy(model);
	}
	struct weft_model *workers = row_of_tasks(20, 1900, 99, LATE_NS, 99, 99); /* side by side */
	assert_int_equal(members_of(workers), 0);
	weft_model_destroy(workers);
	struct weft_model *crowd = row_of_tasks(200, 19000, 999, LATE_NS, 999, 999);
	assert_int_equal(members_of(crowd), 200);
	weft_model_destroy(crowd);
}

/* A member is at most 8 times as long as the median, or 8 ns if the median is 0. */
static void the_longest_member_is_eight_medians(void **state)
{
	static const uint64_t cases[][2] = {{60, 480}, {0, 8}}; /* length, longest */
	(void)state;
	for (unsigned i = 0; i < 2; i++)
		for (uint64_t more = 0; more < 2; more++) {
			struct weft_model *model =
				row_of_tasks(40, cases[i][0], 20, cases[i][1] + more, 999, 999);
			assert_int_equal(members_of(model), 40 - more);
			weft_model_destroy(model);
		}
}

/* 4 of 16 tasks may begin before earlier ones have ended; 4 of 15 are more than a quarter.
 */
static void a_quarter_may_overlap(void **state)
{
	(void)state;
	for (uint32_t count = 15; count <= 16; count++) {
		struct weft_model *model = row_of_tasks(count, 60, 3, 450, 99, 99);
		assert_int_equal(members_of(model), count == 16 ? 16 : 0);
		weft_model_destroy(model);
	}
}

/* Five tasks, each with `below` descendants. */
static struct weft_model *tasks_with_below(uint32_t below)
{
	struct program p;
	program_start(&p, 1);
	for (uint32_t i = 0; i < 5; i++) {
		uint64_t id = 1000 * (i + 1);
		p.time += 10;
		emit(&p, 0,
			(struct weft_event){
				.type = WEFT_EVENT_CREATE, .task = 1, .other = id, .kind = WEFT_KIND_TASK});
		for (uint32_t j = 1; j <= below; j++)
			emit(&p, 0,
				(struct weft_event){.type = WEFT_EVENT_CREATE,
					.task = id,
					.other = id + j,
					.kind = WEFT_KIND_TASK});
		p.time += 10;
		for (uint32_t j = 0; j <= below; j++)
			emit(
				&p, 0, (struct weft_event){.type = WEFT_EVENT_RESOLVE, .task = 1, .other = id + j});
	}
	return program_finish(&p);
}

static void a_member_has_at_most_eight_tasks_below_it(void **state)
{
	(void)state;
	for (uint32_t below = 8; below <= 9; below++) {
		struct weft_model *model = tasks_with_below(below);
		struct weft_layout *layout = lay_out(model, &(struct weft_layout_options){.fold = true});
		uint32_t member = weft_model_find_task(model, 0, 1000);
		assert_int_equal(layout->form[member], below == 8 ? WEFT_FORM_FOLDED : WEFT_FORM_LINE);
		weft_layout_destroy(layout);
		weft_model_destroy(model);
	}
}

/* ---- Groups and filters ---- */

static void groups_and_filters_lose_nothing(void **state)
{
	(void)state;
	uint32_t grouped = 0, hung = 0;
	for (uint32_t round = 1; round < 60; round++) {
		struct weft_model *model = random_model(200 + round, 40 + round * 6);
		uint8_t *hidden = calloc(model->tasks.count + 1, 1);
		uint32_t folded[] = {pick(3)};
		for (uint32_t task = 0; task < model->tasks.count; task++)
			hidden[task] = pick(4) == 0;
		struct weft_layout_options options = {
			.fold = round % 2,
			.group_by = (enum weft_group_by)(round % 3),
			.folded_groups = folded,
			.folded_group_count = pick(2),
			.hidden = pick(4) ? hidden : NULL,
		};
		struct weft_layout *layout = lay_out(model, &options);
		check_all(layout, options.hidden);
		check_children(layout);
		grouped += layout->group_count;
		for (uint32_t task = 0; options.hidden && task < model->tasks.count; task++) {
			uint32_t up = model->tasks.parent[task];
			if (layout->moved[task] || up == WEFT_NONE || !hidden[up])
				continue;
			while (up != WEFT_NONE && hidden[up] && !layout->moved[up])
				up = model->tasks.parent[up];
			if (up != WEFT_NONE && hidden[up])
				continue; /* it moved: under what, is not looked at here */
			assert_int_equal(layout->parent[task], up);
			hung++;
		}
		weft_layout_destroy(layout);
		free(hidden);
		weft_model_destroy(model);
	}
	assert_true(grouped > 50 && hung > 50);
}

/* Without rows, all else is the same. */
static void starts_and_parents_need_no_rows(void **state)
{
	(void)state;
	uint32_t moved = 0;
	for (uint32_t round = 1; round < 60; round++) {
		struct weft_model *model = random_model(500 + round, 40 + round * 6);
		uint8_t *hidden = calloc(model->tasks.count + 1, 1);
		for (uint32_t task = 0; task < model->tasks.count; task++)
			hidden[task] = pick(4) == 0;
		struct weft_layout_options options = {
			.no_simplify = round % 3 == 0, .hidden = pick(2) ? hidden : NULL};
		struct weft_layout *whole = lay_out(model, &options);
		options.no_rows = true;
		options.previous = whole;
		struct weft_layout *layout = lay_out(model, &options);
		assert_int_equal(layout->row_count, 0);
		for (uint32_t task = 0; task < model->tasks.count; task++) {
			assert_int_equal(layout->start[task], whole->start[task]);
			assert_int_equal(layout->parent[task], whole->parent[task]);
			assert_int_equal(layout->moved[task], whole->moved[task]);
			assert_int_equal(layout->row[task], WEFT_NONE);
			moved += layout->moved[task];
		}
		weft_layout_destroy(layout);
		weft_layout_destroy(whole);
		free(hidden);
		weft_model_destroy(model);
	}
	assert_true(moved > 5);
}

static void a_task_is_of_the_thread_it_first_ran_on(void **state)
{
	(void)state;
	struct program p;
	program_start(&p, 1);
	const struct weft_event events[] = {
		{.type = WEFT_EVENT_CREATE, .task = WEFT_TASK_NONE, .other = 1, .kind = 1}, /* on 0 */
		{.type = WEFT_EVENT_SWITCH, .task = 1, .thread = 1},
		{.type = WEFT_EVENT_CREATE, .task = 1, .other = 2, .kind = 1, .thread = 1}, /* on 0 */
		{.type = WEFT_EVENT_CREATE, .task = 1, .other = 3, .kind = 1, .thread = 1}, /* never runs */
		{.type = WEFT_EVENT_SWITCH, .task = 2, .thread = 0},
		{.type = WEFT_EVENT_CREATE, .task = 3, .other = 4, .kind = 1, .thread = 1}, /* like 3 */
		{.type = WEFT_EVENT_SWITCH, .task = 2, .thread = 1},
		{.type = WEFT_EVENT_CREATE, .task = WEFT_TASK_NONE, .other = 5, .kind = 1}, /* nobody's */
	};
	for (unsigned i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		p.time = 1000 + i * 10;
		emit(&p, events[i].thread, events[i]);
	}
	struct weft_model *model = program_finish(&p);
	struct weft_layout *l =
		lay_out(model, &(struct weft_layout_options){.group_by = WEFT_GROUP_BY_THREAD});
	const uint32_t expected[] = {1, 0, 1, 1, 0};
	assert_int_equal(l->group_count, 2);
	assert_string_equal(l->groups[0].name, "p: main");
	assert_string_equal(l->groups[1].name, "p: thread 77");
	for (uint32_t id = 1; id <= 5; id++) {
		uint32_t task = weft_model_find_task(model, 0, id);
		assert_int_equal(l->groups[l->group_of[task]].key, expected[id - 1]);
	}
	weft_layout_destroy(l);
	l = lay_out(model, &(struct weft_layout_options){.group_by = WEFT_GROUP_BY_PROCESS});
	assert_int_equal(l->group_count, 0); /* all are of one */
	weft_layout_destroy(l);
	weft_model_destroy(model);
}

static void assert_groups(const struct weft_model *model, enum weft_group_by by, const char *names)
{
	struct weft_layout *l = lay_out(model, &(struct weft_layout_options){.group_by = by});
	char text[256] = "";
	for (uint32_t i = 0; i < l->group_count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s;", l->groups[i].name);
	assert_string_equal(text, names);
	for (uint32_t task = 0; l->group_count && task < model->tasks.count; task++)
		assert_int_equal(l->groups[l->group_of[task]].key, model->tasks.buffer[task]);
	weft_layout_destroy(l);
}

/* Ids are unique within a buffer only: each of the two has a task 1. */
static void tasks_of_a_buffer_are_a_group(void **state)
{
	(void)state;
	struct program p;
	program_start(&p, 1);
	for (uint32_t thread = 0; thread < 3; thread += 2)
		emit(&p, thread,
			(struct weft_event){
				.type = WEFT_EVENT_CREATE, .task = WEFT_TASK_NONE, .other = 1, .kind = 1});
	struct weft_model *model = program_finish(&p);
	assert_int_equal(model->tasks.count, 2);
	assert_groups(model, WEFT_GROUP_BY_PROCESS, "p;q 20;");
	assert_groups(model, WEFT_GROUP_BY_HOST, "first;second;");
	/* By itself only if both are known to be processes or guests, domain 0 of Xen's trace aside.
	 */
	struct weft_trace_buffer *both = (struct weft_trace_buffer *)(uintptr_t)model->buffers;
	assert_groups(model, WEFT_GROUP_BY_AUTO, "");
	both[0].pid = 10;
	assert_groups(model, WEFT_GROUP_BY_AUTO, "p 10;q 20;");
	both[1].guest = 1;
	assert_groups(model, WEFT_GROUP_BY_AUTO, "p 10;q 20;");
	both[1].is_hypervisor = 1;
	assert_groups(model, WEFT_GROUP_BY_AUTO, "");
	weft_model_destroy(model);
}

/* A task that never ran, without a creator, is of its buffer's first thread; a process runs as much
 * as its threads do on average. */
static void a_group_has_its_threads_tasks_and_time(void **state)
{
	(void)state;
	struct program p;
	program_start(&p, 1);
	const struct weft_event events[] = {
		{.type = WEFT_EVENT_CREATE, .task = WEFT_TASK_NONE, .other = 1, .kind = 1},
		{.type = WEFT_EVENT_CREATE, .task = WEFT_TASK_NONE, .other = 1, .kind = 1, .thread = 2},
		{.type = WEFT_EVENT_SWITCH, .task = 1},
		{.type = WEFT_EVENT_SWITCH, .task = WEFT_TASK_NONE},
		{.type = WEFT_EVENT_SWITCH, .task = 1, .thread = 1},
	};
	for (unsigned i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		static const uint64_t times[] = {1000, 1000, 1000, 1500, 1750};
		p.time = times[i];
		emit(&p, events[i].thread, events[i]);
	}
	p.time = 2000;
	emit(&p, 1, (struct weft_event){.type = WEFT_EVENT_SWITCH, .task = WEFT_TASK_NONE});
	struct weft_model *model = program_finish(&p);
	struct weft_layout *l =
		lay_out(model, &(struct weft_layout_options){.group_by = WEFT_GROUP_BY_THREAD});
	assert_int_equal(l->group_count, 2);
	assert_string_equal(l->groups[1].name, "q 20: other");
	assert_true(l->groups[0].running == 0.5 && l->groups[1].running == 0);
	weft_layout_destroy(l);
	l = lay_out(model, &(struct weft_layout_options){.group_by = WEFT_GROUP_BY_PROCESS});
	assert_int_equal(l->group_count, 2);
	assert_true(l->groups[0].running == 0.375 && l->groups[1].running == 0);
	weft_layout_destroy(l);
	weft_model_destroy(model);
}

/* A domain of Xen has no threads: its two vCPUs run on two of another process. While they existed,
 * from 1000 to 1800, they could have run for 1600 ns. */
static void a_group_without_threads_has_a_share(void **state)
{
	(void)state;
	struct program p;
	program_start(&p, 1);
	static const struct {
		uint64_t time;
		uint32_t thread;
		weft_task_id task;
	} switches[] = {{1000, 0, 1}, {1100, 1, 2}, {1300, 0, 2}, {1300, 1, 1},
		{1500, 1, WEFT_TASK_NONE}, {1800, 0, WEFT_TASK_NONE}};
	for (unsigned i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
		const struct weft_event event = {.type = WEFT_EVENT_SWITCH,
			.time_ns = switches[i].time,
			.thread = switches[i].thread,
			.buffer = 1,
			.task = switches[i].task};
		assert_int_equal(weft_model_builder_add(p.builder, &event, &diagnostics), 0);
	}
	for (weft_task_id task = 1; task <= 2; task++)
		assert_int_equal(weft_model_builder_add(p.builder,
							 &(struct weft_event){.type = WEFT_EVENT_RESOLVE,
								 .time_ns = 1800,
								 .buffer = 1,
								 .task = WEFT_TASK_NONE,
								 .other = task},
							 &diagnostics),
			0);
	p.time = 2600;
	emit(&p, 0,
		(struct weft_event){
			.type = WEFT_EVENT_CREATE, .task = WEFT_TASK_NONE, .other = 1, .kind = 1});
	struct weft_model *model = program_finish(&p);
	((struct weft_trace_thread *)(uintptr_t)model->threads)[2].buffer = 0;
	struct weft_layout *l =
		lay_out(model, &(struct weft_layout_options){.group_by = WEFT_GROUP_BY_PROCESS});
	assert_int_equal(l->group_count, 2);
	assert_int_equal(l->groups[1].key, 1);
	assert_true(l->groups[1].running == (300 + 200 + 500 + 200) / 1600.0);
	weft_layout_destroy(l);
	weft_model_destroy(model);
}

static void groups_have_names(void **state)
{
	enum weft_group_by by = WEFT_GROUP_BY_HOST;
	(void)state;
	for (unsigned i = 0; i <= WEFT_GROUP_BY_HOST; i++) {
		assert_true(weft_group_by_parse(weft_group_by_name((enum weft_group_by)i), &by));
		assert_int_equal(by, i);
	}
	assert_false(weft_group_by_parse("threads", &by));
	assert_int_equal(by, WEFT_GROUP_BY_HOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folds_are_what_the_words_say),
		cmocka_unit_test(folds_open_and_close),
		cmocka_unit_test(special_tasks_are_not_folded),
		cmocka_unit_test(the_longest_member_is_eight_medians),
		cmocka_unit_test(a_quarter_may_overlap),
		cmocka_unit_test(a_member_has_at_most_eight_tasks_below_it),
		cmocka_unit_test(groups_and_filters_lose_nothing),
		cmocka_unit_test(starts_and_parents_need_no_rows),
		cmocka_unit_test(a_task_is_of_the_thread_it_first_ran_on),
		cmocka_unit_test(tasks_of_a_buffer_are_a_group),
		cmocka_unit_test(a_group_has_its_threads_tasks_and_time),
		cmocka_unit_test(a_group_without_threads_has_a_share),
		cmocka_unit_test(groups_have_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: ISC
 *
 * The list of problems: runs the finders, keeps the gravest problems if there are too many, and
 * sorts them by time.
 */
#include "story/problems/findings.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/export.h"
#include "story/problems/dark.h"
#include "story/problems/incidents.h"

struct whole_problems {
	struct weft_problems public; /* first member: callers hold a pointer to it */
	struct weft_problem *list;
	char *text;
	struct weft_problem_period *periods;
	uint32_t by_gravity[WEFT_PROBLEMS_MAX];
};

#define KEPT 9 /* the worth of a clause that is not dropped */

#define CALL_WORTH   1
#define CALL_LETTERS 60

/* A row of problems.def. */
struct row {
	const char *name, *plural, *meaning;
	void (*find)(struct weft__findings *);
	bool is_by_task;
};

#define UNIT_TRACE false
#define UNIT_TASKS true
static const struct row rows[WEFT_PROBLEM_TYPES] = {
#define PROBLEM(identifier, name, plural, rank, hint_rank, order, unit, finder, meaning) \
	{name, plural, meaning, weft__find_##finder, UNIT_##unit},
#include <weft/problems.def>
#undef PROBLEM
};

WEFT__EXPORT const char *weft_problem_name(enum weft_problem_type type)
{
	return type < WEFT_PROBLEM_TYPES ? rows[type].name : "unknown";
}

WEFT__EXPORT const char *weft_problem_meaning(enum weft_problem_type type)
{
	return type < WEFT_PROBLEM_TYPES ? rows[type].meaning : "unknown";
}

static int by_begin(const void *left, const void *right)
{
	const struct weft_problem_period *l = left, *r = right;
	return l->start < r->start ? -1 : l->start > r->start;
}

/* Assigns all periods that belong to no problem yet. */
static void take_periods(struct weft__findings *f, struct weft_problem *problem)
{
	problem->first_period = f->periods_taken;
	problem->period_count = f->period_count - f->periods_taken;
	if (problem->period_count)
		qsort(f->periods + f->periods_taken, problem->period_count, sizeof(*f->periods), by_begin);
	f->periods_taken = f->period_count;
}

static uint32_t buffer_of(const struct weft_model *model, const struct weft_problem *problem)
{
	if (problem->task != WEFT_NONE)
		return model->tasks.buffer[problem->task];
	if (problem->counter < model->counter_count)
		return model->counters[problem->counter].buffer;
	return problem->thread < model->thread_count ? model->threads[problem->thread].buffer
												 : WEFT_NONE;
}

/* Names the process at the end of a sentence, if the trace has several. */
static void name_process(const struct weft_model *model, const struct weft_problem *problem,
	struct weft__sentence *sentence)
{
	const uint32_t buffer = buffer_of(model, problem);
	if (model->buffer_count <= 1 || buffer == WEFT_NONE)
		return;
	struct weft__words *w = weft__story_clause(sentence, KEPT);
	weft__story_words_add(w, ", in ");
	weft__story_words_add_process(w, model, buffer);
}

/* The first call that has a line, which is the program's own where its libraries have none; else
 * the innermost one. */
static struct weft_slice own_call(const char *calls)
{
	static const char arrow[] = " \xe2\x86\x90 ";
	struct weft_slice first = {NULL, 0};
	for (const char *at = calls, *end; at; at = end ? end + sizeof(arrow) - 1 : NULL) {
		end = strstr(at, arrow);
		const struct weft_slice call = {at, end ? (size_t)(end - at) : strlen(at)};
		if (call.size && call.bytes[call.size - 1] == ')')
			return call;
		if (!first.bytes)
			first = call;
	}
	return first;
}

/* The calls of the wait that a problem is about, or of a busy loop. */
static struct weft_slice calls_of(
	const struct weft_story *story, const struct weft_problem *problem)
{
	struct weft_story_wait wait;
	/* A lost wake-up begins with the signal, before the wait. */
	const uint64_t time =
		problem->type == WEFT_PROBLEM_LOST_WAKE_UP ? problem->effect.time : problem->start;
	const bool is_of_wait = problem->type == WEFT_PROBLEM_DEADLOCK ||
							problem->type == WEFT_PROBLEM_UNANSWERED ||
							problem->type == WEFT_PROBLEM_LOST_WAKE_UP;
	if (problem->type == WEFT_PROBLEM_POLLING)
		return weft_model_stack_at(story->model, problem->task, problem->effect.time);
	if (!is_of_wait || !weft_story_wait_at(story, problem->task, time, &wait) || wait.is_held)
		return (struct weft_slice){"", 0};
	return weft_model_stack_at(story->model, wait.task, wait.since);
}

/* Says where in the code that is. */
static void name_call(const struct weft_story *story, const struct weft_problem *problem,
	struct weft__sentence *sentence)
{
	if (!story->model->stacks.count || problem->task == WEFT_NONE)
		return;
	const struct weft_slice call = own_call(calls_of(story, problem).bytes);
	if (!call.size)
		return;
	struct weft__words *w = weft__story_clause(sentence, CALL_WORTH);
	weft__story_words_add(w, ", in ");
	weft__story_words_add_text(w, call, CALL_LETTERS);
}

struct weft__words weft__story_problem_note(
	struct weft_problem_note *note, uint64_t time, uint32_t task)
{
	struct weft__words words;
	note->time = time;
	note->task = task;
	/* The trace may not say which task it was: then nothing is written. */
	weft__story_words_init(&words, note->words, task == WEFT_NONE ? 0 : sizeof(note->words));
	return words;
}

/* Makes the range that is shown include the cause. */
static void show_cause(struct weft_problem *problem)
{
	if (problem->show_end == 0) {
		problem->show_start = problem->start;
		problem->show_end = problem->end;
	}
	if (problem->cause.words[0] && problem->cause.time < problem->show_start)
		problem->show_start = problem->cause.time;
}

void weft__story_find(struct weft__findings *f, const struct weft_problem *found, uint64_t weight,
	struct weft__sentence *sentence)
{
	const struct weft_model *model = f->story->model;
	struct weft_problem judged = *found, *problem = &judged;
	char text[WEFT_SENTENCE_BYTES];
	if (!weft__story_judge_in_the_dark(model, buffer_of(model, problem), problem)) {
		f->period_count = f->periods_taken;
		f->case_count = f->cases_taken;
		return;
	}
	const struct weft__column column = {&f->list, sizeof(*f->list)};
	if (!f->error)
		f->error = weft__columns_reserve(&column, 1, &f->capacity, f->count + (size_t)1);
	if (f->error)
		return;
	name_call(f->story, problem, sentence);
	name_process(model, problem, sentence);
	size_t size = weft__story_sentence_write(sentence, text, sizeof(text));
	struct weft__finding *finding = &f->list[f->count++];
	*finding = (struct weft__finding){
		*problem, weight, f->text.size, f->cases_taken, f->case_count - f->cases_taken};
	finding->problem.reason = WEFT_NONE;
	f->cases_taken = f->case_count;
	show_cause(&finding->problem);
	take_periods(f, &finding->problem);
	weft_text_add(&f->text, text, size + 1);
}

void weft__story_find_period(struct weft__findings *f, uint64_t start, uint64_t end)
{
	const struct weft__column column = {&f->periods, sizeof(*f->periods)};
	if (!f->error)
		f->error =
			weft__columns_reserve(&column, 1, &f->period_capacity, f->period_count + (size_t)1);
	if (!f->error)
		f->periods[f->period_count++] = (struct weft_problem_period){start, end};
}

void weft__story_find_case(struct weft__findings *f, uint32_t task, uint64_t start, uint64_t end)
{
	const struct weft__column column = {&f->cases, sizeof(*f->cases)};
	if (!f->error)
		f->error = weft__columns_reserve(&column, 1, &f->case_capacity, f->case_count + (size_t)1);
	if (!f->error)
		f->cases[f->case_count++] = (struct weft__case){task, start, end};
}

static int by_gravity(const void *left, const void *right)
{
	const struct weft__finding *l = left, *r = right;
	if (l->problem.severity != r->problem.severity)
		return l->problem.severity > r->problem.severity ? -1 : 1;
	if (l->weight != r->weight)
		return l->weight > r->weight ? -1 : 1;
	return l->text < r->text ? -1 : l->text > r->text;
}

static int by_start(const void *left, const void *right)
{
	const struct weft__finding *l = left, *r = right;
	if (l->problem.start != r->problem.start)
		return l->problem.start < r->problem.start ? -1 : 1;
	return l->text < r->text ? -1 : l->text > r->text;
}

static int publish(struct weft__findings *f, struct weft_problems **ret_problems)
{
	struct whole_problems *whole = calloc(1, sizeof(*whole));
	uint32_t count = f->count < WEFT_PROBLEMS_MAX ? f->count : WEFT_PROBLEMS_MAX;
	struct weft_problem *list = malloc((count + (size_t)1) * sizeof(*list));
	if (f->count) {
		qsort(f->list, f->count, sizeof(*f->list), by_gravity);
		qsort(f->list, count, sizeof(*f->list), by_start);
	}
	weft__story_find_incidents(f, count);
	if (f->error || !whole || !list) {
		free(whole);
		free(list);
		return f->error ? f->error : WEFT_ERROR_MEMORY;
	}
	for (uint32_t i = 0; i < count; i++) {
		list[i] = f->list[i].problem;
		list[i].sentence = f->text.bytes + f->list[i].text;
	}
	whole->list = list;
	whole->text = f->text.bytes;
	f->text = (struct weft_text){0};
	whole->periods = f->periods;
	f->periods = NULL;
	whole->public =
		(struct weft_problems){count, f->count - count, list, whole->periods, whole->by_gravity};
	weft__story_problems_order(&whole->public, whole->by_gravity);
	*ret_problems = &whole->public;
	return 0;
}

#define STEP_TASKS (1 << 17)

struct weft_problems_maker {
	struct weft__findings findings;
	bool is_begun;
	unsigned next; /* the row whose finder runs next */
};

WEFT__EXPORT int weft_problems_maker_create(
	const struct weft_story *story, struct weft_problems_maker **ret_maker)
{
	struct weft_problems_maker *maker = calloc(1, sizeof(*maker));
	if (!maker)
		return WEFT_ERROR_MEMORY;
	maker->findings.story = story;
	*ret_maker = maker;
	return 0;
}

WEFT__EXPORT void weft_problems_maker_destroy(struct weft_problems_maker *maker)
{
	if (!maker)
		return;
	weft__story_alike_finish(&maker->findings.alike);
	free(maker->findings.list);
	free(maker->findings.periods);
	free(maker->findings.cases);
	free(maker->findings.asleep);
	free(maker->findings.threads);
	weft_text_finish(&maker->findings.text);
	free(maker);
}

/* True if the row's finder has run already: a finder of two problems runs once. */
static bool has_run(unsigned number)
{
	for (unsigned i = 0; i < number; i++)
		if (rows[i].find == rows[number].find)
			return true;
	return false;
}

static void find_some(struct weft_problems_maker *maker)
{
	struct weft__findings *f = &maker->findings;
	const struct row *row = &rows[maker->next];
	uint32_t count = f->story->model->tasks.count;
	f->first = f->last;
	f->last = row->is_by_task && count - f->first > STEP_TASKS ? f->first + STEP_TASKS : count;
	row->find(f);
	if (f->last < count)
		return;
	f->last = 0;
	do
		maker->next++;
	while (maker->next < WEFT_PROBLEM_TYPES && has_run(maker->next));
}

WEFT__EXPORT int weft_problems_maker_step(
	struct weft_problems_maker *maker, struct weft_problems **ret_problems)
{
	struct weft__findings *f = &maker->findings;
	if (!maker->is_begun)
		f->error = weft__story_alike_init(&f->alike, f->story);
	else if (maker->next < WEFT_PROBLEM_TYPES)
		find_some(maker);
	else
		return publish(f, ret_problems);
	maker->is_begun = true;
	if (!f->error)
		f->error = f->text.error;
	return f->error ? f->error : WEFT_AGAIN;
}

WEFT__EXPORT int weft_problems_create(
	const struct weft_story *story, struct weft_problems **ret_problems)
{
	struct weft_problems_maker *maker;
	int status = weft_problems_maker_create(story, &maker);
	if (status)
		return status;
	do
		status = weft_problems_maker_step(maker, ret_problems);
	while (status == WEFT_AGAIN);
	weft_problems_maker_destroy(maker);
	return status;
}

WEFT__EXPORT void weft_problems_destroy(struct weft_problems *problems)
{
	struct whole_problems *whole = (struct whole_problems *)problems;
	if (!whole)
		return;
	free(whole->list);
	free(whole->text);
	free(whole->periods);
	free(whole);
}

/* Appends "2 idle gaps". */
static void write_type(
	struct weft__sentence *s, uint32_t count, enum weft_problem_type type, const char *before)
{
	const char *name = count == 1 ? rows[type].name : rows[type].plural;
	weft__story_words_add(weft__story_clause(s, 2), "%s%" PRIu32 " %s", before, count, name);
}

WEFT__EXPORT size_t weft_problems_sentence(
	const struct weft_problems *problems, char *buffer, size_t size)
{
	uint32_t by_type[WEFT_PROBLEM_TYPES] = {0};
	const char *before = ": ";
	struct weft__sentence s;
	weft__story_sentence_init(&s);
	for (uint32_t i = 0; i < problems->count; i++)
		by_type[problems->list[i].type]++;
	if (problems->count)
		weft__story_words_add_count(weft__story_clause(&s, 3), problems->count, "problem");
	else
		weft__story_words_add(weft__story_clause(&s, 3), "No problems found");
	for (int type = 0; type < WEFT_PROBLEM_TYPES; type++) {
		if (!by_type[type])
			continue;
		write_type(&s, by_type[type], (enum weft_problem_type)type, before);
		before = ", ";
	}
	if (problems->left_out)
		weft__story_words_add(
			weft__story_clause(&s, 1), "; %" PRIu32 " milder ones left out", problems->left_out);
	return weft__story_sentence_write(&s, buffer, size);
}

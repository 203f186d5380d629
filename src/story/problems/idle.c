/* SPDX-License-Identifier: ISC
 *
 * Gaps in which no thread ran anything, far longer than usual. The usual length is the lower
 * quartile, since where every second request stalls, stalls are half of all gaps. Requests at
 * random times leave gaps of any length up to many times the usual one. A gap is suspicious if it
 * is clearly longer than all others: none is between half its length and its length. Gaps of about
 * one length are one problem: together they take 1 % of the trace, or each is far longer than 99 of
 * 100 gaps. A gap is explained if the task for which it waited took no longer than alike tasks do.
 */
#include <inttypes.h>
#include <stdlib.h>

#include <weft/chain.h>

#include "base/search.h"
#include "base/sort.h"
#include "model/idle.h"
#include "story/awaited.h"
#include "story/blocking.h"
#include "story/problems/findings.h"
#include "story/problems/reader.h"

#define FEW          4 /* gaps needed to know what is usual */
#define FAR_LONGER   8 /* ratio to the usual gap, and to 99 of 100 gaps */
#define GAP_RATIO    2 /* ratio to the next shorter gap */
#define OF_TENTH     4 /* ratio to the slowest tenth of tasks like the one that the gap waited for */
#define CLUSTERS_MAX 3

/* Lengths as parts of the trace: 100 stands for 1 %. */
#define LEAST_SHARE  100   /* clusters that take less are reported only if they stand out */
#define LONELY_SHARE 20    /* for a gap among few */
#define BREATH_SHARE 20000 /* shorter gaps do not count for the usual length */

struct gap {
	uint64_t start, length;
};

struct gaps {
	struct weft__findings *findings;
	const struct weft_model *model;
	struct weft__idle *all; /* by start */
	uint64_t *lengths;      /* of all, ascending; with room for twice as many */
	uint32_t all_count;
	struct gap *list; /* suspicious ones by length, the longest first */
	uint32_t count;
	uint64_t usual_ns, trace_ns;
};

static int find_gaps(struct gaps *gaps)
{
	int error = weft__model_idle(gaps->model, &gaps->all, &gaps->all_count);
	if (error)
		return error;
	gaps->lengths = malloc((2 * (size_t)gaps->all_count + 1) * sizeof(*gaps->lengths));
	return gaps->lengths ? 0 : WEFT_ERROR_MEMORY;
}

/* Drops the gap after the last activation: the program is over, or waits for something outside.
 * Goes by task, because a live model has unused rows between the activations of two tasks. */
static void drop_last(struct gaps *gaps)
{
	const struct weft_tasks *t = &gaps->model->tasks;
	const uint64_t *start = gaps->model->activations.start;
	uint64_t last = 0;
	for (uint32_t task = 0; task < t->count; task++) {
		uint32_t end = t->end_activation[task];
		if (end > t->first_activation[task] && start[end - 1] > last)
			last = start[end - 1];
	}
	while (gaps->all_count && gaps->all[gaps->all_count - 1].start >= last)
		gaps->all_count--;
}

static int by_length(const void *left, const void *right)
{
	const struct gap *l = left, *r = right;
	if (l->length != r->length)
		return l->length > r->length ? -1 : 1;
	return l->start < r->start ? -1 : l->start > r->start;
}

/* The distance of the gaps, if they come at about equal distances; else 0. */
static uint64_t find_rhythm(const struct gaps *gaps, uint32_t from, uint32_t to)
{
	uint64_t *starts = gaps->lengths + gaps->all_count, *scratch = starts + (to - from);
	if (2 * (uint64_t)(to - from) > gaps->all_count)
		return 0;
	for (uint32_t i = from; i < to; i++)
		starts[i - from] = gaps->list[i].start;
	weft__sort_u64(starts, scratch, to - from);
	return weft__story_rhythm(starts, to - from);
}

/* Appends ", for which GET /item/4 waits". */
static void write_reader(struct weft__words *w, const struct gaps *gaps, uint32_t awaited)
{
	const uint32_t reader = weft__story_only_reader(gaps->findings->story, awaited);
	if (reader == WEFT_NONE)
		return;
	weft__story_words_add(w, ", for which ");
	weft__story_words_add_other(w, gaps->model, reader, awaited, 28);
	weft__story_words_add(w, " waits");
}

/* The task that blocks its thread all through a gap, so that it could not run anything; or
 * WEFT_NONE. */
static uint32_t find_blocker(
	const struct weft_model *model, const struct gap *gap, struct weft__blocking *ret)
{
	const uint32_t tasks = weft__story_may_block(model) ? model->tasks.count : 0;
	for (uint32_t task = 0; task < tasks; task++) {
		uint32_t runs = weft__story_activations_until(model, task, gap->start);
		uint32_t last = model->tasks.first_activation[task] + runs - 1;
		if (runs && model->activations.end[last] <= gap->start &&
			weft__story_blocks_thread(model, task, last, ret) &&
			ret->until >= gap->start + gap->length)
			return task;
	}
	return WEFT_NONE;
}

/* Appends ", while task 5 'report' blocks its thread in timer 32 'sleep 80 ms'". Returns that task,
 * or WEFT_NONE. */
static uint32_t write_blocker(
	struct weft__sentence *s, const struct weft_model *model, const struct gap *gap)
{
	struct weft__blocking blocking;
	uint32_t task = find_blocker(model, gap, &blocking);
	if (task == WEFT_NONE)
		return WEFT_NONE;
	struct weft__words *w = weft__story_clause(s, 8);
	weft__story_words_add(w, ", while ");
	weft__story_words_add_subject(w, model, task, 20);
	weft__story_words_add(w, " blocks its thread in ");
	weft__story_words_add_subject(w, model, blocking.source, 20);
	return task;
}

/* Appends ": 'suspend to disk'", what the program itself says of its longest band in the gap. */
static void write_reason(
	struct weft__sentence *s, const struct weft_model *model, const struct gap *gap)
{
	const struct weft_band_period *longest = NULL;
	uint64_t end = gap->start + gap->length;
	for (uint32_t i = 0; i < model->band_count && model->bands[i].start < end; i++) {
		const struct weft_band_period *band = &model->bands[i];
		if (band->kind == WEFT_BAND_IDLE && band->reason != WEFT_NONE &&
			band->start >= gap->start && band->end <= end &&
			(!longest || band->end - band->start > longest->end - longest->start))
			longest = band;
	}
	if (!longest || longest->end - longest->start < gap->length / 2)
		return;
	struct weft__words *w = weft__story_clause(s, 6);
	weft__story_words_add(w, ": '");
	weft__story_words_add_text(w, weft_model_string(model, longest->reason), 40);
	weft__story_words_add(w, "'");
}

/* Returns the task that blocked its thread or was awaited, or WEFT_NONE. */
static uint32_t write_gaps(
	struct weft__sentence *s, const struct gaps *gaps, uint32_t from, uint32_t to)
{
	const struct gap *worst = &gaps->list[from];
	uint32_t awaited = weft__story_awaited(gaps->model, worst->start, worst->start + worst->length);
	weft__story_sentence_init(s);
	struct weft__words *w = weft__story_clause(s, 9);
	weft__story_words_add(w, "Nothing runs for ");
	weft__story_words_add_length(w, worst->length);
	weft__story_words_add(w, " from ");
	weft__story_words_add_time(w, gaps->model, worst->start);
	const uint32_t blocker = write_blocker(s, gaps->model, worst);
	if (blocker == WEFT_NONE && awaited == WEFT_NONE)
		write_reason(s, gaps->model, worst);
	if (blocker == WEFT_NONE && awaited != WEFT_NONE) {
		w = weft__story_clause(s, 6);
		weft__story_words_add(w, ", until ");
		weft__story_words_add_subject(w, gaps->model, awaited, 32);
		weft__story_words_add(w, " ends");
		write_reader(weft__story_clause(s, 5), gaps, awaited);
	}
	if (to - from > 1) {
		uint64_t rhythm = find_rhythm(gaps, from, to);
		weft__story_words_add(
			weft__story_clause(s, 5), "; the longest of %" PRIu32 " such gaps", to - from);
		w = weft__story_clause(s, 4);
		weft__story_words_add(w, rhythm ? ", about every " : "");
		if (rhythm)
			weft__story_words_add_length(w, rhythm);
	}
	if (gaps->usual_ns) {
		w = weft__story_clause(s, 3);
		weft__story_words_add(w, "; usual gaps take ");
		weft__story_words_add_length(w, gaps->usual_ns);
	}
	return blocker != WEFT_NONE ? blocker : awaited;
}

/* The gap ends with the task that it waited for; else, with the one that runs first. */
static void set_notes(const struct gaps *gaps, struct weft_problem *problem)
{
	uint32_t awaited = weft__story_awaited(gaps->model, problem->start, problem->end);
	uint32_t task = awaited;
	if (awaited == WEFT_NONE)
		task = weft_chain_awaited(gaps->findings->story, problem->start, problem->end);
	uint64_t time = awaited == WEFT_NONE ? problem->end : gaps->model->tasks.end[awaited];
	struct weft__words words = weft__story_problem_note(&problem->effect, time, task);
	weft__story_words_add(&words,
		awaited == WEFT_NONE ? "runs, after nothing ran for " : "ends, after nothing ran for ");
	weft__story_words_add_length(&words, problem->end - problem->start);
	words = weft__story_problem_note(&problem->cause, problem->start, awaited);
	weft__story_words_add(&words, "nothing runs from here on");
}

/* Adds gaps [from, to), which have about one length; the first is the longest. */
static void add_cluster(struct gaps *gaps, uint32_t from, uint32_t to, uint64_t sum)
{
	const struct gap *worst = &gaps->list[from];
	struct weft__sentence s;
	struct weft_problem problem = weft__story_problem(WEFT_PROBLEM_IDLE_GAP, WEFT_SEVERITY_HINT,
		to - from, (struct weft__case){WEFT_NONE, worst->start, worst->start + worst->length});
	for (uint32_t i = from; i < to && to - from > 1; i++)
		weft__story_find_period(
			gaps->findings, gaps->list[i].start, gaps->list[i].start + gaps->list[i].length);
	set_notes(gaps, &problem);
	const uint32_t task = write_gaps(&s, gaps, from, to);
	if (to - from == 1)
		weft__story_find_case(gaps->findings, task, problem.start, problem.end);
	weft__story_find(gaps->findings, &problem, sum, &s);
}

/* The lower quartile of the gaps that are not negligible; of all, if nearly all are. */
static uint64_t find_usual(const struct gaps *gaps)
{
	size_t least =
		weft__lower_bound_u64(gaps->lengths, gaps->all_count, gaps->trace_ns / BREATH_SHARE);
	if (gaps->all_count - least < FEW)
		least = 0;
	return gaps->lengths[least + (gaps->all_count - least - 1) / 4];
}

/* The shortest suspicious length: far longer than usual, and clearly longer than all shorter ones.
 */
static uint64_t find_long(const struct gaps *gaps)
{
	uint64_t found = UINT64_MAX;
	if (gaps->all_count < FEW)
		return gaps->trace_ns / LONELY_SHARE;
	for (uint32_t i = gaps->all_count; i > 0; i--) {
		uint64_t length = gaps->lengths[i - 1];
		if (length / FAR_LONGER < gaps->usual_ns)
			break;
		if (i == 1 || length / GAP_RATIO >= gaps->lengths[i - 2])
			found = length;
	}
	return found;
}

/* True if a cluster is worth a word: by its share, or because its longest gap stands out. */
static bool is_reported(const struct gaps *gaps, uint64_t sum, uint64_t longest)
{
	uint64_t most = gaps->all_count ? gaps->lengths[(gaps->all_count - 1) * (uint64_t)99 / 100] : 0;
	return sum >= gaps->trace_ns / LEAST_SHARE ||
		   (gaps->all_count >= FEW && longest / FAR_LONGER >= most && longest >= WEFT__MS);
}

/* True if the gap waited for a task that took no longer than alike tasks do: for the disk, a timer
 * or the next connection. */
static bool is_explained(const struct gaps *gaps, const struct gap *gap)
{
	const struct weft__alike *alike = &gaps->findings->alike;
	uint32_t task = weft__story_awaited(gaps->model, gap->start, gap->start + gap->length);
	if (task == WEFT_NONE || alike->group_of[task] == WEFT_NONE)
		return false;
	const struct weft__alike_group *group = &alike->groups[alike->group_of[task]];
	return group->count >= WEFT__ALIKE_MIN &&
		   weft__story_life_of(gaps->findings->story, task) / OF_TENTH <= group->p90_ns;
}

/* Adds clusters: a cluster ends where gaps are a quarter shorter than its longest. */
static void add_clusters(struct gaps *gaps)
{
	uint32_t clusters = 0;
	for (uint32_t i = 0, next; i < gaps->count && clusters < CLUSTERS_MAX; i = next) {
		uint64_t sum = 0, longest = gaps->list[i].length;
		for (next = i; next < gaps->count; next++) {
			if (gaps->list[next].length < longest - longest / 4)
				break;
			sum += gaps->list[next].length;
		}
		if (is_reported(gaps, sum, longest) && !is_explained(gaps, &gaps->list[i])) {
			add_cluster(gaps, i, next, sum);
			clusters++;
		}
	}
}

static int list_long(struct gaps *gaps, uint64_t least)
{
	size_t count = gaps->all_count - weft__lower_bound_u64(gaps->lengths, gaps->all_count, least);
	gaps->list = malloc((count + 1) * sizeof(*gaps->list));
	if (!gaps->list)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < gaps->all_count && gaps->count < count; i++) {
		uint64_t length = gaps->all[i].end - gaps->all[i].start;
		if (length >= least)
			gaps->list[gaps->count++] = (struct gap){gaps->all[i].start, length};
	}
	if (gaps->count)
		qsort(gaps->list, gaps->count, sizeof(*gaps->list), by_length);
	return 0;
}

static int look_at_gaps(struct gaps *gaps)
{
	int error = find_gaps(gaps);
	if (error)
		return error;
	drop_last(gaps);
	for (uint32_t i = 0; i < gaps->all_count; i++)
		gaps->lengths[i] = gaps->all[i].end - gaps->all[i].start;
	weft__sort_u64(gaps->lengths, gaps->lengths + gaps->all_count, gaps->all_count);
	if (gaps->all_count >= FEW)
		gaps->usual_ns = find_usual(gaps);
	error = list_long(gaps, find_long(gaps));
	if (!error)
		add_clusters(gaps);
	return error;
}

void weft__find_idle_gaps(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	struct gaps gaps = {
		.findings = findings,
		.model = model,
		.trace_ns = model->summary.end - model->summary.start,
	};
	/* Times have 62 bits here; longer traces are damaged. */
	if (gaps.trace_ns >> 62 || model->activations.count == 0)
		return;
	int error = look_at_gaps(&gaps);
	if (error)
		findings->error = error;
	free(gaps.all);
	free(gaps.lengths);
	free(gaps.list);
}

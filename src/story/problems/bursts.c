/* SPDX-License-Identifier: ISC
 *
 * Alike tasks that begin one after the other and then all end together, because nothing got on in
 * between: requests behind a full pool of threads, or behind a connection that hangs. It shows as a
 * gap in the ends of a group in which its tasks go on to begin. How many they are does not matter:
 * tasks outside of such gaps show what is usual.
 *
 * The cause is a task or a run that lasted about as long as the gap.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/sort.h"
#include "story/problems/findings.h"

#define TASKS_MIN   8  /* that begin in the gap, and others that show what is usual */
#define FAR_LONGER  8  /* ratio of the gap to what is usual */
#define TOGETHER    8  /* most end within 1 / TOGETHER of the gap after it */
#define HALF_PART   4  /* of those that begin in it, 1 / HALF_PART or more in each half */
#define LEAST_SHARE 50 /* 1 / share of a trace: minimum length of a gap, … */
#define LEAST_NS    (10 * WEFT__MS)  /* … and in a long trace this length */
#define GRAVE_NS    (100 * WEFT__MS) /* of a gap with a cause, for a warning */
#define BURSTS_MAX  64               /* of one group */
#define NAMED_MAX   5

struct surge {
	uint32_t task; /* the first that begins in the gap */
	uint32_t count;
	uint64_t start, end;    /* of the gap */
	uint64_t all_end;       /* when the last one has ended */
	uint32_t times;         /* bursts of the group; this is the longest */
	uint64_t usual_ns;      /* life of the others */
	uint32_t cause;         /* or WEFT_NONE */
	uint64_t cause_ns, fit; /* its length; the more it fits the gap, the higher: in 1 / 1024 */
	bool cause_runs;        /* it is a run of the task */
};

struct bursts {
	struct weft__findings *findings;
	const struct weft_model *model;
	uint64_t least_ns;
	uint64_t *starts, *ends; /* of a group, ascending; with room for twice as many */
	uint32_t count;
	struct surge list[BURSTS_MAX]; /* of one group: its longest */
	uint32_t list_count;
	uint32_t times;                /* bursts of the group */
	struct surge named[NAMED_MAX]; /* the longest of each group, the longest first */
	uint32_t named_count;
};

static bool is_stopped(const struct bursts *b, uint32_t task)
{
	return b->model->tasks.flags[task] & WEFT_TASK_STOPPED;
}

/* True if four neighbours in the group were all there for long at once, which takes no sorting to
 * find out: members are in the order of their first mention. */
static bool may_have_one(const struct bursts *b, const struct weft__alike_group *group)
{
	const uint32_t *members = b->findings->alike.members + group->first;
	const struct weft_tasks *t = &b->model->tasks;
	if (group->count < 2 * TASKS_MIN || group->longest_ns < b->least_ns ||
		t->label[members[0]] == WEFT_NONE || t->kind[members[0]] == WEFT_KIND_TIMER)
		return false;
	for (uint32_t i = 0; i + TASKS_MIN / 2 <= group->count; i += TASKS_MIN / 4) {
		uint64_t first_end = UINT64_MAX, last_start = 0;
		for (uint32_t k = i; k < i + TASKS_MIN / 2; k++) {
			uint64_t start = t->start[members[k]], end = t->end[members[k]];
			first_end = end < first_end ? end : first_end;
			last_start = start > last_start ? start : last_start;
		}
		if (first_end > last_start && first_end - last_start >= b->least_ns / 2)
			return true;
	}
	return false;
}

static void read_group(struct bursts *b, const struct weft__alike_group *group)
{
	const struct weft__alike *alike = &b->findings->alike;
	b->count = b->list_count = b->times = 0;
	for (uint32_t i = group->first; i < group->first + group->count; i++) {
		if (is_stopped(b, alike->members[i]))
			continue;
		b->starts[b->count] = weft__story_start_of(b->findings->story, alike->members[i]);
		b->ends[b->count++] = b->model->tasks.end[alike->members[i]];
	}
	weft__sort_u64(b->starts, b->starts + b->count, b->count);
	weft__sort_u64(b->ends, b->ends + b->count, b->count);
}

static uint32_t begun_by(const struct bursts *b, uint64_t time)
{
	return (uint32_t)weft__lower_bound_u64(b->starts, b->count, time);
}

static uint32_t ended_by(const struct bursts *b, uint64_t time)
{
	return (uint32_t)weft__lower_bound_u64(b->ends, b->count, time);
}

/* Where a gap of this length is kept: one of the shortest makes room for it. NULL if all are
 * longer.
 */
static struct surge *room_for(struct bursts *b, uint64_t length)
{
	struct surge *shortest = b->list;
	if (b->list_count < BURSTS_MAX)
		return &b->list[b->list_count++];
	for (struct surge *s = b->list; s < b->list + BURSTS_MAX; s++)
		if (s->end - s->start < shortest->end - shortest->start)
			shortest = s;
	return shortest->end - shortest->start < length ? shortest : NULL;
}

/* Adds the gap between two ends, if it is one in which the group's tasks begin all along. */
static void look_at_gap(struct bursts *b, uint64_t start, uint64_t end)
{
	const uint64_t length = end - start;
	const uint32_t first = begun_by(b, start), begun = begun_by(b, end) - first;
	if (length < b->least_ns || begun < TASKS_MIN)
		return;
	uint32_t early = begun_by(b, start + length / 2) - first;
	if (early < begun / HALF_PART || begun - early < begun / HALF_PART)
		return;
	uint32_t ended = ended_by(b, end + length / TOGETHER) - ended_by(b, end);
	if (ended < begun - begun / 4)
		return;
	if (ended > begun)
		ended = begun; /* others began after the gap */
	b->times++;
	struct surge *surge = room_for(b, length);
	if (!surge)
		return;
	*surge = (struct surge){
		.count = ended,
		/* The group may have been at rest until its first task began. */
		.start = b->starts[first],
		.end = end,
		.all_end = b->ends[ended_by(b, end) + ended - 1],
	};
}

static bool is_in_burst(const struct bursts *b, uint64_t start, uint64_t end)
{
	for (uint32_t i = 0; i < b->list_count; i++)
		if (start < b->list[i].end && end >= b->list[i].start)
			return true;
	return false;
}

/* The median life of tasks outside of all bursts; UINT64_MAX: they are too few. Uses `ends`. */
static uint64_t usual_life(struct bursts *b, const struct weft__alike_group *group)
{
	const struct weft__alike *alike = &b->findings->alike;
	uint32_t count = 0;
	for (uint32_t i = group->first; i < group->first + group->count; i++) {
		uint32_t task = alike->members[i];
		uint64_t start = weft__story_start_of(b->findings->story, task);
		if (!is_stopped(b, task) && !is_in_burst(b, start, b->model->tasks.end[task]))
			b->ends[count++] = alike->lives[i];
	}
	if (count < TASKS_MIN)
		return UINT64_MAX;
	weft__sort_u64(b->ends, b->ends + count, count);
	return b->ends[(count - 1) / 2];
}

/* The first task of the group that begins in the burst. */
static uint32_t first_in(
	const struct bursts *b, const struct weft__alike_group *group, const struct surge *burst)
{
	const struct weft__alike *alike = &b->findings->alike;
	for (uint32_t i = group->first; i < group->first + group->count; i++)
		if (weft__story_start_of(b->findings->story, alike->members[i]) == burst->start)
			return alike->members[i];
	return WEFT_NONE;
}

/* Keeps the longest ones, the longest first. */
static void keep(struct bursts *b, const struct surge *burst)
{
	uint32_t at = b->named_count < NAMED_MAX ? b->named_count++ : NAMED_MAX;
	for (; at > 0 && b->named[at - 1].end - b->named[at - 1].start < burst->end - burst->start;
		 at--)
		if (at < NAMED_MAX)
			b->named[at] = b->named[at - 1];
	if (at < NAMED_MAX)
		b->named[at] = *burst;
}

static void look_at_group(struct bursts *b, const struct weft__alike_group *group)
{
	uint32_t longest = 0;
	read_group(b, group);
	for (uint32_t i = 0; i < b->count; i++)
		look_at_gap(b, i ? b->ends[i - 1] : b->model->summary.start, b->ends[i]);
	if (!b->list_count)
		return;
	for (uint32_t i = 1; i < b->list_count; i++)
		if (b->list[i].end - b->list[i].start > b->list[longest].end - b->list[longest].start)
			longest = i;
	struct surge burst = b->list[longest];
	burst.usual_ns = usual_life(b, group);
	burst.times = b->times;
	burst.cause = WEFT_NONE;
	burst.task = first_in(b, group, &burst);
	if ((burst.end - burst.start) / FAR_LONGER >= burst.usual_ns && burst.task != WEFT_NONE)
		keep(b, &burst);
}

/* ---- The cause ---- */

#define FIT_ONE   1024
#define FIT_LEAST (FIT_ONE * 5 / 8)

/* Notes a period of a task as the cause if it fits the gap better than others do. */
static void see_cause(struct surge *burst, uint32_t task, uint64_t start, uint64_t end, bool runs)
{
	const uint64_t length = burst->end - burst->start;
	if (end <= burst->start || start >= burst->end || end > burst->end + length / TOGETHER)
		return;
	uint64_t from = start > burst->start ? start : burst->start;
	uint64_t to = end < burst->end ? end : burst->end;
	uint64_t first = start < burst->start ? start : burst->start;
	uint64_t last = end > burst->end ? end : burst->end;
	uint64_t fit = (uint64_t)((double)(to - from) / (double)(last - first) * FIT_ONE);
	if (fit < FIT_LEAST || fit <= burst->fit)
		return;
	burst->fit = fit;
	burst->cause = task;
	burst->cause_ns = end - start;
	burst->cause_runs = runs;
}

static void find_causes(struct bursts *b)
{
	const struct weft_activations *a = &b->model->activations;
	const struct weft_tasks *t = &b->model->tasks;
	const uint32_t *group_of = b->findings->alike.group_of;
	for (uint32_t task = 0; b->named_count && task < t->count; task++) {
		const uint64_t start = weft__story_start_of(b->findings->story, task);
		const bool has_ended =
			(t->flags[task] & WEFT_TASK_RESOLVED) && !(t->flags[task] & WEFT_TASK_STOPPED);
		for (uint32_t k = 0; k < b->named_count; k++) {
			struct surge *burst = &b->named[k];
			if (group_of[task] == group_of[burst->task] || t->end[task] <= burst->start)
				continue;
			if (has_ended)
				see_cause(burst, task, start, t->end[task], false);
			for (uint32_t i = t->first_activation[task]; i < t->end_activation[task]; i++)
				see_cause(burst, task, a->start[i], a->end[i], true);
		}
	}
}

/* ---- The report ---- */

static void write_cause(
	struct weft__sentence *s, const struct weft_model *model, const struct surge *burst)
{
	if (burst->cause == WEFT_NONE)
		return;
	struct weft__words *w = weft__story_clause(s, 7);
	weft__story_words_add(w, burst->cause_runs ? ", while " : ", with ");
	weft__story_words_add_subject(w, model, burst->cause, 28);
	w = weft__story_clause(s, 5);
	weft__story_words_add(w, burst->cause_runs ? " runs for " : ", which takes ");
	weft__story_words_add_length(w, burst->cause_ns);
}

static struct weft_problem problem_of(const struct surge *burst)
{
	const bool is_grave = burst->cause != WEFT_NONE && burst->end - burst->start >= GRAVE_NS;
	return weft__story_problem(WEFT_PROBLEM_BURST,
		is_grave ? WEFT_SEVERITY_WARNING : WEFT_SEVERITY_HINT, burst->count,
		(struct weft__case){burst->task, burst->start, burst->all_end});
}

static void report_burst(struct bursts *b, const struct surge *burst)
{
	const struct weft_model *model = b->model;
	struct weft_problem problem = problem_of(burst);
	struct weft__sentence s;
	struct weft__words words = weft__story_problem_note(&problem.cause, burst->start, burst->cause);
	weft__story_words_add(&words, "from here on, none of %" PRIu32 " ends", burst->count);
	words = weft__story_problem_note(&problem.effect, burst->end, burst->task);
	weft__story_words_add(&words, "ends, and others with it");
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 9);
	weft__story_words_add_number(w, burst->count);
	weft__story_words_add(w, " × ");
	weft__story_words_add_task(w, model, burst->task, 28);
	weft__story_words_add(w, " begin from ");
	weft__story_words_add_time(w, model, burst->start);
	weft__story_words_add(w, " on and all end at ");
	weft__story_words_add_time(w, model, burst->end);
	write_cause(&s, model, burst);
	w = weft__story_clause(&s, 6);
	weft__story_words_add(w, "; usually ");
	weft__story_words_add_length(w, burst->usual_ns);
	if (burst->times > 1)
		weft__story_words_add(
			weft__story_clause(&s, 4), "; the longest of %" PRIu32 " times", burst->times);
	weft__story_find(b->findings, &problem, burst->end - burst->start, &s);
}

static void find_bursts(struct bursts *b, const struct weft__alike *alike, uint32_t most)
{
	b->starts = malloc(2 * (size_t)most * sizeof(*b->starts));
	b->ends = malloc(2 * (size_t)most * sizeof(*b->ends));
	if (!b->starts || !b->ends)
		b->findings->error = WEFT_ERROR_MEMORY;
	for (uint32_t g = 0; !b->findings->error && g < alike->group_count; g++)
		if (may_have_one(b, &alike->groups[g]))
			look_at_group(b, &alike->groups[g]);
	free(b->starts);
	free(b->ends);
	find_causes(b);
	for (uint32_t i = 0; i < b->named_count; i++)
		report_burst(b, &b->named[i]);
}

void weft__find_bursts(struct weft__findings *findings)
{
	const struct weft__alike *alike = &findings->alike;
	struct bursts b = {.findings = findings, .model = findings->story->model};
	uint32_t most = 0;
	b.least_ns = weft__story_least_ns(findings, LEAST_SHARE, LEAST_NS) + 1;
	for (uint32_t g = 0; g < alike->group_count; g++)
		if (alike->groups[g].count > most && alike->groups[g].longest_ns >= b.least_ns)
			most = alike->groups[g].count;
	if (most)
		find_bursts(&b, alike, most);
}

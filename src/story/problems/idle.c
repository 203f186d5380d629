/* SPDX-License-Identifier: ISC
 *
 * Gaps in which no thread ran anything, far longer than usual. The usual length is the lower
 * quartile, since where every second request stalls, stalls are half of all gaps. Requests at
 * random times leave gaps of any length up to many times the usual one. A gap is suspicious if it
 * is clearly longer than all others: none is between half its length and its length. Gaps of about
 * one length are one problem.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "model/idle.h"
#include "story/awaited.h"
#include "story/problems/findings.h"

#define FEW          4 /* gaps needed to know what is usual */
#define FAR_LONGER   8 /* ratio to the usual gap */
#define GAP_RATIO    2 /* ratio to the next shorter gap */
#define CLUSTERS_MAX 3
#define LEAST_SHARE  100 /* 1 / share of a trace: shorter clusters are not reported */
#define LONELY_SHARE 20  /* 1 / share of a trace, for a gap among few */
#define BREATH_SHARE                                                             \
	20000 /* 1 / share of a trace: shorter gaps are ignored for the usual length \
		   */

struct gap {
	uint64_t start, length;
};

struct gaps {
	struct weft__findings *findings;
	const struct weft_model *model;
	struct gap *list; /* by start; later by length, the longest first */
	uint32_t count;
	uint64_t usual_ns, trace_ns;
	uint64_t long_ns; /* the minimum length of suspicious gaps */
};

static int find_gaps(struct gaps *gaps)
{
	struct weft__idle *idle;
	int error = weft__model_idle(gaps->model, &idle, &gaps->count);
	if (error)
		return error;
	gaps->list = malloc((gaps->count + (size_t)1) * sizeof(*gaps->list));
	for (uint32_t i = 0; gaps->list && i < gaps->count; i++)
		gaps->list[i] = (struct gap){idle[i].start, idle[i].end - idle[i].start};
	free(idle);
	return gaps->list ? 0 : WEFT_ERROR_MEMORY;
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
	while (gaps->count && gaps->list[gaps->count - 1].start >= last)
		gaps->count--;
}

static int by_length(const void *left, const void *right)
{
	const struct gap *l = left, *r = right;
	if (l->length != r->length)
		return l->length > r->length ? -1 : 1;
	return l->start < r->start ? -1 : l->start > r->start;
}

static void write_gaps(struct weft__sentence *s, const struct gaps *gaps, const struct gap *first,
	const struct gap *longest, uint32_t count)
{
	weft__sentence_init(s);
	uint32_t awaited = weft__awaited(gaps->model, first->start, first->start + first->length);
	struct weft__words *w = weft__clause(s, 5);
	if (count > 1)
		weft__words_add(w, "%" PRIu32 " times nothing runs for about ", count);
	else
		weft__words_add(w, "Nothing runs for ");
	weft__words_add_length(w, longest->length);
	if (count > 1) {
		w = weft__clause(s, 3);
		weft__words_add(w, ", first");
	}
	w = weft__clause(s, 3);
	weft__words_add(w, " from ");
	weft__words_add_time(w, gaps->model, first->start);
	if (awaited != WEFT_NONE) {
		w = weft__clause(s, 4);
		weft__words_add(w, ", until ");
		weft__words_add_subject(w, gaps->model, awaited, 32);
		weft__words_add(w, " ends");
	}
	if (gaps->usual_ns) {
		w = weft__clause(s, 2);
		weft__words_add(w, "; usual gaps take ");
		weft__words_add_length(w, gaps->usual_ns);
	}
}

/* Adds gaps [from, to), which have about one length. */
static void add_cluster(struct gaps *gaps, uint32_t from, uint32_t to, uint64_t sum)
{
	const struct gap *first = &gaps->list[from];
	struct weft__sentence s;
	for (uint32_t i = from; i < to; i++)
		if (gaps->list[i].start < first->start)
			first = &gaps->list[i];
	struct weft_problem problem = {
		.type = WEFT_PROBLEM_IDLE_GAP,
		.severity = WEFT_SEVERITY_HINT,
		.count = to - from,
		.start = first->start,
		.end = first->start + first->length,
		.task = WEFT_NONE,
		.thread = WEFT_NONE,
		.counter = WEFT_NONE,
		.edge = WEFT_NONE,
	};
	for (uint32_t i = from; i < to && to - from > 1; i++)
		weft__find_period(
			gaps->findings, gaps->list[i].start, gaps->list[i].start + gaps->list[i].length);
	write_gaps(&s, gaps, first, &gaps->list[from + (to - from) / 2], to - from);
	weft__find(gaps->findings, &problem, sum, &s);
}

/* The lower quartile of the gaps that are not negligible. */
static uint64_t find_usual(const struct gaps *gaps)
{
	uint32_t count = gaps->count;
	while (count && gaps->list[count - 1].length < gaps->trace_ns / BREATH_SHARE)
		count--;
	return count ? gaps->list[count - 1 - (count - 1) / 4].length : 0;
}

static bool is_long(const struct gaps *gaps, uint64_t length)
{
	if (gaps->count < FEW)
		return length >= gaps->trace_ns / LONELY_SHARE;
	return length >= gaps->long_ns;
}

/* The shortest suspicious gap: far longer than usual, and clearly longer than all shorter ones. */
static uint64_t find_long(const struct gaps *gaps)
{
	uint64_t found = UINT64_MAX;
	for (uint32_t i = 0; i < gaps->count; i++) {
		uint64_t length = gaps->list[i].length;
		if (length / FAR_LONGER < gaps->usual_ns)
			break;
		if (i + 1 == gaps->count || length / GAP_RATIO >= gaps->list[i + 1].length)
			found = length;
	}
	return found;
}

/* Adds clusters: a cluster ends where gaps are a quarter shorter than its longest. */
static void add_clusters(struct gaps *gaps)
{
	uint32_t clusters = 0;
	for (uint32_t i = 0, next; i < gaps->count && clusters < CLUSTERS_MAX; i = next) {
		uint64_t sum = 0, longest = gaps->list[i].length;
		for (next = i; next < gaps->count; next++) {
			uint64_t length = gaps->list[next].length;
			if (!is_long(gaps, length) || length < longest - longest / 4)
				break;
			sum += length;
		}
		if (next == i)
			return;
		if (sum >= gaps->trace_ns / LEAST_SHARE) {
			add_cluster(gaps, i, next, sum);
			clusters++;
		}
	}
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
	int error = find_gaps(&gaps);
	if (error) {
		findings->error = error;
	} else {
		drop_last(&gaps);
		if (gaps.count) {
			qsort(gaps.list, gaps.count, sizeof(*gaps.list), by_length);
			if (gaps.count >= FEW) {
				gaps.usual_ns = find_usual(&gaps);
				gaps.long_ns = find_long(&gaps);
			}
			add_clusters(&gaps);
		}
	}
	free(gaps.list);
}

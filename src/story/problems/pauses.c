/* SPDX-License-Identifier: ISC
 *
 * Pauses for garbage collection that are long, or that together take much of the time. If other
 * programs had the processor meanwhile, that is not the collector's fault.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "story/blocking.h"
#include "story/problems/findings.h"
#include "story/things.h"

#define LONG_SHARE 100 /* 1 / share of a trace: minimum length of a reported pause, … */
#define LONG_NS    (50 * WEFT__MS) /* … and in a long trace that length */
#define ALL_SHARE  10              /* 1 / share of a trace: for all pauses of a thread */

struct pauses {
	uint32_t count;
	uint64_t sum_ns;
	const struct weft_band_period *longest;
};

static uint64_t length_of(const struct weft_band_period *band)
{
	return band->end > band->start ? band->end - band->start : 0;
}

static void sum_up(const struct weft_model *model, struct pauses *of_threads)
{
	for (uint32_t i = 0; i < model->band_count; i++) {
		const struct weft_band_period *band = &model->bands[i];
		if (band->kind != WEFT_BAND_GC || band->thread >= model->thread_count || !length_of(band))
			continue;
		struct pauses *pauses = &of_threads[band->thread];
		pauses->count++;
		pauses->sum_ns += length_of(band);
		if (!pauses->longest || length_of(band) > length_of(pauses->longest))
			pauses->longest = band;
	}
}

/* For how long of a pause its thread had no processor: as far as that is known, or as much of it as
 * of the whole activation. */
static uint64_t off_in(const struct weft_model *model, const struct weft_band_period *band)
{
	const struct weft_activations *a = &model->activations;
	uint64_t off_ns = weft__story_preempted_ns(model, band->thread, band->start, band->end);
	for (uint32_t i = 0; i < a->count; i++) {
		if (a->thread[i] != band->thread || a->start[i] > band->start || a->end[i] < band->end)
			continue;
		const uint64_t all_ns =
			weft__story_preempted_ns(model, band->thread, a->start[i], a->end[i]);
		const uint64_t part_ns = (uint64_t)((double)all_ns * (double)length_of(band) /
											(double)(a->end[i] - a->start[i]));
		off_ns = part_ns > off_ns ? part_ns : off_ns;
	}
	return off_ns;
}

static bool is_long(const struct weft__findings *findings, const struct pauses *pauses)
{
	const struct weft_model *model = findings->story->model;
	const uint64_t trace_ns = model->summary.end - model->summary.start;
	const uint64_t least_ns = weft__story_least_ns(findings, LONG_SHARE, LONG_NS);
	const uint64_t longest_ns = length_of(pauses->longest);
	if (longest_ns < least_ns && pauses->sum_ns < trace_ns / ALL_SHARE)
		return false;
	const uint64_t off_ns = off_in(model, pauses->longest);
	return longest_ns >= least_ns + off_ns || pauses->sum_ns >= trace_ns / ALL_SHARE + off_ns;
}

static void add_pauses(
	struct weft__findings *findings, uint32_t thread, const struct pauses *pauses)
{
	const struct weft_model *model = findings->story->model;
	uint64_t trace_ns = model->summary.end - model->summary.start;
	struct weft__sentence s;
	struct weft_problem problem =
		weft__story_problem(WEFT_PROBLEM_GC, WEFT_SEVERITY_WARNING, pauses->count,
			(struct weft__case){WEFT_NONE, pauses->longest->start, pauses->longest->end});
	problem.thread = thread;
	weft__story_sentence_init(&s);
	struct weft__words *w = weft__story_clause(&s, 5);
	if (pauses->count > 1)
		weft__story_words_add(
			w, "%" PRIu32 " times GC stops everything, for up to ", pauses->count);
	else
		weft__story_words_add(w, "GC stops everything for ");
	weft__story_words_add_length(w, length_of(pauses->longest));
	w = weft__story_clause(&s, 4);
	weft__story_words_add(w, " from ");
	weft__story_words_add_time(w, model, pauses->longest->start);
	w = weft__story_clause(&s, 3);
	weft__story_words_add(w, ", ");
	weft__story_words_add_real(w, (double)pauses->sum_ns * 100 / (double)trace_ns, 3);
	weft__story_words_add(w, " %% of the time");
	if (model->thread_count > 1)
		weft__story_words_add_thread(weft__story_clause(&s, 2), model, thread);
	weft__story_find(findings, &problem, pauses->sum_ns, &s);
}

/* Reports only the thread that pauses longest, since threads usually pause together. */
void weft__find_pauses(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	struct pauses *pauses = calloc(model->thread_count + (size_t)1, sizeof(*pauses));
	uint32_t worst = 0;
	if (!pauses) {
		findings->error = WEFT_ERROR_MEMORY;
		return;
	}
	sum_up(model, pauses);
	for (uint32_t thread = 1; thread < model->thread_count; thread++)
		if (pauses[thread].sum_ns > pauses[worst].sum_ns)
			worst = thread;
	if (pauses[worst].count && is_long(findings, &pauses[worst]))
		add_pauses(findings, worst, &pauses[worst]);
	free(pauses);
}

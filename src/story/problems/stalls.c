/* SPDX-License-Identifier: ISC
 *
 * Compares a run with all others of its thread, in one pass over the activations.
 */
#include "story/problems/stalls.h"

/* Runs of other tasks that show what is usual for a thread; and how many of them are before and
 * after a stall, which is no start or end of a program. */
#define OTHERS_MIN 1000
#define AROUND_MIN 16
#define OF_MEAN    64 /* ratio to the mean run of the thread */
#define OF_99      8  /* ratio to 99 of 100 runs */

/* The other runs of a thread. */
struct usual {
	uint64_t count, longer, sum_ns;
	uint64_t before, after, foreign; /* runs of other tasks */
};

static void add_run(struct usual *u, const struct weft_activations *a, uint32_t i,
	const struct weft__long_run *run, bool is_foreign)
{
	uint64_t length = a->end[i] - a->start[i];
	if (a->thread[i] != run->thread || a->start[i] == run->start)
		return;
	u->count++;
	u->sum_ns += length;
	u->longer += length > (run->end - run->start) / OF_99;
	u->foreign += is_foreign;
	u->before += is_foreign && a->end[i] <= run->start;
	u->after += is_foreign && a->start[i] >= run->end;
}

bool weft__story_is_stall(const struct weft_model *model, const struct weft__long_run *run)
{
	const struct weft_tasks *t = &model->tasks;
	struct usual u = {0};
	for (uint32_t task = 0; task < t->count; task++)
		for (uint32_t i = t->first_activation[task]; i < t->end_activation[task]; i++)
			add_run(&u, &model->activations, i, run, task != run->task);
	return u.foreign >= OTHERS_MIN && u.before >= AROUND_MIN && u.after >= AROUND_MIN &&
		   u.longer <= u.count / 100 && (run->end - run->start) / OF_MEAN >= u.sum_ns / u.count;
}

/* SPDX-License-Identifier: ISC
 *
 * When a timer was due, and how late it fired. A program records the deadline as a tag with a
 * value: the nanoseconds from the tag's time on.
 */
#include <string.h>

#include "base/export.h"
#include "story/index.h"

/* Notes of a timer that are searched for its deadline, from the last one back. */
#define NOTES_MAX 64

/* A timer is late from 1 ms on, if that is also a tenth of the time for which it was set. */
#define LATE_NS    1000000
#define LATE_SHARE 10

/* The latest deadline counts; WEFT_NONE: there is none. */
static uint32_t find_deadline(const struct weft_model *model, uint32_t task)
{
	uint32_t first = model->tasks.first_note[task], end = model->tasks.end_note[task];
	uint32_t least = end - first > NOTES_MAX ? end - NOTES_MAX : first;
	for (uint32_t note = end; note > least; note--)
		if (weft__story_is_tag(model, note - 1, WEFT_TAG_DEADLINE))
			return note - 1;
	return WEFT_NONE;
}

/* A deadline may have passed already when it is set, but not before the trace. */
static uint64_t due_at(uint64_t time, int64_t value)
{
	uint64_t distance = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	if (value < 0)
		return distance < time ? time - distance : 0;
	return distance < UINT64_MAX - time ? time + distance : UINT64_MAX;
}

/* When the timer's task first ran after its deadline was set; UINT64_MAX: never. */
static uint64_t ran_at(const struct weft_model *model, uint32_t task, uint64_t set)
{
	const uint32_t next =
		model->tasks.first_activation[task] + weft__story_activations_until(model, task, set);
	return next < model->tasks.end_activation[task] ? model->activations.start[next] : UINT64_MAX;
}

WEFT__EXPORT bool weft_story_timer(
	const struct weft_model *model, uint32_t task, struct weft_story_timer *ret_timer)
{
	const struct weft_tasks *t = &model->tasks;
	uint32_t note = t->kind[task] == WEFT_KIND_TIMER ? find_deadline(model, task) : WEFT_NONE;
	if (note == WEFT_NONE)
		return false;
	const uint64_t set = model->notes.time[note];
	struct weft_story_timer timer = {.due = due_at(set, model->notes.value[note])};
	const uint64_t ran = ran_at(model, task, set);
	bool has_ended = t->flags[task] & WEFT_TASK_RESOLVED;
	timer.has_fired = has_ended ? t->outcome[task] == WEFT_OUTCOME_FULFILLED : ran != UINT64_MAX;
	uint64_t until = has_ended ? t->end[task] : model->summary.end;
	if (ran < until)
		until = ran;
	if ((timer.has_fired || !has_ended) && until > timer.due)
		timer.late_ns = until - timer.due;
	uint64_t length = timer.due > set ? timer.due - set : 0;
	timer.is_late = timer.late_ns >= LATE_NS && timer.late_ns >= length / LATE_SHARE;
	*ret_timer = timer;
	return true;
}

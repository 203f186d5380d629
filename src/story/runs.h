/* SPDX-License-Identifier: ISC
 *
 * When a task ran before and after a time, and whether it was woken for that. Two kinds of
 * activations are no wake-ups: one that begins because another task becomes this one, which may
 * wait already (a bind of Lwt is created, tries to read and is then become); and a short one right
 * before or after an idle band that interrupts it, in which the task does nothing. An event loop
 * that polls without leaving its current task has such activations of that task.
 */
#ifndef WEFT_STORY_RUNS_H
#define WEFT_STORY_RUNS_H

#include "story/index.h"

struct weft__runs {
	uint64_t idle_since; /* when it last stopped running, or its start */
	uint64_t woken;      /* the beginning of the last activation that is a wake-up … */
	uint64_t next;       /* … and of the next one; UINT64_MAX: never again */
	bool has_woken;
	bool is_running;
};

void weft__story_runs_at(
	const struct weft_story *story, uint32_t task, uint64_t at_ns, struct weft__runs *ret_runs);

#endif

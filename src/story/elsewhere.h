/* SPDX-License-Identifier: ISC
 *
 * Holders of locks in other processes. A recorder tags what is waited for with the number of the
 * thread or process that holds it (weft/ends.h): a lock when the wait begins, the call that waits
 * for a file's lock as soon as the process is found. Readers find its task.
 */
#ifndef WEFT_STORY_ELSEWHERE_H
#define WEFT_STORY_ELSEWHERE_H

#include <weft/story.h>

struct weft__elsewhere {
	uint64_t number; /* of the thread or process */
	uint64_t time;   /* when it was seen to be the holder */
	bool is_process;
	uint32_t buffer;  /* of the process; WEFT_NONE: it is not in the trace */
	uint32_t task;    /* of the thread, or of a process's only one; else WEFT_NONE */
	uint32_t threads; /* of a process */
};

/* Finds the holder of what `task` stands for that was noted last by a time; of a call, the one that
 * was noted later if none was yet. False if there is none, or if a task of the trace got it between
 * the two times. */
bool weft__story_held_elsewhere(
	const struct weft_story *story, uint32_t task, uint64_t at_ns, struct weft__elsewhere *ret);

#endif

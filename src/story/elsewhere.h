/* SPDX-License-Identifier: ISC
 *
 * Holders of locks in other processes. A recorder tags what is waited for with the number of the
 * thread or process that holds it (weft/ends.h): a lock when the wait begins, the call that waits
 * for a file's lock as soon as the process is found. Readers find its task.
 */
#ifndef WEFT_STORY_ELSEWHERE_H
#define WEFT_STORY_ELSEWHERE_H

#include "story/words.h"

struct weft__elsewhere {
	uint64_t number; /* of the thread or process */
	uint64_t time;   /* when it was seen to be the holder */
	bool is_process;
	/* A lock that processes do not share: the thread had it when it was forked. In the process that
	 * waits nobody has it, and nobody gives it back. */
	bool is_copy;
	bool has_ended;  /* the process, before it was seen to be the holder */
	uint32_t heir;   /* then the buffer of the only one that may have its open file, or WEFT_NONE */
	uint32_t buffer; /* of the process; WEFT_NONE: it is not in the trace */
	uint32_t task;   /* of the thread, or of a process's only one; else WEFT_NONE */
	uint32_t threads; /* of a process */
};

/* Finds the holder of what `task` stands for that was noted last by a time; of a call, the one that
 * was noted later if none was yet. False if there is none, or if a task of the trace got it between
 * the two times. */
bool weft__story_held_elsewhere(
	const struct weft_story *story, uint32_t task, uint64_t at_ns, struct weft__elsewhere *ret);

/* Appends "; logger had it at the fork, nobody has it here" of a copy. */
void weft__story_add_holder_at_fork(struct weft__sentence *sentence, const struct weft_model *model,
	const struct weft__elsewhere *holder, unsigned worth);

#endif

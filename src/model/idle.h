/* SPDX-License-Identifier: ISC
 *
 * The times in which nothing runs: all threads that exist then are idle. A thread exists from its
 * first activation or band to the end of its last one (struct weft_presence). A process that is
 * being started runs, too: it is loaded from the time at which another task sent the first message
 * that one of its tasks receives before its first activation.
 */
#ifndef WEFT_MODEL_IDLE_H
#define WEFT_MODEL_IDLE_H

#include <weft/model.h>

struct weft__idle {
	uint64_t start, end; /* ns */
	uint32_t threads;    /* that exist then, at most */
};

/* Lists these times in their order. Idle bands that touch make one. The caller frees `*ret_list`.
 * 0; WEFT_ERROR_MEMORY; WEFT_ERROR_LIMIT for a trace of 2^62 ns or more, which is damaged. */
int weft__model_idle(
	const struct weft_model *model, struct weft__idle **ret_list, uint32_t *ret_count);

#endif

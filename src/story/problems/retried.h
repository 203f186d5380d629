/* SPDX-License-Identifier: ISC
 *
 * Calls that failed and were tried again with success, as the adapters see them: a program connects
 * to a server that is still starting, or to `localhost` by IPv6 and then by IPv4. The error was
 * told to the caller, who went on.
 */
#ifndef WEFT_STORY_PROBLEMS_RETRIED_H
#define WEFT_STORY_PROBLEMS_RETRIED_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/model.h>

struct weft__attempt;

/* The attempts of a trace that did not fail. */
struct weft__attempts {
	struct weft__attempt *list; /* by target and start */
	uint32_t count;
};

/* 0 or WEFT_ERROR_MEMORY; call finish in both cases. */
int weft__story_attempts_init(struct weft__attempts *attempts, const struct weft_model *model);
void weft__story_attempts_finish(struct weft__attempts *attempts);

/* True if the failed task is an attempt of the adapters, and a later one of its process with the
 * same target, or the same port at another address, did not fail. */
bool weft__story_tried_again(
	const struct weft__attempts *attempts, const struct weft_model *model, uint32_t task);

#endif

/* SPDX-License-Identifier: ISC
 *
 * Tasks that end when something comes from outside of the program, or when there is work: a service
 * at rest waits for one of these, for ever if nothing comes.
 */
#ifndef WEFT_STORY_PROBLEMS_OUTSIDE_H
#define WEFT_STORY_PROBLEMS_OUTSIDE_H

#include <weft/model.h>

/* True for a call that waits for signals. */
bool weft__story_is_for_signals(const struct weft_model *model, uint32_t task);

enum weft__job_origin {
	WEFT__INSIDE,
	WEFT__PERHAPS_OUTSIDE, /* an event or condition of asyncio, which anybody may set */
	WEFT__OUTSIDE,         /* such a call, a listening socket, a job for a service of asyncio */
};

enum weft__job_origin weft__story_comes_from_outside(const struct weft_model *model, uint32_t task);

#endif

/* SPDX-License-Identifier: ISC
 *
 * Holds that outlive their tasks, for the finders of problems with resources.
 */
#ifndef WEFT_STORY_PROBLEMS_UNRELEASED_H
#define WEFT_STORY_PROBLEMS_UNRELEASED_H

#include "story/holders.h"

/* The holds of a resource whose tasks ended without giving it back: they last until the trace's
 * end. 0 or WEFT_ERROR_MEMORY; the caller finishes *ret_left in both cases. */
int weft__story_left_holds(
	const struct weft_story *story, uint32_t resource, struct weft__holders *ret_left);

#endif

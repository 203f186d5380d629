/* SPDX-License-Identifier: ISC
 *
 * Applies a filter in steps of some milliseconds, between which the caller may do something else,
 * or give it up.
 */
#ifndef WEFT_STORY_FILTERING_H
#define WEFT_STORY_FILTERING_H

#include <weft/error.h>
#include <weft/filter.h>

struct weft__filtering;

/* The model must outlive it; `filter` need not. 0 or WEFT_ERROR_MEMORY. */
int weft__story_filtering_create(
	const struct weft_model *model, const char *filter, struct weft__filtering **ret_filtering);
/* WEFT_AGAIN if there is more to do, 0 with the bytes that weft_filter_tasks() returns, or
 * WEFT_ERROR_MEMORY. It can then only be destroyed; destroying it earlier gives it up. */
int weft__story_filtering_step(struct weft__filtering *filtering, uint8_t **ret_hidden);
void weft__story_filtering_destroy(struct weft__filtering *filtering);

#endif

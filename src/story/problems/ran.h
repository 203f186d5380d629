/* SPDX-License-Identifier: ISC
 *
 * The function that a task ran for most of a time, by samples of the processor time.
 */
#ifndef WEFT_STORY_PROBLEMS_RAN_H
#define WEFT_STORY_PROBLEMS_RAN_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/model.h>

struct weft__ran_most {
	uint32_t function; /* string */
	uint32_t count;    /* samples in it */
	uint32_t of;       /* samples of the task in that time */
};

/* False if there are fewer than three samples, or no function has more than half of them. */
bool weft__story_ran_most(const struct weft_model *model, uint32_t task, uint64_t start_ns,
	uint64_t end_ns, struct weft__ran_most *ret_most);

#endif

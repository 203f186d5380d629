/* SPDX-License-Identifier: ISC
 *
 * The function of the program in which a task was for most of a time, by samples of the processor
 * time.
 */
#ifndef WEFT_STORY_PROBLEMS_RAN_H
#define WEFT_STORY_PROBLEMS_RAN_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/model.h>

struct weft__ran_most {
	struct weft_slice function; /* of the model's strings */
	uint32_t count;             /* samples in it, or in what it calls */
	uint32_t in_kernel;         /* of those */
	uint32_t of;                /* samples of the task in that time */
};

/* False if there are fewer than three samples, or no function has more than half of them. */
bool weft__story_ran_most(const struct weft_model *model, uint32_t task, uint64_t start_ns,
	uint64_t end_ns, struct weft__ran_most *ret_most);

#endif

/* SPDX-License-Identifier: ISC
 *
 * See ran.h. A function that more than half of the samples have is the one that is left when each
 * sample of another function takes one of its samples away; a second pass counts.
 */
#include "story/problems/ran.h"

#include "base/search.h"

#define SAMPLES_MIN 3

static bool is_before(const void *context, uint32_t row, uint64_t time)
{
	const struct weft_code_sample *list = context;
	return list[row].time < time;
}

bool weft__story_ran_most(const struct weft_model *model, uint32_t task, uint64_t start_ns,
	uint64_t end_ns, struct weft__ran_most *ret_most)
{
	const struct weft_code_sample *list = model->code_samples;
	const uint32_t first = weft__search(list, 0, model->code_sample_count, is_before, start_ns);
	const uint32_t end = weft__search(list, 0, model->code_sample_count, is_before, end_ns);
	struct weft__ran_most most = {.function = WEFT_NONE};
	uint32_t left = 0;
	for (uint32_t i = first; i < end; i++) {
		if (list[i].task != task)
			continue;
		most.of++;
		if (!left)
			most.function = list[i].function;
		left += list[i].function == most.function ? 1 : UINT32_MAX;
	}
	for (uint32_t i = first; i < end; i++)
		most.count += list[i].task == task && list[i].function == most.function;
	if (most.of < SAMPLES_MIN || most.function == WEFT_NONE || most.count <= most.of / 2)
		return false;
	*ret_most = most;
	return true;
}

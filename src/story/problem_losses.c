/* SPDX-License-Identifier: ISC
 *
 * Losses as problems: what is missing may be the very thing that is looked for.
 */
#include "story/problems.h"
#include "story/things.h"

void weft__find_losses(struct weft__findings *findings)
{
	const struct weft_model *model = findings->story->model;
	uint64_t sum = weft__count_losses(model->losses);
	struct weft__sentence s;
	if (!sum)
		return;
	struct weft_problem problem = {
		.type = WEFT_PROBLEM_LOSS,
		.severity = WEFT_SEVERITY_WARNING,
		.count = sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX,
		.start = model->summary.start,
		.end = model->summary.end,
		.task = WEFT_NONE,
		.thread = WEFT_NONE,
		.counter = WEFT_NONE,
	};
	weft__sentence_init(&s);
	struct weft__words *w = weft__clause(&s, 2);
	weft__say_count(w, sum, "event");
	weft__say(w, " %s lost", sum == 1 ? "is" : "are");
	w = weft__clause(&s, 1);
	weft__say(w, ": ");
	weft__say_losses(w, model->losses);
	weft__find(findings, &problem, sum, &s);
}

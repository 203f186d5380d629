/* SPDX-License-Identifier: ISC
 *
 * Judges problems of traces in which events are missing.
 */
#ifndef WEFT_STORY_PROBLEMS_DARK_H
#define WEFT_STORY_PROBLEMS_DARK_H

#include <weft/problems.h>

/* Makes a problem of the buffer (WEFT_NONE: of any) milder if the missing events might explain it.
 * False if there may be no problem at all. */
bool weft__story_judge_in_the_dark(
	const struct weft_model *model, uint32_t buffer, struct weft_problem *problem);

#endif

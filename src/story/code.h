/* SPDX-License-Identifier: ISC
 *
 * The function that a task's label names, and where it is in the program's source.
 */
#ifndef WEFT_STORY_CODE_H
#define WEFT_STORY_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/model.h>

struct weft__code {
	struct weft_slice function, location; /* "main", "hello.c:12" */
};

/* False if the label names no function whose location the trace knows. */
bool weft__story_code_of(
	const struct weft_model *model, uint32_t task, struct weft__code *ret_code);

#endif

/* SPDX-License-Identifier: ISC
 *
 * A running program's buffer, mapped by who tells it what to record.
 */
#ifndef WEFT_FOLLOW_CONTROL_H
#define WEFT_FOLLOW_CONTROL_H

#include <stddef.h>

#include <weft/follow.h>

#include "abi/buffer_abi.h"
#include "follow/process.h"
#include "format/weft_buffer.h"
#include "format/weft_categories.h"

struct weft_control {
	struct weft_abi_buffer *header; /* the mapping; what is in it may change at any time */
	size_t size;
	int refused; /* errno of opening it for writing; 0: it may be written */
	struct weft__process process;
	struct weft__buffer buffer;
	struct weft__categories categories;
	struct weft_diagnostics diagnostics;
	struct weft_trace_description description;
};

/* May this be written, and does it reach anybody? 0, or an error as of weft_control_set_level. */
int weft__control_check(struct weft_control *control);

#endif

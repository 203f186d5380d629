/* SPDX-License-Identifier: ISC
 *
 * A running program's buffer, mapped to control the program. In that of a guest of Xen, only the
 * header is writable.
 */
#ifndef WEFT_FOLLOW_CONTROL_H
#define WEFT_FOLLOW_CONTROL_H

#include <stddef.h>

#include <weft/follow.h>

#include "abi/buffer_abi.h"
#include "follow/process.h"
#include "format/weft/buffer.h"
#include "format/weft/categories.h"

struct weft_control {
	struct weft_abi_buffer *header; /* the mapping; its content may change at any time */
	size_t size;
	struct weft_guest *guest;     /* whose the mapping is; NULL: a process's buffer */
	struct weft_abi_buffer *page; /* the header, writable; NULL: not permitted */
	int refused;                  /* errno of opening it for writing; 0: it is writable */
	struct weft__process process;
	struct weft__buffer buffer;
	struct weft__categories categories;
	struct weft_diagnostics diagnostics;
	struct weft_trace_description description;
};

#endif

/* SPDX-License-Identifier: ISC
 *
 * Begin and end of tasks of requests and handles, in libuv's terms.
 */
#include "uv/adapter.h"

struct weft__hooks_end weft__uv_end_of(int status)
{
	enum weft__hooks_ending how = status == UV_ECANCELED ? WEFT__HOOKS_CANCELLED
								  : status < 0           ? WEFT__HOOKS_FAILED
														 : WEFT__HOOKS_RESOLVED;
	return (struct weft__hooks_end){how, status, weft__uv_append_error};
}

int weft__uv_asked(const void *request, int result)
{
	if (result < 0)
		weft__hooks_refused(request, weft__uv_end_of(result));
	return result;
}

struct weft__hooks_run weft__uv_begin_request(const void *request, int status)
{
	return weft__hooks_begin_request(
		request, weft__uv_end_of(status), weft_enabled(WEFT_LEVEL_INFO));
}

/* libuv refuses some requests before it reads their buffers. */
size_t weft__uv_size(const uv_buf_t buffers[], unsigned count)
{
	enum {
		FEW = 16
	};
	uv_buf_t copies[FEW];
	size_t size = 0;
	for (unsigned i = 0, some; i < count; i += some) {
		some = count - i < FEW ? count - i : FEW;
		if (!weft__hooks_copy(copies, buffers + i, some * sizeof(*buffers)))
			break;
		for (unsigned at = 0; at < some; at++)
			size += copies[at].len;
	}
	return size;
}

void weft__uv_count_written(size_t size)
{
	int saved = weft__hooks_begin();
	weft_counter_add("bytes written", (int64_t)size);
	weft__hooks_end(saved);
}

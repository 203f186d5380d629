/* SPDX-License-Identifier: ISC
 *
 * The events of a whole xentrace file.
 */
#ifndef WEFT_FORMAT_XENTRACE_WHOLE_H
#define WEFT_FORMAT_XENTRACE_WHOLE_H

#include <weft/event.h>

struct weft__xentrace_reader;
struct weft__xentrace_whole;

/* Reads the whole file once, and describes its buffers. 0 or an error of the library. */
int weft__format_xentrace_whole_create(
	struct weft__xentrace_reader *reader, struct weft__xentrace_whole **ret_whole);
void weft__format_xentrace_whole_destroy(struct weft__xentrace_whole *whole);

/* WEFT_OK and an event, WEFT_END, or an error. */
int weft__format_xentrace_whole_next(
	struct weft__xentrace_whole *whole, struct weft_event *ret_event);

#endif

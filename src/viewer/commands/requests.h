/* SPDX-License-Identifier: ISC
 *
 * Requests to the shell.
 */
#ifndef WEFT_VIEWER_REQUESTS_H
#define WEFT_VIEWER_REQUESTS_H

#include <weft/viewer.h>

struct weft_viewer;

#define WEFT__REQUESTS_MAX 32

struct weft__requests {
	struct weft_viewer_request list[WEFT__REQUESTS_MAX];
	char *texts[WEFT__REQUESTS_MAX];
	unsigned first, count;
	char *given; /* the text of the request that the shell got last */
};

/* requests.c */
void weft__viewer_request(struct weft_viewer *viewer, enum weft_viewer_request_type type,
	const char *text, uint64_t start, uint64_t end);

/* link.c */
void weft__viewer_copy_link(struct weft_viewer *viewer);
void weft__viewer_copy_command(struct weft_viewer *viewer);
void weft__viewer_copy_window(struct weft_viewer *viewer);
/* "start=12ms duration=3ms task=12"; false if a part was invalid and ignored. */
bool weft__viewer_run_view(struct weft_viewer *viewer, const char *arguments);

#endif

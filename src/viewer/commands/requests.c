/* SPDX-License-Identifier: ISC
 *
 * A short queue of requests to the shell. If the shell never fetches them, the oldest are dropped.
 */
#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "viewer/state.h"

static void forget_first(struct weft_viewer *viewer)
{
	free(viewer->requests.texts[viewer->requests.first]);
	viewer->requests.texts[viewer->requests.first] = NULL;
	viewer->requests.first = (viewer->requests.first + 1) % WEFT__REQUESTS_MAX;
	viewer->requests.count--;
}

void weft__viewer_request(struct weft_viewer *viewer, enum weft_viewer_request_type type,
	const char *text, uint64_t start, uint64_t end)
{
	size_t size = strlen(text) + 1;
	char *copy = malloc(size);
	if (!copy)
		return;
	memcpy(copy, text, size);
	if (viewer->requests.count == WEFT__REQUESTS_MAX)
		forget_first(viewer);
	unsigned at = (viewer->requests.first + viewer->requests.count++) % WEFT__REQUESTS_MAX;
	viewer->requests.texts[at] = copy;
	viewer->requests.list[at] = (struct weft_viewer_request){(uint8_t)type, copy, start, end};
	viewer->changes |= WEFT_VIEWER_REQUEST;
}

WEFT__EXPORT bool weft_viewer_next_request(
	struct weft_viewer *viewer, struct weft_viewer_request *ret_request)
{
	free(viewer->requests.given); /* the shell has read it */
	viewer->requests.given = NULL;
	if (viewer->requests.count == 0)
		return false;
	unsigned at = viewer->requests.first;
	*ret_request = viewer->requests.list[at];
	viewer->requests.given = viewer->requests.texts[at];
	viewer->requests.texts[at] = NULL;
	forget_first(viewer);
	return true;
}

/* SPDX-License-Identifier: ISC
 *
 * The failures that the ruler and the overview mark, by time.
 */
#ifndef WEFT_RENDER_FAILURES_H
#define WEFT_RENDER_FAILURES_H

#include <weft/render.h>

/* The task that failed, or never resolved, nearest to `at`, if any did from `first` to `last`
 * (included), and the number of those that did; else WEFT_NONE. */
uint32_t weft__render_failure_near(const struct weft_scene *scene, uint64_t first, uint64_t at,
	uint64_t last, uint32_t *ret_count);

#endif

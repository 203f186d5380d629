/* SPDX-License-Identifier: ISC
 *
 * How long spans take at least of which only the begin was recorded: see quickest.c.
 */
#ifndef WEFT_RENDER_SCENE_QUICKEST_H
#define WEFT_RENDER_SCENE_QUICKEST_H

#include <stdint.h>

struct weft__quickest {
	uint32_t *operation; /* by string: of spans of that name; NULL: there are none */
	uint64_t *ns;        /* by operation */
};

void weft__render_quickest_finish(struct weft__quickest *quickest);

struct weft_scene;
struct weft_span;

/* The time from which on a span may have ended: its end, if that was recorded. */
uint64_t weft__render_scene_certain_until(
	const struct weft_scene *scene, const struct weft_span *span);

#endif

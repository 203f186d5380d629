/* SPDX-License-Identifier: ISC
 *
 * See failures.h.
 */
#include "render/failures.h"

#include "base/ns.h"
#include "render/scene/scene.h"

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

uint32_t weft__render_failure_near(
	const struct weft_scene *scene, uint64_t first, uint64_t at, uint64_t last, uint32_t *ret_count)
{
	const uint64_t *ends = scene->problem_ends;
	uint32_t from = weft__render_scene_problem_from(scene, 0, first);
	uint32_t to = weft__render_scene_problem_from(scene, from, weft__ns_add(last, 1));
	if (from == to)
		return WEFT_NONE;
	uint32_t next = weft__render_scene_problem_from(scene, from, at);
	if (next >= to || (next > from && distance(ends[next - 1], at) < distance(ends[next], at)))
		next--;
	*ret_count = to - from;
	return scene->problems[next];
}

/* SPDX-License-Identifier: ISC
 *
 * The overview's pixels in a squeezed view. The scene's own columns have equal lengths of time, of
 * which few may be outside of the stripes; so here each pixel is counted, by searches.
 */
#include <math.h>

#include "base/ns.h"
#include "base/search.h"
#include "render/painter.h"

/* Where a pixel begins, and what there is before. */
struct before {
	uint64_t time;
	uint32_t tick, runs, problems;
};

static struct before count_before(
	const struct weft_scene *scene, const struct weft__strip *strip, double px, uint32_t problem)
{
	uint64_t time = weft_view_time(&strip->view, px);
	uint32_t tick = weft__render_census_tick(scene, time);
	return (struct before){time, tick, weft__render_point_set_from(&scene->census.runs, tick),
		weft__render_scene_problem_from(scene, problem, time)};
}

/* The end of the last pixel: nothing comes after it. */
static struct before count_all(const struct weft_scene *scene, const struct weft__strip *strip)
{
	return (struct before){strip->view.end, UINT32_MAX,
		weft__render_point_set_from(&scene->census.runs, UINT32_MAX), scene->problem_count};
}

static bool has_ended(const void *context, uint32_t band, uint64_t time)
{
	const struct weft__bands *bands = context;
	return bands->list[band].end <= time;
}

static bool is_idle(const struct weft_scene *scene, uint64_t time)
{
	uint32_t band = weft__search(&scene->idle, 0, scene->idle.count, has_ended, time);
	return band < scene->idle.count && scene->idle.list[band].start <= time;
}

static struct weft__overview_column make_column(
	const struct weft_scene *scene, const struct before *from, const struct before *to)
{
	double ns = fmax((double)(to->time - from->time), 1);
	uint32_t never = scene->never_before[to->problems] - scene->never_before[from->problems];
	return (struct weft__overview_column){
		.running = (double)(to->runs - from->runs) * (double)scene->census.run_ns / ns,
		.idle = is_idle(scene, from->time + (to->time - from->time) / 2),
		.alive = weft__render_census_alive(scene, from->time, weft__ns_add(from->time, 1)),
		.failed = to->problems - from->problems - never,
		.never_resolved = never,
	};
}

void weft__render_count_columns(const struct weft_scene *scene, const struct weft__strip *strip,
	unsigned count, struct weft__overview_column *ret_columns)
{
	struct before from = count_before(scene, strip, 0, 0);
	for (unsigned px = 0; px < count; px++) {
		struct before to = px + 1 < count ? count_before(scene, strip, px + 1.0, from.problems)
										  : count_all(scene, strip);
		ret_columns[px] = make_column(scene, &from, &to);
		from = to;
	}
}

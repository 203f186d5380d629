/* SPDX-License-Identifier: ISC
 *
 * Scales of counters: counters whose names are equal up to the last '#' share a scale, so that
 * "queue#rx" and "queue#tx" can be compared. One pair of Mirage's TCP counters shares a scale under
 * other names.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "render/scene/scene.h"

/* The smallest span of a scale with integers, so that tiny changes are not magnified to the
 * picture's height. Real numbers have no smallest step. */
#define LEAST_SPAN 10

struct member {
	struct weft_slice family;
	uint32_t counter;
};

static struct weft_slice family(const struct weft_model *model, uint32_t counter)
{
	static const char acknowledged[] = "tcp-ackd-segs", sent[] = "tcp-to-ip";
	struct weft_slice name = weft_model_string(model, model->counters[counter].name);
	if (name.size == sizeof(acknowledged) - 1 && memcmp(name.bytes, acknowledged, name.size) == 0)
		return (struct weft_slice){sent, sizeof(sent) - 1};
	for (size_t at = name.size; at > 0; at--)
		if (name.bytes[at - 1] == '#')
			return (struct weft_slice){name.bytes, at - 1};
	return name;
}

static int compare_families(const void *a, const void *b)
{
	const struct weft_slice *x = &((const struct member *)a)->family;
	const struct weft_slice *y = &((const struct member *)b)->family;
	size_t shorter = x->size < y->size ? x->size : y->size;
	int order = shorter ? memcmp(x->bytes, y->bytes, shorter) : 0;
	if (order)
		return order;
	return x->size < y->size ? -1 : x->size > y->size;
}

static void share_scale(struct weft_scene *scene, const struct member *members, uint32_t count)
{
	struct weft__scale scale = {0, -INFINITY};
	bool is_real = true;
	for (uint32_t i = 0; i < count; i++) {
		const struct weft_counter *counter = &scene->model->counters[members[i].counter];
		scale.low = fmin(scale.low, counter->min.real);
		scale.high = fmax(scale.high, counter->max.real);
		is_real &= counter->max.is_real;
	}
	if (!is_real)
		scale.high = fmax(scale.high, scale.low + LEAST_SPAN);
	else if (!(scale.high > scale.low))
		scale.high = scale.low + 1;
	for (uint32_t i = 0; i < count; i++)
		scene->scales[members[i].counter] = scale;
}

int weft__scene_make_scales(struct weft_scene *scene)
{
	const struct weft_model *model = scene->model;
	uint32_t count = model->counter_count;
	struct member *members = malloc((count + (size_t)1) * sizeof(*members));
	scene->scales = malloc((count + (size_t)1) * sizeof(*scene->scales));
	if (!members || !scene->scales) {
		free(members);
		return WEFT_ERROR_MEMORY;
	}
	for (uint32_t i = 0; i < count; i++)
		members[i] = (struct member){family(model, i), i};
	qsort(members, count, sizeof(*members), compare_families);
	for (uint32_t first = 0, last; first < count; first = last) {
		for (last = first + 1; last < count; last++)
			if (compare_families(&members[first], &members[last]) != 0)
				break;
		share_scale(scene, &members[first], last - first);
	}
	free(members);
	return 0;
}

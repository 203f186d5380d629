/* SPDX-License-Identifier: ISC
 *
 * Scales of counters: counters whose names are equal up to the last '#' share a scale, so that
 * "queue#rx" and "queue#tx" can be compared. One pair of Mirage's TCP counters shares a scale under
 * other names. A growing trace is asked for new names only.
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

/* By family, then in the order of their numbers. */
static int compare_members(const void *a, const void *b)
{
	uint32_t x = ((const struct member *)a)->counter, y = ((const struct member *)b)->counter;
	int order = compare_families(a, b);
	return order ? order : x < y ? -1 : x > y;
}

/* Gives each counter the first one of its family. */
static int find_families(const struct weft_model *model, uint32_t *ret_first)
{
	uint32_t count = model->counter_count;
	struct member *members = malloc((count + (size_t)1) * sizeof(*members));
	if (!members)
		return WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		members[i] = (struct member){family(model, i), i};
	qsort(members, count, sizeof(*members), compare_members);
	for (uint32_t i = 0; i < count; i++) {
		bool is_first = i == 0 || compare_families(&members[i - 1], &members[i]) != 0;
		uint32_t counter = members[i].counter;
		ret_first[counter] = is_first ? counter : ret_first[members[i - 1].counter];
	}
	free(members);
	return 0;
}

/* The families of the former scene are right until there is another counter. */
static int make_families(struct weft_scene *scene)
{
	const struct weft_scene *old = scene->news.previous;
	uint32_t count = scene->model->counter_count;
	scene->families = malloc((count + (size_t)1) * sizeof(*scene->families));
	if (!scene->families)
		return WEFT_ERROR_MEMORY;
	if (!old || old->model->counter_count != count)
		return find_families(scene->model, scene->families);
	memcpy(scene->families, old->families, count * sizeof(*scene->families));
	return 0;
}

static void widen(struct weft__scale *scale, const struct weft_counter *counter)
{
	scale->low = fmin(scale->low, counter->min.real);
	scale->high = fmax(scale->high, counter->max.real);
}

static void finish(struct weft__scale *scale, bool has_integers)
{
	if (has_integers)
		scale->high = fmax(scale->high, scale->low + LEAST_SPAN);
	else if (!(scale->high > scale->low))
		scale->high = scale->low + 1;
}

int weft__render_scene_make_scales(struct weft_scene *scene)
{
	const struct weft_counter *counters = scene->model->counters;
	uint32_t count = scene->model->counter_count;
	int error = make_families(scene);
	bool *has_integers = calloc(count + (size_t)1, sizeof(*has_integers)); /* each family */
	scene->scales = malloc((count + (size_t)1) * sizeof(*scene->scales));
	if (!has_integers || !scene->scales)
		error = WEFT_ERROR_MEMORY;
	for (uint32_t i = 0; i < count && !error; i++) {
		uint32_t first = scene->families[i];
		if (first == i)
			scene->scales[i] = (struct weft__scale){0, 0};
		widen(&scene->scales[first], &counters[i]);
		has_integers[first] |= !counters[i].max.is_real;
	}
	for (uint32_t i = 0; i < count && !error; i++) {
		uint32_t first = scene->families[i];
		if (first == i)
			finish(&scene->scales[i], has_integers[i]);
		scene->scales[i] = scene->scales[first];
	}
	free(has_integers);
	return error;
}

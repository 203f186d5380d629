/* SPDX-License-Identifier: ISC
 *
 * Xen records when a PV guest makes a hypercall, and not when it returns, so such a span ends with
 * the next one of its vCPU at the latest. How long an operation takes is known from the tenth of
 * its spans that end soonest: a picture fades each span after that time. Lengths are counted in
 * steps of an eighth, which no eye sees; so this costs one look at each span.
 */
#include "render/scene/quickest.h"

#include <stdlib.h>
#include <string.h>

#include "render/scene/scene.h"

#define STEPS      (62 * 8)
#define OPERATIONS 256u /* Xen has fewer; a damaged trace may have any number: the rest is one */

struct lengths {
	const struct weft_model *model;
	uint32_t *operation; /* by string; WEFT_NONE: not known yet */
	struct weft_slice names[OPERATIONS];
	uint32_t count;
	uint32_t spans[OPERATIONS][STEPS]; /* by their length */
};

static unsigned step_of(uint64_t ns)
{
	if (ns < 8)
		return (unsigned)ns;
	const unsigned bits = 60 - (unsigned)__builtin_clzll(ns);
	return 8 * bits + (unsigned)(ns >> bits);
}

/* The least length of a step. */
static uint64_t length_of(unsigned step)
{
	return step < 8 ? step : (uint64_t)(8 + step % 8) << (step / 8 - 1);
}

/* "mmu_update ×3" is an mmu_update. */
static struct weft_slice name_of(const struct weft_model *model, uint32_t string)
{
	static const char times[] = " ×";
	struct weft_slice name = weft_model_string(model, string);
	for (size_t i = 0; i + sizeof(times) - 1 <= name.size; i++)
		if (memcmp(name.bytes + i, times, sizeof(times) - 1) == 0)
			return (struct weft_slice){name.bytes, i};
	return name;
}

static uint32_t find_operation(struct lengths *l, uint32_t string)
{
	const struct weft_slice name = name_of(l->model, string);
	uint32_t i = 0;
	while (i < l->count &&
		   (l->names[i].size != name.size || memcmp(l->names[i].bytes, name.bytes, name.size) != 0))
		i++;
	if (i == l->count && l->count < OPERATIONS)
		l->names[l->count++] = name;
	return i < OPERATIONS ? i : OPERATIONS - 1;
}

static void count_spans(struct lengths *l, uint32_t task)
{
	for (uint32_t i = 0, n = weft_model_span_count(l->model, task); i < n; i++) {
		const struct weft_span span = weft_model_span(l->model, task, i);
		if (!span.is_at_most || span.is_open)
			continue;
		if (l->operation[span.name] == WEFT_NONE)
			l->operation[span.name] = find_operation(l, span.name);
		l->spans[l->operation[span.name]][step_of(span.end - span.start)]++;
	}
}

/* Nothing is known of an operation that was seen once. */
static uint64_t quickest_tenth(const uint32_t spans[STEPS])
{
	uint64_t all = 0, sum = 0;
	unsigned step = 0;
	for (unsigned i = 0; i < STEPS; i++)
		all += spans[i];
	if (all < 2)
		return 0;
	while ((sum += spans[step]) * 10 < all)
		step++;
	return length_of(step);
}

int weft__render_scene_make_quickest(struct weft_scene *scene)
{
	const struct weft_model *model = scene->model;
	const size_t strings = weft_model_string_count(model);
	struct weft__quickest *q = &scene->quickest;
	if (!scene->spells.first)
		return 0;
	struct lengths *l = calloc(1, sizeof(*l));
	q->operation = malloc((strings + 1) * sizeof(*q->operation));
	q->ns = calloc(OPERATIONS, sizeof(*q->ns));
	if (!l || !q->operation || !q->ns) {
		free(l);
		return WEFT_ERROR_MEMORY;
	}
	memset(q->operation, 0xff, strings * sizeof(*q->operation)); /* WEFT_NONE */
	l->model = model;
	l->operation = q->operation;
	for (uint32_t task = 0; task < model->tasks.count; task++)
		count_spans(l, task);
	for (uint32_t i = 0; i < l->count; i++)
		q->ns[i] = quickest_tenth(l->spans[i]);
	free(l);
	return 0;
}

uint64_t weft__render_scene_certain_until(
	const struct weft_scene *scene, const struct weft_span *span)
{
	const struct weft__quickest *q = &scene->quickest;
	if (!span->is_at_most || !q->operation)
		return span->end;
	const uint32_t operation = q->operation[span->name];
	const uint64_t least = operation < OPERATIONS ? q->ns[operation] : 0;
	return span->end - span->start > least ? span->start + least : span->end;
}

void weft__render_quickest_finish(struct weft__quickest *q)
{
	free(q->operation);
	free(q->ns);
}

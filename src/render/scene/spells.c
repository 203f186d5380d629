/* SPDX-License-Identifier: ISC
 *
 * A picture of Xen shows, at each zoom, more than when vCPUs ran: the times in which a vCPU waited
 * for a processor, those in which a pCPU had a vCPU that was not Xen's idle one, and on which pCPU
 * each vCPU was. The first two are spans in the model, of which a pixel column may have thousands;
 * here they stand by themselves, with running sums.
 */
#include "render/scene/spells.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "render/scene/scene.h"

bool weft__render_is_of_xen(const struct weft_model *model, uint32_t task)
{
	return weft_trace_buffer_at(model->buffers, model->buffer_count, model->tasks.buffer[task])
			   ->is_hypervisor != 0;
}

bool weft__render_is_span_named(
	const struct weft_model *model, const struct weft_span *span, const char *name)
{
	struct weft_slice text = weft_model_string(model, span->name);
	return text.size == strlen(name) && memcmp(text.bytes, name, text.size) == 0;
}

bool weft__render_is_pcpu(const struct weft_model *model, uint32_t task)
{
	return weft__render_is_of_xen(model, task) && weft_model_track_thread(model, task) != WEFT_NONE;
}

static bool is_of_kind(const struct weft_model *model, uint32_t task, const char *wanted)
{
	if (!weft__render_is_of_xen(model, task))
		return false;
	const char *kind = weft_model_kind_name(model, model->tasks.kind[task]);
	return kind && strcmp(kind, wanted) == 0;
}

bool weft__render_is_xen_scheduler(const struct weft_model *model, uint32_t task)
{
	return is_of_kind(model, task, "scheduler");
}

static int add_spell(struct weft__spells *s, const struct weft_span *span)
{
	const struct weft__column columns[] = {{&s->start, sizeof(*s->start)},
		{&s->end, sizeof(*s->end)}, {&s->before, sizeof(*s->before)}};
	const uint32_t i = s->count;
	if (weft__columns_reserve(columns, 3, &s->capacity, i + (size_t)2))
		return WEFT_ERROR_MEMORY;
	s->start[i] = span->start;
	s->end[i] = span->end;
	s->before[0] = 0;
	s->before[++s->count] = s->before[i] + span->end - span->start;
	return 0;
}

static int find_spells(struct weft_scene *scene, uint32_t task)
{
	const struct weft_model *model = scene->model;
	const bool is_pcpu = weft__render_is_pcpu(model, task);
	int error = 0;
	if (!is_pcpu && !is_of_kind(model, task, "vcpu"))
		return 0;
	for (uint32_t i = 0, n = weft_model_span_count(model, task); i < n && !error; i++) {
		const struct weft_span span = weft_model_span(model, task, i);
		if (is_pcpu != weft__render_is_span_named(model, &span, is_pcpu ? "idle" : "runnable"))
			error = add_spell(&scene->spells, &span);
	}
	return error;
}

/* A row for each time that the vCPU came to another pCPU. */
static int find_homes(struct weft_scene *scene, uint32_t task)
{
	const struct weft_tasks *t = &scene->model->tasks;
	const struct weft_activations *a = &scene->model->activations;
	struct weft__spells *s = &scene->spells;
	const struct weft__column columns[] = {
		{&s->home_start, sizeof(*s->home_start)}, {&s->home, sizeof(*s->home)}};
	if (!is_of_kind(scene->model, task, "vcpu"))
		return 0;
	for (uint32_t i = t->first_activation[task]; i < t->end_activation[task]; i++) {
		if (i > t->first_activation[task] && a->thread[i] == a->thread[i - 1])
			continue;
		if (weft__columns_reserve(columns, 2, &s->home_capacity, s->home_count + (size_t)1))
			return WEFT_ERROR_MEMORY;
		s->home_start[s->home_count] = a->start[i];
		s->home[s->home_count++] = a->thread[i];
	}
	return 0;
}

static bool has_hypervisor(const struct weft_model *model)
{
	for (uint32_t i = 0; i < model->buffer_count; i++)
		if (model->buffers[i].is_hypervisor)
			return true;
	return false;
}

int weft__render_scene_make_spells(struct weft_scene *scene)
{
	const uint32_t tasks = scene->model->tasks.count;
	struct weft__spells *s = &scene->spells;
	int error = 0;
	if (!has_hypervisor(scene->model))
		return 0;
	s->first = malloc((tasks + (size_t)1) * sizeof(*s->first));
	s->first_home = malloc((tasks + (size_t)1) * sizeof(*s->first_home));
	if (!s->first || !s->first_home)
		return WEFT_ERROR_MEMORY;
	for (uint32_t task = 0; task < tasks && !error; task++) {
		s->first[task] = s->count;
		s->first_home[task] = s->home_count;
		error = find_spells(scene, task);
		if (!error)
			error = find_homes(scene, task);
	}
	s->first[tasks] = s->count;
	s->first_home[tasks] = s->home_count;
	return error;
}

void weft__render_spells_finish(struct weft__spells *s)
{
	void *columns[] = {
		s->first, s->start, s->end, s->before, s->first_home, s->home_start, s->home};
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		free(columns[i]);
}

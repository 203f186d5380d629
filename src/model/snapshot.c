/* SPDX-License-Identifier: ISC
 *
 * A model of a growing trace: the builder is copied, column by column, except for the columns that
 * only later events need, and the copy is finished. So the same code makes all models: a snapshot
 * differs from the model of a trace that ends here only by the rules for the end of a trace.
 */
#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "model/builder.h"

struct part {
	void *to; /* the address of a pointer */
	const void *from;
	size_t bytes;
};

/* Sets every `to` to a copy or, if the part is empty or memory is short, to NULL, so that the copy
 * can be destroyed after an error. */
static int copy_parts(const struct part *parts, size_t count)
{
	bool complete = true;
	for (size_t i = 0; i < count; i++) {
		void *copy = parts[i].bytes ? malloc(parts[i].bytes) : NULL;
		if (copy)
			memcpy(copy, parts[i].from, parts[i].bytes);
		complete = complete && (copy || !parts[i].bytes);
		memcpy(parts[i].to, &copy, sizeof(copy));
	}
	return complete ? 0 : WEFT_ERROR_MEMORY;
}

#define PART(owner, column, rows)                                                   \
	{                                                                               \
		&to->owner.column, from->owner.column, (rows) * sizeof(*from->owner.column) \
	}
#define COPY(parts) copy_parts(parts, sizeof(parts) / sizeof(parts[0]))

static int copy_tasks(const struct weft_model_builder *from, struct weft_model_builder *to)
{
	size_t rows = from->state.tasks.count;
	size_t names = from->identities.count;
	to->state.tasks.count = from->state.tasks.count;
	to->state.tasks.capacity = to->tasks.capacity = rows;
	to->identities.count = from->identities.count;
	to->identities.capacity = names;
	const struct part parts[] = {
		PART(identities, id, names),
		PART(identities, buffer, names),
		PART(tasks, start, rows),
		PART(tasks, end, rows),
		PART(tasks, remarks, rows),
		PART(state.tasks, parent, rows),
		PART(state.tasks, becomes, rows),
		PART(state.tasks, label, rows),
		PART(state.tasks, message, rows),
		PART(state.tasks, kind, rows),
		PART(state.tasks, flags, rows),
	};
	return COPY(parts);
}

static int copy_edges(const struct weft_model_builder *from, struct weft_model_builder *to)
{
	size_t rows = from->edges.count;
	to->edges.count = from->edges.count;
	to->edges.capacity = rows;
	const struct part parts[] = {
		PART(edges, time, rows),
		PART(edges, from, rows),
		PART(edges, to, rows),
		PART(edges, type, rows),
	};
	return COPY(parts);
}

static int copy_activations(const struct weft_model_builder *from, struct weft_model_builder *to)
{
	size_t rows = from->activations.count;
	to->activations.count = from->activations.count;
	to->activations.capacity = rows;
	const struct part parts[] = {
		PART(activations, start, rows),
		PART(activations, end, rows),
		PART(activations, thread, rows),
		PART(activations, task, rows),
	};
	return COPY(parts);
}

static int copy_notes(const struct weft_model_builder *from, struct weft_model_builder *to)
{
	size_t rows = from->notes.count;
	to->notes.count = from->notes.count;
	to->notes.capacity = rows;
	const struct part parts[] = {
		PART(notes, time, rows),
		PART(notes, value, rows),
		PART(notes, task, rows),
		PART(notes, text, rows),
		PART(notes, type, rows),
	};
	return COPY(parts);
}

static int copy_samples(const struct weft_model_builder *from, struct weft_model_builder *to)
{
	size_t rows = from->samples.count, counters = from->counters.count;
	to->samples.count = from->samples.count;
	to->samples.capacity = rows;
	to->counters.count = from->counters.count;
	const struct part parts[] = {
		PART(samples, time, rows),
		PART(samples, value, rows),
		PART(samples, task, rows),
		PART(samples, counter, rows),
		PART(counters, list, counters),
	};
	return COPY(parts);
}

static int copy_threads(const struct weft_model_builder *from, struct weft_model_builder *to)
{
	size_t bands = from->bands.count, creations = from->creations.count;
	to->bands.count = from->bands.count;
	to->bands.capacity = bands;
	to->creations.count = from->creations.count;
	to->creations.capacity = creations;
	to->state.thread_count = from->state.thread_count;
	const struct part parts[] = {
		PART(bands, list, bands),
		PART(creations, list, creations),
		PART(creations, start, creations),
		PART(state, threads, from->state.thread_count),
	};
	return COPY(parts);
}

static int copy_builder(const struct weft_model_builder *from, struct weft_model_builder *to)
{
	int error = copy_tasks(from, to);
	if (!error)
		error = copy_edges(from, to);
	if (!error)
		error = copy_activations(from, to);
	if (!error)
		error = copy_notes(from, to);
	if (!error)
		error = copy_samples(from, to);
	if (!error)
		error = copy_threads(from, to);
	if (!error)
		error = weft__ids_copy(&from->identities.by_id, &to->identities.by_id);
	if (!error)
		error = weft__strings_copy(&from->texts.strings, &to->texts.strings);
	return error;
}

/* Moves the present of the copy to `now_ns`, but not before its last event nor past the longest
 * trace. */
static void move_on(struct weft__state *copy, const struct weft__state *from, uint64_t now_ns)
{
	uint64_t last_ns = weft__ns_add(from->start, WEFT__SPAN_NS);
	if (now_ns > last_ns)
		now_ns = last_ns;
	copy->start = from->start;
	copy->events = from->events;
	copy->now = from->events && now_ns > from->now ? now_ns : from->now;
}

WEFT__EXPORT int weft_model_builder_snapshot(const struct weft_model_builder *builder,
	const struct weft_trace_description *description, uint64_t now_ns,
	struct weft_model **ret_model)
{
	struct weft_model_builder *copy = calloc(1, sizeof(*copy));
	if (!copy)
		return WEFT_ERROR_MEMORY;
	int error = copy_builder(builder, copy);
	copy->summary = builder->summary;
	copy->summary.live = true;
	copy->state.listener = builder->state.listener;
	copy->state.context = copy;
	move_on(&copy->state, &builder->state, now_ns);
	if (!error)
		error = weft_model_builder_finish(copy, description, ret_model);
	weft_model_builder_destroy(copy);
	return error;
}

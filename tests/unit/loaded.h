/* SPDX-License-Identifier: ISC
 *
 * Models with layout and index, for tests: from the samples, and from events that a test makes up.
 */
#ifndef WEFT_TESTS_LOADED_H
#define WEFT_TESTS_LOADED_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/story.h>

#include "sample.h"

struct loaded {
	struct weft_model *model;
	struct weft_layout *layout;
	struct weft_story_index *index;
	struct weft_story story;
};

static inline void must(int good)
{
	if (!good)
		abort();
}

/* Takes ownership of the model. */
static inline struct loaded load_model(struct weft_model *model)
{
	struct loaded loaded = {.model = model};
	must(weft_layout_create(model, NULL, &loaded.layout) == 0);
	must(weft_story_index_create(model, &loaded.index) == 0);
	loaded.story = (struct weft_story){model, loaded.layout, loaded.index};
	return loaded;
}

static inline void loaded_finish(struct loaded *loaded)
{
	weft_story_index_destroy(loaded->index);
	weft_layout_destroy(loaded->layout);
	weft_model_destroy(loaded->model);
}

static inline struct loaded load_sample(const char *name)
{
	struct weft_model *model = sample_model(name);
	must(model != NULL);
	return load_model(model);
}

/* A trace that a test writes event by event. */
struct made {
	struct weft_model_builder *builder;
	struct weft_diagnostics diagnostics;
	uint64_t time; /* of what comes next, ns */
	uint32_t thread, buffer;
	const struct weft_trace_buffer *buffers; /* NULL: one */
	uint32_t buffer_count;
	const struct weft_trace_thread *threads; /* NULL: one */
	uint32_t thread_count;
	struct weft_loss_period losses[32];
	uint32_t loss_count;
	struct weft_event *events; /* so far, with texts of their own */
	uint32_t event_count;
};

static inline struct made make_begin(void)
{
	struct made made = {0};
	must(weft_model_builder_create(&made.builder) == 0);
	return made;
}

static inline struct weft_slice copy_of(struct weft_slice text)
{
	char *bytes = text.bytes ? malloc(text.size + 1) : NULL;
	if (bytes)
		memcpy(bytes, text.bytes, text.size);
	return (struct weft_slice){bytes, text.size};
}

static inline void keep_event(struct made *made, struct weft_event event)
{
	const uint32_t count = made->event_count++;
	if ((count & (count - 1)) == 0) {
		made->events = realloc(made->events, 2 * (count + (size_t)1) * sizeof(event));
		must(made->events != NULL);
	}
	event.text = copy_of(event.text);
	event.kind_name = copy_of(event.kind_name);
	event.category = copy_of(event.category);
	made->events[count] = event;
}

static inline void forget_events(struct made *made)
{
	for (uint32_t i = 0; i < made->event_count; i++) {
		free((void *)(uintptr_t)made->events[i].text.bytes);
		free((void *)(uintptr_t)made->events[i].kind_name.bytes);
		free((void *)(uintptr_t)made->events[i].category.bytes);
	}
	free(made->events);
}

static inline void make(struct made *made, struct weft_event event)
{
	event.time_ns = made->time;
	event.thread = made->thread;
	event.buffer = made->buffer;
	must(weft_model_builder_add(made->builder, &event, &made->diagnostics) == 0);
	keep_event(made, event);
}

static inline void make_create(struct made *made, uint64_t task, uint64_t child, uint16_t kind)
{
	make(made,
		(struct weft_event){.type = WEFT_EVENT_CREATE, .task = task, .other = child, .kind = kind});
}

/* Tasks 1 to `count`, which preexisting task 0 creates. */
static inline void make_tasks(struct made *made, uint64_t count)
{
	for (uint64_t id = 1; id <= count; id++)
		make_create(made, 0, id, WEFT_KIND_TASK);
}

static inline void make_begin_span(struct made *made, uint64_t task, const char *name)
{
	make(made,
		(struct weft_event){.type = WEFT_EVENT_BEGIN, .task = task, .text = {name, strlen(name)}});
}

static inline void make_given_span(
	struct made *made, const char *track, const char *name, uint64_t begin, uint64_t end)
{
	make(made, (struct weft_event){.type = WEFT_EVENT_SPAN,
				   .other = WEFT_TRACK_FIRST + WEFT_TRACK_LINES * (uint64_t)track[0],
				   .kind_name = {track, strlen(track)},
				   .text = {name, strlen(name)},
				   .begin_ns = begin,
				   .end_ns = end});
}

static inline void make_end_span(struct made *made, uint64_t task)
{
	make(made, (struct weft_event){.type = WEFT_EVENT_END, .task = task});
}

static inline void make_label(struct made *made, uint64_t task, const char *text)
{
	make(made,
		(struct weft_event){.type = WEFT_EVENT_LABEL, .task = task, .text = {text, strlen(text)}});
}

static inline void make_tag(struct made *made, uint64_t task, const char *tag, int64_t value)
{
	make(made, (struct weft_event){.type = WEFT_EVENT_TAG,
				   .task = task,
				   .text = {tag, strlen(tag)},
				   .value = value,
				   .has_value = true});
}

static inline void make_edge(
	struct made *made, enum weft_event_type type, uint64_t task, uint64_t other)
{
	make(made, (struct weft_event){.type = (uint8_t)type, .task = task, .other = other});
}

/* `switches`: the receiver runs. */
static inline void make_signal(struct made *made, uint64_t task, uint64_t source, bool switches)
{
	make(made, (struct weft_event){
				   .type = WEFT_EVENT_SIGNAL, .task = task, .other = source, .flag = switches});
}

static inline void make_fail(struct made *made, uint64_t task, uint64_t other, const char *message)
{
	make(made, (struct weft_event){.type = WEFT_EVENT_FAIL,
				   .task = task,
				   .other = other,
				   .text = {message, strlen(message)}});
}

static inline void make_switch(struct made *made, uint64_t task)
{
	make(made, (struct weft_event){.type = WEFT_EVENT_SWITCH, .task = task});
}

static inline void make_counter(
	struct made *made, uint64_t task, const char *name, int64_t value, bool is_set)
{
	make(made, (struct weft_event){.type = WEFT_EVENT_COUNTER,
				   .task = task,
				   .text = {name, strlen(name)},
				   .value = value,
				   .is_set = is_set});
}

static inline void make_real_counter(
	struct made *made, uint64_t task, const char *name, double value, bool is_set)
{
	make(made, (struct weft_event){.type = WEFT_EVENT_COUNTER,
				   .task = task,
				   .text = {name, strlen(name)},
				   .real = value,
				   .is_real = true,
				   .is_set = is_set});
}

/* Keeps the events. */
static inline struct weft_model *finish_model(struct made *made)
{
	static const struct weft_trace_thread threads[] = {{.name = "main"}, {.name = "second"}};
	struct weft_trace_description description = {
		.format = "test", .clock = {.name = "test"}, .threads = threads, .thread_count = 1};
	struct weft_model *model = NULL;
	if (made->threads) {
		description.threads = made->threads;
		description.thread_count = made->thread_count;
	}
	description.buffers = made->buffers;
	description.buffer_count = made->buffer_count;
	description.loss_periods = made->losses;
	description.loss_period_count = made->loss_count;
	for (uint32_t i = 0; i < made->loss_count; i++)
		if (made->losses[i].cause < WEFT_LOSS_CAUSES)
			description.losses[made->losses[i].cause] += made->losses[i].count;
	must(weft_model_builder_finish(made->builder, &description, &model) == 0);
	weft_model_builder_destroy(made->builder);
	return model;
}

static inline struct weft_model *make_model(struct made *made)
{
	struct weft_model *model = finish_model(made);
	forget_events(made);
	return model;
}

static inline struct loaded make_end(struct made *made)
{
	return load_model(make_model(made));
}

#endif

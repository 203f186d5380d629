/* SPDX-License-Identifier: ISC
 *
 * Models from events that a test makes up, of one thread.
 */
#ifndef WEFT_TESTS_BUILT_H
#define WEFT_TESTS_BUILT_H

#include <weft/model.h>

static inline struct weft_model_builder *built_begin(void)
{
	struct weft_model_builder *builder;
	assert_int_equal(weft_model_builder_create(&builder), 0);
	return builder;
}

static inline void built_add(struct weft_model_builder *builder, struct weft_event event)
{
	static struct weft_diagnostics diagnostics;
	assert_int_equal(weft_model_builder_add(builder, &event, &diagnostics), 0);
}

/* Returns the model, which the caller destroys; the builder is destroyed. */
static inline struct weft_model *built_finish(struct weft_model_builder *builder)
{
	static const struct weft_trace_thread thread = {.name = ""};
	const struct weft_trace_description description = {
		.format = "test", .clock = {.name = "test"}, .threads = &thread, .thread_count = 1};
	struct weft_model *model = NULL;
	assert_int_equal(weft_model_builder_finish(builder, &description, &model), 0);
	weft_model_builder_destroy(builder);
	return model;
}

#endif

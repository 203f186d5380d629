/* SPDX-License-Identifier: ISC
 *
 * Cases that recorded traces do not have: parents by message that would close a circle, histograms
 * with explicit bounds, texts that are not UTF-8, a sink that fails.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <weft/otlp.h>
#include <weft/text.h>

#define MS 1000000u

static const struct weft_trace_buffer buffers[] = {
	{.process = "left", .host = "", .file = "", .uuid = {1}},
	{.process = "right", .host = "", .file = "", .uuid = {2}},
};

static const struct weft_trace_thread threads[] = {{.name = ""}, {.name = "", .buffer = 1}};

static struct weft_model *build(const struct weft_event *events, size_t count)
{
	const struct weft_trace_description trace = {.format = "test",
		.threads = threads,
		.thread_count = 2,
		.buffers = buffers,
		.buffer_count = 2};
	struct weft_diagnostics diagnostics = {0};
	struct weft_model_builder *builder;
	struct weft_model *model;
	assert_int_equal(weft_model_builder_create(&builder), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(weft_model_builder_add(builder, &events[i], &diagnostics), 0);
	assert_int_equal(weft_model_builder_finish(builder, &trace, &model), 0);
	weft_model_builder_destroy(builder);
	return model;
}

static int take(
	void *text, enum weft_otlp_signal signal, const void *bytes, size_t size, uint32_t count)
{
	(void)signal;
	assert_true(count > 0);
	weft_text_add(text, bytes, size);
	return 0;
}

/* The messages as a string, which the caller frees. */
static char *write_as(const struct weft_model *model, struct weft_otlp_options options)
{
	struct weft_text text = {0};
	options.pending = WEFT_OTLP_PENDING_OMIT_END;
	const struct weft_otlp_sink sink = {take, &text};
	struct weft_otlp_summary summary;
	assert_int_equal(weft_otlp_write_spans(model, &options, &sink, &summary), 0);
	weft_text_add(&text, "", 1);
	return text.bytes;
}

static char *write_spans(const struct weft_model *model)
{
	return write_as(model, (struct weft_otlp_options){0});
}

/* Builds a model, and writes its spans. */
static char *spans_of(
	const struct weft_event *events, size_t count, struct weft_otlp_options options)
{
	struct weft_model *model = build(events, count);
	char *text = write_as(model, options);
	weft_model_destroy(model);
	return text;
}

static unsigned times(const char *text, const char *word)
{
	unsigned count = 0;
	for (; (text = strstr(text, word)); text++)
		count++;
	return count;
}

#define CREATE(ms, at, actor, child)                                                  \
	{                                                                                 \
		.time_ns = (ms)*MS, .type = WEFT_EVENT_CREATE, .task = actor, .other = child, \
		.buffer = at, .thread = at, .kind = WEFT_KIND_TASK                            \
	}
#define MESSAGE(ms, what, at, actor, number)                                                       \
	{                                                                                              \
		.time_ns = (ms)*MS, .type = WEFT_EVENT_##what, .task = actor, .key = number, .buffer = at, \
		.thread = at                                                                               \
	}
#define LABEL(ms, at, actor, string)                                     \
	{                                                                    \
		.time_ns = (ms)*MS, .type = WEFT_EVENT_LABEL, .task = actor,     \
		.text = {string, sizeof(string) - 1}, .buffer = at, .thread = at \
	}

#define RESOLVE(ms, at, target)                                                                  \
	{                                                                                            \
		.time_ns = (ms)*MS, .type = WEFT_EVENT_RESOLVE, .task = WEFT_TASK_NONE, .other = target, \
		.buffer = at, .thread = at                                                               \
	}
#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* A child of the left program sends to the right one, whose child answers to the child's parent.
 * The answer came from a task that began later, so it makes no parent. */
static void messages_make_parents_but_no_circle(void **state)
{
	static const struct weft_event events[] = {
		CREATE(1, 0, 1, 2),
		CREATE(2, 1, 1, 2),
		MESSAGE(3, SEND, 0, 2, 7),
		MESSAGE(4, RECEIVE, 1, 2, 7),
		CREATE(5, 1, 2, 3),
		MESSAGE(6, SEND, 1, 3, 8),
		MESSAGE(7, RECEIVE, 0, 1, 8),
	};
	struct weft_model *model = build(events, COUNT(events));
	char *text = write_spans(model);
	(void)state;
	assert_int_equal(times(text, "\"spanId\"") - times(text, "\"weft.edge\""), 5);
	assert_int_equal(times(text, "\"parentSpanId\""), 3);
	assert_int_equal(times(text, "\"message\""), 1);
	assert_int_equal(times(text, "\"receive\""), 2);
	assert_int_equal(times(text, "\"create\""), 1); /* the creator of the one below the sender */
	free(text);
	weft_model_destroy(model);
}

/* A task that is mentioned before it is created begins before its creator, so each program's
 * creator could be below the other one's task. */
static void a_circle_is_broken(void **state)
{
	static const struct weft_event events[] = {
		LABEL(0, 1, 2, "b"),
		LABEL(1, 0, 2, "a"),
		CREATE(2, 1, 9, 1),
		CREATE(3, 0, 9, 1),
		CREATE(4, 0, 1, 2),
		CREATE(4, 1, 1, 2),
		MESSAGE(5, SEND, 0, 2, 7),
		MESSAGE(6, RECEIVE, 1, 1, 7),
		MESSAGE(7, SEND, 1, 2, 8),
		MESSAGE(8, RECEIVE, 0, 1, 8),
	};
	struct weft_model *model = build(events, COUNT(events));
	char *text = write_spans(model);
	(void)state;
	assert_int_equal(times(text, "\"parentSpanId\""), 4);
	assert_int_equal(times(text, "\"message\""), 1);
	free(text);
	weft_model_destroy(model);
}

/* Two messages of one sender count as one. A sender that began at the same time may have been
 * made by the receiver. */
static void a_sender_is_a_parent_if_it_is_the_only_one_and_older(void **state)
{
	static const struct weft_event events[] = {
		CREATE(1, 0, WEFT_TASK_NONE, 1),
		CREATE(2, 1, WEFT_TASK_NONE, 1),
		CREATE(2, 0, WEFT_TASK_NONE, 2),
		CREATE(2, 1, WEFT_TASK_NONE, 2),
		MESSAGE(3, SEND, 0, 1, 7),
		MESSAGE(3, RECEIVE, 1, 1, 7),
		MESSAGE(4, SEND, 0, 1, 8),
		MESSAGE(4, RECEIVE, 1, 1, 8),
		MESSAGE(5, SEND, 0, 2, 9),
		MESSAGE(5, RECEIVE, 1, 2, 9),
	};
	char *text = spans_of(events, COUNT(events), (struct weft_otlp_options){0});
	(void)state;
	assert_int_equal(times(text, "\"parentSpanId\""), 1);
	assert_int_equal(times(text, "\"receive\""), 3);
	free(text);
}

/* "b" is read by "a", which the same task has made: so it is a part of that one's work, and "a" a
 * request. */
static void what_a_sibling_waits_for_is_no_request(void **state)
{
	static const struct weft_event events[] = {
		CREATE(1, 0, WEFT_TASK_NONE, 1),
		LABEL(1, 0, 1, "main"),
		CREATE(2, 0, 1, 2),
		LABEL(2, 0, 2, "a"),
		CREATE(3, 0, 1, 3),
		LABEL(3, 0, 3, "b"),
		{.time_ns = 4 * MS, .type = WEFT_EVENT_READ, .task = 2, .other = 3},
	};
	(void)state;
	char *text = spans_of(events, COUNT(events), (struct weft_otlp_options){.folds = true});
	assert_int_equal(times(text, "\"parentSpanId\""), 1);
	assert_true(strstr(text, "\"parentSpanId\"") > strstr(text, "\"name\":\"a\""));
	free(text);
}

static void an_id_that_is_used_again_has_spans_of_its_own(void **state)
{
	static const struct weft_event events[] = {
		CREATE(1, 0, WEFT_TASK_NONE, 2),
		RESOLVE(2, 0, 2),
		CREATE(3, 0, WEFT_TASK_NONE, 2),
		RESOLVE(4, 0, 2),
		CREATE(5, 0, WEFT_TASK_NONE, 2),
	};
	char *text = spans_of(events, COUNT(events), (struct weft_otlp_options){0});
	const char *at = text;
	char ids[3][16];
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		at = strstr(at, "\"spanId\":\"");
		assert_non_null(at);
		at += strlen("\"spanId\":\"");
		memcpy(ids[i], at, sizeof(ids[i]));
		for (unsigned k = 0; k < i; k++)
			assert_memory_not_equal(ids[i], ids[k], sizeof(ids[i]));
	}
	free(text);
}

/* ---- Contexts ---- */

#define TEXT(string)               \
	{                              \
		string, sizeof(string) - 1 \
	}
#define TRACE     "0af7651916cd43dd8448eb211c80319c"
#define ID(digit) "00f067aa0ba902b" digit

#define CONTEXT(span, parent)                                                                      \
	{                                                                                              \
		{.name = TEXT("trace_id"), .type = WEFT_FIELD_TEXT, .value.text = TEXT(TRACE)},            \
			{.name = TEXT("span_id"), .type = WEFT_FIELD_TEXT, .value.text = TEXT(span)},          \
			{.name = TEXT("trace_flags"), .type = WEFT_FIELD_U64, .value.u64 = 1},                 \
			{.name = TEXT("parent_span_id"), .type = WEFT_FIELD_TEXT, .value.text = TEXT(parent)}, \
	}

/* A span of another process may have the same id, and is another one. Of the contexts of a task,
 * the last one counts. */
static void a_parent_is_remote_if_its_process_did_not_make_it(void **state)
{
	static const struct weft_field contexts[][4] = {CONTEXT(ID("9"), ID("8")),
		CONTEXT(ID("1"), ID("8")), CONTEXT(ID("2"), ID("1")), CONTEXT(ID("3"), ID("2"))};
	static const struct weft_event events[] = {
		CREATE(1, 0, WEFT_TASK_NONE, 1),
		CREATE(1, 1, WEFT_TASK_NONE, 1),
		CREATE(1, 1, WEFT_TASK_NONE, 2),
#define MARK(at, actor, number)        \
	{.time_ns = 2 * MS,                \
		.type = WEFT_EVENT_MARK,       \
		.task = actor,                 \
		.buffer = at,                  \
		.thread = at,                  \
		.text = TEXT("trace context"), \
		.fields = contexts[number],    \
		.field_count = 4}
		MARK(0, 1, 0),
		MARK(0, 1, 1),
		MARK(1, 1, 2),
		MARK(1, 2, 3),
#undef MARK
	};
	char *text = spans_of(events, COUNT(events), (struct weft_otlp_options){0});
	(void)state;
	assert_null(strstr(text, "\"spanId\":\"" ID("9")));
	assert_non_null(strstr(text, "\"parentSpanId\":\"" ID("8") "\",\"flags\":769"));
	assert_non_null(strstr(text, "\"parentSpanId\":\"" ID("1") "\",\"flags\":769"));
	assert_non_null(strstr(text, "\"parentSpanId\":\"" ID("2") "\",\"flags\":257"));
	free(text);
}

static const struct weft_field contexts[][4] = {
	CONTEXT(ID("5"), ID("8")), CONTEXT(ID("6"), ID("8"))};

#define BEGIN(actor, name)                                                             \
	{                                                                                  \
		.time_ns = 2 * MS, .type = WEFT_EVENT_BEGIN, .task = actor, .text = TEXT(name) \
	}
#define END(actor)                                               \
	{                                                            \
		.time_ns = 2 * MS, .type = WEFT_EVENT_END, .task = actor \
	}
#define MARK(ms, actor, number)                                                                   \
	{                                                                                             \
		.time_ns = (ms)*MS, .type = WEFT_EVENT_MARK, .task = actor, .text = TEXT("span context"), \
		.fields = contexts[number], .field_count = 4                                              \
	}

/* Two spans begin together: contexts of that time are the outer's and the inner's; a later one is
 * that of the inner one. */
static void spans_that_begin_together_have_their_own_contexts(void **state)
{
	static const struct weft_event at_once[] = {CREATE(1, 0, WEFT_TASK_NONE, 1), BEGIN(1, "outer"),
		MARK(2, 1, 0), BEGIN(1, "inner"), MARK(2, 1, 1), RESOLVE(3, 0, 1)};
	static const struct weft_event later[] = {CREATE(1, 0, WEFT_TASK_NONE, 1), BEGIN(1, "outer"),
		BEGIN(1, "inner"), MARK(3, 1, 0), RESOLVE(4, 0, 1)};
	char *text = spans_of(at_once, COUNT(at_once), (struct weft_otlp_options){0});
	(void)state;
	const char *outer = strstr(text, "\"spanId\":\"" ID("5")),
			   *inner = strstr(text, "\"spanId\":\"" ID("6"));
	assert_non_null(outer);
	assert_non_null(inner);
	assert_memory_equal(strstr(outer, "\"name\""), "\"name\":\"outer\"", 14);
	assert_memory_equal(strstr(inner, "\"name\""), "\"name\":\"inner\"", 14);
	free(text);
	text = spans_of(later, COUNT(later), (struct weft_otlp_options){0});
	assert_int_equal(times(text, "\"spanId\":\"" ID("5")), 1);
	inner = strstr(text, "\"spanId\":\"" ID("5"));
	assert_memory_equal(strstr(inner, "\"name\""), "\"name\":\"inner\"", 14);
	free(text);
}

/* The name of the span with that id; "" if none has it. */
static const char *name_with(const char *text, const char *id)
{
	const char *span = strstr(text, id);
	return span ? strstr(span, "\"name\":\"") + strlen("\"name\":\"") : "";
}

static bool is_named(const char *name, const char *wanted)
{
	return *wanted ? strncmp(name, wanted, strlen(wanted)) == 0 : !*name;
}

static void a_span_that_ends_at_once_has_its_context(void **state)
{
	static const struct weft_event alone[] = {CREATE(1, 0, WEFT_TASK_NONE, 1), BEGIN(1, "short"),
		MARK(2, 1, 0), END(1), RESOLVE(3, 0, 1)};
	static const struct weft_event before[] = {CREATE(1, 0, WEFT_TASK_NONE, 1), BEGIN(1, "short"),
		MARK(2, 1, 0), END(1), BEGIN(1, "long"), MARK(2, 1, 1), RESOLVE(3, 0, 1)};
	static const struct weft_event inside[] = {CREATE(1, 0, WEFT_TASK_NONE, 1), BEGIN(1, "long"),
		MARK(2, 1, 1), BEGIN(1, "short"), MARK(2, 1, 0), END(1), RESOLVE(3, 0, 1)};
	/* It may be that of the long one. */
	static const struct weft_event unknown[] = {CREATE(1, 0, WEFT_TASK_NONE, 1), BEGIN(1, "short"),
		MARK(2, 1, 0), END(1), BEGIN(1, "long"), RESOLVE(3, 0, 1)};
	static const struct {
		const struct weft_event *events;
		size_t count;
		const char *first, *second; /* the spans with the contexts */
	} traces[] = {
		{alone, COUNT(alone), "short\"", ""},
		{before, COUNT(before), "", "long\""},
		{inside, COUNT(inside), "", "long\""},
		{unknown, COUNT(unknown), "", ""},
	};
	(void)state;
	for (size_t i = 0; i < COUNT(traces); i++) {
		char *text = spans_of(traces[i].events, traces[i].count, (struct weft_otlp_options){0});
		const char *first = name_with(text, "\"spanId\":\"" ID("5")),
				   *second = name_with(text, "\"spanId\":\"" ID("6"));
		assert_int_equal(times(text, "\"name\":\"short\""), 1);
		assert_true(is_named(first, traces[i].first));
		assert_true(is_named(second, traces[i].second));
		free(text);
	}
}

#undef MARK
#undef END
#undef BEGIN

/* Zipkin's durations are 1 us or more. */
static void a_span_of_zipkin_is_not_empty(void **state)
{
	static const struct weft_event events[] = {CREATE(1, 0, WEFT_TASK_NONE, 1), RESOLVE(1, 0, 1),
		CREATE(1, 0, WEFT_TASK_NONE, 2), RESOLVE(3, 0, 2)};
	const struct weft_otlp_options zipkin = {.format = WEFT_OTLP_ZIPKIN};
	char *text = spans_of(events, COUNT(events), zipkin);
	(void)state;
	assert_int_equal(times(text, "\"duration\":1,"), 1);
	assert_int_equal(times(text, "\"duration\":2000,"), 1);
	free(text);
}

static void texts_are_utf_8(void **state)
{
	static const struct weft_event events[] = {
		CREATE(1, 0, 1, 2), LABEL(2, 0, 2, "caf\xc3\xa9 \xff\xc3 x")};
	struct weft_model *model = build(events, 2);
	const struct weft_otlp_options options = {
		.pending = WEFT_OTLP_PENDING_OMIT_END, .format = WEFT_OTLP_PROTOBUF};
	struct weft_text text = {0};
	const struct weft_otlp_sink sink = {take, &text};
	struct weft_otlp_summary summary;
	(void)state;
	assert_int_equal(weft_otlp_write_spans(model, &options, &sink, &summary), 0);
	weft_text_add(&text, "", 1);
	const char name[] = "\x2a\x0e"
						"caf\xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd x";
	assert_non_null(memmem(text.bytes, text.size, name, sizeof(name) - 1));
	weft_text_finish(&text);
	weft_model_destroy(model);
}

static void histograms_beyond_their_cells_have_bounds(void **state)
{
	static const uint64_t cells[] = {0, 0, 3, 0, 0, 0, 0, 0, 0, 1, 5};
	static const uint64_t inside[] = {2, 0, 3, 0};
	struct weft_otlp_metric metrics[] = {
		{.type = WEFT_OTLP_HISTOGRAM,
			.name = "size",
			.unit = "By",
			.cells = cells,
			.cell_count = 11,
			.first_exponent = 4,
			.factor = 1,
			.sum = 10},
		{.type = WEFT_OTLP_HISTOGRAM,
			.name = "size",
			.unit = "x",
			.cells = inside,
			.cell_count = 4,
			.first_exponent = -1,
			.factor = 1,
			.sum = 2},
		{.type = WEFT_OTLP_HISTOGRAM,
			.name = "size",
			.unit = "y",
			.cells = inside,
			.cell_count = 4,
			.first_exponent = 4,
			.factor = 1000,
			.sum = 2},
	};
	struct weft_model *model = build(NULL, 0);
	const struct weft_otlp_options options = {0};
	struct weft_text text = {0};
	const struct weft_otlp_sink sink = {take, &text};
	uint64_t points;
	(void)state;
	assert_int_equal(weft_otlp_write_metrics(model, &options, metrics, 3, &sink, &points), 0);
	assert_int_equal(points, 3);
	weft_text_add(&text, "", 1);
	/* Above 2^(4+1/8), up to 2^(4+2/8): three. 2^(4+8/8) is 32, 2^(4+9/8) is 34.9. */
	assert_non_null(strstr(text.bytes,
		"\"bucketCounts\":[\"0\",\"3\",\"0\",\"0\",\"0\",\"0\",\"0\",\"0\",\"1\",\"5\"],"
		"\"explicitBounds\":[17.448"));
	assert_non_null(strstr(text.bytes, ",32,34.8"));
	assert_non_null(strstr(text.bytes,
		"\"zeroCount\":\"2\",\"positive\":{\"offset\":-7,\"bucketCounts\":[\"3\"]},"
		"\"zeroThreshold\":0.5"));
	assert_non_null(strstr(
		text.bytes, "\"bucketCounts\":[\"2\",\"0\",\"3\",\"0\"],\"explicitBounds\":[16000,"));
	weft_text_finish(&text);
	weft_model_destroy(model);
}

/* The values of one name follow each other; each program, and each type, has a metric of its own.
 */
static void metrics_of_other_types_and_programs_are_apart(void **state)
{
	static const struct weft_otlp_metric metrics[] = {
		{.type = WEFT_OTLP_SUM, .name = "size", .unit = ""},
		{.type = WEFT_OTLP_SUM, .name = "size", .unit = "", .is_monotonic = true},
		{.type = WEFT_OTLP_SUM, .name = "size", .unit = "", .is_monotonic = true},
		{.type = WEFT_OTLP_SUM, .name = "size", .unit = "", .is_monotonic = true, .buffer = 1},
	};
	struct weft_model *model = build(NULL, 0);
	const struct weft_otlp_options options = {0};
	struct weft_text text = {0};
	const struct weft_otlp_sink sink = {take, &text};
	uint64_t points;
	(void)state;
	assert_int_equal(
		weft_otlp_write_metrics(model, &options, metrics, COUNT(metrics), &sink, &points), 0);
	assert_int_equal(points, 4);
	weft_text_add(&text, "", 1);
	assert_int_equal(times(text.bytes, "\"name\":\"size\""), 3);
	assert_int_equal(times(text.bytes, "\"isMonotonic\":true"), 2);
	assert_int_equal(times(text.bytes, "\"right\""), 1);
	weft_text_finish(&text);
	weft_model_destroy(model);
}

static int refuse(
	void *context, enum weft_otlp_signal signal, const void *bytes, size_t size, uint32_t count)
{
	(void)context, (void)signal, (void)bytes, (void)size, (void)count;
	return WEFT_ERROR_SYSTEM;
}

static void a_sink_may_refuse(void **state)
{
	static const struct weft_event events[] = {CREATE(1, 0, 1, 2), CREATE(1, 1, 1, 2)};
	struct weft_model *model = build(events, 2);
	const struct weft_otlp_options options = {.pending = WEFT_OTLP_PENDING_OMIT_END};
	const struct weft_otlp_options invalid = {.format = WEFT_OTLP_FORMATS};
	const struct weft_otlp_sink sink = {refuse, NULL};
	struct weft_otlp_summary summary;
	(void)state;
	assert_int_equal(weft_otlp_write_spans(model, &options, &sink, &summary), WEFT_ERROR_SYSTEM);
	assert_int_equal(weft_otlp_write_spans(model, &invalid, &sink, &summary), WEFT_ERROR_ARGUMENT);
	assert_null(weft_otlp_pending_name(WEFT_OTLP_PENDINGS));
	weft_model_destroy(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_make_parents_but_no_circle),
		cmocka_unit_test(a_circle_is_broken),
		cmocka_unit_test(a_sender_is_a_parent_if_it_is_the_only_one_and_older),
		cmocka_unit_test(what_a_sibling_waits_for_is_no_request),
		cmocka_unit_test(an_id_that_is_used_again_has_spans_of_its_own),
		cmocka_unit_test(a_parent_is_remote_if_its_process_did_not_make_it),
		cmocka_unit_test(spans_that_begin_together_have_their_own_contexts),
		cmocka_unit_test(a_span_that_ends_at_once_has_its_context),
		cmocka_unit_test(a_span_of_zipkin_is_not_empty),
		cmocka_unit_test(texts_are_utf_8),
		cmocka_unit_test(histograms_beyond_their_cells_have_bounds),
		cmocka_unit_test(metrics_of_other_types_and_programs_are_apart),
		cmocka_unit_test(a_sink_may_refuse),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: ISC
 *
 * A stream writes the spans that the export of the whole trace has: their ids, parents, names and
 * times. Random programs of two processes with equal times, spans that begin together, and tasks
 * that become others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <weft/otlp.h>
#include <weft/text.h>

#define EVENTS 300
#define ROUNDS 300
#define TASKS  24

static const struct weft_trace_buffer buffers[] = {
	{.process = "left", .host = "", .file = "", .uuid = {1}},
	{.process = "right", .host = "", .file = "", .uuid = {2}},
};

static const struct weft_trace_thread threads[] = {{.name = ""}, {.name = "", .buffer = 1}};

static const struct weft_trace_description trace = {
	.format = "test", .threads = threads, .thread_count = 2, .buffers = buffers, .buffer_count = 2};

static const struct weft_otlp_options options = {
	.pending = WEFT_OTLP_PENDING_OMIT_END, .offset_ns = 1000000};

static int take(
	void *text, enum weft_otlp_signal signal, const void *bytes, size_t size, uint32_t count)
{
	(void)signal, (void)count;
	weft_text_add(text, bytes, size);
	return 0;
}

/* ---- Both exports ---- */

/* The caller frees the text. */
static char *export_all(const struct weft_event *events, size_t count)
{
	struct weft_diagnostics diagnostics = {0};
	struct weft_model_builder *builder;
	struct weft_model *model;
	struct weft_text text = {0};
	const struct weft_otlp_sink sink = {take, &text};
	struct weft_otlp_summary summary;
	assert_int_equal(weft_model_builder_create(&builder), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(weft_model_builder_add(builder, &events[i], &diagnostics), 0);
	assert_int_equal(weft_model_builder_finish(builder, &trace, &model), 0);
	assert_int_equal(weft_otlp_write_spans(model, &options, &sink, &summary), 0);
	weft_model_builder_destroy(builder);
	weft_model_destroy(model);
	weft_text_add(&text, "", 1);
	return text.bytes;
}

static char *export_stream(const struct weft_event *events, size_t count)
{
	struct weft_text text = {0};
	const struct weft_otlp_sink sink = {take, &text};
	struct weft_otlp_stream *stream;
	struct weft_otlp_summary summary;
	assert_int_equal(weft_otlp_stream_create(&options, &sink, &stream), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(weft_otlp_stream_add(stream, &events[i], &trace), 0);
	assert_int_equal(weft_otlp_stream_finish(stream, &trace, &summary), 0);
	weft_otlp_stream_destroy(stream);
	weft_text_add(&text, "", 1);
	return text.bytes;
}

/* ---- What they have ---- */

struct spans {
	size_t count;
	char *list[2 * EVENTS];
};

static int compare(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

/* The begin of each span: all up to its end. Links have ids, too, but no kind. Whether a parent is
 * remote is not known of a stream. */
static void find_spans(char *text, struct spans *ret_spans)
{
	ret_spans->count = 0;
	for (char *at = text, *kind; (kind = strstr(at, "\"kind\":1,")); at = kind + 1) {
		char *span = at, *end = strstr(kind, ",\"attributes\"");
		for (char *next = at; (next = strstr(next, "\"traceId\"")) && next < kind; next++)
			span = next;
		assert_non_null(end);
		*end = '\0';
		kind = end;
		char *flags = strstr(span, "\"flags\":");
		assert_non_null(flags);
		memset(flags, ' ', strspn(flags, "\"flags:0123456789"));
		assert_true(ret_spans->count < 2 * EVENTS);
		ret_spans->list[ret_spans->count++] = span;
	}
	qsort(ret_spans->list, ret_spans->count, sizeof(*ret_spans->list), compare);
}

static void expect_same(const struct weft_event *events, size_t count)
{
	static struct spans all, few;
	char *whole = export_all(events, count), *stream = export_stream(events, count);
	find_spans(whole, &all);
	find_spans(stream, &few);
	for (size_t i = 0; i < all.count && i < few.count; i++)
		assert_string_equal(few.list[i], all.list[i]);
	assert_int_equal(few.count, all.count);
	free(whole);
	free(stream);
}

/* ---- Random programs ---- */

static uint64_t seed;

static uint32_t pick(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

static struct weft_slice slice(const char *text)
{
	return (struct weft_slice){text, strlen(text)};
}

/* The tasks of a process. A stream does not see what happens to a task after its end. */
struct process {
	uint64_t next;
	bool has_ended[TASKS + 1];
};

static struct weft_event create(struct process *p, uint64_t creator)
{
	return (struct weft_event){
		.type = WEFT_EVENT_CREATE, .task = creator, .other = p->next++, .kind = WEFT_KIND_TASK};
}

static struct weft_event random_event(struct process *p)
{
	const uint64_t id = 1 + pick((uint32_t)p->next - 1), other = 1 + pick((uint32_t)p->next - 1);
	struct weft_event event = {.type = WEFT_EVENT_READ, .task = id, .other = other};
	if (p->next <= TASKS && pick(8) == 0)
		return create(p, id);
	if (p->has_ended[id] || p->has_ended[other])
		return event;
	switch (pick(9)) {
	case 0:
	case 1:
	case 2:
		event.type = WEFT_EVENT_BEGIN;
		event.text = slice(pick(2) ? "parse" : "read");
		break;
	case 3:
	case 4:
		event.type = WEFT_EVENT_END;
		break;
	case 5:
		event.type = WEFT_EVENT_SWITCH;
		break;
	case 6:
		event.type = WEFT_EVENT_LABEL;
		event.text = slice(pick(2) ? "one" : "two");
		break;
	case 7:
		event.type = pick(2) ? WEFT_EVENT_RESOLVE : WEFT_EVENT_FAIL;
		event.text = slice("no");
		p->has_ended[other] = true;
		break;
	default:
		event.type = WEFT_EVENT_BECOME;
		p->has_ended[id] = id != other;
	}
	return event;
}

static void a_stream_has_the_spans_of_the_export(void **state)
{
	static struct weft_event events[EVENTS];
	(void)state;
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		struct process processes[2] = {{.next = 1}, {.next = 1}};
		uint64_t time = 1000;
		seed = round;
		for (uint32_t i = 0; i < EVENTS; i++) {
			const uint32_t which = i < 2 ? i : pick(2);
			struct process *p = &processes[which];
			events[i] = i < 2 ? create(p, WEFT_TASK_NONE) : random_event(p);
			events[i].buffer = events[i].thread = which;
			events[i].time_ns = time;
			time += pick(3) ? 0 : pick(500);
		}
		expect_same(events, EVENTS);
	}
}

/* The receiver ends first, and has a link to a task whose trace was not needed before. */
static void a_link_to_another_process_has_the_ids_of_that(void **state)
{
	static const struct weft_event events[] = {
		{.time_ns = 1, .type = WEFT_EVENT_CREATE, .task = WEFT_TASK_NONE, .other = 1, .buffer = 1},
		{.time_ns = 2, .type = WEFT_EVENT_CREATE, .task = WEFT_TASK_NONE, .other = 1},
		{.time_ns = 3, .type = WEFT_EVENT_SEND, .task = 1, .key = 7},
		{.time_ns = 4, .type = WEFT_EVENT_RECEIVE, .task = 1, .key = 7, .buffer = 1},
		{.time_ns = 5, .type = WEFT_EVENT_RESOLVE, .other = 1, .buffer = 1},
		{.time_ns = 6, .type = WEFT_EVENT_RESOLVE, .other = 1},
	};
	(void)state;
	char *text = export_stream(events, sizeof(events) / sizeof(events[0]));
	const char *link = strstr(text, "\"links\":[{\"traceId\":\"");
	assert_non_null(link);
	link = strstr(link, "\"traceId\"");
	const char *span = strstr(link + 1, "\"traceId\"");
	assert_non_null(span);
	assert_memory_equal(link, span, strlen("\"traceId\":\"\"") + 32);
	free(text);
	expect_same(events, sizeof(events) / sizeof(events[0]));
}

/* Both processes have a task 2 that has ended long ago, and is read at last. */
static void a_task_that_was_forgotten_is_that_of_its_process(void **state)
{
	enum {
		MANY = (1 << 16) + 1000
	};
	struct weft_event *events = calloc(MANY + 10, sizeof(*events));
	const struct weft_event switches = {.type = WEFT_EVENT_SWITCH, .task = 1};
	size_t count = 0;
	(void)state;
	assert_non_null(events);
	for (uint32_t i = 0; i < 6; i++)
		events[count++] =
			(struct weft_event){.type = i < 4 ? WEFT_EVENT_CREATE : WEFT_EVENT_RESOLVE,
				.task = WEFT_TASK_NONE,
				.other = i < 2 ? 1 : 2,
				.buffer = i % 2,
				.thread = i % 2};
	while (count < MANY)
		events[count++] = switches;
	for (uint32_t i = 0; i < 4; i++)
		events[count++] = (struct weft_event){.type = i < 2 ? WEFT_EVENT_READ : WEFT_EVENT_RESOLVE,
			.task = 1,
			.other = i < 2 ? 2 : 1,
			.buffer = i % 2,
			.thread = i % 2};
	char *all = export_all(events, count), *few = export_stream(events, count);
	const char *of_all = all, *of_few = few, begin[] = "\"links\":[{\"traceId\":\"";
	for (int i = 0; i < 2; i++) {
		of_all = strstr(of_all + 1, begin);
		of_few = strstr(of_few + 1, begin);
		assert_non_null(of_all);
		assert_non_null(of_few);
		assert_memory_equal(of_all, of_few, sizeof(begin) + 32 + strlen("\"spanId\":\"") + 16);
	}
	free(events);
	free(all);
	free(few);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_to_another_process_has_the_ids_of_that),
		cmocka_unit_test(a_task_that_was_forgotten_is_that_of_its_process),
		cmocka_unit_test(a_stream_has_the_spans_of_the_export),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

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

static const struct weft_trace_thread threads[] = {{.name = "a", .tid = 11},
	{.name = "b", .tid = 12, .buffer = 1}, {.name = "c", .tid = 13},
	{.name = "d", .tid = 14, .buffer = 1}};

static const struct weft_trace_description trace = {
	.format = "test", .threads = threads, .thread_count = 4, .buffers = buffers, .buffer_count = 2};

static struct weft_otlp_options options = {
	.pending = WEFT_OTLP_PENDING_OMIT_END, .offset_ns = 1000000};

static int take(
	void *text, enum weft_otlp_signal signal, const void *bytes, size_t size, uint32_t count)
{
	(void)signal, (void)count;
	weft_text_add(text, bytes, size);
	return 0;
}

/* ---- Both exports ---- */

/* Tasks that the last of either export has folded. */
static uint64_t folded_of_all, folded_of_stream;

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
	folded_of_all = summary.folded;
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
	folded_of_stream = summary.folded;
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
	assert_int_equal(folded_of_stream, folded_of_all);
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
			events[i].buffer = which;
			events[i].thread = which + 2 * pick(2); /* each process has two */
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

/* ---- Folding ---- */

#define MS UINT64_C(1000000)
#define CREATE(ms, creator, id, of)                                                             \
	{                                                                                           \
		.time_ns = (ms)*MS, .type = WEFT_EVENT_CREATE, .task = creator, .other = id, .kind = of \
	}
#define LABEL(ms, id, name)                                                 \
	{                                                                       \
		.time_ns = (ms)*MS, .type = WEFT_EVENT_LABEL, .task = id, .text = { \
			name,                                                           \
			sizeof(name) - 1                                                \
		}                                                                   \
	}
#define ON(ms, what, actor, id)                                                   \
	{                                                                             \
		.time_ns = (ms)*MS, .type = WEFT_EVENT_##what, .task = actor, .other = id \
	}
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int fold(void **state)
{
	(void)state;
	options.folds = true;
	return 0;
}

static int unfold(void **state)
{
	(void)state;
	options.folds = false;
	return 0;
}

/* Labels come with the task, waits before anything has ended, and the ends are nobody's work: so
 * all is known in time. */
static void a_folded_stream_has_the_spans_of_the_export(void **state)
{
	static const uint16_t kinds[] = {WEFT_KIND_TASK, WEFT_KIND_PROMISE, WEFT_KIND_PROMISE,
		WEFT_KIND_ASYNC, WEFT_KIND_SEMAPHORE, WEFT_KIND_JOIN};
	(void)state;
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		struct weft_event events[4 * TASKS + 4 * TASKS];
		size_t count = 0;
		seed = round;
		for (uint32_t id = 1; id <= TASKS; id++) {
			const uint64_t creator = id == 1 || pick(9) == 0 ? WEFT_TASK_NONE : 1 + pick(id - 1);
			events[count++] = (struct weft_event)CREATE(0, creator, id, kinds[pick(6)]);
			if (pick(3) == 0)
				events[count++] = (struct weft_event)LABEL(0, id, "named");
			if (id > 1 && pick(3) == 0)
				events[count++] = (struct weft_event)ON(0, TRY_READ, 1 + pick(id - 1), id);
			if (pick(3) == 0)
				events[count++] = (struct weft_event){
					.type = WEFT_EVENT_BEGIN, .task = 1 + pick(id), .text = {"part", 4}};
		}
		for (uint32_t i = 0; i < 4 * TASKS; i++) {
			const uint64_t id = 1 + pick(TASKS);
			events[count++] = pick(4)   ? (struct weft_event)ON(0, END, id, 0)
							  : pick(2) ? (struct weft_event)ON(0, RESOLVE, WEFT_TASK_NONE, id)
										: (struct weft_event)ON(0, FAIL, WEFT_TASK_NONE, id);
		}
		for (size_t i = 0; i < count; i++)
			events[i].time_ns = 1000 + i / 3 * 500;
		expect_same(events, count);
	}
}

/* How often `part` is in the span of that name; -1: there is no such span. */
static int times_in(const char *text, const char *name, const char *part)
{
	char begin[64];
	int times = 0;
	strcat(strcat(strcpy(begin, "\"name\":\""), name), "\",\"kind\":1");
	const char *span = strstr(text, begin);
	if (!span)
		return -1;
	const char *end = strstr(span, "\"kind\":1,");
	end = end ? strstr(end + 1, "\"kind\":1,") : NULL;
	for (const char *at = span; (at = strstr(at, part)) && (!end || at < end); at++)
		times++;
	return times;
}

/* The request has what happens in its promises, and is written when it ends; what the server waits
 * for is no request. */
static void a_request_has_what_is_folded_into_it(void **state)
{
	static const struct weft_event events[] = {
		CREATE(1, WEFT_TASK_NONE, 1, WEFT_KIND_TASK),
		LABEL(1, 1, "server"),
		CREATE(2, 1, 2, WEFT_KIND_TASK),
		LABEL(2, 2, "request"),
		CREATE(3, 2, 3, WEFT_KIND_PROMISE),
		CREATE(4, 3, 4, WEFT_KIND_PROMISE),
		{.time_ns = 5 * MS, .type = WEFT_EVENT_NOTE, .task = 4, .text = {"deep", 4}},
		{.time_ns = 5 * MS, .type = WEFT_EVENT_COUNTER, .task = 4, .value = 1, .text = {"n", 1}},
		ON(6, TRY_READ, 2, 4),
		{.time_ns = 7 * MS,
			.type = WEFT_EVENT_FAIL,
			.task = WEFT_TASK_NONE,
			.other = 4,
			.text = {"lost", 4}},
		CREATE(8, 3, 5, WEFT_KIND_TASK),
		LABEL(8, 5, "query"),
		ON(9, RESOLVE, WEFT_TASK_NONE, 5),
		CREATE(9, 1, 6, WEFT_KIND_TASK),
		LABEL(9, 6, "awaited"),
		ON(9, TRY_READ, 1, 6),
		ON(10, TRY_READ, 6, 5),
		ON(10, TRY_READ, 6, 1),
		ON(10, RESOLVE, WEFT_TASK_NONE, 6),
		ON(11, RESOLVE, WEFT_TASK_NONE, 2),
		ON(12, RESOLVE, WEFT_TASK_NONE, 3),
		{.time_ns = 13 * MS, .type = WEFT_EVENT_NOTE, .task = 3, .text = {"late", 4}},
	};
	(void)state;
	char *text = export_stream(events, COUNT(events));
	assert_int_equal(times_in(text, "request", "\"deep\""), 1);
	assert_int_equal(times_in(text, "request", "\"exception\""), 1);
	assert_int_equal(times_in(text, "request", "\"lost\""), 1);
	assert_int_equal(times_in(text, "request", "weft.add"), 0);
	assert_int_equal(times_in(text, "request", "\"create\""), 1);   /* from the server */
	assert_int_equal(times_in(text, "request", "\"try_read\""), 0); /* of its own part */
	assert_int_equal(
		times_in(text, "awaited", "\"try_read\""), 1);            /* of another's, not its parent */
	assert_int_equal(times_in(text, "awaited", "\"signal\""), 0); /* of its parent */
	assert_int_equal(times_in(text, "awaited", "\"create\""), 0);
	assert_int_equal(folded_of_stream, 2);
	assert_int_equal(times_in(text, "server", "\"try_read\""), 0); /* of its child */
	assert_null(strstr(text, "late"));
	assert_true(strstr(text, "\"query\"") < strstr(text, "\"request\""));
	free(text);
	expect_same(events, COUNT(events));
}

/* "a" ends a promise of the server, and so is a part of its work; "b" closes a semaphore of it. */
static void what_ends_a_promise_of_the_server_is_no_request(void **state)
{
	static const struct weft_event events[] = {
		CREATE(1, WEFT_TASK_NONE, 1, WEFT_KIND_TASK),
		CREATE(2, 1, 2, WEFT_KIND_PROMISE),
		CREATE(2, 1, 3, WEFT_KIND_SEMAPHORE),
		CREATE(3, 1, 4, WEFT_KIND_TASK),
		LABEL(3, 4, "a"),
		CREATE(3, 1, 5, WEFT_KIND_TASK),
		LABEL(3, 5, "b"),
		ON(4, RESOLVE, 4, 2),
		ON(4, RESOLVE, 5, 3),
		ON(5, RESOLVE, WEFT_TASK_NONE, 4),
		ON(5, RESOLVE, WEFT_TASK_NONE, 5),
	};
	(void)state;
	char *text = export_stream(events, COUNT(events));
	assert_int_equal(times_in(text, "a", "\"create\""), 0);
	assert_int_equal(times_in(text, "b", "\"create\""), 1);
	free(text);
	expect_same(events, COUNT(events));
}

/* Promise 3 has a context: it has a span, and what it makes and does not wait for is below it. So
 * has the server, from then on. */
static void a_task_with_a_context_is_no_server(void **state)
{
#define FIELD(key, digits)                                                       \
	{                                                                            \
		.name = {key, sizeof(key) - 1}, .type = WEFT_FIELD_TEXT, .value.text = { \
			digits,                                                              \
			sizeof(digits) - 1                                                   \
		}                                                                        \
	}
#define CONTEXT(digit)                                                             \
	{                                                                              \
		FIELD("trace_id", "0000000000000000000000000000000" digit),                \
			FIELD("span_id", "000000000000000" digit),                             \
			{.name = {"trace_flags", 11}, .type = WEFT_FIELD_U64, .value.u64 = 1}, \
			FIELD("parent_span_id", "00000000000000ff"),                           \
	}
#define GIVE(ms, id, number)                                                                    \
	{                                                                                           \
		.time_ns = (ms)*MS, .type = WEFT_EVENT_MARK, .task = id, .text = {"trace context", 13}, \
		.fields = contexts[number], .field_count = 4                                            \
	}
	static const struct weft_field contexts[2][4] = {CONTEXT("8"), CONTEXT("9")};
	static const struct weft_event events[] = {
		CREATE(1, WEFT_TASK_NONE, 1, WEFT_KIND_TASK),
		CREATE(2, 1, 2, WEFT_KIND_TASK),
		LABEL(2, 2, "request"),
		CREATE(3, 1, 3, WEFT_KIND_PROMISE),
		GIVE(3, 3, 0),
		CREATE(4, 3, 4, WEFT_KIND_TASK),
		LABEL(4, 4, "below"),
		ON(5, RESOLVE, WEFT_TASK_NONE, 2),
		ON(5, RESOLVE, WEFT_TASK_NONE, 4),
		GIVE(6, 1, 1),
		CREATE(7, 1, 5, WEFT_KIND_TASK),
		LABEL(7, 5, "after"),
		ON(8, RESOLVE, WEFT_TASK_NONE, 5),
		ON(8, RESOLVE, WEFT_TASK_NONE, 3),
	};
	(void)state;
	char *text = export_stream(events, COUNT(events));
	assert_int_equal(times_in(text, "request", "\"create\""), 1);
	assert_int_equal(times_in(text, "below", "\"create\""), 0);
	assert_int_equal(times_in(text, "after", "\"create\""), 0);
	assert_int_equal(times_in(text, "promise", "\"create\""), 1); /* its parent is another's */
	const char *own = "\"traceId\":\"00000000000000000000000000000008\"",
			   *first = strstr(text, own);
	assert_non_null(first);
	assert_non_null(strstr(first + 1, own)); /* that of "below" */
	assert_non_null(strstr(text, "\"parentSpanId\":\"0000000000000008\""));
	assert_non_null(strstr(text, "\"parentSpanId\":\"0000000000000009\""));
	free(text);
}

/* Numbers of tasks change when others are forgotten. */
static void a_request_outlives_many_others(void **state)
{
	enum {
		MANY = 3 << 15
	};
	struct weft_event *events = calloc(MANY + 10, sizeof(*events));
	size_t count = 0;
	(void)state;
	assert_non_null(events);
	events[count++] = (struct weft_event)CREATE(1, WEFT_TASK_NONE, 1, WEFT_KIND_TASK);
	for (uint64_t id = 10; count < MANY; id++) {
		events[count++] = (struct weft_event)CREATE(1, 1, id, WEFT_KIND_TASK);
		events[count++] = (struct weft_event)ON(1, RESOLVE, WEFT_TASK_NONE, id);
		if (count == 101) {
			events[count++] = (struct weft_event)CREATE(1, 1, 2, WEFT_KIND_TASK);
			events[count++] = (struct weft_event)LABEL(1, 2, "request");
			events[count++] = (struct weft_event)CREATE(1, 2, 3, WEFT_KIND_PROMISE);
		}
	}
	events[count++] = (struct weft_event){
		.time_ns = 2 * MS, .type = WEFT_EVENT_NOTE, .task = 3, .text = {"deep", 4}};
	events[count++] = (struct weft_event)ON(3, RESOLVE, WEFT_TASK_NONE, 2);
	char *text = export_stream(events, count);
	assert_int_equal(times_in(text, "request", "\"deep\""), 1);
	free(text);
	free(events);
}

/* Times that another program measured; of a track that begins late. */
static void a_span_of_a_track_is_below_it(void **state)
{
	enum {
		MANY = (1 << 16) + 100
	};
	struct weft_event *events = calloc(MANY + 2, sizeof(*events));
	size_t count = 0;
	(void)state;
	assert_non_null(events);
	events[count++] = (struct weft_event)CREATE(1, WEFT_TASK_NONE, 1, WEFT_KIND_TASK);
	while (count < MANY)
		events[count++] = (struct weft_event){.time_ns = MS, .type = WEFT_EVENT_SWITCH, .task = 1};
	for (uint64_t i = 2; i < 4; i++)
		events[count++] = (struct weft_event){.time_ns = i * MS,
			.type = WEFT_EVENT_SPAN,
			.task = WEFT_TASK_NONE,
			.other = WEFT_TRACK_FIRST,
			.begin_ns = (i - 1) * MS,
			.end_ns = i * MS,
			.text = {"measured", 8},
			.kind_name = {"disk", 4}};
	expect_same(events, count);
	free(events);
}

/* The server waits for "b" when that has been written as a request. */
static void a_wait_that_comes_too_late_changes_nothing(void **state)
{
	static const struct weft_event events[] = {
		CREATE(1, WEFT_TASK_NONE, 1, WEFT_KIND_TASK),
		CREATE(2, 1, 2, WEFT_KIND_TASK),
		LABEL(2, 2, "a"),
		CREATE(2, 1, 3, WEFT_KIND_TASK),
		LABEL(2, 3, "b"),
		ON(3, READ, 1, 2),
		ON(4, RESOLVE, WEFT_TASK_NONE, 2),
		ON(4, RESOLVE, WEFT_TASK_NONE, 3),
		ON(5, READ, 1, 3),
	};
	(void)state;
	char *text = export_stream(events, COUNT(events));
	assert_int_equal(times_in(text, "a", "\"create\""), 0);
	assert_int_equal(times_in(text, "b", "\"create\""), 1);
	assert_int_equal(times_in(text, "task", "\"read\""), 1); /* of "b", which is not below it */
	free(text);
}

/* A label, or a context, makes a span of a task that has children already. */
static void a_task_that_gets_its_label_late_has_a_span(void **state)
{
	static const struct weft_event events[] = {
		CREATE(1, WEFT_TASK_NONE, 1, WEFT_KIND_TASK),
		CREATE(2, 1, 2, WEFT_KIND_PROMISE),
		CREATE(3, 2, 3, WEFT_KIND_TASK),
		LABEL(3, 3, "first"),
		ON(4, RESOLVE, WEFT_TASK_NONE, 3),
		LABEL(5, 2, "late"),
		CREATE(6, 2, 4, WEFT_KIND_TASK),
		LABEL(6, 4, "second"),
		ON(7, RESOLVE, WEFT_TASK_NONE, 4),
		ON(8, RESOLVE, WEFT_TASK_NONE, 2),
	};
	(void)state;
	char *text = export_stream(events, COUNT(events));
	assert_int_equal(times_in(text, "first", "\"create\""), 1);
	assert_int_equal(times_in(text, "second", "\"create\""), 0);
	assert_int_equal(times_in(text, "late", "\"create\""), 1);
	free(text);
}

/* Each promise creates the next one: the memory and the time stay in proportion. */
static void a_chain_of_promises_is_one_request(void **state)
{
	enum {
		MANY = 200000
	};
	struct weft_event *events = calloc(2 * MANY + 4, sizeof(*events));
	size_t count = 0;
	(void)state;
	assert_non_null(events);
	events[count++] = (struct weft_event)CREATE(1, WEFT_TASK_NONE, 1, WEFT_KIND_TASK);
	for (uint64_t id = 2; id < MANY; id++) {
		events[count++] = (struct weft_event)CREATE(1, id - 1, id, WEFT_KIND_PROMISE);
		if (id > 2)
			events[count++] = (struct weft_event)ON(1, RESOLVE, WEFT_TASK_NONE, id - 1);
	}
	events[count++] = (struct weft_event)CREATE(1, MANY - 1, MANY, WEFT_KIND_TASK);
	events[count++] = (struct weft_event)LABEL(1, MANY, "last");
	events[count++] = (struct weft_event)ON(1, RESOLVE, WEFT_TASK_NONE, MANY);
	char *text = export_stream(events, count);
	assert_int_equal(times_in(text, "last", "\"create\""), 1); /* a request of task 1 */
	free(text);
	free(events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_to_another_process_has_the_ids_of_that),
		cmocka_unit_test(a_task_that_was_forgotten_is_that_of_its_process),
		cmocka_unit_test(a_stream_has_the_spans_of_the_export),
		cmocka_unit_test_setup_teardown(a_folded_stream_has_the_spans_of_the_export, fold, unfold),
		cmocka_unit_test_setup_teardown(a_request_has_what_is_folded_into_it, fold, unfold),
		cmocka_unit_test_setup_teardown(
			what_ends_a_promise_of_the_server_is_no_request, fold, unfold),
		cmocka_unit_test_setup_teardown(a_task_with_a_context_is_no_server, fold, unfold),
		cmocka_unit_test_setup_teardown(a_request_outlives_many_others, fold, unfold),
		cmocka_unit_test_setup_teardown(a_span_of_a_track_is_below_it, fold, unfold),
		cmocka_unit_test_setup_teardown(a_wait_that_comes_too_late_changes_nothing, fold, unfold),
		cmocka_unit_test_setup_teardown(a_task_that_gets_its_label_late_has_a_span, fold, unfold),
		cmocka_unit_test_setup_teardown(a_chain_of_promises_is_one_request, fold, unfold),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: ISC
 *
 * The n-th allocation fails, for every n: the reading half returns "out of memory" and frees
 * everything (which the leak sanitizer checks). The linker prefers our malloc to libc's.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <weft/cut.h>
#include <weft/decoder.h>
#include <weft/export.h>
#include <weft/layout.h>
#include <weft/lines.h>
#include <weft/model.h>
#include <weft/problems.h>
#include <weft/render.h>
#include <weft/search.h>
#include <weft/stats.h>

#include "failing_allocation.h"
#include "made_stream.h"
#include "made_xentrace.h"

static int print_events(struct weft_decoder *decoder)
{
	struct weft_text text = {0};
	struct weft_lines lines;
	struct weft_event event;
	int status;
	weft_lines_init(&lines, weft_decoder_describe(decoder), 0);
	while ((status = weft_decoder_next(decoder, &event)) == WEFT_OK)
		weft_lines_add_json(&lines, &event, &text);
	int error = text.error;
	weft_text_finish(&text);
	return error ? error : status == WEFT_END ? 0 : status;
}

static const uint32_t second = 1;
static const struct weft_layout_options rows = {
	.fold = true,
	.group_by = WEFT_GROUP_BY_THREAD,
	.folded_groups = &second,
	.folded_group_count = 1,
};

static int build_layout(struct weft_decoder *decoder)
{
	struct weft_model *model;
	struct weft_layout *layout;
	int error = weft_decoder_build_model(decoder, NULL, &model);
	if (error)
		return error;
	error = weft_layout_create(model, &rows, &layout);
	if (!error)
		weft_layout_destroy(layout);
	weft_model_destroy(model);
	return error;
}

/* The stories and the related tasks of all tasks. */
static int list_tasks(const struct weft_story *story)
{
	int error = 0;
	for (uint32_t task = 0; !error && task < story->model->tasks.count; task++) {
		struct weft_story_lines *lines;
		uint32_t *related, count;
		bool more;
		error = weft_story_lines_create(story, task, &lines);
		if (error)
			return error;
		weft_story_lines_destroy(lines);
		error = weft_story_related(story, task, 10, &related, &count, &more);
		if (!error)
			free(related);
	}
	return error;
}

static int list_all(const struct weft_model *model)
{
	struct weft_story_index *index;
	struct weft_problems *problems;
	struct weft_search *search;
	struct weft_stats *stats;
	struct weft_stats_diff *diff;
	int error = weft_story_index_create(model, &index);
	if (error)
		return error;
	const struct weft_story story = {.model = model, .index = index};
	error = list_tasks(&story);
	if (!error && !(error = weft_problems_create(&story, &problems)))
		weft_problems_destroy(problems);
	if (!error && !(error = weft_search_create(model, "a(b|c)*", 7, true, NULL, &search)))
		weft_search_destroy(search);
	for (unsigned by = 0; by < WEFT_STATS_BYS && !error; by++) {
		const struct weft_stats_options options = {.by = (enum weft_stats_by)by};
		if ((error = weft_stats_create(&story, &options, &stats)))
			break;
		if (!(error = weft_stats_diff_create(stats, stats, &diff)))
			weft_stats_diff_destroy(diff);
		weft_stats_destroy(stats);
	}
	weft_story_index_destroy(index);
	return error;
}

static int build_story(struct weft_decoder *decoder)
{
	struct weft_model *model;
	int error = weft_decoder_build_model(decoder, NULL, &model);
	if (error)
		return error;
	error = list_all(model);
	weft_model_destroy(model);
	return error;
}

struct shown {
	struct weft_model *model;
	struct weft_layout *layout;
};

static void drop(struct shown *shown)
{
	weft_layout_destroy(shown->layout);
	weft_model_destroy(shown->model);
	*shown = (struct shown){NULL, NULL};
}

/* Shows what came since the last one, which stays until then, as in a viewer. */
static int refresh(
	struct weft_decoder *decoder, struct weft_model_builder *builder, struct shown *shown)
{
	const struct weft_layout_options options = {.fold = true, .previous = shown->layout};
	struct shown next = {NULL, NULL};
	int error =
		weft_model_builder_snapshot(builder, weft_decoder_describe(decoder), 0, &next.model);
	if (!error)
		error = weft_layout_create(next.model, &options, &next.layout);
	drop(error ? &next : shown);
	if (!error)
		*shown = next;
	return error;
}

/* Snapshots after every two events. */
static int take_snapshots(struct weft_decoder *decoder, struct weft_model_builder *builder)
{
	struct shown shown = {NULL, NULL};
	struct weft_diagnostics diagnostics = {0};
	struct weft_event event;
	int error = 0;
	for (unsigned i = 0; !error && i < 10; i++) {
		error = weft_decoder_next(decoder, &event);
		if (!error)
			error = weft_model_builder_add(builder, &event, &diagnostics);
		if (!error && i % 2 == 0)
			error = refresh(decoder, builder, &shown);
	}
	drop(&shown);
	return error;
}

static int look_at_half(struct weft_decoder *decoder)
{
	struct weft_model_builder *builder;
	struct weft_model *model = NULL;
	int error = weft_model_builder_create(&builder);
	if (error)
		return error;
	error = take_snapshots(decoder, builder);
	if (error && error != WEFT_END) /* a later snapshot is complete nevertheless */
		(void)weft_model_builder_snapshot(builder, weft_decoder_describe(decoder), 0, &model);
	weft_model_destroy(model);
	weft_model_builder_destroy(builder);
	return error;
}

static int draw(const struct weft_scene *scene, const struct weft_layout *layout)
{
	struct weft_render_options options = {.title = "memory", .hover = true};
	struct weft_frame frame;
	struct weft_view view;
	struct weft_canvas *canvas;
	struct weft_text svg = {0};
	int error = weft_canvas_create(600, 400, &canvas);
	if (error)
		return error;
	weft_frame_place(layout, 600, 400, &frame);
	weft_frame_view(layout, &frame, &view);
	error = weft_render_frame(scene, &frame, &view, &options, canvas);
	if (!error)
		error = weft_canvas_write_svg(canvas, NULL, &svg);
	weft_text_finish(&svg);
	weft_canvas_destroy(canvas);
	return error;
}

static int append(void *text, const void *bytes, size_t size)
{
	weft_text_add(text, bytes, size);
	return ((struct weft_text *)text)->error;
}

/* Cuts the later half of the trace, with a rundown of the earlier half. */
static int cut_part(struct weft_decoder *decoder)
{
	const struct weft_trace_description *trace = weft_decoder_describe(decoder);
	const struct weft_cut_range range = {5000000000, UINT64_MAX, 0};
	struct weft_text part = {0};
	const struct weft_cut_sink sink = {append, &part};
	struct weft_event event;
	struct weft_cut *cut;
	int status, error = weft_cut_create(&range, NULL, &sink, &cut);
	if (error)
		return error;
	while ((status = weft_decoder_next(decoder, &event)) == WEFT_OK && !error)
		error = weft_cut_add(cut, &event, trace);
	if (!error)
		error = status == WEFT_END ? weft_cut_finish(cut, trace) : status;
	weft_cut_destroy(cut);
	weft_text_finish(&part);
	return error;
}

/* Takes ownership of the model. */
static int draw_model(struct weft_model *model)
{
	struct weft_layout *layout = NULL;
	struct weft_scene *scene = NULL;
	int error = weft_layout_create(model, &rows, &layout);
	if (!error)
		error = weft_scene_create(model, layout, &scene);
	if (!error)
		error = draw(scene, layout);
	weft_scene_destroy(scene);
	weft_layout_destroy(layout);
	weft_model_destroy(model);
	return error;
}

static int draw_picture(struct weft_decoder *decoder)
{
	struct weft_model *model;
	int error = weft_decoder_build_model(decoder, NULL, &model);
	return error ? error : draw_model(model);
}

/* Six alike tasks in sequence, on two threads, one of which is folded into one row. */
static int add_alike(struct weft_model_builder *builder)
{
	struct weft_diagnostics diagnostics = {0};
	int error = 0;
	for (uint32_t i = 0; i < 26 && !error; i++) {
		uint32_t thread = i % 26 > 23, id = 1 + i / 4;
		const uint8_t types[] = {
			WEFT_EVENT_CREATE, WEFT_EVENT_LABEL, WEFT_EVENT_SWITCH, WEFT_EVENT_RESOLVE};
		struct weft_event event = {
			.type = types[i % 4],
			.time_ns = 10 * i,
			.thread = thread,
			.task = i % 4 == 1 || i % 4 == 2 ? id : WEFT_TASK_NONE,
			.other = id,
			.text = {"task 1", 6},
		};
		error = weft_model_builder_add(builder, &event, &diagnostics);
	}
	return error;
}

static const struct weft_trace_thread two_threads[] = {{.name = "a"}, {.name = "b"}};
static const struct weft_trace_description made_description = {
	.clock.name = "test", .threads = two_threads, .thread_count = 2};

/* A task that runs on two threads at once, and spans of it with many names. */
static int add_spans(struct weft_model_builder *builder)
{
	static const struct weft_event events[] = {
		{.type = WEFT_EVENT_CREATE, .task = WEFT_TASK_NONE, .other = 1},
		{.type = WEFT_EVENT_SWITCH, .time_ns = 10, .task = 1},
		{.type = WEFT_EVENT_SWITCH, .time_ns = 20, .task = 1, .thread = 1},
		{.type = WEFT_EVENT_BEGIN, .time_ns = 22, .task = 1, .text = {"one", 3}},
		{.type = WEFT_EVENT_END, .time_ns = 24, .task = 1},
		{.type = WEFT_EVENT_BEGIN, .time_ns = 26, .task = 1, .text = {"two", 3}},
		{.type = WEFT_EVENT_SWITCH, .time_ns = 30, .task = WEFT_TASK_NONE, .thread = 1},
		{.type = WEFT_EVENT_SWITCH, .time_ns = 40, .task = WEFT_TASK_NONE},
	};
	struct weft_diagnostics diagnostics = {0};
	int error = 0;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]) && !error; i++)
		error = weft_model_builder_add(builder, &events[i], &diagnostics);
	for (uint32_t i = 0; i < 72 && !error; i++)
		error = weft_model_builder_add(builder,
			&(struct weft_event){.type = WEFT_EVENT_BEGIN,
				.time_ns = 50 + i,
				.task = 1,
				.text = {&"abcdefghijklmnopqrstuvwxyz"[i % 24], 1 + i / 24}},
			&diagnostics);
	return error;
}

static int list_spans(struct weft_decoder *decoder)
{
	struct weft_model_builder *builder;
	struct weft_model *model = NULL;
	(void)decoder;
	int error = weft_model_builder_create(&builder);
	if (error)
		return error;
	error = add_spans(builder);
	if (!error)
		error = weft_model_builder_finish(builder, &made_description, &model);
	if (!error)
		error = list_all(model);
	weft_model_destroy(model);
	weft_model_builder_destroy(builder);
	return error;
}

/* A message whose sender is before the part and whose receiver is in it. */
static int cut_message(struct weft_decoder *decoder)
{
	static const struct weft_event events[] = {
		{.type = WEFT_EVENT_SEND, .time_ns = 10, .task = 1, .value = 5},
		{.type = WEFT_EVENT_SWITCH, .time_ns = 50, .task = 2},
		{.type = WEFT_EVENT_RECEIVE, .time_ns = 60, .task = 2, .value = 5},
	};
	const struct weft_cut_range range = {50, UINT64_MAX, 0};
	struct weft_text part = {0};
	const struct weft_cut_sink sink = {append, &part};
	struct weft_cut *cut;
	(void)decoder;
	int error = weft_cut_create(&range, NULL, &sink, &cut);
	if (error)
		return error;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]) && !error; i++)
		error = weft_cut_add(cut, &events[i], &made_description);
	if (!error)
		error = weft_cut_finish(cut, &made_description);
	weft_cut_destroy(cut);
	weft_text_finish(&part);
	return error;
}

static int draw_alike(struct weft_decoder *decoder)
{
	struct weft_model_builder *builder;
	struct weft_model *model = NULL;
	(void)decoder;
	int error = weft_model_builder_create(&builder);
	if (error)
		return error;
	error = add_alike(builder);
	if (!error)
		error = weft_model_builder_finish(builder, &made_description, &model);
	weft_model_builder_destroy(builder);
	return error ? error : draw_model(model);
}

static int use(const char *bytes, size_t size, int (*job)(struct weft_decoder *))
{
	struct weft_decoder *decoder;
	int error = weft_decoder_create(&decoder);
	if (error)
		return error;
	error = weft_decoder_feed(decoder, bytes, size);
	if (!error)
		error = weft_decoder_finish(decoder);
	if (!error)
		error = job(decoder);
	weft_decoder_destroy(decoder);
	return error;
}

/* Small, but with everything that allocates: events out of order, escapes, a become, notes. */
static const char sexp[] =
	"((time 3)(op(Switch 1)))((time 1)(op(Creates 0 1 Bind)))((time 2)(op(Label 1\"a\\nb\")))"
	"((time 4)(op(Reads 1 2)))((time 5)(op(Becomes 1 2)))((time 5)(op(Resolves 0 2(\"X\"))))"
	"((time 5)(op(Increases 2 n 5)))((time 6)(op(Label 0 __should_resolve)))"
	"((time 7)(op(Switch -1)))((time 8)(op(Gc 1e-3)))";

static size_t make_ctf(char *buffer)
{
	static const unsigned char packet[] = {0xc1, 0x1f, 0xfc, 0xc1, 0x05, 0x88, 0x3b, 0x8d, 0x52,
		0x1a, 0x48, 0x7b, 0xb3, 0x97, 0x45, 0x6a, 0xb1, 0x50, 0x68, 0x0c, 64 * 8 & 255, 64 * 8 >> 8,
		0, 0, 0, 0, 64 * 8 & 255, 64 * 8 >> 8, 0, 0,
		/* switch at 9, switch at 5 */
		9, 0, 0, 0, 0, 0, 0, 0, 7, 1, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0,
		0, 0, 0};
	memcpy(buffer, packet, sizeof(packet));
	return sizeof(packet);
}

static void fail_every_allocation(const char *bytes, size_t size, int (*job)(struct weft_decoder *))
{
	long count = 0;
	int error;
	do {
		until_failure = count++;
		error = use(bytes, size, job);
		long left = until_failure;
		until_failure = -1;
		assert_true(error == 0 || error == WEFT_ERROR_MEMORY);
		/* A failed allocation must be reported. */
		assert_int_equal(error == 0, left >= 0);
	} while (error && count < 10000);
	assert_int_equal(error, 0);
	assert_true(count > 3);
}

/* Reads a stream as it comes. A call after a failed one goes on. */
static int read_stream(const struct made_stream *s)
{
	struct weft_decoder *decoder;
	struct weft_event event;
	uint64_t count = 0;
	int status, error = weft_decoder_create(&decoder);
	if (error)
		return error;
	error = weft_decoder_feed(decoder, s->bytes, s->size);
	while (!error && (status = weft_decoder_next(decoder, &event)) != WEFT_AGAIN) {
		error = status < 0 ? status : 0;
		count += status == WEFT_OK;
	}
	while (error && (status = weft_decoder_next(decoder, &event)) == WEFT_OK)
		count++;
	assert_true(error ? count <= 40 : count == 40);
	weft_decoder_destroy(decoder);
	return error;
}

/* The threads after the first continue in its packet. */
static void decoding_a_stream_of_many_threads(void **state)
{
	static struct made_stream s;
	const struct weft_abi_buffer header = made_header();
	struct made_packet p = made_packet(1, 1);
	int error;
	(void)state;
	made_begin(&s, &header);
	made_mark(&s, 0);
	for (uint32_t thread = 1; thread <= 40; thread++) {
		if (thread > 1)
			made_thread(&p, thread, thread);
		made_switch(&p, thread, thread);
	}
	made_add_packet(&s, &p, 0);
	made_mark(&s, 100);
	for (long count = 0; count < 1000; count++) {
		until_failure = count;
		error = read_stream(&s);
		until_failure = -1;
		assert_true(error == 0 || error == WEFT_ERROR_MEMORY);
		if (!error)
			break;
	}
	assert_int_equal(error, 0);
}

/* Gaps between packets of many threads; or a list of losses of many threads. */
static void decoding_losses(void **state)
{
	static struct made_stream s;
	(void)state;
	for (int is_listed = 0; is_listed < 2; is_listed++) {
		struct weft_abi_buffer header = made_header();
		struct weft_abi_lost lost[20];
		header.losses[WEFT_ABI_LOSS_STALLED] = 1000;
		made_begin(&s, &header);
		for (uint32_t i = 0; i < 20; i++)
			lost[i] = (struct weft_abi_lost){2, 4, 7, 1 + i, WEFT_ABI_LOSS_FULL};
		if (is_listed)
			made_chunk(&s, WEFT_ABI_CHUNK_LOST, 0, lost, sizeof(lost));
		for (uint32_t i = 0; i < 40; i++) {
			struct made_packet p = made_packet(1 + i % 20, 1 + i);
			p.header.opened_ticks = 10 * i;
			p.header.number = 5 * i;
			made_switch(&p, 10 * i + 1, 1);
			made_add_packet(&s, &p, 0);
		}
		fail_every_allocation((const char *)s.bytes, s.size, print_events);
	}
}

static int print_records(struct weft_decoder *decoder)
{
	struct weft_text text = {0};
	struct weft_xentrace_record record;
	int status;
	while ((status = weft_decoder_next_xentrace(decoder, &record)) == WEFT_OK)
		weft_lines_add_xentrace_json(&record, &text);
	int error = text.error;
	weft_text_finish(&text);
	return error ? error : status == WEFT_END ? 0 : status;
}

/* More of each than fits into the first allocation of its kind: pCPUs and windows, vCPUs, events of
 * a record, interrupts, continued hypercalls, losses. */
static void decoding_xentrace(void **state)
{
	(void)state;
	struct made_xentrace *t = xentrace_begin();
	for (uint32_t cpu = 0; cpu < 20; cpu++) {
		xentrace_window(t, cpu);
		xentrace_runstate(t, 1000, 1, cpu, OFFLINE, RUNNING);
		RECORD(t, 0x20100d, 1010, 1 | 1u << 22, 9);
		RECORD(t, 0x20100d, 1020, 1 | 1u << 22, 0x80000005);
		RECORD(t, 0x802008, 1030, 4, 1025, 1028);
		xentrace_lost(t, 1050, 3, 1, cpu, 1040);
	}
	RECORD(t, 0x28002, 1060, 1);
	fail_every_allocation((const char *)t->bytes, t->size, print_events);
	fail_every_allocation((const char *)t->bytes, t->size, print_records);
	free(t);
}

static void decoding_ctf(void **state)
{
	(void)state;
	char ctf[128];
	fail_every_allocation(ctf, make_ctf(ctf), print_events);
}

static int take_bytes(void *context, const char *name, const void *bytes, size_t size)
{
	(void)context, (void)name, (void)bytes, (void)size;
	return 0;
}

static int export_ctf(struct weft_decoder *decoder)
{
	const struct weft_export_ctf_sink sink = {.append = take_bytes};
	struct weft_export_ctf *ctf;
	struct weft_event event;
	int status, error = weft_export_ctf_create(&sink, &ctf);
	if (error)
		return error;
	while (!error && (status = weft_decoder_next(decoder, &event)) == WEFT_OK)
		error = weft_export_ctf_add(ctf, &event, weft_decoder_describe(decoder));
	if (!error && status != WEFT_END)
		error = status;
	if (!error)
		error = weft_export_ctf_finish(ctf, weft_decoder_describe(decoder));
	weft_export_ctf_destroy(ctf);
	return error;
}

static int take_more_bytes(void *context, const void *bytes, size_t size)
{
	(void)context, (void)bytes, (void)size;
	return 0;
}

static int export_chrome(struct weft_decoder *decoder)
{
	const struct weft_export_chrome_sink sink = {.append = take_more_bytes};
	struct weft_export_chrome *chrome;
	struct weft_event event;
	int status, error = weft_export_chrome_create(&sink, &chrome);
	if (error)
		return error;
	while (!error && (status = weft_decoder_next(decoder, &event)) == WEFT_OK)
		error = weft_export_chrome_add(chrome, &event, weft_decoder_describe(decoder));
	if (!error && status != WEFT_END)
		error = status;
	if (!error)
		error = weft_export_chrome_finish(chrome, weft_decoder_describe(decoder));
	weft_export_chrome_destroy(chrome);
	return error;
}

static void decoding_chrome(void **state)
{
	static const char chrome[] =
		"[{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"p\"}},"
		"{\"ph\":\"X\",\"ts\":2,\"dur\":9,\"pid\":1,\"tid\":\"main\",\"name\":\"x\\n\"},"
		"{\"ph\":\"X\",\"ts\":2,\"dur\":10,\"pid\":1,\"tid\":\"main\",\"name\":\"y\"},"
		"{\"ph\":\"b\",\"ts\":3,\"pid\":1,\"id\":1,\"name\":\"b\"},"
		"{\"ph\":\"n\",\"ts\":4,\"pid\":1,\"id\":1,\"name\":\"n\",\"args\":{\"a\":1}},"
		"{\"ph\":\"s\",\"ts\":5,\"pid\":1,\"id\":1,\"name\":\"f\"}]";
	(void)state;
	fail_every_allocation(chrome, sizeof(chrome) - 1, print_events);
}

static int merge_with_nothing(struct weft_decoder *decoder)
{
	const struct weft_decoder_part part = {.decoder = decoder};
	struct weft_decoder *merged;
	struct weft_event event;
	int status = weft_decoder_create_merged(&part, 1, &merged);
	if (status)
		return status;
	while ((status = weft_decoder_next(merged, &event)) == WEFT_OK)
		continue;
	weft_decoder_destroy(merged);
	return status == WEFT_END ? 0 : status;
}

/* Builds a model of counters of which the program says what they are, or looks at it while it
 * grows. */
static int count(struct weft_decoder *decoder, bool grows)
{
	static const struct weft_event events[] = {
		{.type = WEFT_EVENT_COUNTER, .time_ns = 1, .text = {"n", 1}, .value = 1},
		{.type = WEFT_EVENT_TOTAL, .time_ns = 2, .text = {"n", 1}, .value = 7, .is_set = true},
		{.type = WEFT_EVENT_COUNTER, .time_ns = 3, .text = {"n", 1}, .value = 1},
		{.type = WEFT_EVENT_TOTAL, .time_ns = 4, .text = {"m", 1}, .value = 3, .is_set = true}};
	const struct weft_trace_description *trace = weft_decoder_describe(decoder);
	struct weft_diagnostics diagnostics = {0};
	struct weft_model_builder *builder;
	struct weft_model *model = NULL;
	int error = weft_model_builder_create(&builder);
	if (error)
		return error;
	for (unsigned i = 0; !error && i < 4; i++)
		error = weft_model_builder_add(builder, &events[i], &diagnostics);
	if (!error && grows)
		error = weft_model_builder_snapshot(builder, trace, 4, &model);
	else if (!error)
		error = weft_model_builder_finish(builder, trace, &model);
	if (!error)
		assert_int_equal(model->samples.value[model->counters[0].first], 7);
	weft_model_destroy(model);
	weft_model_builder_destroy(builder);
	return error;
}

static int count_all(struct weft_decoder *decoder)
{
	return count(decoder, false);
}

static int count_half(struct weft_decoder *decoder)
{
	return count(decoder, true);
}

/* A job with the trace `sexp`. */
struct job {
	int (*run)(struct weft_decoder *);
};

static void any_allocation_may_fail(void **state)
{
	const struct job *job = *state;
	fail_every_allocation(sexp, sizeof(sexp) - 1, job->run);
}

#define JOB(name)                                                 \
	{                                                             \
#name, any_allocation_may_fail, NULL, NULL, &(struct job) \
		{                                                         \
			name                                                  \
		}                                                         \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		JOB(print_events),
		JOB(cut_part),
		JOB(export_chrome),
		JOB(export_ctf),
		JOB(merge_with_nothing),
		JOB(draw_picture),
		JOB(build_story),
		JOB(list_spans),
		JOB(cut_message),
		JOB(draw_alike),
		JOB(build_layout),
		JOB(look_at_half),
		JOB(count_all),
		JOB(count_half),
		cmocka_unit_test(decoding_ctf),
		cmocka_unit_test(decoding_chrome),
		cmocka_unit_test(decoding_xentrace),
		cmocka_unit_test(decoding_a_stream_of_many_threads),
		cmocka_unit_test(decoding_losses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

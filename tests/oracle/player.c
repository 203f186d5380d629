/* SPDX-License-Identifier: ISC */
/* clang-format off */
/*
 * Plays scripts of calls into a small ring, and shows what each reader makes of it: the decoder of
 * the saved buffer, copies that were taken on the way, the stream, the follower, the model, cuts
 * and rules. tests/e2e/agree.py writes the scripts and compares.
 *
 * The recorder is built without an operating system, so that its threads are numbers and its clock
 * is one too: a script is the same ring, byte for byte, whenever it is played.
 *
 *     begin BYTES         a ring
 *     at THREAD TICKS     the thread that makes the following calls, and their time
 *     CALL ARGUMENT…      see `calls`. Prints "call ID SEQUENCE": the id of a new task, and the sequence
 *                         of the packet that the thread then holds, or 0 if the event was refused
 *     gone THREAD         the thread has ended
 *     look OPEN           the stream takes what is new; 1: also from open packets
 *     follow TICKS        the follower gives the events that are older than so many ticks
 *     copy                a copy of the ring is decoded
 *     end RANDOM          recording stops, and every reader finishes; the stream is also read in pieces
 *                         of random sizes
 *     rule TEXT           a rule is tried on the saved buffer's events; prints how often it fired
 *     cut START END       a part of the saved buffer
 *
 * A task is an id, #N for the N-th that was created, . for the thread's current one, or - for none.
 * A text is the characters after a '='.
 */
/* clang-format on */
#include <inttypes.h>
#include <stdalign.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WEFT__FUNCTIONS
#include <weft/weft.h>

#include <weft/buffer.h>
#include <weft/cut.h>
#include <weft/decoder.h>
#include <weft/layout.h>
#include <weft/lines.h>
#include <weft/text.h>
#include <weft/trigger.h>

#include "abi/buffer_abi.h"
#include "abi/packet_abi.h"
#include "format/weft/drain/drain.h"
#include "format/weft/follow/follower.h"
#include "record/name.h"

enum {
	THREADS_MAX = 64,
	RING_MAX = 1 << 20,
	ARGUMENTS_MAX = 8,
	CREATED_MAX = 1 << 16,
	PIECE = 8192,
};

/* Bytes that grow. */
struct bytes {
	uint8_t *list;
	size_t size, capacity;
};

static struct {
	uint64_t ticks;
	unsigned thread;
	bool gone[THREADS_MAX];
	uint64_t memory[THREADS_MAX][2]; /* as struct weft_platform wants it */
	uint64_t created[CREATED_MAX];
	unsigned created_count;
	size_t size;
	struct weft__drain *drain;
	struct bytes stream;
	struct weft__follower *follower;
	struct weft_model_builder *builder; /* of the follower's events */
	struct weft_text followed, text;
} play;

static alignas(64) uint8_t ring[RING_MAX], copy[RING_MAX];

static void require(bool holds, const char *message)
{
	if (holds)
		return;
	fflush(stdout);
	fprintf(stderr, "player: %s\n", message);
	exit(1);
}

static void append(struct bytes *bytes, const void *more, size_t size)
{
	if (bytes->size + size > bytes->capacity) {
		bytes->capacity = 2 * (bytes->size + size);
		bytes->list = realloc(bytes->list, bytes->capacity);
		require(bytes->list != NULL, "no memory");
	}
	memcpy(bytes->list + bytes->size, more, size);
	bytes->size += size;
}

static void flush_text(struct weft_text *text)
{
	require(!text->error, "no memory");
	fwrite(text->bytes, 1, text->size, stdout);
	text->size = 0;
}

/* ---- The platform ---- */

static uint64_t read_ticks(void *context)
{
	(void)context;
	return play.ticks;
}

/* Some threads share a name, as those of a pool do. */
static void name_of_thread(uint32_t tid, char ret_name[16])
{
	snprintf(ret_name, 16, "thread %u", tid % 3);
}

static uint32_t read_self(void *context, char ret_name[16])
{
	(void)context;
	name_of_thread(play.thread + 1, ret_name);
	return play.thread + 1;
}

static bool has_ended(void *context, uint32_t thread)
{
	(void)context;
	return play.gone[thread - 1];
}

static void *thread_memory(void *context)
{
	(void)context;
	return play.memory[play.thread];
}

/* There is one thread in truth. */
static bool pass_barrier(void *context)
{
	(void)context;
	return true;
}

static const struct weft_platform platform = {
	.ticks = read_ticks,
	.ticks_hz = 1000000000,
	.self = read_self,
	.has_ended = has_ended,
	.thread_memory = thread_memory,
	.barrier = pass_barrier,
};

/* ---- Events ---- */

/* The thread by its tid: its index is each reader's own. */
static void add_event(struct weft_text *text, const struct weft_trace_description *description,
	const struct weft_event *event)
{
	const struct weft_trace_thread *thread = &description->threads[event->thread];
	char name[16];
	struct weft_lines lines;
	weft_lines_init(&lines, description, 0);
	lines.has_threads = false;
	require(event->thread < description->thread_count, "an event of no thread");
	name_of_thread(thread->tid, name);
	require(thread->tid == 0 || strcmp(thread->name, name) == 0, "a thread with another's name");
	weft_text_add_u64(text, thread->tid);
	weft_text_add_string(text, " ");
	weft_lines_add_json(&lines, event, text);
}

static void show_losses(const char *way, const uint64_t losses[WEFT_LOSS_CAUSES])
{
	printf("losses %s", way);
	for (unsigned i = 0; i < WEFT_LOSS_CAUSES; i++)
		if (losses[i])
			printf(" %s %" PRIu64, weft_loss_name(i), losses[i]);
	printf("\n");
}

static void show_diagnostics(const char *way, const struct weft_diagnostics *diagnostics)
{
	for (size_t i = 0; i < diagnostics->count; i++)
		printf("diagnostic %s %s\n", way, diagnostics->list[i].message);
}

static struct weft_decoder *open_decoder(const void *bytes, size_t size)
{
	struct weft_decoder *decoder;
	require(weft_decoder_create(&decoder) == 0, "no decoder");
	require(weft_decoder_feed_borrowed(decoder, bytes, size) == 0, "the decoder is not fed");
	require(weft_decoder_finish(decoder) == 0, "the decoder does not know the format");
	return decoder;
}

/* ---- Models ---- */

static void add_string(const struct weft_model *model, const char *key, uint32_t string)
{
	struct weft_slice slice = weft_model_string(model, string);
	weft_text_add_string(&play.text, key);
	if (string == WEFT_NONE)
		weft_text_add_string(&play.text, "null");
	else
		weft_text_add_json(&play.text, slice.bytes, slice.size);
}

static void add_task(const struct weft_model *model, const char *key, uint32_t task)
{
	weft_text_add_string(&play.text, key);
	if (task == WEFT_NONE)
		weft_text_add_string(&play.text, "null");
	else
		weft_text_add_u64(&play.text, model->tasks.id[task]);
}

static void add_number(const char *key, uint64_t number)
{
	weft_text_add_string(&play.text, key);
	weft_text_add_u64(&play.text, number);
}

static void add_bool(const char *key, bool value)
{
	weft_text_add_string(&play.text, key);
	weft_text_add_string(&play.text, value ? "true" : "false");
}

static void add_kind(const struct weft_model *model, unsigned kind)
{
	const char *name = weft_model_kind_name(model, kind);
	weft_text_add_string(&play.text, ",\"kind\":");
	if (name)
		weft_text_add_json(&play.text, name, strlen(name));
	else
		weft_text_add_u64(&play.text, kind);
}

static void add_category(const struct weft_model *model, uint32_t task)
{
	const char *name = weft_model_category_name(model, weft_model_category(model, task));
	if (!name)
		return;
	weft_text_add_string(&play.text, ",\"category\":");
	weft_text_add_json(&play.text, name, strlen(name));
}

/* The index of a thread is each reader's own, so the order of their tracks is, too. */
static void show_track_of_thread(const struct weft_layout *layout, uint32_t task, uint32_t thread)
{
	add_number("{\"task\":", WEFT_TRACK_THREADS + layout->model->threads[thread].tid);
	add_number(",\"kind\":\"track\",\"start\":", layout->start[task]);
	add_number(",\"end\":", layout->model->tasks.end[task]);
	weft_text_add_string(&play.text, "}\n");
}

static void show_task(const struct weft_layout *layout, uint32_t task)
{
	uint32_t thread = weft_model_track_thread(layout->model, task);
	if (thread != WEFT_NONE) {
		show_track_of_thread(layout, task, thread);
		return;
	}
	const struct weft_model *model = layout->model;
	const struct weft_tasks *tasks = &model->tasks;
	unsigned flags = tasks->flags[task];
	uint64_t created;
	add_number("{\"task\":", tasks->id[task]);
	add_kind(model, tasks->kind[task]);
	add_category(model, task);
	add_string(model, ",\"label\":", tasks->label[task]);
	add_task(model, ",\"parent\":", layout->parent[task]);
	add_number(",\"start\":", layout->start[task]);
	add_number(",\"end\":", tasks->end[task]);
	add_bool(",\"resolved\":", flags & WEFT_TASK_RESOLVED);
	weft_text_add_string(&play.text, ",\"outcome\":\"");
	weft_text_add_string(&play.text, weft_outcome_key((enum weft_outcome)tasks->outcome[task]));
	add_string(model, "\",\"failed\":", tasks->message[task]);
	add_task(model, ",\"becomes\":", tasks->becomes[task]);
	add_number(",\"running\":", weft_model_running_ns(model, task));
	if (weft_model_off_cpu_ns(model, task))
		add_number(",\"off_cpu\":", weft_model_off_cpu_ns(model, task));
	add_number(",\"activations\":", tasks->end_activation[task] - tasks->first_activation[task]);
	add_bool(",\"expected\":", flags & WEFT_TASK_EXPECTED);
	add_number(",\"row\":", layout->row[task]);
	if ((flags & (WEFT_TASK_FROM_RUNDOWN | WEFT_TASK_CREATED)) == WEFT_TASK_FROM_RUNDOWN &&
		weft_model_creation(model, task, &created))
		add_number(",\"created\":", created);
	weft_text_add_string(&play.text, "}\n");
}

static void add_value(struct weft_number value)
{
	if (value.is_real)
		weft_text_add_f64(&play.text, value.real);
	else
		weft_text_add_i64(&play.text, value.integer);
}

static void show_tasks(const struct weft_model *model, const char *way, bool simplify)
{
	const struct weft_layout_options options = {.no_simplify = !simplify};
	struct weft_layout *layout;
	require(weft_layout_create(model, &options, &layout) == 0, "no layout");
	printf("%s %s\n", simplify ? "simplified" : "tasks", way);
	for (uint32_t i = 0; i < model->tasks.count; i++)
		show_task(layout, i);
	flush_text(&play.text);
	weft_layout_destroy(layout);
}

/* `task` or `thread` is WEFT_NONE. */
static void show_span(
	const struct weft_model *model, uint32_t task, uint32_t thread, const struct weft_span *span)
{
	add_string(model, "{\"span\":", span->name);
	add_task(model, ",\"task\":", task);
	if (thread == WEFT_NONE)
		weft_text_add_string(&play.text, ",\"thread\":null");
	else
		add_number(",\"thread\":", model->threads[thread].tid);
	if (task != WEFT_NONE && model->tasks.kind[task] == WEFT_KIND_TRACK)
		add_string(model, ",\"track\":", model->tasks.label[task]);
	add_number(",\"start\":", span->start);
	add_number(",\"end\":", span->end);
	add_number(",\"depth\":", span->depth);
	weft_text_add_string(&play.text, "}\n");
}

static void show_spans(const struct weft_model *model, const char *way)
{
	printf("spans %s\n", way);
	for (uint32_t task = 0; task < model->tasks.count; task++)
		for (uint32_t i = 0; i < weft_model_span_count(model, task); i++) {
			struct weft_span span = weft_model_span(model, task, i);
			uint32_t thread = weft_model_track_thread(model, task);
			show_span(model, thread == WEFT_NONE ? task : WEFT_NONE, thread, &span);
		}
	flush_text(&play.text);
}

/* When events are missing, and of which threads: the oracle does not read losses itself. */
static void show_dark(const struct weft_model *model, const char *way)
{
	printf("dark %s\n", way);
	for (uint32_t i = 0; i < model->dark_count; i++) {
		add_number("[", model->dark[i].start);
		add_number(",", model->dark[i].end);
		weft_text_add_string(&play.text, ",\"");
		weft_text_add_string(&play.text, weft_dark_name(model->dark[i].reason));
		weft_text_add_string(&play.text, "\"]\n");
	}
	flush_text(&play.text);
	printf("lost %s\n", way);
	for (uint32_t i = 0; i < model->loss_period_count; i++) {
		add_number("[", model->threads[model->loss_periods[i].thread].tid);
		add_number(",", model->loss_periods[i].start);
		add_number(",", model->loss_periods[i].end);
		weft_text_add_string(&play.text, "]\n");
	}
	flush_text(&play.text);
}

static void show_model(const struct weft_model *model, const char *way)
{
	const struct weft_edges *edges = &model->edges;
	printf("ended %s %" PRIu64 "\n", way, model->buffers[0].end_ns);
	show_dark(model, way);
	show_tasks(model, way, false);
	show_tasks(model, way, true);
	printf("edges %s\n", way);
	for (uint32_t i = 0; i < edges->count; i++) {
		add_number("{\"time\":", edges->time[i]);
		weft_text_add_string(&play.text, ",\"edge\":\"");
		weft_text_add_string(&play.text, weft_edge_name(edges->type[i]));
		add_task(model, "\",\"from\":", edges->from[i]);
		add_task(model, ",\"to\":", edges->to[i]);
		weft_text_add_string(&play.text, "}\n");
	}
	flush_text(&play.text);
	show_spans(model, way);
	printf("bands %s\n", way);
	for (uint32_t i = 0; i < model->band_count; i++) {
		const struct weft_band_period *band = &model->bands[i];
		add_number("[", model->threads[band->thread].tid);
		weft_text_add_string(&play.text, band->kind == WEFT_BAND_GC ? ",\"gc\"" : ",\"idle\"");
		add_number(",", band->start);
		add_number(",", band->end);
		add_string(model, ",", band->reason);
		weft_text_add_string(&play.text, "]\n");
	}
	flush_text(&play.text);
	printf("counters %s\n", way);
	for (uint32_t i = 0; i < model->counter_count; i++) {
		const struct weft_counter *counter = &model->counters[i];
		add_string(model, "[", counter->name);
		for (uint32_t j = 0; j < counter->count; j++) {
			weft_text_add_string(&play.text, ",");
			add_value(weft_counter_number(model, counter, counter->first + j));
		}
		weft_text_add_string(&play.text, "]\n");
	}
	flush_text(&play.text);
}

/* ---- Readers ---- */

/* Shows the events that the decoder has now. Returns why there are no more. */
static int take_events(struct weft_decoder *decoder, struct weft_model_builder *builder)
{
	struct weft_diagnostics ignored = {0};
	struct weft_event event;
	int status;
	while ((status = weft_decoder_next(decoder, &event)) == WEFT_OK) {
		add_event(&play.text, weft_decoder_describe(decoder), &event);
		require(weft_model_builder_add(builder, &event, &ignored) == 0, "no model");
	}
	return status;
}

/* The end of a trace: losses, and perhaps the model. Frees both. */
static void end_trace(const char *way, struct weft_decoder *decoder,
	struct weft_model_builder *builder, bool with_model)
{
	const struct weft_trace_description *description = weft_decoder_describe(decoder);
	struct weft_model *model;
	flush_text(&play.text);
	show_losses(way, description->losses);
	show_diagnostics(way, weft_decoder_diagnostics(decoder));
	if (with_model) {
		require(weft_model_builder_finish(builder, description, &model) == 0, "no model");
		show_model(model, way);
		weft_model_destroy(model);
	}
	weft_model_builder_destroy(builder);
	weft_decoder_destroy(decoder);
}

/* The events of a buffer or a stream, and perhaps their model. */
static void show_trace(const char *way, const void *bytes, size_t size, bool with_model)
{
	struct weft_decoder *decoder = open_decoder(bytes, size);
	struct weft_model_builder *builder;
	require(weft_model_builder_create(&builder) == 0, "no builder");
	printf("events %s\n", way);
	take_events(decoder, builder);
	end_trace(way, decoder, builder, with_model);
}

/* The size of the next piece: from one byte to about four packets. */
static size_t piece_size(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return 1 + (size_t)(*random >> 40) % ((size_t)1 << (*random >> 33) % 15);
}

/* The events of a stream that arrives in pieces. */
static void show_fed(const char *way, const struct bytes *stream, uint64_t random)
{
	struct weft_decoder *decoder;
	struct weft_model_builder *builder;
	require(weft_decoder_create(&decoder) == 0, "no decoder");
	require(weft_model_builder_create(&builder) == 0, "no builder");
	printf("events %s\n", way);
	for (size_t at = 0; at < stream->size;) {
		size_t size = piece_size(&random), left = stream->size - at;
		size = size < left ? size : left;
		require(weft_decoder_feed(decoder, stream->list + at, size) == 0, "a piece is refused");
		require(take_events(decoder, builder) == WEFT_AGAIN, "the stream ends too early");
		at += size;
	}
	require(weft_decoder_finish(decoder) == 0, "the stream does not end");
	require(take_events(decoder, builder) == WEFT_END, "the stream has no end");
	end_trace(way, decoder, builder, true);
}

static void show_ring(const uint8_t *bytes)
{
	const struct weft_abi_buffer *header = (const void *)bytes;
	printf("ring");
	for (uint32_t i = 0; i < header->packet_count; i++) {
		const struct weft_abi_packet *packet =
			(const void *)(bytes + header->packets_offset + (size_t)i * header->packet_bytes);
		if (packet->state)
			printf(" %" PRIu64, packet->state >> 2);
	}
	printf("\n");
}

static int take_stream(void)
{
	const void *bytes;
	size_t size;
	int status;
	while ((status = weft__format_drain_next(play.drain, &bytes, &size)) == WEFT_OK)
		append(&play.stream, bytes, size);
	return status;
}

static int take_followed(void)
{
	struct weft_diagnostics ignored = {0};
	struct weft_event event;
	int status;
	while ((status = weft__format_follower_next(play.follower, &event)) == WEFT_OK) {
		add_event(&play.followed, weft__format_follower_describe(play.follower), &event);
		require(weft_model_builder_add(play.builder, &event, &ignored) == 0, "no model");
	}
	return status;
}

static void follow(const char *lag)
{
	struct weft_model *model;
	require(weft__format_follower_look(play.follower, play.ticks - strtoul(lag, NULL, 10)) == 0,
		"the follower does not look");
	require(take_followed() == WEFT_AGAIN, "the follower ends before the program");
	/* A look at the model must not change what it becomes. */
	require(weft_model_builder_snapshot(play.builder, weft__format_follower_describe(play.follower),
				play.ticks, &model) == 0,
		"no snapshot");
	weft_model_destroy(model);
}

static void look(const char *argument)
{
	weft__format_drain_look(play.drain, *argument == '1', play.ticks);
	require(take_stream() == WEFT_AGAIN, "the stream ends before the program");
}

static void show_copy(void)
{
	memset(copy, 0, play.size);
	require(weft_buffer_copy(copy, ring, play.size) == 0, "the ring is not copied");
	show_ring(ring);
	show_trace("copy", copy, play.size, false);
}

static void show_followed(void)
{
	const struct weft_trace_description *description =
		weft__format_follower_describe(play.follower);
	struct weft_model *model;
	printf("events follow\n");
	flush_text(&play.followed);
	show_losses("follow", description->losses);
	show_diagnostics("follow", weft__format_follower_diagnostics(play.follower));
	require(weft_model_builder_finish(play.builder, description, &model) == 0, "no model");
	show_model(model, "follow");
	weft_model_destroy(model);
}

static void end(uint64_t random)
{
	weft_stop();
	weft__format_follower_load_end(play.follower, WEFT_ABI_ENDING_GONE, play.ticks);
	weft__format_drain_finish(play.drain, false);
	require(take_stream() == WEFT_END, "the stream does not end");
	require(weft__format_follower_finish(play.follower) == 0, "the follower does not finish");
	require(take_followed() == WEFT_END, "the follower does not end");
	show_ring(ring);
	show_trace("saved", ring, play.size, true);
	show_trace("stream", play.stream.list, play.stream.size, true);
	show_fed("fed", &play.stream, random);
	show_followed();
	weft__format_drain_destroy(play.drain);
	weft__format_follower_destroy(play.follower);
	weft_model_builder_destroy(play.builder);
	play.stream.size = 0;
}

/* Tasks of a third of all kinds belong to a category of their own. */
WEFT_CATEGORY_DEFINE(net, "net", "");

static bool is_of_net(size_t number)
{
	return number % 3 == 1;
}

static void begin(const char *size)
{
	printf("begin\n");
	play.size = strtoul(size, NULL, 10);
	require(play.size <= RING_MAX, "the ring is too large");
	play.created_count = 0;
	play.ticks = 1000;
	memset(play.gone, 0, sizeof(play.gone));
	memset(play.memory, 0, sizeof(play.memory));
	memset(ring, 0, play.size);
	weft_category_unregister(&weft_category_net); /* by the play before */
	weft_category_register(&weft_category_net);
	require(weft_start(ring, play.size, &platform) == 0, "no ring");
	require(weft__format_drain_create(ring, play.size, PIECE, &play.drain) == 0, "no stream");
	require(weft__format_follower_create(ring, play.size, &play.follower) == 0, "no follower");
	require(weft_model_builder_create(&play.builder) == 0, "no builder");
}

/* ---- Rules and parts of what was saved ---- */

static void try_rule(const char *rule)
{
	struct weft_decoder *decoder = open_decoder(ring, play.size);
	struct weft_triggers *triggers;
	struct weft_trigger_error error;
	struct weft_slice first;
	struct weft_event event = {0};
	require(weft_triggers_create(&triggers) == 0, "no triggers");
	require(weft_triggers_add(triggers, rule, strlen(rule), &error) == 0, rule);
	while (weft_decoder_next(decoder, &event) == WEFT_OK) {
		weft_triggers_pass(triggers, event.time_ns);
		require(weft_triggers_take(triggers, &event) == 0, "no memory");
	}
	weft_triggers_pass(triggers, event.time_ns);
	printf("fired %" PRIu64 "\n", weft_triggers_fired(triggers, &first));
	weft_triggers_destroy(triggers);
	weft_decoder_destroy(decoder);
}

static int append_part(void *context, const void *bytes, size_t size)
{
	append(context, bytes, size);
	return 0;
}

static void show_part(const char *start, const char *end)
{
	struct weft_decoder *decoder = open_decoder(ring, play.size);
	const struct weft_cut_range range = {strtoull(start, NULL, 10), strtoull(end, NULL, 10), 0};
	struct bytes part = {0};
	const struct weft_cut_sink sink = {append_part, &part};
	struct weft_cut *cut;
	struct weft_event event;
	int status = WEFT_OK;
	require(weft_cut_create(&range, NULL, &sink, &cut) == 0, "no cut");
	while (status == WEFT_OK && weft_decoder_next(decoder, &event) == WEFT_OK)
		status = weft_cut_add(cut, &event, weft_decoder_describe(decoder));
	require(status == WEFT_OK || status == WEFT_END, "the cut fails");
	require(weft_cut_finish(cut, weft_decoder_describe(decoder)) == 0, "the cut does not finish");
	show_trace("part", part.list, part.size, false);
	weft_cut_destroy(cut);
	weft_decoder_destroy(decoder);
	free(part.list);
}

/* ---- Calls ---- */

static uint64_t task(const char *argument)
{
	if (*argument == '-')
		return WEFT_TASK_NONE;
	if (*argument == '.')
		return WEFT_TASK_CURRENT;
	if (*argument == '#') {
		unsigned long number = strtoul(argument + 1, NULL, 10);
		require(number < play.created_count, "no such task was created");
		return play.created[number];
	}
	return strtoull(argument, NULL, 10);
}

static int64_t number(const char *argument)
{
	return (int64_t)strtoll(argument, NULL, 10);
}

static double real(const char *argument)
{
	return strtod(argument, NULL);
}

static const char *text(const char *argument)
{
	require(*argument == '=', "a text begins with =");
	return argument + 1;
}

static void create(char **a)
{
	require(play.created_count < CREATED_MAX, "too many tasks");
	uint16_t kind = (uint16_t)number(a[1]);
	play.created[play.created_count++] = is_of_net(kind)
											 ? weft__create_in(&weft_category_net, task(a[0]), kind)
											 : weft_create_as(task(a[0]), kind);
}

static void mark(char **a)
{
	static const char *const names[] = {"mark", "n", "s"};
	const struct weft_value values[] = {
		{WEFT_VALUE_I64, 0, {.i64 = number(a[1])}},
		{WEFT_VALUE_TEXT, UINT32_MAX, {.text = text(a[2])}},
	};
	weft__mark(task(a[0]), NULL, names, 2, values);
}

static void alive(char **a)
{
	const char *label = text(a[2]);
	uint64_t age = *a[3] == '-' ? WEFT_AGE_UNKNOWN : (uint64_t)number(a[3]);
	weft_rundown_task(task(a[0]), (uint16_t)number(a[1]), *label ? label : NULL, age, task(a[4]));
}

static void wait_any(char **a)
{
	const uint64_t sources[] = {task(a[1]), task(a[2]), task(a[3])};
	weft_wait_any_as(task(a[0]), 3, sources);
}

#define CALL(name, call)       \
	static void name(char **a) \
	{                          \
		(void)a;               \
		call;                  \
	}
#define WEFT__EDGE(name, other, event, small, runs, text) \
	CALL(call_##name, weft_##name##_as(task(a[0]), task(a[1])))
#define WEFT__MESSAGE(name, event, text) \
	CALL(call_##name, weft_##name##_as(task(a[0]), strtoull(a[1], NULL, 10)))
#define WEFT__STATEMENT(name, event, text) CALL(call_##name, weft_##name##_as(task(a[0])))
#define WEFT__TEXT(name, event, meaning) \
	CALL(call_##name, weft__##name(task(a[0]), NULL, text(a[1])))
#include <weft/calls.def>
CALL(fail, weft_fail_as(task(a[0]), task(a[1]), text(a[2])))
CALL(span_begin, weft__span_begin(task(a[0]), NULL, text(a[1])))
CALL(span_end, weft_end_as(task(a[0])))
CALL(sync_clock, weft_clock_sync(WEFT_CLOCK_FOREIGN, (uint64_t)number(a[0])))

static void span(char **a)
{
	const struct weft_given_span span = {
		.track = text(a[0]),
		.name = text(a[1]),
		.track_size = SIZE_MAX,
		.name_size = SIZE_MAX,
		.clock = (uint32_t)number(a[2]),
		.begin = strtoull(a[3], NULL, 10),
		.end = strtoull(a[4], NULL, 10),
	};
	weft__span(&span);
}

/* The id that readers give to the track of that name. */
static uint64_t track(const char *name)
{
	uint16_t id =
		weft__record_name_find_or_add(weft__record_region(), name, (uint32_t)strlen(name));
	return WEFT_TRACK_FIRST + WEFT_TRACK_LINES * id;
}

CALL(tag, weft__tag(task(a[0]), NULL, text(a[1])))
CALL(tag_value, weft__tag_value(task(a[0]), NULL, text(a[1]), number(a[2])))
CALL(counter_add, weft__counter_add(task(a[0]), NULL, text(a[1]), number(a[2])))
CALL(counter_set, weft__counter_set(task(a[0]), NULL, text(a[1]), number(a[2])))
CALL(counter_add_f64,
	weft__counter_add_f64(task(a[0]), NULL, text(a[1]), weft__f64(real(a[2])).is.u64))
CALL(counter_set_f64,
	weft__counter_set_f64(task(a[0]), NULL, text(a[1]), weft__f64(real(a[2])).is.u64))
static void create_named(char **a)
{
	require(play.created_count < CREATED_MAX, "too many tasks");
	const char *name = text(a[1]);
	uint16_t kind = is_of_net(strlen(name)) ? weft__kind_in(&weft_category_net, NULL, name)
											: weft__kind(NULL, name);
	play.created[play.created_count++] = weft_create_as(task(a[0]), kind);
}

CALL(band, weft__band((unsigned)number(a[0]), NULL, text(a[1]), number(a[2])))
CALL(play_switch, weft_switch(task(a[0])))
CALL(gc, weft_gc((uint64_t)number(a[0])))
CALL(off_cpu, weft_off_cpu((uint64_t)number(a[0])))

static const struct {
	const char *name;
	void (*play)(char **arguments);
	int arguments;
} calls[] = {
	{"create", create, 2},
	{"span_begin", span_begin, 2},
	{"span_end", span_end, 1},
	{"span", span, 5},
	{"create_named", create_named, 2},
#define WEFT__EDGE(name, other, event, small, runs, text) {#name, call_##name, 2},
#define WEFT__MESSAGE(name, event, text)                  {#name, call_##name, 2},
#define WEFT__STATEMENT(name, event, text)                {#name, call_##name, 1},
#define WEFT__TEXT(name, event, meaning)                  {#name, call_##name, 2},
#include <weft/calls.def>
	{"wait_any", wait_any, 4},
	{"fail", fail, 3},
	{"tag", tag, 2},
	{"tag_value", tag_value, 3},
	{"counter_add", counter_add, 3},
	{"counter_set", counter_set, 3},
	{"counter_add_f64", counter_add_f64, 3},
	{"counter_set_f64", counter_set_f64, 3},
	{"band", band, 3},
	{"switch", play_switch, 1},
	{"gc", gc, 1},
	{"off_cpu", off_cpu, 1},
	{"mark", mark, 3},
	{"alive", alive, 5},
};

/* The sequence of the packet that the thread holds, which has its latest event. */
static uint64_t held_sequence(void)
{
	const struct weft_abi_buffer *header = (const void *)ring;
	for (uint32_t i = 0; i < header->slot_count; i++) {
		const struct weft_abi_slot *slot =
			(const void *)(ring + header->slots_offset + (size_t)i * header->slot_bytes);
		const struct weft_abi_packet *packet =
			(const void *)((const unsigned char *)slot + slot->packet);
		if ((uint32_t)slot->owner == play.thread + 1 && slot->packet)
			return packet->state >> 2;
	}
	return 0;
}

static void play_call(const char *name, char **arguments, int count)
{
	size_t i = 0;
	while (i < sizeof(calls) / sizeof(calls[0]) && strcmp(calls[i].name, name) != 0)
		i++;
	require(i < sizeof(calls) / sizeof(calls[0]) && calls[i].arguments == count, name);
	const uint64_t *losses = ((const struct weft_abi_buffer *)(const void *)ring)->losses;
	uint64_t unnamed = losses[WEFT_ABI_LOSS_NAMES_FULL], too_big = losses[WEFT_ABI_LOSS_TOO_BIG];
	calls[i].play(arguments);
	/* If the table of names is full, only counters and tracks are refused: other text goes into the
	 * event. */
	bool needs_name = strncmp(name, "counter", 7) == 0 || calls[i].play == span;
	bool is_refused = losses[WEFT_ABI_LOSS_TOO_BIG] != too_big ||
					  (needs_name && losses[WEFT_ABI_LOSS_NAMES_FULL] != unnamed);
	bool creates = calls[i].play == create || calls[i].play == create_named;
	uint64_t id = creates ? play.created[play.created_count - 1] : 0;
	if (calls[i].play == span && !is_refused)
		id = track(text(arguments[0]));
	int events = calls[i].play == wait_any ? count - 1 : 1;
	for (; events > 0; events--)
		printf("call %" PRIu64 " %" PRIu64 "\n", id, is_refused ? 0 : held_sequence());
}

static void play_line(char *line)
{
	char *arguments[ARGUMENTS_MAX], *save = NULL, *name = strtok_r(line, " \n", &save);
	int count = 0;
	if (strcmp(name, "rule") == 0) {
		save[strcspn(save, "\n")] = '\0';
		try_rule(save);
		return;
	}
	while (count < ARGUMENTS_MAX && (arguments[count] = strtok_r(NULL, " \n", &save)) != NULL)
		count++;
	if (strcmp(name, "begin") == 0) {
		begin(arguments[0]);
	} else if (strcmp(name, "at") == 0) {
		play.thread = (unsigned)number(arguments[0]);
		play.ticks = (uint64_t)number(arguments[1]);
	} else if (strcmp(name, "sync") == 0) {
		sync_clock(arguments);
	} else if (strcmp(name, "gone") == 0) {
		play.gone[number(arguments[0])] = true;
	} else if (strcmp(name, "look") == 0) {
		look(arguments[0]);
	} else if (strcmp(name, "follow") == 0) {
		follow(arguments[0]);
	} else if (strcmp(name, "copy") == 0) {
		show_copy();
	} else if (strcmp(name, "end") == 0) {
		end(strtoull(arguments[0], NULL, 10));
	} else if (strcmp(name, "cut") == 0) {
		show_part(arguments[0], arguments[1]);
	} else {
		play_call(name, arguments, count);
	}
}

int main(void)
{
	char *line = NULL;
	size_t size = 0;
	while (getline(&line, &size, stdin) > 0)
		play_line(line);
	free(line);
	free(play.stream.list);
	weft_text_finish(&play.text);
	weft_text_finish(&play.followed);
	return 0;
}

/* SPDX-License-Identifier: ISC
 *
 * Samples of what threads ran become samples of a profiler, which all stand for the same time.
 * Waits take different times, so their calls are no samples, but are in an event on the waiting
 * task's track.
 *
 * Callstacks and their parts are written once, before anything that refers to them: a list of
 * calls is a string of the model, whose number is that of its callstack. Their numbers begin
 * with 1.
 */
#include "perfetto/samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/strings.h"
#include "profile/profile.h"

/* Perfetto's flags of packets, and its number of the counter that samples were taken by. */
enum {
	CLEARED = 1,
	NEEDS_STATE = 2,
	TASK_CLOCK = 3,
};

/* Frames need a mapping; which one is not known. */
enum {
	MAPPING = 1,
};

struct interning {
	struct weft__perfetto_writer *writer;
	struct weft__strings functions, sources, frames; /* the number in Perfetto is 1 higher */
	uint8_t *is_known;                               /* by list of calls */
	uint64_t *ids;                                   /* of the frames of one list */
	size_t id_count, id_room;
};

static void begin_interned(struct weft__perfetto_writer *w, uint32_t flags)
{
	weft__perfetto_begin_packet(w);
	weft__otlp_put_integer(&w->encoder, WEFT__PERFETTO_PACKET_FLAGS, flags);
	weft__otlp_begin(&w->encoder, WEFT__PERFETTO_PACKET_INTERNED);
}

static void write_string(
	struct weft__perfetto_writer *w, unsigned field, uint64_t id, struct weft_slice text)
{
	weft__otlp_begin(&w->encoder, field);
	weft__otlp_put_integer(&w->encoder, WEFT__PERFETTO_STRING_ID, id);
	weft__otlp_put_text(&w->encoder, WEFT__PERFETTO_STRING_TEXT, text);
	weft__otlp_end(&w->encoder);
}

/* The number of a string, which is written if it is new. */
static uint64_t intern(struct interning *in, struct weft__strings *strings, struct weft_slice text,
	unsigned field, bool *ret_is_new)
{
	const uint32_t count = strings->count;
	uint32_t number = 0;
	const int error = weft__strings_intern(strings, text.bytes, text.size, &number);
	if (error)
		in->writer->error = error;
	*ret_is_new = !error && number == count;
	if (*ret_is_new && field)
		write_string(in->writer, field, number + UINT64_C(1), text);
	return number + UINT64_C(1);
}

static uint64_t intern_frame(struct interning *in, struct weft_slice text)
{
	struct weft__otlp_encoder *e = &in->writer->encoder;
	const struct weft__profile_call call = weft__profile_call_of(text);
	bool is_new, is_ignored;
	const uint64_t id = intern(in, &in->frames, text, 0, &is_new);
	if (!is_new)
		return id;
	const uint64_t function =
		intern(in, &in->functions, call.function, WEFT__PERFETTO_INTERNED_FUNCTION, &is_ignored);
	const uint64_t source =
		call.line ? intern(in, &in->sources, call.file, WEFT__PERFETTO_INTERNED_SOURCE, &is_ignored)
				  : 0;
	weft__otlp_begin(e, WEFT__PERFETTO_INTERNED_FRAME);
	weft__otlp_put_integer(e, WEFT__PERFETTO_FRAME_ID, id);
	weft__otlp_put_integer(e, WEFT__PERFETTO_FRAME_FUNCTION, function);
	weft__otlp_put_integer(e, WEFT__PERFETTO_FRAME_MAPPING, MAPPING);
	if (source) {
		weft__otlp_put_integer(e, WEFT__PERFETTO_FRAME_SOURCE, source);
		weft__otlp_put_integer(e, WEFT__PERFETTO_FRAME_LINE, call.line & UINT32_MAX);
	}
	weft__otlp_end(e);
	return id;
}

static bool add_id(struct interning *in, uint64_t id)
{
	if (in->id_count == in->id_room) {
		const size_t room = in->id_room ? 2 * in->id_room : 64;
		uint64_t *more = realloc(in->ids, room * sizeof(*more));
		if (!more) {
			in->writer->error = WEFT_ERROR_MEMORY;
			return false;
		}
		in->ids = more;
		in->id_room = room;
	}
	in->ids[in->id_count++] = id;
	return true;
}

/* Writes a list of calls, unless that was done, and returns the number of its callstack. */
static uint64_t intern_calls(struct interning *in, uint32_t calls)
{
	struct weft__perfetto_writer *w = in->writer;
	struct weft_slice left = weft_model_string(w->model, calls), call;
	if (in->is_known[calls])
		return calls + UINT64_C(1);
	in->is_known[calls] = true;
	in->id_count = 0;
	begin_interned(w, NEEDS_STATE);
	while (weft__profile_next_call(&left, &call) && add_id(in, intern_frame(in, call)))
		continue;
	weft__otlp_begin(&w->encoder, WEFT__PERFETTO_INTERNED_CALLSTACK);
	weft__otlp_put_integer(&w->encoder, WEFT__PERFETTO_CALLSTACK_ID, calls + UINT64_C(1));
	for (size_t i = in->id_count; i > 0; i--)
		weft__otlp_put_integer(&w->encoder, WEFT__PERFETTO_CALLSTACK_FRAME, in->ids[i - 1]);
	weft__otlp_end(&w->encoder);
	weft__perfetto_end(w);
	return calls + UINT64_C(1);
}

/* ---- Samples ---- */

/* The distance of all samples; 0: they have several. */
static uint64_t interval_of(const struct weft_model *model)
{
	const uint64_t interval = model->code_sample_count ? model->code_samples[0].interval_ns : 0;
	for (uint32_t i = 0; i < model->code_sample_count; i++)
		if (model->code_samples[i].interval_ns != interval)
			return 0;
	return interval;
}

static void write_defaults(struct weft__perfetto_writer *w)
{
	const uint64_t interval = interval_of(w->model);
	begin_interned(w, CLEARED);
	write_string(w, WEFT__PERFETTO_INTERNED_MAPPING_PATH, MAPPING, (struct weft_slice){"code", 4});
	weft__otlp_begin(&w->encoder, WEFT__PERFETTO_INTERNED_MAPPING);
	weft__otlp_put_integer(&w->encoder, WEFT__PERFETTO_MAPPING_ID, MAPPING);
	weft__otlp_put_integer(&w->encoder, WEFT__PERFETTO_MAPPING_PATH, MAPPING);
	weft__otlp_end(&w->encoder);
	weft__otlp_end(&w->encoder);
	weft__otlp_begin(&w->encoder, WEFT__PERFETTO_PACKET_DEFAULTS);
	weft__otlp_begin(&w->encoder, WEFT__PERFETTO_DEFAULTS_SAMPLE);
	weft__otlp_begin(&w->encoder, WEFT__PERFETTO_SAMPLE_TIMEBASE);
	if (interval)
		weft__otlp_put_integer(&w->encoder, WEFT__PERFETTO_TIMEBASE_PERIOD, interval);
	weft__otlp_put_integer(&w->encoder, WEFT__PERFETTO_TIMEBASE_COUNTER, TASK_CLOCK);
	weft__otlp_end(&w->encoder);
	weft__otlp_end(&w->encoder);
	weft__perfetto_end(w);
}

/* Perfetto's samples are of a thread, and one without functions would be an error. */
static void write_sample(struct interning *in, const struct weft_code_sample *sample)
{
	struct weft__perfetto_writer *w = in->writer;
	const struct weft_model *model = w->model;
	if (sample->thread == WEFT_NONE || sample->calls == WEFT_NONE)
		return;
	const uint64_t callstack = intern_calls(in, sample->calls);
	const struct weft_trace_buffer *buffer =
		weft_trace_buffer_at(model->buffers, model->buffer_count, sample->buffer);
	weft__perfetto_begin_packet(w);
	weft__otlp_put_integer(&w->encoder, WEFT__PERFETTO_PACKET_TIME, sample->time);
	weft__otlp_put_integer(&w->encoder, WEFT__PERFETTO_PACKET_FLAGS, NEEDS_STATE);
	weft__otlp_begin(&w->encoder, WEFT__PERFETTO_PACKET_SAMPLE);
	weft__otlp_put_integer(&w->encoder, WEFT__PERFETTO_SAMPLE_PID, buffer->pid & INT32_MAX);
	weft__otlp_put_integer(
		&w->encoder, WEFT__PERFETTO_SAMPLE_TID, model->threads[sample->thread].tid & INT32_MAX);
	weft__otlp_put_integer(&w->encoder, WEFT__PERFETTO_SAMPLE_CALLSTACK, callstack);
	weft__perfetto_end(w);
}

/* ---- Waits ---- */

static void write_wait(struct interning *in, uint32_t number)
{
	struct weft__perfetto_writer *w = in->writer;
	const struct weft_stacks *stacks = &w->model->stacks;
	const uint64_t callstack = intern_calls(in, stacks->text[number]);
	weft__perfetto_begin_event(w, stacks->time[number], WEFT__PERFETTO_INSTANT,
		weft__perfetto_track(WEFT__PERFETTO_OF_TASK, stacks->task[number]));
	weft__otlp_put_string(&w->encoder, WEFT__PERFETTO_EVENT_NAME, "waits");
	weft__otlp_put_integer(&w->encoder, WEFT__PERFETTO_EVENT_CALLSTACK, callstack);
	weft__perfetto_end(w);
}

static void write_all(struct interning *in)
{
	const struct weft_model *model = in->writer->model;
	write_defaults(in->writer);
	for (uint32_t i = 0; !in->writer->error && i < model->stacks.count; i++)
		if (model->stacks.text[i] != WEFT_NONE && model->stacks.task[i] != WEFT_NONE)
			write_wait(in, i);
	for (uint32_t i = 0; !in->writer->error && i < model->code_sample_count; i++)
		write_sample(in, &model->code_samples[i]);
}

/* One more than the last list of calls. */
static uint32_t count_strings(const struct weft_model *model)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < model->stacks.count; i++)
		if (model->stacks.text[i] != WEFT_NONE && model->stacks.text[i] >= count)
			count = model->stacks.text[i] + 1;
	for (uint32_t i = 0; i < model->code_sample_count; i++)
		if (model->code_samples[i].calls != WEFT_NONE && model->code_samples[i].calls >= count)
			count = model->code_samples[i].calls + 1;
	return count;
}

void weft__perfetto_write_samples(struct weft__perfetto_writer *w)
{
	struct interning in = {.writer = w};
	struct weft__strings *const tables[] = {&in.functions, &in.sources, &in.frames};
	const uint32_t count = count_strings(w->model);
	unsigned ready = 0;
	if (!count)
		return;
	in.is_known = calloc(count, 1);
	w->error = in.is_known ? 0 : WEFT_ERROR_MEMORY;
	while (ready < 3 && !w->error)
		if (!(w->error = weft__strings_init(tables[ready])))
			ready++;
	if (!w->error)
		write_all(&in);
	while (ready > 0)
		weft__strings_finish(tables[--ready]);
	free(in.is_known);
	free(in.ids);
}

/* SPDX-License-Identifier: ISC
 *
 * Builds the model of a whole trace in batches: while one batch is added to the model, the next is
 * decoded and its names are looked up, on two threads if the caller lent a second one. The two
 * halves never share a batch, so the model is the same with one thread and with two.
 */
#include <stdlib.h>

#include <weft/decoder.h>
#include <weft/model.h>

#include "base/both.h"
#include "base/diagnostics.h"
#include "base/export.h"
#include "base/ns.h"
#include "format/decoder.h"
#include "format/kept.h"
#include "model/load.h"
#include "model/span.h"
#include "model/tracks.h"

#define PROGRESS_EVENTS 65536
#define BATCH_EVENTS    8192 /* divides PROGRESS_EVENTS; two batches fit the second-level cache */

struct batch {
	struct weft__fact facts[BATCH_EVENTS];
	uint32_t count;
};

struct load {
	struct weft_decoder *decoder;
	struct weft_model_builder *builder;
	void (*decode)(void *load);
	uint64_t plain_ns;                    /* plain events before this time need no `next` */
	const struct weft__read_range *range; /* NULL: all of the trace is read */
	bool has_gap;                         /* events before the range were left out */
	struct weft_decoder *state;           /* its events come first, then those of the range */
	uint64_t next;                        /* the time of an event behind the range, or 0 */
	const struct weft_event *first; /* of the trace; NULL once it is in a batch, or left out */
	struct batch *batches;          /* two */
	struct batch *decoding, *taking;
	int decoded, taken;                  /* status of each half; not WEFT_OK: it has ended */
	struct weft_diagnostics diagnostics; /* of the half that adds batches to the model */
};

typedef int next_function(struct load *load, struct weft_event *ret_event);

/* Writes the shared members once, at the end: a cache line that bounces between the threads costs
 * more than decoding an event. Inlined, so that `next` is no call. */
static inline __attribute__((always_inline)) void decode_by(struct load *load, next_function *next)
{
	const struct weft__naming naming = weft__model_naming(load->builder);
	struct batch *batch = load->decoding;
	struct weft_event event;
	int status = load->decoded;
	uint32_t count = 0, more;
	while (status == WEFT_OK && count < BATCH_EVENTS) {
		status = weft__format_decoder_next_facts(load->decoder, &naming, load->plain_ns,
			&batch->facts[count], BATCH_EVENTS - count, &more);
		count += more;
		if (status != WEFT_OK || count == BATCH_EVENTS)
			break;
		status = next(load, &event);
		if (status == WEFT_OK)
			status = weft__model_fact(load->builder, &event, &batch->facts[count]);
		count += status == WEFT_OK;
	}
	load->decoded = status;
	batch->count = count;
}

static inline int next_of_all(struct load *load, struct weft_event *ret_event)
{
	return weft_decoder_next(load->decoder, ret_event);
}

static void decode_batch(void *load)
{
	decode_by(load, next_of_all);
}

/* Some events before the range are missing. True for an event that is true without them: a thread
 * runs a task, or a task has ended. */
static bool is_kept_of_past(struct weft_event *event)
{
	switch (event->type) {
	case WEFT_EVENT_SIGNAL:
		event->type = WEFT_EVENT_SWITCH;
		return event->flag;
	case WEFT_EVENT_SWITCH:
	case WEFT_EVENT_BAND:
	case WEFT_EVENT_BECOME:
	case WEFT_EVENT_RESOLVE:
	case WEFT_EVENT_FAIL:
	case WEFT_EVENT_CANCEL:
	case WEFT_EVENT_CLOSE:
	case WEFT_EVENT_TIME_OUT:
		return true;
	default:
		return weft__model_is_of_thread(event);
	}
}

static bool is_left_out(const struct load *load, struct weft_event *event)
{
	return event->time_ns < load->range->start && load->has_gap &&
		   (load->range->has_state || !is_kept_of_past(event));
}

static bool has_losses(const struct weft_trace_description *trace)
{
	uint64_t lost = 0;
	for (unsigned cause = 0; cause < WEFT_LOSS_CAUSES; cause++)
		lost |= trace->losses[cause];
	return lost;
}

/* A counter's value is the sum of the changes so far: not its value where some of them are lost. */
static int next_of_state(struct load *load, struct weft_event *event)
{
	int status = load->state ? weft_decoder_next(load->state, event) : WEFT_END;
	if (status == WEFT_OK) {
		event->name_id = 0; /* of other names than those of the range */
		event->is_set = event->is_set && !has_losses(weft_decoder_describe(load->decoder));
	}
	if (status == WEFT_END)
		load->state = NULL;
	return status;
}

static int next_of_range(struct load *load, struct weft_event *event)
{
	int status = next_of_state(load, event);
	if (status != WEFT_END)
		return status;
	do {
		status = load->first ? WEFT_OK : weft_decoder_next(load->decoder, event);
		if (load->first)
			*event = *load->first;
		load->first = NULL;
	} while (status == WEFT_OK && is_left_out(load, event));
	if (status == WEFT_OK && event->time_ns >= load->range->start)
		load->plain_ns = load->range->end; /* no later event is left out */
	if (status != WEFT_OK || event->time_ns < load->range->end)
		return status;
	load->next = event->time_ns;
	return WEFT_END;
}

static void decode_batch_of_range(void *load)
{
	decode_by(load, next_of_range);
}

static void take_batch(void *context)
{
	struct load *load = context;
	const struct batch *batch = load->taking;
	int error = load->taken;
	for (uint32_t i = 0, count = batch->count; i < count && !error; i++)
		error = weft__model_take(load->builder, &batch->facts[i], &load->diagnostics);
	load->taken = error;
}

static void swap(struct load *load)
{
	struct batch *taken = load->taking;
	load->taking = load->decoding;
	load->decoding = taken;
}

static bool should_stop(const struct load *load, const struct weft_progress *progress)
{
	return progress && progress->step &&
		   weft_decoder_events(load->decoder) % PROGRESS_EVENTS == 0 &&
		   !progress->step(progress->context, weft_decoder_part(load->decoder));
}

/* The first batch is decoded. */
static int add_events(
	struct load *load, const struct weft_help *help, const struct weft_progress *progress)
{
	while (load->decoding->count && !load->taken) {
		swap(load);
		weft__format_decoder_count(load->decoder, load->taking->count);
		weft__both(help, take_batch, load, load->decode, load);
		weft__diagnostics_move(&load->diagnostics, weft_decoder_diagnostics(load->decoder));
		if (should_stop(load, progress))
			return load->taken;
	}
	if (load->taken)
		return load->taken;
	if (load->decoded == WEFT_AGAIN)
		return WEFT_ERROR_STATE;
	return load->decoded == WEFT_END ? 0 : load->decoded;
}

static int create(struct load *load, struct weft_decoder *decoder)
{
	*load = (struct load){.decoder = decoder, .decode = decode_batch, .plain_ns = UINT64_MAX};
	load->batches = malloc(2 * sizeof(*load->batches));
	if (!load->batches)
		return WEFT_ERROR_MEMORY;
	load->decoding = &load->batches[0];
	load->taking = &load->batches[1];
	return weft_model_builder_create(&load->builder);
}

static void destroy(struct load *load)
{
	free(load->batches);
	weft_model_builder_destroy(load->builder);
}

static const struct weft_help *help_of(
	struct weft_decoder *decoder, const struct weft_progress *progress)
{
	return progress && progress->help ? progress->help : weft__format_decoder_help(decoder);
}

static int build(struct weft_decoder *decoder, const struct weft_progress *progress,
	bool is_summary, struct weft_model **ret_model)
{
	const struct weft_help *help = help_of(decoder, progress);
	struct load load;
	int error = create(&load, decoder);
	if (!error && is_summary)
		weft__model_make_summary(load.builder);
	if (!error) {
		load.decode(&load);
		error = add_events(&load, help, progress);
	}
	if (!error)
		error = weft__model_finish(load.builder, weft_decoder_describe(decoder), help, ret_model);
	destroy(&load);
	return error;
}

WEFT__EXPORT int weft_decoder_build_model(struct weft_decoder *decoder,
	const struct weft_progress *progress, struct weft_model **ret_model)
{
	return build(decoder, progress, false, ret_model);
}

WEFT__EXPORT int weft_decoder_build_summary(struct weft_decoder *decoder,
	const struct weft_progress *progress, struct weft_model **ret_model)
{
	return build(decoder, progress, true, ret_model);
}

/* ---- A range ---- */

static struct weft__read_range range_of(const struct weft_range *asked, uint64_t trace_start)
{
	struct weft__read_range range = {.trace_start = trace_start, .start = asked->start_ns};
	if (!asked->is_absolute)
		range.start = weft__ns_add(range.start, trace_start);
	range.end = weft__ns_add(range.start, asked->duration_ns);
	range.end = range.end > trace_start ? range.end : trace_start;
	range.start = range.start > asked->past_ns ? range.start - asked->past_ns : 0;
	return range;
}

/* Begins with the state before the range, if there is one. */
static void find_state(
	struct load *load, const struct weft_range *asked, struct weft__read_range *range)
{
	uint64_t time_ns;
	if (!asked->find_state || range->start <= range->trace_start)
		return;
	/* Ended tasks end at the state's time, which is before the range. */
	load->state = asked->find_state(asked->context, range->start - 1, &time_ns);
	range->has_state = load->state && time_ns > range->trace_start && time_ns < range->start;
	if (range->has_state)
		range->start = time_ns;
	else
		load->state = NULL;
}

/* Leaves out what is before the range, also the first event if what follows it is left out. */
static int seek(struct load *load, struct weft__kept *kept, struct weft_event *first)
{
	bool is_alone = false;
	int error = weft__format_keep(kept, first);
	if (!error)
		error = weft__format_decoder_seek(load->decoder, load->range->start, &is_alone);
	if (is_alone || load->range->has_state)
		load->first = NULL;
	return error;
}

/* Goes on with the last packets of each thread: the trace ends with their last event. */
static void find_last(struct load *load)
{
	const uint64_t time_ns = weft__ns_add(load->range->trace_start, WEFT__SPAN_NS);
	struct weft_event event;
	bool is_alone;
	if (!weft__format_decoder_seeks(load->decoder) ||
		weft__format_decoder_seek(load->decoder, time_ns, &is_alone))
		return;
	while (weft_decoder_next(load->decoder, &event) == WEFT_OK)
		load->next = event.time_ns;
}

static int add_range(
	struct load *load, const struct weft_help *help, const struct weft_progress *progress)
{
	load->has_gap =
		load->range->start > load->range->trace_start && weft__format_decoder_seeks(load->decoder);
	load->decode(load);
	if (load->has_gap) {
		const struct batch *batch = load->decoding;
		weft__model_begin_range(
			load->builder, load->range, batch->count ? batch->facts->time_ns : UINT64_MAX);
	}
	int error = add_events(load, help, progress);
	if (error || !load->next)
		return error;
	find_last(load);
	weft__model_end_range(load->builder, load->range, load->next);
	return 0;
}

WEFT__EXPORT int weft_decoder_build_range(struct weft_decoder *decoder,
	const struct weft_range *asked, const struct weft_progress *progress,
	struct weft_model **ret_model)
{
	const struct weft_help *help = help_of(decoder, progress);
	struct weft__kept kept = {0};
	struct weft_event first;
	struct load load;
	int error = create(&load, decoder);
	int status = error ? error : weft_decoder_next(decoder, &first);
	struct weft__read_range range = range_of(asked, status == WEFT_OK ? first.time_ns : 0);
	load.range = &range;
	load.decode = decode_batch_of_range;
	load.plain_ns = 0;
	if (status == WEFT_OK) {
		load.first = &first;
		find_state(&load, asked, &range);
		error = range.start > range.trace_start ? seek(&load, &kept, &first) : 0;
		if (!error)
			error = add_range(&load, help, progress);
	} else if (status != WEFT_END) {
		error = status == WEFT_AGAIN ? WEFT_ERROR_STATE : status;
	}
	if (!error)
		error = weft__model_finish(load.builder, weft_decoder_describe(decoder), help, ret_model);
	weft__format_kept_finish(&kept);
	destroy(&load);
	return error;
}

/* SPDX-License-Identifier: ISC
 *
 * The decoder of every format: collects the bytes, recognises the format by content, and passes the
 * rest to that format's reader. The table below is the only code that lists all formats.
 *
 * If the caller asks for events before it has fed all bytes, the format's incoming reader returns
 * the events that are complete, and the bytes that it has read are dropped. Otherwise the format's
 * other reader gets all bytes at once.
 */
#include <weft/decoder.h>

#include <stdlib.h>
#include <string.h>

#include "base/export.h"
#include "format/decoder.h"
#include "format/forget.h"
#include "format/formats.h"
#include "format/merge.h"
#include "format/shift.h"
#include "format/weft/identity.h"
#include "model/span.h"

/* Probed in this order. */
static const struct weft__format *const formats[] = {
#define FORMAT(name) &weft__format_##name,
#include "format/formats.def"
#undef FORMAT
	NULL,
};

/* Formats of text and of packets may begin with something else: a file of no format would be
 * searched to its end. */
#define PROBED_MAX ((size_t)64 << 20)

#define PARTS_MAX 65536 /* see WEFT_PART_OFFSET */

enum phase {
	PHASE_FEEDING,
	PHASE_READING,
	PHASE_FAILED, /* weft_decoder_finish() returned `error` */
};

struct weft_decoder {
	struct weft_diagnostics diagnostics;
	struct weft_trace_description description;
	const struct weft__format *format;
	struct weft__reader *reader;
	const struct weft__incoming *incoming; /* NULL: `reader` reads whole input */
	struct weft__window window;            /* bytes that were fed and not read yet */
	uint64_t size;                         /* bytes fed so far */
	uint64_t events;                       /* in the model so far */
	size_t examined, probe_bytes;          /* see prepare_incoming */
	enum phase phase;
	bool borrowed;
	bool is_part;       /* of a merged decoder */
	bool is_held;       /* until the merged decoder starts its parts */
	bool needs_all;     /* the input can only be read once all bytes are there */
	bool answered;      /* an event was returned */
	bool gives_records; /* it was a record of Xen */
	uint64_t furthest;  /* greatest offset of a returned event */
	struct weft__span span;
	const struct weft_help *help;
	const struct weft__forget *forget;
	const struct weft__shared_readings *readings; /* shared by several decoders; or NULL */
	const struct weft__shift *shift;              /* of a part; or NULL */
	uint64_t hz;                                  /* see weft_decoder_set_hz() */
	int error;
};

WEFT__EXPORT int weft_decoder_create(struct weft_decoder **ret_decoder)
{
	struct weft_decoder *decoder = calloc(1, sizeof(*decoder));
	if (!decoder)
		return WEFT_ERROR_MEMORY;
	decoder->description.format = "unknown";
	decoder->description.clock.name = "unknown";
	*ret_decoder = decoder;
	return 0;
}

WEFT__EXPORT void weft_decoder_destroy(struct weft_decoder *decoder)
{
	if (!decoder)
		return;
	if (decoder->reader)
		(decoder->incoming ? decoder->incoming->close : decoder->format->close)(decoder->reader);
	weft__format_window_finish(&decoder->window);
	free(decoder);
}

WEFT__EXPORT int weft_decoder_feed(struct weft_decoder *decoder, const void *bytes, size_t size)
{
	if (decoder->phase != PHASE_FEEDING || decoder->borrowed || decoder->window.is_whole)
		return WEFT_ERROR_STATE;
	int error = weft__format_window_append(&decoder->window, bytes, size);
	if (!error)
		decoder->size += size;
	return error;
}

WEFT__EXPORT int weft_decoder_feed_borrowed(
	struct weft_decoder *decoder, const void *bytes, size_t size)
{
	if (decoder->phase != PHASE_FEEDING || decoder->borrowed || decoder->size)
		return WEFT_ERROR_STATE;
	decoder->borrowed = true;
	decoder->window.bytes = bytes;
	decoder->window.size = size;
	decoder->size = size;
	return 0;
}

static struct weft__input input_of(struct weft_decoder *decoder)
{
	return (struct weft__input){
		.bytes = decoder->window.bytes,
		.size = decoder->window.size,
		.is_stable = !decoder->borrowed,
		.diagnostics = &decoder->diagnostics,
		.description = &decoder->description,
		.help = decoder->help,
		.readings = decoder->readings,
		.hz = decoder->hz,
		.is_part = decoder->is_part,
		.forget = decoder->forget,
	};
}

WEFT__EXPORT int weft_decoder_create_merged(
	const struct weft_decoder_part *parts, size_t count, struct weft_decoder **ret_decoder)
{
	struct weft_decoder *decoder;
	if (count > PARTS_MAX)
		return WEFT_ERROR_LIMIT;
	int error = weft_decoder_create(&decoder);
	if (error)
		return error;
	const struct weft__input input = input_of(decoder);
	for (size_t i = 0; i < count; i++)
		parts[i].decoder->is_part = parts[i].decoder->is_held = true;
	error = weft__format_merge_create(parts, count, &input, &decoder->reader);
	if (error) {
		weft_decoder_destroy(decoder);
		return error;
	}
	decoder->format = &weft__format_merge;
	decoder->phase = PHASE_READING;
	*ret_decoder = decoder;
	return 0;
}

static const struct weft__format *find_format(const uint8_t *bytes, size_t size)
{
	if (size > PROBED_MAX)
		size = PROBED_MAX;
	for (size_t i = 0; formats[i]; i++)
		if (formats[i]->probe(bytes, size))
			return formats[i];
	return NULL;
}

static void set_format(struct weft_decoder *decoder, const struct weft__format *format)
{
	decoder->format = format;
	decoder->description.format = format->name;
}

/* ---- Whole input ---- */

static int start_reading(struct weft_decoder *decoder)
{
	if (decoder->size == 0)
		return WEFT_ERROR_EMPTY;
	const struct weft__format *format = find_format(decoder->window.bytes, decoder->window.size);
	if (!format)
		return WEFT_ERROR_FORMAT;
	set_format(decoder, format);
	const struct weft__input input = input_of(decoder);
	return format->open(&input, &decoder->reader);
}

static int finish(struct weft_decoder *decoder)
{
	if (!decoder->incoming)
		decoder->error = start_reading(decoder);
	decoder->phase = decoder->error ? PHASE_FAILED : PHASE_READING;
	return decoder->error;
}

/* The merged decoder of a part starts it when all parts can start. */
WEFT__EXPORT int weft_decoder_finish(struct weft_decoder *decoder)
{
	if (decoder->phase != PHASE_FEEDING || decoder->window.is_whole)
		return WEFT_ERROR_STATE;
	decoder->window.is_whole = true;
	return decoder->is_held ? 0 : finish(decoder);
}

/* ---- Input that is still arriving ---- */

/* The first bytes may not suffice to recognise the format. Up to 4096 bytes, each new byte is
 * reason enough to retry; after that, retry only once the size has doubled, so that the total cost
 * stays proportional to the size. */
static const struct weft__format *probe(struct weft_decoder *decoder)
{
	const size_t few = 4096;
	size_t size = decoder->window.size;
	if (size < decoder->probe_bytes)
		return NULL;
	decoder->probe_bytes = size < few ? size + 1 : 2 * size;
	return find_format(decoder->window.bytes, size);
}

/* Returns WEFT_OK if a reader can be created, or WEFT_AGAIN if that takes more bytes or all of
 * them. */
static int prepare_incoming(struct weft_decoder *decoder)
{
	if (decoder->borrowed || decoder->needs_all)
		return WEFT_AGAIN;
	if (!decoder->format) {
		decoder->format = probe(decoder);
		if (!decoder->format)
			return WEFT_AGAIN;
	}
	const struct weft__input input = input_of(decoder);
	const struct weft__incoming *incoming = decoder->format->incoming;
	int status = incoming ? incoming->prepare(&input, &decoder->examined) : WEFT_END;
	decoder->needs_all = status == WEFT_END;
	return status == WEFT_END ? WEFT_AGAIN : status;
}

static int create_incoming(struct weft_decoder *decoder)
{
	const struct weft__incoming *incoming = decoder->format->incoming;
	const struct weft__input input = input_of(decoder);
	int error = incoming->start(&input, decoder->examined, &decoder->reader);
	if (!error) {
		set_format(decoder, decoder->format);
		decoder->incoming = incoming;
	}
	return error;
}

static int start_incoming(struct weft_decoder *decoder)
{
	int status = prepare_incoming(decoder);
	return status == WEFT_OK ? create_incoming(decoder) : status;
}

/* All events up to span.last have been returned, so an earlier event gets that time instead. */
static void hold_late(struct weft_decoder *decoder, struct weft_event *event)
{
	if (event->time_ns >= decoder->span.last)
		return;
	weft_diagnostics_add(&decoder->diagnostics, event->offset,
		"an event comes after later ones were returned; its time is limited to theirs");
	event->time_ns = decoder->span.last;
}

/* Out of line, so that the fast path of weft_decoder_next() spills no registers. */
__attribute__((noinline)) static int next_incoming(
	struct weft_decoder *decoder, struct weft_event *ret_event)
{
	int status = decoder->reader ? WEFT_OK : start_incoming(decoder);
	if (status == WEFT_OK)
		status = decoder->incoming->next(decoder->reader, &decoder->window, ret_event);
	if (status == WEFT_OK)
		hold_late(decoder, ret_event);
	return status;
}

WEFT__EXPORT bool weft_decoder_is_pending(const struct weft_decoder *decoder)
{
	if (decoder->format == &weft__format_merge)
		return weft__format_merge_is_pending(decoder->reader);
	if (!decoder->incoming)
		return decoder->size > 0;
	return decoder->incoming->is_pending(decoder->reader, &decoder->window);
}

WEFT__EXPORT uint64_t weft_decoder_mark(const struct weft_decoder *decoder)
{
	if (decoder->format == &weft__format_merge)
		return weft__format_merge_mark(decoder->reader);
	bool has_marks = decoder->incoming && decoder->incoming->mark;
	uint64_t mark_ns = has_marks ? decoder->incoming->mark(decoder->reader) : 0;
	return mark_ns == UINT64_MAX ? 0 : mark_ns; /* at the end it is no time */
}

/* ---- Parts of a merged decoder ---- */

bool weft__format_decoder_has_started(const struct weft_decoder *decoder)
{
	return decoder->phase != PHASE_FEEDING || decoder->reader;
}

int weft__format_decoder_prepare(struct weft_decoder *decoder)
{
	if (weft__format_decoder_has_started(decoder) || decoder->window.is_whole)
		return WEFT_OK;
	return prepare_incoming(decoder);
}

int weft__format_decoder_start(struct weft_decoder *decoder)
{
	decoder->is_held = false;
	if (weft__format_decoder_has_started(decoder))
		return 0;
	if (decoder->window.is_whole)
		return finish(decoder);
	return create_incoming(decoder);
}

bool weft__format_decoder_identify(
	const struct weft_decoder *decoder, struct weft__identity *ret_identity)
{
	return weft__format_identify_trace(decoder->window.bytes, decoder->window.size, ret_identity);
}

/* ---- Events ---- */

/* Zeroes an event. In two parts, because GCC replaces one memset of this size by `rep stos`, which
 * takes several times as long as the stores. */
static inline void clear(struct weft_event *event)
{
	const size_t half = sizeof(*event) / 2;
	memset(event, 0, half);
	memset((char *)event + half, 0, sizeof(*event) - half);
}

/* The first time that a trace may have need not be one of the clock's ticks. */
static void report_span(struct weft_decoder *decoder, const struct weft_event *event)
{
	weft_diagnostics_add(&decoder->diagnostics, event->offset, WEFT__SPAN_MESSAGE);
	if (event->time_ns == WEFT__FIRST_NS_MAX)
		decoder->description.ticks = NULL;
}

WEFT__EXPORT int weft_decoder_next(struct weft_decoder *decoder, struct weft_event *ret_event)
{
	if (decoder->phase == PHASE_FAILED)
		return decoder->error;
	clear(ret_event);
	int status = decoder->phase == PHASE_FEEDING || decoder->incoming
					 ? next_incoming(decoder, ret_event)
					 : decoder->format->next(decoder->reader, ret_event);
	if (status == WEFT_OK) {
		decoder->answered = true;
		if (ret_event->offset > decoder->furthest)
			decoder->furthest = ret_event->offset;
		if (weft__model_span_hold(&decoder->span, &ret_event->time_ns))
			report_span(decoder, ret_event);
	}
	/* An empty trace is valid; a trace with damage and without a readable event is an error. */
	if (status == WEFT_END && !decoder->answered && decoder->diagnostics.count)
		return WEFT_ERROR_DAMAGED;
	return status;
}

int weft__format_decoder_next_facts(struct weft_decoder *decoder, const struct weft__naming *naming,
	uint64_t before_ns, struct weft__fact *facts, uint32_t most, uint32_t *ret_count)
{
	struct weft__span *span = &decoder->span;
	*ret_count = 0;
	if (decoder->phase != PHASE_READING || decoder->incoming || !decoder->format->next_facts ||
		!span->any || before_ns <= span->last)
		return 0;
	if (before_ns > span->first + WEFT__SPAN_NS)
		before_ns = span->first + WEFT__SPAN_NS;
	int error =
		decoder->format->next_facts(decoder->reader, naming, before_ns, facts, most, ret_count);
	if (error || !*ret_count)
		return error;
	const struct weft__fact *last = &facts[*ret_count - 1];
	span->last = last->time_ns;
	if (last->offset > decoder->furthest)
		decoder->furthest = last->offset;
	return 0;
}

bool weft__format_decoder_seeks(const struct weft_decoder *decoder)
{
	return decoder->phase == PHASE_READING && !decoder->incoming && decoder->format->seek;
}

int weft__format_decoder_seek(
	struct weft_decoder *decoder, uint64_t time_ns, bool *ret_follows_given)
{
	*ret_follows_given = false;
	if (decoder->phase != PHASE_READING)
		return WEFT_ERROR_STATE;
	return weft__format_decoder_seeks(decoder)
			   ? decoder->format->seek(decoder->reader, time_ns, ret_follows_given)
			   : 0;
}

WEFT__EXPORT int weft_decoder_seek(struct weft_decoder *decoder, uint64_t time_ns)
{
	bool follows_given;
	return weft__format_decoder_seek(decoder, time_ns, &follows_given);
}

int weft__format_decoder_weigh(
	struct weft_decoder *decoder, weft__format_weigh *take, void *context)
{
	if (!weft__format_decoder_seeks(decoder) || !decoder->format->weigh)
		return WEFT_ERROR_UNSUPPORTED;
	return decoder->answered ? WEFT_ERROR_STATE
							 : decoder->format->weigh(decoder->reader, take, context);
}

void weft__format_decoder_lend_forget(
	struct weft_decoder *decoder, const struct weft__forget *forget)
{
	decoder->forget = forget;
}

/* ---- Records of Xen ---- */

WEFT__EXPORT void weft_decoder_set_hz(struct weft_decoder *decoder, uint64_t hz)
{
	decoder->hz = hz;
}

WEFT__EXPORT bool weft_decoder_has_xentrace(const struct weft_decoder *decoder)
{
	return decoder->phase == PHASE_READING && !decoder->incoming && decoder->format->next_record;
}

WEFT__EXPORT int weft_decoder_xentrace_stays(struct weft_decoder *decoder,
	int (*take)(void *context, const struct weft_xentrace_stay *stay), void *context)
{
	if (!weft_decoder_has_xentrace(decoder))
		return WEFT_ERROR_STATE;
	return decoder->format->stays(decoder->reader, take, context);
}

WEFT__EXPORT size_t weft_decoder_xentrace_notes(
	const struct weft_decoder *decoder, const struct weft_xentrace_note **ret_list)
{
	*ret_list = NULL;
	return weft_decoder_has_xentrace(decoder) ? decoder->format->notes(decoder->reader, ret_list)
											  : 0;
}

WEFT__EXPORT int weft_decoder_next_xentrace(
	struct weft_decoder *decoder, struct weft_xentrace_record *ret_record)
{
	if (!decoder->gives_records && (decoder->answered || !weft_decoder_has_xentrace(decoder)))
		return WEFT_ERROR_STATE;
	int status = decoder->format->next_record(decoder->reader, ret_record);
	if (status == WEFT_OK) {
		decoder->answered = decoder->gives_records = true;
		if (ret_record->offset > decoder->furthest)
			decoder->furthest = ret_record->offset;
	}
	if (status == WEFT_END && !decoder->answered && decoder->diagnostics.count)
		return WEFT_ERROR_DAMAGED;
	return status;
}

WEFT__EXPORT const struct weft_trace_description *weft_decoder_describe(
	const struct weft_decoder *decoder)
{
	return &decoder->description;
}

WEFT__EXPORT struct weft_diagnostics *weft_decoder_diagnostics(struct weft_decoder *decoder)
{
	return &decoder->diagnostics;
}

WEFT__EXPORT double weft_decoder_part(const struct weft_decoder *decoder)
{
	if (decoder->format == &weft__format_merge)
		return weft__format_merge_part(decoder->reader);
	return decoder->size ? (double)decoder->furthest / (double)decoder->size : 0;
}

WEFT__EXPORT void weft_decoder_lend(struct weft_decoder *decoder, const struct weft_help *help)
{
	decoder->help = help;
}

void weft__format_decoder_count(struct weft_decoder *decoder, uint32_t events)
{
	decoder->events += events;
}

WEFT__EXPORT uint64_t weft_decoder_events(const struct weft_decoder *decoder)
{
	return decoder->events;
}

void weft__format_decoder_share_readings(
	struct weft_decoder *decoder, const struct weft__shared_readings *readings)
{
	decoder->readings = readings;
}

void weft__format_decoder_shift(struct weft_decoder *decoder, const struct weft__shift *shift)
{
	decoder->shift = shift;
}

const struct weft__shift *weft__format_decoder_shift_of(const struct weft_decoder *decoder)
{
	return decoder->shift;
}

uint64_t weft__format_decoder_bytes(const struct weft_decoder *decoder)
{
	return decoder->size;
}

const struct weft_help *weft__format_decoder_help(const struct weft_decoder *decoder)
{
	return decoder->help;
}

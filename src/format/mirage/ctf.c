/* SPDX-License-Identifier: ISC
 *
 * Mirage's CTF, as mirage-profile writes it. Its metadata file is not needed: the layout of the
 * stream has never changed.
 *
 *     event:  | time u64 ns | op u8 | fields of the op, unaligned, little-endian |
 *
 * Opening scans everything once: it finds the first damaged byte of each packet, and whether all
 * times are plausible and in order. If they are, reading follows the packets; otherwise it follows
 * an index of event positions with repaired times.
 */
#include <stdlib.h>
#include <string.h>

#include "base/both.h"
#include "base/diagnostics.h"
#include "base/little_endian.h"
#include "format/clock.h"
#include "format/format.h"
#include "format/formats.h"
#include "format/mirage/holes.h"
#include "format/mirage/packets.h"
#include "format/order.h"
#include "model/span.h"

#define EVENT_HEADER_BYTES 9
#define DAMAGED_SHARE      64 /* at most one event in 64 has a damaged time */

struct mirage_reader {
	struct weft__reader base;
	struct weft_trace_thread thread;
	struct weft__mirage_packets packets;
	struct weft__mirage_holes holes;
	struct weft__order order; /* empty if the packets are in time order */
	bool is_ordered_by_index;
	size_t next; /* packet, or position in the order */
	size_t at;   /* offset in that packet; 0 before its first event */
};

/* The fields that follow an event's header. */
enum shape {
	SHAPE_UNKNOWN,
	SHAPE_TASK,
	SHAPE_TASK_OTHER,
	SHAPE_TASK_OTHER_KIND,
	SHAPE_TASK_OTHER_TEXT,
	SHAPE_TASK_TEXT,
	SHAPE_TASK_VALUE_TEXT,
	SHAPE_VALUE,
};

static const struct {
	uint8_t bytes; /* without the text */
	bool has_text;
} shapes[] = {
	[SHAPE_TASK] = {8, false},
	[SHAPE_TASK_OTHER] = {16, false},
	[SHAPE_TASK_OTHER_KIND] = {17, false},
	[SHAPE_TASK_OTHER_TEXT] = {16, true},
	[SHAPE_TASK_TEXT] = {8, true},
	[SHAPE_TASK_VALUE_TEXT] = {16, true},
	[SHAPE_VALUE] = {8, false},
};

static const struct mirage_operation {
	uint8_t type;
	uint8_t shape;
	bool flag;
	bool is_set;
} operations[] = {
	[0] = {WEFT_EVENT_CREATE, SHAPE_TASK_OTHER_KIND, false, false},
	[1] = {WEFT_EVENT_READ, SHAPE_TASK_OTHER, false, false},
	[2] = {WEFT_EVENT_RESOLVE, SHAPE_TASK_OTHER, false, false},
	[3] = {WEFT_EVENT_FAIL, SHAPE_TASK_OTHER_TEXT, false, false},
	[4] = {WEFT_EVENT_BECOME, SHAPE_TASK_OTHER, false, false},
	[5] = {WEFT_EVENT_LABEL, SHAPE_TASK_TEXT, false, false},
	[6] = {WEFT_EVENT_COUNTER, SHAPE_TASK_VALUE_TEXT, false, false},
	[7] = {WEFT_EVENT_SWITCH, SHAPE_TASK, false, false},
	[8] = {WEFT_EVENT_GC, SHAPE_VALUE, false, false},
	[9] = {WEFT_EVENT_SIGNAL, SHAPE_TASK_OTHER, true, false},
	[10] = {WEFT_EVENT_TRY_READ, SHAPE_TASK_OTHER, false, false},
	[11] = {WEFT_EVENT_COUNTER, SHAPE_TASK_VALUE_TEXT, false, true},
	[12] = {WEFT_EVENT_READ, SHAPE_TASK_OTHER, true, false},
	[13] = {WEFT_EVENT_SIGNAL, SHAPE_TASK_OTHER, false, false},
};
#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

/* Bytes of the widest fields. */
#define FIELDS_BYTES 17

/* Masks of the two words and the byte of the widest fields: all ones where a shape has the field.
 */
static const struct {
	weft_task_id task, other;
	uint64_t first_value, second_value;
	uint8_t kind;
} members[] = {
	[SHAPE_TASK] = {.task = UINT64_MAX},
	[SHAPE_TASK_OTHER] = {.task = UINT64_MAX, .other = UINT64_MAX},
	[SHAPE_TASK_OTHER_KIND] = {.task = UINT64_MAX, .other = UINT64_MAX, .kind = UINT8_MAX},
	[SHAPE_TASK_OTHER_TEXT] = {.task = UINT64_MAX, .other = UINT64_MAX},
	[SHAPE_TASK_TEXT] = {.task = UINT64_MAX},
	[SHAPE_TASK_VALUE_TEXT] = {.task = UINT64_MAX, .second_value = UINT64_MAX},
	[SHAPE_VALUE] = {.first_value = UINT64_MAX},
};

/* Always reads the widest fields and masks those that the shape lacks: a branch on the shape would
 * be mispredicted. */
static inline void fill_masked(const uint8_t *at, unsigned shape, struct weft_event *event)
{
	uint64_t first = weft__load_u64(at), second = weft__load_u64(at + 8);
	event->task = first & members[shape].task;
	event->other = second & members[shape].other;
	event->value =
		(int64_t)((first & members[shape].first_value) | (second & members[shape].second_value));
	event->kind = at[16] & members[shape].kind;
	/* The writer measures a GC with the wall clock; a clock step can make it negative. */
	if (event->value < 0 && shape == SHAPE_VALUE)
		event->value = 0;
}

/* Fewer bytes are readable than the widest fields have. Out of line, because only a packet's last
 * event needs the copy. */
__attribute__((noinline)) static void fill_from_copy(
	const uint8_t *at, size_t size, unsigned shape, struct weft_event *event)
{
	uint8_t padded[FIELDS_BYTES] = {0};
	memcpy(padded, at, size);
	fill_masked(padded, shape, event);
}

/* `size` bytes are readable, at least as many as the shape needs. */
static inline void fill_fields(
	const uint8_t *at, size_t size, unsigned shape, struct weft_event *event)
{
	if (size < FIELDS_BYTES)
		fill_from_copy(at, size, shape, event);
	else
		fill_masked(at, shape, event);
}

/* mirage-profile had no event for "should resolve", and wrote a label instead. */
static void recognise_hint(struct weft_event *event)
{
	static const char hint[] = "__should_resolve";
	if (event->text.size != sizeof(hint) - 1 || event->type != WEFT_EVENT_LABEL ||
		memcmp(event->text.bytes, hint, sizeof(hint) - 1) != 0)
		return;
	event->type = WEFT_EVENT_EXPECT;
	event->text = (struct weft_slice){NULL, 0};
}

/* The parts of an event, as offsets in the input. */
struct extent {
	const struct mirage_operation *operation;
	size_t fields, end;
	struct weft_slice text;
};

/* Finds the parts of the event at `from`, which must end by `limit`. Returns NULL, or a description
 * of the damage. */
__attribute__((always_inline)) static inline const char *find_event(
	const uint8_t *bytes, size_t from, size_t limit, struct extent *ret_extent)
{
	if (limit - from < EVENT_HEADER_BYTES)
		return "event is cut short by its packet's end";
	uint8_t op = bytes[from + 8];
	if (op >= OPERATIONS)
		return "unknown op; the rest of its packet is skipped";
	struct extent extent = {&operations[op], from + EVENT_HEADER_BYTES, 0, {NULL, 0}};
	size_t length = shapes[extent.operation->shape].bytes;
	if (limit - extent.fields < length)
		return "event is cut short by its packet's end";
	extent.end = extent.fields + length;
	if (shapes[extent.operation->shape].has_text) {
		const uint8_t *text = bytes + extent.end;
		const uint8_t *nul = memchr(text, 0, limit - extent.end);
		if (!nul)
			return "string without end";
		extent.text = (struct weft_slice){(const char *)text, (size_t)(nul - text)};
		extent.end += extent.text.size + 1;
	}
	*ret_extent = extent;
	return NULL;
}

/* Decodes the event at *at and moves *at behind it. False if it is damaged: the first pass excluded
 * that, but the bytes may have changed since. */
__attribute__((always_inline)) static inline bool decode(
	const uint8_t *bytes, size_t *at, size_t limit, struct weft_event *ret_event)
{
	struct extent extent;
	if (find_event(bytes, *at, limit, &extent))
		return false;
	ret_event->time_ns = weft__load_u64(bytes + *at);
	ret_event->offset = *at;
	ret_event->text = extent.text;
	ret_event->type = extent.operation->type;
	ret_event->flag = extent.operation->flag;
	ret_event->is_set = extent.operation->is_set;
	fill_fields(bytes + extent.fields, limit - extent.fields, extent.operation->shape, ret_event);
	recognise_hint(ret_event);
	*at = extent.end;
	return true;
}

/* The result of the first pass over the packets [first, last). */
struct packet_survey {
	struct mirage_reader *reader;
	size_t first, last;
	uint64_t first_ns, last_ns;
	bool any;
	bool is_monotone;
	size_t events, negative; /* all, and those with negative times */
	struct weft_diagnostics diagnostics;
};

/* Cuts the packet off before its first damaged event. */
static void survey_packet(struct weft__mirage_packet *packet, struct packet_survey *survey)
{
	const uint8_t *bytes = survey->reader->base.input.bytes;
	size_t at = packet->first;
	while (at < packet->limit) {
		struct extent extent;
		const char *problem = find_event(bytes, at, packet->limit, &extent);
		if (problem) {
			weft_diagnostics_add(&survey->diagnostics, at, problem);
			packet->is_cut = true;
			break;
		}
		uint64_t time_ns = weft__load_u64(bytes + at);
		if (!survey->any)
			survey->first_ns = time_ns;
		else if (time_ns < survey->last_ns)
			survey->is_monotone = false;
		if (at == packet->first)
			packet->first_ns = time_ns;
		packet->last_ns = time_ns;
		survey->any = true;
		survey->last_ns = time_ns;
		survey->events++;
		survey->negative += time_ns >= WEFT__NEGATIVE_NS;
		at = extent.end;
	}
	packet->limit = at;
}

static void survey_packets(void *context)
{
	struct packet_survey *survey = context;
	for (size_t i = survey->first; i < survey->last; i++)
		survey_packet(&survey->reader->packets.list[i], survey);
}

/* Surveys both halves of the packets, on two threads if the caller lent a second one, and joins the
 * results. */
static struct packet_survey survey_all(struct mirage_reader *reader)
{
	size_t count = reader->packets.count;
	struct packet_survey first = {.reader = reader, .last = count / 2, .is_monotone = true};
	struct packet_survey second = {
		.reader = reader, .first = count / 2, .last = count, .is_monotone = true};
	weft__both(reader->base.input.help, survey_packets, &first, survey_packets, &second);
	weft__diagnostics_move(&first.diagnostics, reader->base.input.diagnostics);
	weft__diagnostics_move(&second.diagnostics, reader->base.input.diagnostics);
	first.events += second.events;
	first.negative += second.negative;
	if (!first.any) {
		first.any = second.any;
		first.first_ns = second.first_ns;
		first.last_ns = second.last_ns;
		first.is_monotone = second.is_monotone;
	} else if (second.any) {
		first.is_monotone =
			first.is_monotone && second.is_monotone && second.first_ns >= first.last_ns;
		first.last_ns = second.last_ns;
	}
	return first;
}

/* Few negative times are damage: they become times that are far from all others. */
static uint64_t plausible(uint64_t time_ns, const struct packet_survey *survey)
{
	bool is_damage =
		time_ns >= WEFT__NEGATIVE_NS && survey->negative <= survey->events / DAMAGED_SHARE;
	return is_damage ? WEFT__NEGATIVE_NS - 1 : time_ns;
}

static int index_by_time(struct mirage_reader *reader, const struct packet_survey *survey)
{
	const uint8_t *bytes = reader->base.input.bytes;
	int error = 0;
	for (size_t i = 0; i < reader->packets.count && !error; i++) {
		const struct weft__mirage_packet *packet = &reader->packets.list[i];
		size_t at = packet->first;
		while (at < packet->limit && !error) {
			struct extent extent;
			if (find_event(bytes, at, packet->limit, &extent))
				break;
			error = weft__format_order_add(&reader->order,
				(struct weft__position){plausible(weft__load_u64(bytes + at), survey), at});
			at = extent.end;
		}
	}
	reader->is_ordered_by_index = true;
	if (!error)
		weft__format_order_settle(&reader->order, reader->base.input.diagnostics);
	return error;
}

/* The time of the packet's first and last event: those of the index, if there is one, whose
 * positions are those of the packets, one after the other. */
struct extent_in_time {
	uint64_t first_ns, last_ns;
};

static struct extent_in_time time_packet(
	const struct mirage_reader *reader, const struct weft__mirage_packet *packet, size_t *position)
{
	const struct weft__order *order = &reader->order;
	struct extent_in_time time = {packet->first_ns, packet->last_ns};
	if (!reader->is_ordered_by_index)
		return time;
	time.first_ns = order->list[*position].time_ns;
	while (*position < order->count && order->list[*position].offset < packet->limit &&
		   order->list[*position].offset >= packet->first)
		time.last_ns = order->list[(*position)++].time_ns;
	return time;
}

/* A packet without any event is as good as missing. */
static int find_holes(struct mirage_reader *reader)
{
	struct weft_trace_description *description = reader->base.input.description;
	size_t position = 0;
	int error = 0;
	for (size_t i = 0; i < reader->packets.count && !error; i++) {
		const struct weft__mirage_packet *packet = &reader->packets.list[i];
		weft__format_mirage_holes_open(&reader->holes, packet->missing);
		if (packet->limit > packet->first) {
			struct extent_in_time time = time_packet(reader, packet, &position);
			if (!reader->holes.any && reader->packets.list[0].sequence > 0)
				error = weft__format_mirage_holes_begin(&reader->holes, time.first_ns, description);
			if (!error)
				error = weft__format_mirage_holes_close(&reader->holes, time.first_ns, description);
			weft__format_mirage_holes_pass(&reader->holes, time.last_ns);
		}
		weft__format_mirage_holes_open(&reader->holes, packet->is_cut);
	}
	return error ? error
				 : weft__format_mirage_holes_close(
					   &reader->holes, reader->holes.last_ns, description);
}

static void mirage_close(struct weft__reader *base)
{
	struct mirage_reader *reader = (struct mirage_reader *)base;
	weft__format_mirage_packets_finish(&reader->packets);
	weft__format_mirage_holes_finish(&reader->holes);
	weft__format_order_finish(&reader->order);
	free(reader);
}

static int mirage_open(const struct weft__input *input, struct weft__reader **ret_reader)
{
	struct packet_survey survey = {.is_monotone = true};
	struct mirage_reader *reader = calloc(1, sizeof(*reader));
	if (!reader)
		return WEFT_ERROR_MEMORY;
	reader->base.input = *input;
	int error = weft__format_mirage_packets_find(
		input->bytes, input->size, input->diagnostics, &reader->packets);
	if (!error)
		survey = survey_all(reader);
	bool is_in_order =
		survey.is_monotone && !survey.negative && survey.last_ns - survey.first_ns <= WEFT__SPAN_NS;
	if (!error && !is_in_order)
		error = index_by_time(reader, &survey);
	if (!error)
		error = find_holes(reader);
	if (error) {
		mirage_close(&reader->base);
		return error;
	}
	reader->thread = (struct weft_trace_thread){.name = ""};
	input->description->threads = &reader->thread;
	input->description->thread_count = survey.any;
	weft__format_clock_guess(reader->order.count ? reader->order.list[0].time_ns : survey.first_ns,
		&input->description->clock);
	*ret_reader = &reader->base;
	return 0;
}

static int next_in_packets(struct mirage_reader *reader, struct weft_event *ret_event)
{
	for (; reader->next < reader->packets.count; reader->next++, reader->at = 0) {
		const struct weft__mirage_packet *packet = &reader->packets.list[reader->next];
		if (reader->at == 0)
			reader->at = packet->first;
		if (reader->at < packet->limit &&
			decode(reader->base.input.bytes, &reader->at, packet->limit, ret_event))
			return WEFT_OK;
	}
	return WEFT_END;
}

/* The index has no packet limits. The input's limit is enough to stay in bounds if the bytes have
 * changed since they were indexed. */
static int next_in_order(struct mirage_reader *reader, struct weft_event *ret_event)
{
	const struct weft__input *input = &reader->base.input;
	while (reader->next < reader->order.count) {
		const struct weft__position *position = &reader->order.list[reader->next++];
		size_t at = (size_t)position->offset;
		if (decode(input->bytes, &at, input->size, ret_event)) {
			ret_event->time_ns = position->time_ns;
			return WEFT_OK;
		}
	}
	return WEFT_END;
}

static int mirage_next(struct weft__reader *base, struct weft_event *ret_event)
{
	struct mirage_reader *reader = (struct mirage_reader *)base;
	return reader->is_ordered_by_index ? next_in_order(reader, ret_event)
									   : next_in_packets(reader, ret_event);
}

/* ---- Input that is still arriving ---- */

/* Reads one packet at a time, once the next one has begun or the input has ended, because the size
 * in a packet's header may be damaged. */
struct mirage_incoming {
	struct weft__reader base;
	struct weft_trace_thread thread;
	struct weft__mirage_holes holes;
	struct weft__writer_clock clock;
	uint16_t count;  /* of the next packet, if none is missing */
	size_t searched; /* bytes of the window already searched for the next packet */
	size_t at;       /* offset in the packet; 0: its size is not known yet */
	size_t limit;    /* the content's end */
	size_t end;      /* the next packet's beginning */
	bool is_cut;     /* the rest of the packet is missing or damaged */
};

/* If the ring has wrapped, the input does not begin with its earliest packet, and all packets are
 * needed to order them. Packet 0 is the first one ever written, so input that begins with it is in
 * order. */
static int incoming_prepare(const struct weft__input *input, size_t *examined)
{
	(void)examined;
	if (input->size < WEFT__MIRAGE_HEADER_BYTES)
		return WEFT_AGAIN;
	if (weft__format_mirage_packet_find(input->bytes, WEFT__MIRAGE_SIGNATURE_BYTES, 0) != 0 ||
		weft__format_mirage_packet_count(input->bytes) != 0)
		return WEFT_END;
	return WEFT_OK;
}

static int incoming_start(
	const struct weft__input *input, size_t examined, struct weft__reader **ret_reader)
{
	(void)examined;
	struct mirage_incoming *r = calloc(1, sizeof(*r));
	if (!r)
		return WEFT_ERROR_MEMORY;
	r->base.input = *input;
	r->thread = (struct weft_trace_thread){.name = ""};
	*ret_reader = &r->base;
	return WEFT_OK;
}

/* Bytes at the window's end that may be the beginning of a signature. */
#define SPLIT_BYTES (WEFT__MIRAGE_SIGNATURE_BYTES - 1)

/* A count that steps back is damaged, or begins another recording. */
static void note_packet(struct mirage_incoming *r, const struct weft__window *w)
{
	const uint16_t count = weft__format_mirage_packet_count(w->bytes);
	const uint16_t missing = (uint16_t)(count - r->count);
	if (missing < UINT16_MAX / 2)
		weft__format_mirage_holes_open(&r->holes, missing);
	r->count = (uint16_t)(count + 1);
	r->is_cut = weft__format_mirage_packet_is_cut(w->bytes, r->limit);
}

/* Finds the end of the packet at the window's beginning. Returns WEFT_OK, WEFT_AGAIN or
 * WEFT_END. */
static int measure_packet(struct mirage_incoming *r, const struct weft__window *w)
{
	size_t from =
		r->searched > WEFT__MIRAGE_SIGNATURE_BYTES ? r->searched : WEFT__MIRAGE_SIGNATURE_BYTES;
	if (w->size == 0)
		return w->is_whole ? WEFT_END : WEFT_AGAIN;
	r->end = from < w->size ? weft__format_mirage_packet_find(w->bytes, w->size, from) : w->size;
	if (r->end == w->size && !w->is_whole) {
		r->searched = w->size > SPLIT_BYTES ? w->size - SPLIT_BYTES : 0;
		return WEFT_AGAIN;
	}
	r->searched = 0;
	r->at = r->limit = r->end;
	if (r->end < WEFT__MIRAGE_HEADER_BYTES) {
		weft_diagnostics_add(r->base.input.diagnostics, w->offset, "packet header is cut short");
		return WEFT_OK;
	}
	r->limit = weft__format_mirage_packet_measure(
		w->bytes, r->end, w->offset, r->end == w->size, r->base.input.diagnostics);
	r->at = WEFT__MIRAGE_HEADER_BYTES;
	note_packet(r, w);
	return WEFT_OK;
}

/* Returns WEFT_OK and an event, or WEFT_END after the packet's last one. */
static int next_in_packet(
	struct mirage_incoming *r, const struct weft__window *w, struct weft_event *ret_event)
{
	struct extent extent;
	if (r->at >= r->limit)
		return WEFT_END;
	const char *problem = find_event(w->bytes, r->at, r->limit, &extent);
	if (problem) {
		weft_diagnostics_add(r->base.input.diagnostics, w->offset + r->at, problem);
		r->is_cut = true;
		return WEFT_END;
	}
	decode(w->bytes, &r->at, r->limit, ret_event);
	ret_event->offset += w->offset;
	return WEFT_OK;
}

static int incoming_next(
	struct weft__reader *base, struct weft__window *window, struct weft_event *ret_event)
{
	struct mirage_incoming *r = (struct mirage_incoming *)base;
	struct weft_trace_description *description = r->base.input.description;
	for (;;) {
		int status = r->at == 0 ? measure_packet(r, window) : WEFT_OK;
		if (status == WEFT_END &&
			weft__format_mirage_holes_close(&r->holes, r->holes.last_ns, description))
			return WEFT_ERROR_MEMORY;
		if (status != WEFT_OK)
			return status;
		if (next_in_packet(r, window, ret_event) == WEFT_OK)
			break;
		weft__format_mirage_holes_open(&r->holes, r->is_cut);
		r->is_cut = false;
		weft__format_window_take(window, r->end);
		r->at = 0;
	}
	struct weft__position position = {ret_event->time_ns, ret_event->offset};
	weft__format_writer_clock_next(&r->clock, &position, false, base->input.diagnostics);
	ret_event->time_ns = position.time_ns;
	if (description->thread_count == 0)
		weft__format_clock_guess(ret_event->time_ns, &description->clock);
	description->threads = &r->thread;
	description->thread_count = 1;
	int error = weft__format_mirage_holes_close(&r->holes, ret_event->time_ns, description);
	weft__format_mirage_holes_pass(&r->holes, ret_event->time_ns);
	return error;
}

static bool incoming_is_pending(const struct weft__reader *base, const struct weft__window *window)
{
	(void)base;
	return window->size > 0;
}

static void incoming_close(struct weft__reader *base)
{
	weft__format_mirage_holes_finish(&((struct mirage_incoming *)base)->holes);
	free(base);
}

static const struct weft__incoming incoming = {
	.prepare = incoming_prepare,
	.start = incoming_start,
	.next = incoming_next,
	.is_pending = incoming_is_pending,
	.close = incoming_close,
};

const struct weft__format weft__format_mirage_ctf = {
	.name = "mirage-ctf",
	.probe = weft__format_mirage_packets_probe,
	.open = mirage_open,
	.next = mirage_next,
	.close = mirage_close,
	.incoming = &incoming,
};

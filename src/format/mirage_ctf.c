/* SPDX-License-Identifier: ISC
 *
 * mirage-profile's CTF, without its metadata file: the stream has had one layout ever since.
 *
 *     event:  | time u64 ns | op u8 | fields of the op, unaligned, little-endian |
 *
 * Opening goes over everything once: it finds where each packet stops making sense and whether the
 * times are in order. Reading afterwards follows the packets, or, if the clock ever stepped back,
 * an index of positions sorted by time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/little_endian.h"
#include "format/clock.h"
#include "format/format.h"
#include "format/formats.h"
#include "format/mirage_packets.h"
#include "format/order.h"

#define EVENT_HEADER_BYTES 9

struct mirage_reader {
	struct weft__reader base;
	struct weft_trace_thread thread;
	struct weft__mirage_packets packets;
	struct weft__order order; /* empty if the packets are in time order */
	bool is_ordered_by_index;
	size_t next; /* packet, or position in the order */
	size_t at;   /* offset in that packet; 0 before its first event */
};

/* What follows an event's header. */
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

static const struct operation {
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

static void fill_fields(const uint8_t *at, enum shape shape, struct weft_event *event)
{
	switch (shape) {
	case SHAPE_TASK_OTHER_KIND:
		event->kind = at[16];
		/* fall through */
	case SHAPE_TASK_OTHER:
	case SHAPE_TASK_OTHER_TEXT:
		event->other = weft__load_u64(at + 8);
		/* fall through */
	case SHAPE_TASK:
	case SHAPE_TASK_TEXT:
		event->task = weft__load_u64(at);
		break;
	case SHAPE_TASK_VALUE_TEXT:
		event->task = weft__load_u64(at);
		event->value = (int64_t)weft__load_u64(at + 8);
		break;
	case SHAPE_VALUE:
		/* The writer measures with a wall clock: a step makes it negative. */
		event->value = (int64_t)weft__load_u64(at);
		if (event->value < 0)
			event->value = 0;
		break;
	case SHAPE_UNKNOWN:
		break;
	}
}

/* mirage-profile had no event for "should resolve", and wrote a label instead. */
static void recognise_hint(struct weft_event *event)
{
	static const char hint[] = "__should_resolve";
	if (event->type != WEFT_EVENT_LABEL || event->text.size != sizeof(hint) - 1 ||
		memcmp(event->text.bytes, hint, sizeof(hint) - 1) != 0)
		return;
	event->type = WEFT_EVENT_EXPECT;
	event->text = (struct weft_slice){NULL, 0};
}

/* Decodes the event at *at, which ends before `limit`, and moves on; or says what is wrong with it
 * and stays. */
static const char *decode(
	const uint8_t *bytes, size_t *at, size_t limit, struct weft_event *ret_event)
{
	size_t from = *at;
	if (limit - from < EVENT_HEADER_BYTES)
		return "event is cut short by its packet's end";
	uint8_t op = bytes[from + 8];
	if (op >= OPERATIONS)
		return "unknown op; the rest of its packet is skipped";
	const struct operation *operation = &operations[op];
	size_t fields = from + EVENT_HEADER_BYTES, length = shapes[operation->shape].bytes;
	if (limit - fields < length)
		return "event is cut short by its packet's end";
	size_t end = fields + length;
	if (shapes[operation->shape].has_text) {
		const uint8_t *nul = memchr(bytes + end, 0, limit - end);
		if (!nul)
			return "string without end";
		ret_event->text.bytes = (const char *)bytes + end;
		ret_event->text.size = (size_t)(nul - (bytes + end));
		end += ret_event->text.size + 1;
	}
	ret_event->time_ns = weft__load_u64(bytes + from);
	ret_event->offset = from;
	ret_event->type = operation->type;
	ret_event->flag = operation->flag;
	ret_event->is_set = operation->is_set;
	fill_fields(bytes + fields, (enum shape)operation->shape, ret_event);
	recognise_hint(ret_event);
	*at = end;
	return NULL;
}

/* What the first pass found. */
struct survey {
	uint64_t first_ns, last_ns;
	bool any;
	bool is_monotone;
};

/* Shortens the packet to what makes sense. */
static void survey_packet(
	struct mirage_reader *reader, struct weft__mirage_packet *packet, struct survey *survey)
{
	const struct weft__input *input = &reader->base.input;
	size_t at = packet->first;
	while (at < packet->limit) {
		struct weft_event event = {0};
		const char *problem = decode(input->bytes, &at, packet->limit, &event);
		if (problem) {
			weft_diagnostics_add(input->diagnostics, at, problem);
			break;
		}
		if (!survey->any)
			survey->first_ns = event.time_ns;
		else if (event.time_ns < survey->last_ns)
			survey->is_monotone = false;
		survey->any = true;
		survey->last_ns = event.time_ns;
	}
	packet->limit = at;
}

static int index_by_time(struct mirage_reader *reader)
{
	int error = 0;
	for (size_t i = 0; i < reader->packets.count && !error; i++) {
		const struct weft__mirage_packet *packet = &reader->packets.list[i];
		size_t at = packet->first;
		while (at < packet->limit && !error) {
			struct weft_event event = {0};
			if (decode(reader->base.input.bytes, &at, packet->limit, &event))
				break;
			error = weft__order_add(
				&reader->order, (struct weft__position){event.time_ns, event.offset});
		}
	}
	reader->is_ordered_by_index = true;
	return error ? error : weft__order_sort(&reader->order);
}

static void mirage_close(struct weft__reader *base)
{
	struct mirage_reader *reader = (struct mirage_reader *)base;
	weft__mirage_packets_finish(&reader->packets);
	weft__order_finish(&reader->order);
	free(reader);
}

static int mirage_open(const struct weft__input *input, struct weft__reader **ret_reader)
{
	struct survey survey = {.is_monotone = true};
	struct mirage_reader *reader = calloc(1, sizeof(*reader));
	if (!reader)
		return WEFT_ERROR_MEMORY;
	reader->base.input = *input;
	int error =
		weft__mirage_packets_find(input->bytes, input->size, input->diagnostics, &reader->packets);
	for (size_t i = 0; i < reader->packets.count; i++)
		survey_packet(reader, &reader->packets.list[i], &survey);
	if (!error && !survey.is_monotone)
		error = index_by_time(reader);
	if (error) {
		mirage_close(&reader->base);
		return error;
	}
	reader->thread = (struct weft_trace_thread){.name = "", .process = ""};
	input->description->threads = &reader->thread;
	input->description->thread_count = survey.any;
	weft__clock_guess(survey.first_ns, &input->description->clock);
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
			!decode(reader->base.input.bytes, &reader->at, packet->limit, ret_event))
			return WEFT_OK;
	}
	return WEFT_END;
}

/* The packet's limit is not known here; the input's is enough to stay in bounds if the bytes have
 * changed since they were indexed. */
static int next_in_order(struct mirage_reader *reader, struct weft_event *ret_event)
{
	const struct weft__input *input = &reader->base.input;
	while (reader->next < reader->order.count) {
		size_t at = (size_t)reader->order.list[reader->next++].offset;
		if (!decode(input->bytes, &at, input->size, ret_event))
			return WEFT_OK;
	}
	return WEFT_END;
}

static int mirage_next(struct weft__reader *base, struct weft_event *ret_event)
{
	struct mirage_reader *reader = (struct mirage_reader *)base;
	return reader->is_ordered_by_index ? next_in_order(reader, ret_event)
									   : next_in_packets(reader, ret_event);
}

const struct weft__format weft__format_mirage_ctf = {
	.name = "mirage-ctf",
	.probe = weft__mirage_packets_probe,
	.open = mirage_open,
	.next = mirage_next,
	.close = mirage_close,
};

/* SPDX-License-Identifier: ISC
 *
 * Reads OCaml 5's runtime events: the rings of all domains in the order of time. Garbage collection
 * is bands of the domain, counters and spans are what they are, Eio's events are tasks and waits
 * (eio.c), other events of the program are notes with their names.
 */
#include <stdlib.h>
#include <string.h>

#include <weft/kinds.h>

#include "base/array.h"
#include "base/diagnostics.h"
#include "base/little_endian.h"
#include "format/formats.h"
#include "format/ocaml/eio.h"
#include "format/ocaml/names.h"
#include "format/ocaml/ring.h"
#include "model/span.h"

struct domain {
	struct weft__ocaml_ring ring;
	struct weft__ocaml_item item; /* the next one, if `has_item` */
	bool has_item;
	bool has_noted;   /* how many words are lost */
	uint64_t last_ns; /* the time of the last item */
	uint64_t fiber;   /* that runs; WEFT_TASK_NONE: none is known */
	uint32_t depth;   /* phases of the runtime that are open */
	uint32_t outer;   /* the first of these */
};

#define TEXT_BYTES 512

struct events_reader {
	struct weft__reader base;
	struct weft__ocaml_layout layout;
	enum weft__ocaml_version version;
	struct domain *domains;
	struct weft_trace_thread *threads;
	struct weft_loss_period *losses; /* of the rings that have lost their first items */
	char (*thread_names)[24];
	uint32_t count;
	struct weft__eio eio;
	char text[TEXT_BYTES]; /* of the event that was given last */
};

/* ---- Items ---- */

static void report(struct events_reader *r, uint64_t offset, const char *message)
{
	weft_diagnostics_add(r->base.input.diagnostics, offset, message);
}

/* Takes the domain's next item. A time that goes back, or that no clock can show, is the one
 * before. */
static void take(struct events_reader *r, struct domain *d)
{
	const struct weft__input *input = &r->base.input;
	enum weft__ocaml_found found =
		weft__format_ocaml_next(input->bytes, input->size, &r->layout, &d->ring, &d->item);
	d->has_item = found == WEFT__OCAML_ITEM;
	if (found == WEFT__OCAML_DAMAGED)
		report(r, d->item.offset, "an item is damaged; the rest of its ring is lost");
	if (!d->has_item)
		return;
	if (d->item.time_ns < d->last_ns || d->item.time_ns > WEFT__FIRST_NS_MAX) {
		report(r, d->item.offset, "time goes backwards within a ring; the previous time is used");
		d->item.time_ns = d->last_ns;
	}
	d->last_ns = d->item.time_ns;
}

/* The domain whose item is the earliest; NULL: there are no more items. */
static struct domain *earliest(struct events_reader *r)
{
	struct domain *first = NULL;
	for (uint32_t i = 0; i < r->count; i++) {
		struct domain *d = &r->domains[i];
		if (d->has_item && (!first || d->item.time_ns < first->item.time_ns))
			first = d;
	}
	return first;
}

/* ---- Events ---- */

static struct weft_slice numbered(struct events_reader *r, const char *what, uint64_t number)
{
	char digits[20];
	size_t count = 0, size = strlen(what);
	do
		digits[count++] = (char)('0' + number % 10);
	while (number /= 10);
	memcpy(r->text, what, size);
	while (count > 0)
		r->text[size++] = digits[--count];
	return (struct weft_slice){r->text, size};
}

static struct weft_slice slice_of(const char *text)
{
	return (struct weft_slice){text, strlen(text)};
}

/* One band for the phases inside each other, with the name of the outermost. */
static int read_phase(struct events_reader *r, struct domain *d, struct weft_event *event)
{
	bool begins = d->item.type == WEFT__OCAML_BEGIN;
	if (begins && d->depth++ == 0)
		d->outer = d->item.id;
	else if (begins || d->depth == 0 || --d->depth > 0)
		return WEFT_AGAIN; /* inside another one, or begun before the ring's first item */
	const char *name = weft__format_ocaml_phase(r->version, d->outer);
	bool is_idle = weft__format_ocaml_is_idle(r->version, d->outer);
	event->type = WEFT_EVENT_BAND;
	event->band = is_idle ? WEFT_BAND_IDLE : WEFT_BAND_GC;
	event->flag = begins;
	event->text = name ? slice_of(name) : numbered(r, "phase ", d->outer);
	return WEFT_OK;
}

static bool read_number(const struct weft__ocaml_item *item, int64_t *ret_number)
{
	if (item->bytes.size < 8)
		return false;
	*ret_number = (int64_t)weft__load_u64((const uint8_t *)item->bytes.bytes);
	return true;
}

static int read_counter(
	struct events_reader *r, struct domain *d, struct weft_slice name, struct weft_event *event)
{
	if (!read_number(&d->item, &event->value)) {
		report(r, d->item.offset, "a counter lacks its value");
		return WEFT_AGAIN;
	}
	event->type = WEFT_EVENT_COUNTER;
	event->is_set = true;
	event->task = d->fiber;
	event->text = name;
	return WEFT_OK;
}

static int read_runtime_counter(struct events_reader *r, struct domain *d, struct weft_event *event)
{
	const char *name = weft__format_ocaml_counter(d->item.id);
	return read_counter(
		r, d, name ? slice_of(name) : numbered(r, "runtime counter ", d->item.id), event);
}

static bool is_text(struct weft_slice bytes)
{
	for (size_t i = 0; i < bytes.size; i++)
		if ((uint8_t)bytes.bytes[i] < ' ' || (uint8_t)bytes.bytes[i] > '~')
			return false;
	return bytes.size > 0;
}

/* "name: text", if the bytes are one; only the program knows what others mean. */
static struct weft_slice named(
	struct events_reader *r, struct weft_slice name, struct weft_slice bytes)
{
	size_t room = sizeof(r->text) - name.size - 2;
	if (!is_text(bytes))
		return name;
	memcpy(r->text, name.bytes, name.size);
	memcpy(r->text + name.size, ": ", 2);
	size_t size = bytes.size < room ? bytes.size : room;
	memcpy(r->text + name.size + 2, bytes.bytes, size);
	return (struct weft_slice){r->text, name.size + 2 + size};
}

static int read_others(
	struct events_reader *r, struct domain *d, struct weft_slice name, struct weft_event *event)
{
	event->task = d->fiber;
	event->text = name;
	switch ((enum weft__ocaml_type)d->item.type) {
	case WEFT__OCAML_INT:
		return read_counter(r, d, name, event);
	case WEFT__OCAML_SPAN_BEGIN:
		event->type = WEFT_EVENT_BEGIN;
		return WEFT_OK;
	case WEFT__OCAML_SPAN_END:
		event->type = WEFT_EVENT_END;
		event->text.size = 0;
		return WEFT_OK;
	case WEFT__OCAML_UNIT:
	case WEFT__OCAML_CUSTOM:
		event->type = WEFT_EVENT_NOTE;
		event->text = named(r, name, d->item.bytes);
		return WEFT_OK;
	case WEFT__OCAML_LIFECYCLE:
	case WEFT__OCAML_BEGIN:
	case WEFT__OCAML_END:
	case WEFT__OCAML_COUNTER:
		break;
	}
	return WEFT_AGAIN;
}

static int read_users(struct events_reader *r, struct domain *d, struct weft_event *event)
{
	const struct weft__input *input = &r->base.input;
	struct weft_slice name =
		weft__format_ocaml_name(input->bytes, input->size, &r->layout, d->item.id);
	unsigned number = weft__format_eio_find(name);
	if (!number)
		return read_others(r, d, name.size ? name : numbered(r, "event ", d->item.id), event);
	const char *wrong;
	int status = weft__format_eio_read(&r->eio, number, &d->item, &d->fiber, event, &wrong);
	if (wrong)
		report(r, d->item.offset, wrong);
	return status;
}

static int read_item(struct events_reader *r, struct domain *d, struct weft_event *event)
{
	switch (d->item.type) {
	case WEFT__OCAML_BEGIN:
	case WEFT__OCAML_END:
		return read_phase(r, d, event);
	case WEFT__OCAML_COUNTER:
		return read_runtime_counter(r, d, event);
	default:
		return d->item.type >= WEFT__OCAML_UNIT ? read_users(r, d, event) : WEFT_AGAIN;
	}
}

/* The ring has lost its first items: how many words is known, but not how many events. */
static bool note_loss(struct events_reader *r, struct domain *d, struct weft_event *event)
{
	if (d->has_noted)
		return false;
	d->has_noted = true;
	if (d->ring.first == 0)
		return false;
	event->type = WEFT_EVENT_NOTE;
	event->text = numbered(r, "words of this domain that were overwritten before: ", d->ring.first);
	return true;
}

static int events_next(struct weft__reader *base, struct weft_event *ret_event)
{
	struct events_reader *r = (struct events_reader *)base;
	for (struct domain *d; (d = earliest(r)) != NULL;) {
		struct weft_event event = {.time_ns = d->item.time_ns,
			.offset = d->item.offset,
			.task = WEFT_TASK_NONE,
			.other = WEFT_TASK_NONE,
			.thread = (uint32_t)(d - r->domains)};
		int status = WEFT_OK;
		if (!note_loss(r, d, &event)) {
			status = read_item(r, d, &event);
			take(r, d);
		}
		if (status == WEFT_OK)
			*ret_event = event;
		if (status != WEFT_AGAIN)
			return status;
	}
	return WEFT_END;
}

/* ---- Opening ---- */

/* A phase that began before a ring's first item ends without a beginning. */
static enum weft__ocaml_version find_version(const struct events_reader *r)
{
	const struct weft__input *input = &r->base.input;
	for (uint32_t i = 0; i < r->count; i++) {
		struct weft__ocaml_ring ring = r->domains[i].ring;
		struct weft__ocaml_item item;
		if (ring.first != 0)
			continue;
		while (weft__format_ocaml_next(input->bytes, input->size, &r->layout, &ring, &item) ==
				   WEFT__OCAML_ITEM &&
			   item.type != WEFT__OCAML_BEGIN)
			if (item.type == WEFT__OCAML_END)
				return weft__format_ocaml_version(item.id);
	}
	return WEFT__OCAML_UNKNOWN;
}

static uint32_t count_rings(const struct events_reader *r)
{
	struct weft__ocaml_ring ring;
	uint32_t count = 0;
	for (uint32_t i = 0; i < r->layout.domains; i++)
		count +=
			weft__format_ocaml_ring(r->base.input.bytes, r->base.input.size, &r->layout, i, &ring);
	return count;
}

static void add_rings(struct events_reader *r, uint32_t room)
{
	struct weft__ocaml_ring ring;
	for (uint32_t i = 0; i < r->layout.domains && r->count < room; i++) {
		if (!weft__format_ocaml_ring(r->base.input.bytes, r->base.input.size, &r->layout, i, &ring))
			continue;
		struct weft_slice name = numbered(r, "domain ", i);
		memcpy(r->thread_names[r->count], name.bytes, name.size);
		r->threads[r->count] =
			(struct weft_trace_thread){.name = r->thread_names[r->count], .number = i + 1};
		r->domains[r->count++] = (struct domain){.ring = ring, .fiber = WEFT_TASK_NONE};
	}
}

static int find_rings(struct events_reader *r)
{
	uint32_t room = count_rings(r);
	r->domains = calloc(room + (size_t)1, sizeof(*r->domains));
	r->threads = calloc(room + (size_t)1, sizeof(*r->threads));
	r->thread_names = calloc(room + (size_t)1, sizeof(*r->thread_names));
	r->losses = calloc(room + (size_t)1, sizeof(*r->losses));
	if (!r->domains || !r->threads || !r->thread_names || !r->losses)
		return WEFT_ERROR_MEMORY;
	add_rings(r, room);
	r->version = find_version(r);
	for (uint32_t i = 0; i < r->count; i++)
		take(r, &r->domains[i]);
	return weft__format_eio_init(&r->eio);
}

static void events_close(struct weft__reader *base)
{
	struct events_reader *r = (struct events_reader *)base;
	weft__format_eio_finish(&r->eio);
	free(r->domains);
	free(r->threads);
	free(r->thread_names);
	free(r->losses);
	free(r);
}

static void describe(const struct events_reader *r, struct weft_trace_description *description)
{
	description->threads = r->threads;
	description->thread_count = r->count;
	description->clock =
		(struct weft_clock){.name = "monotonic", .epoch = WEFT_EPOCH_MONOTONIC, .hz = 1000000000};
	description->loss_periods = r->losses;
	for (uint32_t i = 0; i < r->count; i++) {
		const struct domain *d = &r->domains[i];
		if (d->ring.first == 0)
			continue;
		description->losses[WEFT_LOSS_MISSING_PACKETS]++;
		r->losses[description->loss_period_count++] =
			(struct weft_loss_period){d->last_ns, d->last_ns, 1, i, WEFT_LOSS_MISSING_PACKETS};
	}
}

static bool events_probe(const uint8_t *bytes, size_t size)
{
	struct weft__ocaml_layout layout;
	return weft__format_ocaml_layout(bytes, size, &layout);
}

static int events_open(const struct weft__input *input, struct weft__reader **ret_reader)
{
	struct events_reader *r = calloc(1, sizeof(*r));
	if (!r)
		return WEFT_ERROR_MEMORY;
	r->base.input = *input;
	int error = weft__format_ocaml_layout(input->bytes, input->size, &r->layout)
					? find_rings(r)
					: WEFT_ERROR_FORMAT;
	if (error) {
		events_close(&r->base);
		return error;
	}
	describe(r, input->description);
	*ret_reader = &r->base;
	return 0;
}

const struct weft__format weft__format_ocaml_events = {
	.name = "ocaml-events",
	.probe = events_probe,
	.open = events_open,
	.next = events_next,
	.close = events_close,
};

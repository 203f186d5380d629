/* SPDX-License-Identifier: ISC
 *
 * One sequence of random events, written in several formats.
 */
#include "random_trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/decoder.h>
#include <weft/error.h>
#include <weft/weft.h>

#define PACKET_BYTES ((size_t)16 << 10)
#define HEADER_BYTES 30

/* mirage-profile's numbers */
enum operation {
	CREATE,
	READ,
	FULFIL,
	FAIL,
	BECOME,
	LABEL,
	ADD,
	SWITCH,
	GC,
	SIGNAL,
	TRY_READ,
	SET,
	READ_LATER,
	SIGNAL_ONLY,
};

/* Percentages. */
static const uint8_t shares[] = {
	[CREATE] = 18,
	[READ] = 26,
	[FULFIL] = 14,
	[FAIL] = 1,
	[BECOME] = 4,
	[LABEL] = 9,
	[ADD] = 6,
	[SWITCH] = 12,
	[GC] = 1,
	[SIGNAL] = 2,
	[TRY_READ] = 3,
	[SET] = 2,
	[READ_LATER] = 1,
	[SIGNAL_ONLY] = 1,
};

#define LIVE 64

/* The state of the simulated program: its clock, and its current tasks. */
struct program {
	uint64_t random;
	uint64_t time;
	uint64_t tasks;
	uint64_t live[LIVE];
};

struct event {
	enum operation operation;
	uint64_t time, task, other;
	int64_t value;
	unsigned kind;
	size_t slot; /* of a new task in `live` */
	char text[48];
};

static uint64_t draw(struct program *program, uint64_t below)
{
	/* xorshift64* */
	program->random ^= program->random >> 12;
	program->random ^= program->random << 25;
	program->random ^= program->random >> 27;
	return (program->random * UINT64_C(2685821657736338717) >> 33) % below;
}

static enum operation draw_operation(struct program *program)
{
	uint64_t share = draw(program, 100);
	unsigned operation = CREATE;
	while (share >= shares[operation])
		share -= shares[operation++];
	return (enum operation)operation;
}

static void draw_text(struct program *program, char *text, size_t size)
{
	static const char *const words[] = {
		"net", "read", "tcp-ackd-segs", "ring.ack", "block", "request", "x", "to_ip"};
	snprintf(text, size, "%s-%" PRIu64, words[draw(program, 8)], draw(program, 1000));
}

static struct event next_event(struct program *program)
{
	struct event event = {.operation = draw_operation(program)};
	event.time = program->time += draw(program, 2000);
	event.task = program->live[draw(program, LIVE)];
	event.other = program->live[draw(program, LIVE)];
	event.value = (int64_t)draw(program, 100000);
	event.kind = (unsigned)draw(program, 18);
	draw_text(program, event.text, sizeof(event.text));
	if (event.operation == CREATE) {
		event.slot = draw(program, LIVE);
		event.other = program->live[event.slot] = ++program->tasks;
	}
	if ((event.operation == READ || event.operation == SWITCH) && draw(program, 8) == 0)
		event.other = UINT64_MAX;
	if (event.operation == SWITCH)
		event.task = event.other;
	return event;
}

static struct program start(void)
{
	return (struct program){.random = 0x9E3779B97F4A7C15, .time = UINT64_C(1413637708000000000)};
}

static void *room_for(struct bytes *bytes, size_t more)
{
	if (bytes->size + more > bytes->capacity) {
		bytes->capacity = (bytes->size + more) * 3 / 2;
		bytes->data = realloc(bytes->data, bytes->capacity);
		if (!bytes->data) {
			perror("random_trace");
			exit(1);
		}
	}
	return bytes->data + bytes->size;
}

static void put(struct bytes *bytes, const void *data, size_t size)
{
	memcpy(room_for(bytes, size), data, size);
	bytes->size += size;
}

static void put_integer(struct bytes *bytes, uint64_t value, size_t size)
{
	uint8_t little_endian[8];
	for (size_t i = 0; i < size; i++)
		little_endian[i] = (uint8_t)(value >> 8 * i);
	put(bytes, little_endian, size);
}

static void put_mirage(struct bytes *bytes, const struct event *event)
{
	put_integer(bytes, event->time, 8);
	put_integer(bytes, event->operation, 1);
	put_integer(bytes, event->operation == GC ? (uint64_t)event->value : event->task, 8);
	switch (event->operation) {
	case CREATE:
		put_integer(bytes, event->other, 8);
		put_integer(bytes, event->kind, 1);
		break;
	case ADD:
	case SET:
		put_integer(bytes, (uint64_t)event->value, 8);
		put(bytes, event->text, strlen(event->text) + 1);
		break;
	case FAIL:
		put_integer(bytes, event->other, 8);
		/* fallthrough */
	case LABEL:
		put(bytes, event->text, strlen(event->text) + 1);
		break;
	case SWITCH:
	case GC:
		break;
	case READ:
	case FULFIL:
	case BECOME:
	case SIGNAL:
	case TRY_READ:
	case READ_LATER:
	case SIGNAL_ONLY:
		put_integer(bytes, event->other, 8);
	}
}

static void put_packet(struct bytes *trace, const struct bytes *body, unsigned number)
{
	static const uint8_t uuid[16] = {0x05, 0x88, 0x3b, 0x8d, 0x52, 0x1a, 0x48, 0x7b, 0xb3, 0x97,
		0x45, 0x6a, 0xb1, 0x50, 0x68, 0x0c};
	static const uint8_t padding[PACKET_BYTES];
	put_integer(trace, 0xC1FC1FC1, 4);
	put(trace, uuid, sizeof(uuid));
	put_integer(trace, PACKET_BYTES * 8, 4);
	put_integer(trace, number & 0xFFFF, 2);
	put_integer(trace, (HEADER_BYTES + body->size) * 8, 4);
	put(trace, body->data, body->size);
	put(trace, padding, PACKET_BYTES - HEADER_BYTES - body->size);
}

struct bytes random_mirage(uint64_t events)
{
	struct program program = start();
	struct bytes trace = {0}, body = {0}, one = {0};
	unsigned packets = 0;
	for (uint64_t i = 0; i < events; i++) {
		struct event event = next_event(&program);
		one.size = 0;
		put_mirage(&one, &event);
		if (HEADER_BYTES + body.size + one.size > PACKET_BYTES) {
			put_packet(&trace, &body, packets++);
			body.size = 0;
		}
		put(&body, one.data, one.size);
	}
	put_packet(&trace, &body, packets);
	free(body.data);
	free(one.data);
	return trace;
}

static void print(struct bytes *bytes, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void print(struct bytes *bytes, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	bytes->size += (size_t)vsnprintf(room_for(bytes, 256), 256, format, arguments);
	va_end(arguments);
}

/* The sexp format has fewer event types: others are written as the nearest one. */
static void put_sexp(struct bytes *bytes, const struct event *event)
{
	static const char *const kinds[] = {"Wait", "Task", "Bind", "Try", "Choose", "Pick", "Join",
		"Map", "Condition", "On_success", "On_failure", "On_termination", "On_any", "Ignore_result",
		"Async", "Promise", "Semaphore", "Switch"};
	int64_t task = (int64_t)event->task, other = (int64_t)event->other;
	print(bytes, "((time %" PRIu64 ".%09" PRIu64 ")(op(", event->time / 1000000000,
		event->time % 1000000000);
	switch (event->operation) {
	case CREATE:
		print(bytes, "Creates %" PRId64 " %" PRId64 " %s)))\n", task, other, kinds[event->kind]);
		break;
	case FULFIL:
		print(bytes, "Resolves %" PRId64 " %" PRId64 " ())))\n", task, other);
		break;
	case FAIL:
		print(bytes, "Resolves %" PRId64 " %" PRId64 "(\"Failure(\\\"%s\\\")\"))))\n", task, other,
			event->text);
		break;
	case BECOME:
		print(bytes, "Becomes %" PRId64 " %" PRId64 ")))\n", task, other);
		break;
	case LABEL:
		print(bytes, "Label %" PRId64 " %s)))\n", task, event->text);
		break;
	case ADD:
	case SET:
		print(bytes, "Increases %" PRId64 " %s %" PRId64 ")))\n", task, event->text, event->value);
		break;
	case SWITCH:
		print(bytes, "Switch %" PRId64 ")))\n", task);
		break;
	case GC:
		print(bytes, "Gc 0.%06" PRId64 ")))\n", event->value);
		break;
	case READ:
	case SIGNAL:
	case TRY_READ:
	case READ_LATER:
	case SIGNAL_ONLY:
		print(bytes, "Reads %" PRId64 " %" PRId64 ")))\n", task, other);
	}
}

struct bytes random_sexp(uint64_t events)
{
	struct program program = start();
	struct bytes trace = {0};
	for (uint64_t i = 0; i < events; i++) {
		struct event event = next_event(&program);
		put_sexp(&trace, &event);
	}
	return trace;
}

/* The recorder chooses the ids, which go on from one recording of the process to the next. */
static void record(struct program *program, const struct event *event)
{
	switch (event->operation) {
	case CREATE:
		program->live[event->slot] = weft_create_as(event->task, (uint16_t)event->kind);
		break;
	case READ:
		weft_read_as(event->task, event->other);
		break;
	case FULFIL:
		weft_resolve_as(event->task, event->other);
		break;
	case FAIL:
		weft_fail_as(event->task, event->other, event->text);
		break;
	case BECOME:
		weft_become_as(event->task, event->other);
		break;
	case LABEL:
		weft_label_as(event->task, event->text);
		break;
	case ADD:
		weft_counter_add_as(event->task, event->text, event->value);
		break;
	case SET:
		weft_counter_set_as(event->task, event->text, event->value);
		break;
	case SWITCH:
		weft_switch(event->task);
		break;
	case GC:
		weft_gc((uint64_t)event->value);
		break;
	case SIGNAL:
		weft_signal_as(event->other, event->task);
		break;
	case SIGNAL_ONLY:
		weft_signal_only_as(event->other, event->task);
		break;
	case TRY_READ:
		weft_try_read_as(event->task, event->other);
		break;
	case READ_LATER:
		weft_read_later_as(event->task, event->other);
		break;
	}
}

static void record_events(struct program *program, uint64_t events)
{
	for (uint64_t i = 0; i < events; i++) {
		struct event event = next_event(program);
		record(program, &event);
	}
}

void random_record(uint64_t events)
{
	static struct program program;
	if (!program.random)
		program = start();
	record_events(&program, events);
}

struct bytes random_weft(uint64_t events)
{
	struct program program = start();
	/* Large enough for all events, so that none is overwritten. */
	struct bytes trace = {NULL, ((size_t)events * 36 + ((size_t)1 << 20)) & ~(size_t)63, 0};
	trace.capacity = trace.size;
	trace.data = aligned_alloc(64, trace.size);
	if (!trace.data || weft_start(trace.data, trace.size, NULL)) {
		fputs("random_trace: cannot record\n", stderr);
		exit(1);
	}
	record_events(&program, events);
	weft_stop();
	return trace;
}

static int build(struct weft_decoder *decoder, struct bytes trace, struct weft_model **ret_model)
{
	int error = weft_decoder_feed_borrowed(decoder, trace.data, trace.size);
	if (!error)
		error = weft_decoder_finish(decoder);
	return error ? error : weft_decoder_build_model(decoder, NULL, ret_model);
}

struct weft_model *random_model(struct bytes trace)
{
	struct weft_decoder *decoder = NULL;
	struct weft_model *model = NULL;
	int error = weft_decoder_create(&decoder);
	if (!error)
		error = build(decoder, trace, &model);
	weft_decoder_destroy(decoder);
	free(trace.data);
	if (!error)
		return model;
	fprintf(stderr, "random_trace: %s\n", weft_error_text(error));
	exit(1);
}

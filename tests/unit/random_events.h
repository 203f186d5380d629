/* SPDX-License-Identifier: ISC
 *
 * Random events of all kinds, in no reasonable order.
 */
#ifndef WEFT_TESTS_RANDOM_EVENTS_H
#define WEFT_TESTS_RANDOM_EVENTS_H

#include "cut_parts.h"

/* A part of the letters, in which some are NULs. */
static inline struct weft_slice random_text(uint64_t *seed)
{
	static const char letters[] = "a na\0me\0\0 of some leng\0th\0 and more\0";
	uint32_t from = next_random(seed) % sizeof(letters);
	return (struct weft_slice){letters + from, next_random(seed) % (sizeof(letters) - from)};
}

/* An event of some type, with what events of this type have. */
static inline struct weft_event random_event(uint64_t *seed, struct weft_field *fields)
{
	static const uint8_t types[] = {WEFT_EVENT_CREATE, WEFT_EVENT_READ, WEFT_EVENT_TRY_READ,
		WEFT_EVENT_RESOLVE, WEFT_EVENT_FAIL, WEFT_EVENT_LABEL, WEFT_EVENT_NOTE, WEFT_EVENT_TAG,
		WEFT_EVENT_MARK, WEFT_EVENT_BAND, WEFT_EVENT_COUNTER, WEFT_EVENT_SWITCH, WEFT_EVENT_SIGNAL,
		WEFT_EVENT_GC, WEFT_EVENT_EXPECT, WEFT_EVENT_CANCEL, WEFT_EVENT_CLOSE, WEFT_EVENT_TIME_OUT,
		WEFT_EVENT_BEGIN, WEFT_EVENT_END, WEFT_EVENT_WAIT_ANY, WEFT_EVENT_ACQUIRE,
		WEFT_EVENT_RELEASE, WEFT_EVENT_OFF_CPU, WEFT_EVENT_SEND, WEFT_EVENT_RECEIVE,
		WEFT_EVENT_BECOME, WEFT_EVENT_SPAN, WEFT_EVENT_TOTAL};
	struct weft_event e = {.type = types[next_random(seed) % sizeof(types)],
		.task = next_random(seed) % 4 ? next_random(seed) % 9 : WEFT_TASK_NONE,
		.other = next_random(seed) % 9,
		.kind = (uint16_t)(next_random(seed) % 2 ? WEFT_KIND_BIND : 200),
		.flag = next_random(seed) % 2,
		.value = (int64_t)next_random(seed) - (1 << 30),
		.text = random_text(seed),
		.thread = next_random(seed) % 3};
	if (e.type == WEFT_EVENT_CREATE && next_random(seed) % 3 == 0) {
		e.kind = 300;
		e.kind_name = text_of(next_random(seed) % 2 ? "job" : "request");
	}
	if (e.type == WEFT_EVENT_TAG)
		e.has_value = next_random(seed) % 2;
	if (e.type == WEFT_EVENT_GC || e.type == WEFT_EVENT_OFF_CPU)
		e.value = (int64_t)(next_random(seed) % 1000);
	if (e.type == WEFT_EVENT_SWITCH)
		e.text = (struct weft_slice){NULL, 0};
	if (e.type == WEFT_EVENT_COUNTER || e.type == WEFT_EVENT_TOTAL) {
		e.text = text_of("queue");
		e.is_set = next_random(seed) % 2 || e.type == WEFT_EVENT_TOTAL;
		e.is_real = next_random(seed) % 2;
		if (e.is_real)
			e.real = (double)next_random(seed) / 8;
	}
	if (e.type == WEFT_EVENT_BAND)
		e.band = (uint8_t)(next_random(seed) % 2 ? WEFT_BAND_IDLE : WEFT_BAND_GC);
	if (e.type == WEFT_EVENT_SPAN) {
		static const char *const tracks[] = {"a", "b", "c", "d"};
		uint32_t track = next_random(seed) % 4;
		e.other = WEFT_TRACK_FIRST + WEFT_TRACK_LINES * track;
		e.kind_name = text_of(tracks[track]);
		e.kind = WEFT_CLOCK_MONOTONIC;
		e.task = WEFT_TASK_NONE;
		e.begin_ns = next_random(seed) % 500;
		e.end_ns = e.begin_ns + next_random(seed) % 500;
	}
	if (e.type == WEFT_EVENT_MARK) {
		static const char *const names[] = {"i", "u", "f", "t"};
		e.text = text_of("mark");
		e.fields = fields;
		e.field_count = next_random(seed) % 13;
		for (uint32_t i = 0; i < e.field_count; i++) {
			fields[i] = (struct weft_field){text_of(names[i % 4]),
				(enum weft_field_type)(WEFT_FIELD_I64 + i % 4), {.u64 = next_random(seed)}};
			if (fields[i].type == WEFT_FIELD_F64)
				fields[i].value.f64 = 0.5 * i;
			if (fields[i].type == WEFT_FIELD_TEXT)
				fields[i].value.text = random_text(seed);
		}
	}
	return e;
}

#endif

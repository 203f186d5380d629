/* SPDX-License-Identifier: ISC
 *
 * What events up to a moment have made of tasks, threads and counters: as the model's rules say,
 * but only what still matters then.
 */
#ifndef WEFT_EXPORT_CUT_ALIVE_H
#define WEFT_EXPORT_CUT_ALIVE_H

#include <stdbool.h>

#include <weft/event.h>

#include "base/index.h"
#include "base/strings.h"

#define WEFT__ALIVE_NONE UINT32_MAX

enum weft__alive_flags {
	WEFT__ALIVE_ENDED = 1 << 0,
	WEFT__ALIVE_BORN = 1 << 1, /* its kind is known */
	WEFT__ALIVE_DATED = 1 << 2,
	WEFT__ALIVE_EXPECTED = 1 << 3,
	WEFT__ALIVE_NAMED = 1 << 4, /* by an event of the range */
	WEFT__ALIVE_CREATED = 1 << 5,
};

struct weft__alive_task {
	uint64_t id;
	uint64_t born_ns;
	uint32_t becomes; /* task */
	uint32_t waits;   /* for that task */
	uint32_t label;   /* string */
	uint32_t message; /* string: why it failed */
	uint16_t kind;
	uint8_t flags;
};

/* Of a thread's `runs`, besides tasks. */
#define WEFT__ALIVE_IDLE    (UINT32_MAX - 1)
#define WEFT__ALIVE_UNKNOWN UINT32_MAX

struct weft__alive_thread {
	uint32_t runs;                           /* within an idle band, before it */
	uint32_t reason, idle_reason, gc_reason; /* strings */
	bool is_idle, is_gc;                     /* in a band */
};

struct weft__alive_counter {
	uint32_t name; /* string */
	int64_t value;
};

struct weft__alive {
	struct weft__alive_task *tasks;
	uint32_t task_count;
	size_t task_capacity;
	struct weft__index by_id;
	struct weft__strings strings;
	struct weft__alive_thread *threads;
	uint32_t thread_count;
	size_t thread_capacity;
	struct weft__alive_counter *counters;
	uint32_t counter_count;
	size_t counter_capacity;
	uint32_t *counter_of; /* string */
	size_t counter_of_count;
};

int weft__alive_init(struct weft__alive *alive);
void weft__alive_finish(struct weft__alive *alive);

/* The next event before the moment. */
int weft__alive_add(struct weft__alive *alive, const struct weft_event *event);

/* An event after it. */
void weft__alive_name(struct weft__alive *alive, const struct weft_event *event);

/* The end of the chain of becomes. */
uint32_t weft__alive_forward(struct weft__alive *alive, uint32_t task);

#endif

/* SPDX-License-Identifier: ISC
 *
 * One decoded event, the same for all formats.
 *
 * A struct weft_event is filled by a decoder and borrows its text from the decoder's input: it is
 * valid until the next call on that decoder. Nothing here allocates, locks or does I/O.
 */
#ifndef WEFT_EVENT_H
#define WEFT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/clocks.h>
#include <weft/kinds.h>

#ifdef __cplusplus
extern "C" {
#endif

enum weft_event_type {
#define EVENT(number, id, name, fields) WEFT_EVENT_##id = number,
#include <weft/events.def>
#undef EVENT
	WEFT_EVENT_TYPES /* one past the last */
};

/* A track is a task whose id is not below this. Its first lines have the ids WEFT_TRACK_FIRST +
 * WEFT_TRACK_LINES * n, its other lines those in between: see docs/model.md, *Tracks*. */
#define WEFT_TRACK_FIRST (UINT64_C(1) << 52)
#define WEFT_TRACK_LINES 64
/* The track of a thread's own spans: this plus the thread's index. */
#define WEFT_TRACK_THREADS (WEFT_TRACK_FIRST + (UINT64_C(1) << 32))

/* Borrowed bytes; not NUL-terminated, not necessarily UTF-8. */
struct weft_slice {
	const char *bytes;
	size_t size;
};

enum weft_field_type {
	WEFT_FIELD_I64,
	WEFT_FIELD_U64,
	WEFT_FIELD_F64,
	WEFT_FIELD_TEXT,
	WEFT_FIELD_BOOL, /* `u64` is 0 or 1 */
};

/* A named, typed field of a mark. */
struct weft_field {
	struct weft_slice name;
	enum weft_field_type type;
	union {
		int64_t i64;
		uint64_t u64;
		double f64;
		struct weft_slice text;
	} value;
};

/* The id of a task, which is unique within one buffer, and the key that both sides of a message
 * have. Behind the decoders they are only compared, hashed and printed, so that they can grow. */
typedef uint64_t weft_task_id;
typedef uint64_t weft_message_key;

struct weft_event {
	uint64_t time_ns;   /* on the trace's own clock */
	uint64_t ticks;     /* of which the time was computed, in weft's format; 0: unknown */
	uint64_t offset;    /* bytes from the input's start, for diagnostics */
	weft_task_id task;  /* the actor; the receiver of a signal; after a switch the running task */
	weft_task_id other; /* child, source or target; the track of a span */
	union {
		int64_t value; /* a tag's value; a counter's change or new value; ns of a GC; a task's age
						  in ns */
		weft_message_key key; /* of a send or receive */
		double real;          /* if is_real: a counter's change or new value */
		uint64_t end_ns;      /* of a span on a track, on the trace's own clock */
	};
	struct weft_slice text;
	union {
		const struct weft_field *fields; /* of a mark: `field_count` of them */
		uint64_t begin_ns;               /* of a span on a track */
	};
	uint32_t field_count;
	uint32_t thread;  /* index into the decoder's threads */
	uint32_t buffer;  /* the buffer's number in the trace: task ids are unique within one */
	uint16_t kind;    /* of a created task: enum weft_kind, or another number; of a span on a track:
						 enum weft_clock_number, or another number */
	uint16_t name_id; /* in its buffer, events with one number have one text; 0: nothing is known */
	uint8_t type;     /* enum weft_event_type */
	uint8_t band;     /* enum weft_band */
	bool flag;       /* read: later; signal: switches; band: begins; begin: the end is not recorded,
						but that it has ended by then; total: the counter was 0 when the record began */
	bool has_value;  /* tag: `value` is valid; alive: the age is known */
	bool is_set;     /* counter: value is the new value, not a change */
	bool is_rundown; /* describes a state, not something that happened at this time */
	bool is_real;    /* counter: the change or new value is `real` */
	/* The name of a created task's kind, if the program gave it one, or of a span's track; else of
	 * size 0. */
	struct weft_slice kind_name;
	union {
		/* The name of a created task's category; of size 0 for "program", and if it is unknown: see
		 * weft_trace_buffer.has_categories. */
		struct weft_slice category;
		/* A span on a track, in weft's format: the ticks of begin_ns and end_ns. If those are times
		 * of another clock, [0] has the ticks at which both clocks were read. */
		uint64_t span_ticks[2];
	};
};

/* The member of struct weft_event that a FIELD of events.def means. */
enum weft_slot {
	WEFT_SLOT_TASK,
	WEFT_SLOT_OTHER,
	WEFT_SLOT_KIND,
	WEFT_SLOT_BAND,
	WEFT_SLOT_FLAG,
	WEFT_SLOT_TEXT,
	WEFT_SLOT_VALUE,    /* only if has_value */
	WEFT_SLOT_CHANGE,   /* the key is "value" if is_set, else "add" */
	WEFT_SLOT_FIELDS,   /* an object */
	WEFT_SLOT_REASON,   /* text, left out if empty */
	WEFT_SLOT_DURATION, /* value, in ns */
	WEFT_SLOT_TRACK,    /* the name of a track */
	WEFT_SLOT_CLOCK,
	WEFT_SLOT_BEGIN,
	WEFT_SLOT_END,
	WEFT_SLOT_MESSAGE,  /* key, an unsigned number */
	WEFT_SLOT_CATEGORY, /* left out if empty */
};

#define WEFT_EVENT_FIELDS_MAX 6

struct weft_event_description {
	const char *name; /* NULL if there is no event of that number */
	struct {
		enum weft_slot slot;
		const char *key; /* NULL ends the list */
	} fields[WEFT_EVENT_FIELDS_MAX + 1];
};

/* The row of events.def for a type; for an unknown type, one whose name is NULL. */
const struct weft_event_description *weft_event_describe(unsigned type);

/* "bind", or NULL for a kind without a name. */
const char *weft_kind_name(unsigned kind);

/* "monotonic" and so on; "foreign" for a clock of the program's own. */
const char *weft_clock_name(unsigned clock);

/* "idle" or "gc". */
const char *weft_band_name(unsigned band);

#ifdef __cplusplus
}
#endif
#endif

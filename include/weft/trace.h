/* SPDX-License-Identifier: ISC
 *
 * What a trace says of itself: its clock, its threads, what was lost.
 *
 * Filled by decoders, kept by the model. Whoever hands out a description owns its strings and
 * arrays. Nothing here allocates, locks or does I/O.
 */
#ifndef WEFT_TRACE_H
#define WEFT_TRACE_H

#include <stdint.h>

#include <weft/levels.h>

#ifdef __cplusplus
extern "C" {
#endif

enum weft_clock_epoch {
	WEFT_EPOCH_UNKNOWN,
	WEFT_EPOCH_UNIX,      /* ns since 1970 */
	WEFT_EPOCH_MONOTONIC, /* ns since the host's boot */
};

struct weft_clock {
	const char *name;            /* "unix", "monotonic", "tsc", "xen", … */
	enum weft_clock_epoch epoch; /* of the times in events */
	uint64_t hz;                 /* of the ticks in the file */
	int64_t offset_ns;           /* add to an event's time for ns since 1970; 0 if unknown */
};

struct weft_trace_thread {
	const char *name;    /* "" if the trace doesn't say */
	const char *process; /* likewise */
	uint64_t pid;        /* 0 if the trace doesn't say */
	uint64_t tid;
	uint32_t buffer; /* which buffer of the trace: task ids are unique within one */
};

/* Events that are missing, by cause. */
enum weft_loss {
#define LOSS(number, id, name) WEFT_LOSS_##id = number,
#include <weft/losses.def>
#undef LOSS
	WEFT_LOSS_CAUSES
};

/* Events that are missing from a thread, with the time in which they would have been. */
struct weft_loss_period {
	uint64_t start, end; /* ns; equal: all that is missing was before the first event */
	uint64_t count;
	uint32_t thread;
	uint8_t cause; /* enum weft_loss; WEFT_LOSS_CAUSES: one of several */
};

/* "overwritten" … */
const char *weft_loss_name(enum weft_loss cause);

/* "off" … "trace"; NULL for a number that is no level. */
const char *weft_level_name(unsigned level);
/* The level of that name, or -1. */
int weft_level_parse(const char *name);

/* A group of a program's events, of which more or less can be recorded. */
struct weft_trace_category {
	char name[64]; /* cut if it is longer */
	char description[192];
	uint8_t number; /* in the buffer */
	uint8_t level;  /* enum weft_level, unless the trace is damaged */
};

/* In place of a category's number. */
#define WEFT_TRACE_CATEGORY_ALL 255

/* Somebody told the program to record more or less. */
struct weft_trace_change {
	uint64_t time_ns; /* on the trace's clock */
	uint8_t category; /* its number */
	uint8_t level;
};

/* A decoder's is filled as decoding proceeds, and final once `next` has answered END. */
struct weft_trace_description {
	const char *format; /* "weft", "mirage-ctf", "sexp" */
	const char *source; /* the trace that this is a part of, as it was called; NULL: it is whole */
	struct weft_clock clock;
	const struct weft_trace_thread *threads;
	uint32_t thread_count; /* at least 1 once an event came */
	uint64_t losses[WEFT_LOSS_CAUSES];
	const struct weft_loss_period *loss_periods; /* of those losses, where a format tells; by end */
	uint32_t loss_period_count;
	const struct weft_trace_category *categories;
	uint32_t category_count; /* 0: the format has none, or it is being followed: see follow.h */
	uint32_t change_count;
	const struct weft_trace_change *changes; /* the newest, oldest first */
};

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: ISC
 *
 * A trace's description of itself: its clock, its threads, its losses.
 *
 * Filled by decoders, kept by the model. The module that returns a description owns its strings and
 * arrays. Nothing here allocates, locks or does I/O.
 */
#ifndef WEFT_TRACE_H
#define WEFT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
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

/* How the rate of the ticks is known. */
enum weft_rate {
	WEFT_RATE_GIVEN,     /* by the file, or by the caller */
	WEFT_RATE_ESTIMATED, /* from times in the file */
	WEFT_RATE_ASSUMED,   /* not at all */
};

struct weft_clock {
	const char *name;            /* "unix", "monotonic", "tsc", "xen", … */
	enum weft_clock_epoch epoch; /* the epoch of event times */
	uint64_t hz;                 /* the rate of the ticks in the file */
	int64_t offset_ns;           /* add to an event's time for ns since 1970; 0 if unknown */
	enum weft_rate rate;         /* how `hz` is known */
	/* A reader of a guest of Xen compared Xen's clocks with the host's so often. 0: not a guest.
	 * Times may be off those of programs with other clocks by the error. */
	uint32_t comparisons;
	uint64_t error_ns;
};

/* Why the record of a program ends where it does. */
enum weft_ending {
#define ENDING(number, id, name, sentence) WEFT_ENDING_##id = number,
#include <weft/endings.def>
#undef ENDING
	WEFT_ENDINGS
};

/* In `wait_status`. The lower 16 bits are in Linux' form: 7 bits for a signal, or 0; 8 bits from
 * bit 8 on for the exit status. */
#define WEFT_WAIT_KNOWN 0x10000u

/* "exit" and so on; NULL for a number that is no ending. */
const char *weft_ending_name(enum weft_ending ending);

/* How a host's clock is known by the clock of the trace. */
enum weft_alignment {
	WEFT_ALIGNMENT_SAME,      /* it is that clock */
	WEFT_ALIGNMENT_BOUNDED,   /* within an error */
	WEFT_ALIGNMENT_ONE_SIDED, /* messages bound it from one side only */
	WEFT_ALIGNMENT_NONE,      /* nothing but the two hosts' own wall clocks */
};

struct weft__side_tables;

/* Why a snapshot was taken: a rule of weft-trigger(5), or an alert of a monitoring system. The
 * texts may be cut, and need not be UTF-8. */
struct weft_trace_alert {
	uint64_t time_ns; /* when it fired, on the trace's clock */
	uint64_t ticks;   /* of the event that made it fire, in weft's format; 0: unknown */
	uint64_t task;    /* the id of the task that it is about; WEFT_TASK_NONE: none is known */
	char name[129];   /* "" if it has none */
	char rule[1025];
	char value[257]; /* what it found: "101", "3.4 s"; "" if the rule says all */
};

/* The record of one program. A trace has a buffer for each of its processes, and one for each
 * further program that a process executed. Task ids and the names of counters are unique within one
 * buffer: a task is named by (buffer, id). */
struct weft_trace_buffer {
	const char *process; /* the program's name; "" if the trace doesn't say */
	const char *host;    /* the machine's name; "" if the trace doesn't say */
	const char *file;    /* its file, if the trace was opened from several; else "" */
	const char *code;    /* a line for each function of which the trace knows where it is:
							"NAME\tFILE:LINE\n"; NULL or "": none */
	const char *unseen;  /* a line for each thing that is known to be missing, see unseen.h:
							"KEY\tWHAT\n"; NULL or "": none */
	uint64_t pid;        /* 0 if the trace doesn't say */
	uint8_t boot_id[16]; /* of the machine; zero: unknown. Buffers of one boot share a clock */
	uint8_t uuid[16];    /* of the buffer: files with the same one are parts of it; zero: unknown */
	uint64_t series; /* files of one stream have the same number and uuid; 0: not known to be one */
	enum weft_ending ending;
	uint64_t end_ns;      /* when the record ended, on the trace's clock; 0: unknown */
	uint32_t wait_status; /* of the process: WEFT_WAIT_KNOWN and that of waitpid(2); 0: unknown */
	bool has_categories;  /* a task whose creation names no category is of the category "program" */
	/* 1 + the number of the domain of Xen that this is about, or in which the program runs; else 0.
	 * Buffers of one domain and pid are shown as one process. */
	uint32_t guest;
	uint8_t is_hypervisor; /* 1: of Xen's own trace, which knows domains, not their programs */
	/* Its side tables, for weft_cut_add(): of a decoder that has ended, and as long
	 * as it exists; NULL: nothing. */
	const struct weft__side_tables *tables;
	const struct weft_trace_alert *alerts; /* of a snapshot; known once its decoder has ended */
	uint32_t alert_count;
	enum weft_alignment alignment; /* of a trace of several hosts */
	uint64_t error_ns;             /* of the host's times by the clock of the trace, if bounded */
};

struct weft_trace_thread {
	const char *name; /* "" if the trace doesn't say */
	uint64_t tid;
	uint32_t buffer; /* the buffer's number in the trace */
	uint32_t number; /* the recorder's number of the thread, unique in its buffer; 0: unknown */
};

/* Why events are missing. */
enum weft_loss {
#define LOSS(number, id, name) WEFT_LOSS_##id = number,
#include <weft/losses.def>
#undef LOSS
	WEFT_LOSS_CAUSES
};

/* Events missing from a thread, with the time in which they would have been. */
struct weft_loss_period {
	uint64_t start, end; /* ns; equal: all of them were before the first event */
	uint64_t count;      /* of packets if that is the cause; 0: unknown */
	uint32_t thread;
	uint8_t cause; /* enum weft_loss; WEFT_LOSS_CAUSES: unknown */
};

/* "overwritten" and so on. */
const char *weft_loss_name(enum weft_loss cause);

/* "off" to "trace"; NULL for a number that is not a level. */
const char *weft_level_name(unsigned level);
/* The level with that name, or -1. */
int weft_level_parse(const char *name);

/* A category of a program's calls. */
struct weft_trace_category {
	char name[64]; /* a longer name is cut */
	char description[192];
	uint32_t buffer; /* the program's; categories of other buffers are different ones */
	uint8_t number;  /* its index in the buffer's header */
	uint8_t level;   /* enum weft_level; may be invalid in a damaged trace */
};

/* Instead of a category's number: all categories. */
#define WEFT_TRACE_CATEGORY_ALL 255

/* A change of a category's level while the program recorded. */
struct weft_trace_change {
	uint64_t time_ns; /* on the trace's clock */
	uint32_t buffer;
	uint8_t category; /* its number */
	uint8_t level;
};

/* The buffer with that number, or a nameless one if there is none. Never NULL. */
const struct weft_trace_buffer *weft_trace_buffer_at(
	const struct weft_trace_buffer *buffers, uint32_t count, uint32_t number);

/* Writes the name of a buffer's process for people: "redis-server 4711", "process 4711", or
 * "process #2" if the trace doesn't say more. At most `size` bytes with the NUL; returns the full
 * length without it. */
size_t weft_trace_format_process(const struct weft_trace_buffer *buffers, uint32_t count,
	uint32_t number, char *text, size_t size);

/* Writes how a buffer's record ended, for people: "the program was killed by signal 9", "the
 * program ended with status 1". At most `size` bytes with the NUL; returns the full length without
 * it. */
size_t weft_trace_format_ending(const struct weft_trace_buffer *buffer, char *text, size_t size);

/* The number of the first buffer of the same machine. */
uint32_t weft_trace_first_of_host(
	const struct weft_trace_buffer *buffers, uint32_t count, uint32_t number);

/* How the clocks of two buffers compare, and the error of the time between events of both. */
enum weft_alignment weft_trace_alignment(const struct weft_trace_buffer *buffers, uint32_t count,
	uint32_t one, uint32_t other, uint64_t *ret_error_ns);

/* Writes that behind a time between events of both buffers: " ± 80.0 us", or " by clocks that
 * nothing aligns"; "" if they have one clock. At most `size` bytes with the NUL; returns the full
 * length without it. */
size_t weft_trace_format_error(const struct weft_trace_buffer *buffers, uint32_t count,
	uint32_t one, uint32_t other, char *text, size_t size);

/* The number of the first buffer of the same process: of the program that is all of a domain of
 * Xen, and of its vCPUs. */
uint32_t weft_trace_first_of_process(
	const struct weft_trace_buffer *buffers, uint32_t count, uint32_t number);

struct weft__clock_ticks;

/* Xen's trace shows in part who wakes the vCPUs of domains. */
enum weft_waker {
	WEFT_WAKER_VCPU,
	WEFT_WAKER_INTERRUPT,
	WEFT_WAKER_NOBODY, /* Xen's timers leave no record */
	WEFT_WAKERS
};

/* A decoder fills its description while it decodes; it is final once `next` has returned END. */
struct weft_trace_description {
	const char
		*format;        /* "weft", "mirage-ctf", "sexp", "xentrace", "ocaml-events", "chrome",
						   "spans", "trace-dat", "perf-data"; "several": of files in several formats */
	const char *source; /* the name of the trace that this is a part of; NULL: it is whole */
	struct weft_clock clock;
	const struct weft__clock_ticks *ticks; /* for weft_cut_add(); NULL: ticks are not known */
	const struct weft_trace_thread *threads;
	uint32_t thread_count;                   /* at least 1 after the first event */
	uint32_t buffer_count;                   /* 0: one buffer of which nothing is known */
	const struct weft_trace_buffer *buffers; /* complete before the first event; see decoder.h */
	uint64_t losses[WEFT_LOSS_CAUSES];
	const struct weft_loss_period *loss_periods; /* the losses whose times are known; by end */
	uint32_t loss_period_count;
	const struct weft_trace_category *categories;
	uint32_t
		category_count; /* 0: the format has none, or the buffer is being followed: see follow.h */
	uint32_t change_count;
	const struct weft_trace_change *changes; /* the newest ones, in the order of time */
	uint64_t wakes[WEFT_WAKERS];             /* of a trace of Xen */
};

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: ISC
 *
 * Operations on a whole buffer that need not read its events.
 */
#ifndef WEFT_BUFFER_H
#define WEFT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Copies a buffer into which a program may be recording meanwhile. `copy` is zeroed memory; both
 * areas have `size` bytes and are aligned to 8. The copy is like the buffer of a program that died:
 * it has all events of each thread up to some time during the call, and counts events that were
 * overwritten before they could be copied. Bytes that do not begin like a buffer are copied
 * unchanged. A buffer whose header is damaged, or that ends before its packets, is refused with a
 * decoder's error, and nothing is copied. The function neither allocates nor does I/O. The program
 * may be hostile: whatever it stores meanwhile, no byte outside the two areas is read or written.
 */
int weft_buffer_copy(void *copy, const void *live, size_t size);

#define WEFT_BUFFER_ALERT_BYTES 4096

/* Adds the alert because of which it was made to a copy by weft_buffer_copy. `copy` has
 * WEFT_BUFFER_ALERT_BYTES more memory than the `size` bytes of the buffer, and is larger by that
 * much then. An alert whose time is 0 fired when the copy's record ended. 0, or a decoder's error:
 * then the copy is unchanged. */
int weft_buffer_add_alert(void *copy, size_t size, const struct weft_trace_alert *alert);

/* A function that was found to run. */
struct weft_buffer_code {
	uint32_t caller;    /* 1 + the number of the one that called it, which comes before; 0: none */
	char function[129]; /* "say_hello (hello.c:12)" */
};

/* A thread was found to run a function. */
struct weft_buffer_ran {
	uint64_t monotonic_ns; /* CLOCK_MONOTONIC */
	uint32_t thread;       /* its number for the system */
	uint32_t code;         /* 1 + the number of the function; 0: unknown */
};

/* Samples of the functions that threads ran, in the order of time. */
struct weft_buffer_sampling {
	uint64_t interval_ns; /* of processor time from one to the next */
	uint64_t lost;        /* samples that found no room */
	bool is_growing;      /* more are to come; only while the program records */
	bool has_kernel;      /* also of time in the kernel */
	const char *denied;   /* why there are none; NULL: they were taken */
	const struct weft_buffer_code *codes;
	uint32_t code_count;
	const struct weft_buffer_ran *list;
	uint32_t count;
};

#define WEFT_BUFFER_RAN_MAX   65536
#define WEFT_BUFFER_CODES_MAX 7700

/* Makes the side tables of the samples that were taken while the buffer's program recorded, behind
 * the other tables that were added to a saved buffer. The caller replaces the bytes of the file
 * from
 * `*ret_offset` on by them. `*ret_tables` is the caller's to free, NULL if there are neither
 * samples nor a reason for having none. 0, WEFT_ERROR_MEMORY, WEFT_ERROR_LIMIT, WEFT_ERROR_DAMAGED
 * if other data than tables were added, or a decoder's error.
 */
int weft_buffer_make_samples(const void *bytes, size_t size,
	const struct weft_buffer_sampling *sampling, void **ret_tables, size_t *ret_size,
	uint64_t *ret_offset);

/* Makes tables with room for the newest samples, which are to be added behind a buffer that its
 * program still records into, for weft_watch_add_samples. `*ret_tables` is the caller's to free. 0
 * or WEFT_ERROR_MEMORY. */
int weft_buffer_make_sample_room(
	const struct weft_buffer_sampling *sampling, void **ret_tables, size_t *ret_size);

/* The value of a counter. */
struct weft_buffer_value {
	const char *name;
	int64_t integer;
	double real; /* if `is_real` */
	bool is_real;
	bool begins_at_0; /* when the buffer's record began */
};

/* Makes the side table of the values that counters had when the buffer's program ended without its
 * exit handlers, to be added like samples. `*ret_table` is the caller's to free, NULL if there are
 * no values, or the program has recorded its last values itself. 0, WEFT_ERROR_MEMORY, or a
 * decoder's error. */
int weft_buffer_make_last_values(const void *bytes, size_t size,
	const struct weft_buffer_value *values, size_t count, void **ret_table, size_t *ret_size);

/* A process that could not make a buffer. */
struct weft_buffer_refusal {
	uint32_t pid;
	int reason;       /* an errno */
	const char *step; /* the step that failed: "create", "allocate", … */
};

/* The program that wrote a buffer, and how much is in the buffer. */
struct weft_buffer_summary {
	uint32_t pid;
	char program[65];
	uint64_t start_unix_ns; /* of the program; 0: unknown */
	uint64_t events;        /* those that can be read */
	uint64_t losses[WEFT_LOSS_CAUSES];
	bool is_stopped; /* recording has stopped; the program may still run */
	int stop_reason; /* why recording stopped early: an errno; else 0 */
	/* Forked children that could not record and had no other way to report it: their number, and
	 * the first of them. */
	uint32_t refused_count;
	struct weft_buffer_refusal refused[7];
};

/* Summarizes a buffer without decoding it. If the program goes on, the figures are as of some time
 * during the call, and exact to a packet's content. 0, or a decoder's error. */
int weft_buffer_summarize(const void *bytes, size_t size, struct weft_buffer_summary *ret_summary);

/* Reads what the program's adapters could not record, as in weft_trace_buffer: `*ret_unseen` is the
 * caller's to free, NULL if there is nothing. 0, WEFT_ERROR_MEMORY, or a decoder's error. */
int weft_buffer_read_unseen(const void *bytes, size_t size, char **ret_unseen);

#ifdef __cplusplus
}
#endif
#endif

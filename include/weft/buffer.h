/* SPDX-License-Identifier: ISC
 *
 * A buffer as a whole: what can be done to one without reading its events.
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

/* Copies a buffer that a program may be recording into meanwhile. `copy` is zeroed memory; both
 * have `size` bytes, aligned to 8. The copy is a buffer like that of a program that died: of each
 * thread all events up to some moment while this runs, and what was overwritten before it could be
 * copied is counted as such. Bytes that do not begin like a buffer are copied as they are. A buffer
 * whose header is damaged, or that ends before its packets, is refused: the error is as of a
 * decoder, and nothing is copied. Neither allocates nor does I/O. The program may be hostile: no
 * byte outside the two areas is read or written, whatever it stores meanwhile. */
int weft_buffer_copy(void *copy, const void *live, size_t size);

/* A process that could not make a buffer. */
struct weft_buffer_refusal {
	uint32_t pid;
	int reason;       /* an errno */
	const char *step; /* at which: "create", "allocate", … */
};

/* What a buffer says of its program, and how much is in it. */
struct weft_buffer_summary {
	uint32_t pid;
	char program[65];
	uint64_t start_unix_ns; /* of the program; 0: unknown */
	uint64_t events;        /* that can be read */
	uint64_t losses[WEFT_LOSS_CAUSES];
	bool is_stopped; /* recording has stopped; the program may go on */
	int stop_reason; /* why, if that was early: an errno; else 0 */
	/* Forked children that could not record and had no other way to say so: how many, and the
	 * first of them. */
	uint32_t refused_count;
	struct weft_buffer_refusal refused[7];
};

/* Without decoding: as of some moment while this runs, to a packet's content if the program goes
 * on. 0, or an error as of a decoder. */
int weft_buffer_summarize(const void *bytes, size_t size, struct weft_buffer_summary *ret_summary);

#ifdef __cplusplus
}
#endif
#endif

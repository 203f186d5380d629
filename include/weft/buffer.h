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

/* `copy` was made of `live`, front to back, while a program may have been recording into it; both
 * have `size` bytes. Takes out of the copy what was overwritten meanwhile, counting it as such, and
 * brings in the names that came meanwhile. Afterwards the copy is a buffer like that of a program
 * that died. Of bytes that are no buffer nothing is changed. Neither allocates nor does I/O. */
void weft_buffer_mend_copy(void *copy, const void *live, size_t size);

/* What a buffer says of its program, and how much is in it. */
struct weft_buffer_summary {
	uint32_t pid;
	char program[65];
	uint64_t start_unix_ns; /* of the program; 0: unknown */
	uint64_t events;        /* that can be read */
	uint64_t losses[WEFT_LOSS_CAUSES];
	bool is_stopped; /* recording has stopped; the program may go on */
	int stop_reason; /* why, if that was early: an errno; else 0 */
};

/* Without decoding: as of some moment while this runs, to a packet's content if the program goes
 * on. 0, or an error as of a decoder. */
int weft_buffer_summarize(const void *bytes, size_t size, struct weft_buffer_summary *ret_summary);

#ifdef __cplusplus
}
#endif
#endif

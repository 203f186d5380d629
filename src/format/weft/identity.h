/* SPDX-License-Identifier: ISC
 *
 * Decides whether files can be one trace: by the boot, the buffer and the clock that their headers
 * name.
 */
#ifndef WEFT_FORMAT_WEFT_IDENTITY_H
#define WEFT_FORMAT_WEFT_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An instant read from a buffer's clock and from CLOCK_MONOTONIC. */
struct weft__reading {
	uint64_t ticks, ns;
};

/* Two readings of one clock, which give its rate. */
struct weft__readings {
	struct weft__reading first, last;
};

/* The readings from which several traces are converted. */
struct weft__shared_readings {
	struct weft__readings counter; /* of the processor's counter; last.ticks 0: not shared */
	struct weft__reading xen;      /* of Xen's system time; ticks 0: not shared */
};

struct weft__identity {
	uint8_t boot_id[16], uuid[16]; /* zero: unknown */
	uint32_t pid;
	uint64_t series;                /* of the files of one stream; 0: none */
	uint32_t piece;                 /* the file's number in it */
	bool is_monotonic;              /* its times are ns since the boot */
	bool has_counter;               /* its ticks are those of the processor's counter */
	bool has_xen;                   /* its ticks are Xen's system time */
	struct weft__readings readings; /* of its clock */
};

/* Reads the identity of a trace in weft's format. False for other bytes; damage counts as unknown.
 */
bool weft__identify_trace(const void *bytes, size_t size, struct weft__identity *ret_identity);

/* Finds the readings from which all traces of one boot are converted, so that the order of their
 * events is that of the clock that they have in common: the first and the last of all. A clock is
 * not shared if only one trace has it, or if their readings disagree, as after a suspend: then each
 * trace is converted by its own. */
struct weft__shared_readings weft__share_readings(
	const struct weft__identity *identities, size_t count);

struct weft_decoder;

/* Makes the decoder convert ticks by these readings, which must outlive it. Call before finish. */
void weft__decoder_share_readings(
	struct weft_decoder *decoder, const struct weft__shared_readings *readings);

#endif

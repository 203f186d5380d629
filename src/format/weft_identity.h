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

struct weft__identity {
	uint8_t boot_id[16], uuid[16]; /* zero: unknown */
	uint32_t pid;
	uint64_t series;                /* of the files of one stream; 0: none */
	uint32_t piece;                 /* the file's number in it */
	bool is_monotonic;              /* its times are ns since the boot */
	bool has_counter;               /* its ticks are those of the processor's counter */
	struct weft__readings readings; /* of its clock */
};

/* Reads the identity of a trace in weft's format. False for other bytes; damage counts as unknown.
 */
bool weft__identify_trace(const void *bytes, size_t size, struct weft__identity *ret_identity);

/* Finds the readings from which all traces of one boot are converted, so that the order of their
 * events is that of the counter: the first and the last of all. False if the traces should be
 * converted each by its own readings, because there is only one with this counter, or because their
 * readings disagree, as after a suspend. */
bool weft__share_readings(
	const struct weft__identity *identities, size_t count, struct weft__readings *ret_readings);

struct weft_decoder;

/* Makes the decoder convert the ticks of the processor's counter by these readings, which must
 * outlive it. Call before finish. */
void weft__decoder_share_readings(
	struct weft_decoder *decoder, const struct weft__readings *readings);

#endif

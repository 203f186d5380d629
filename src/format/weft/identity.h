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

#include "format/weft/clock/guest_clock.h"
#include "format/weft/clock/host_clock.h"

/* An instant read from a buffer's clock and from CLOCK_MONOTONIC. */
struct weft__reading {
	uint64_t ticks, ns;
	uint64_t noted_ns; /* in the file; `ns` is on the trace's axis */
};

/* Two readings of one clock, which give its rate. */
struct weft__readings {
	struct weft__reading first, last;
};

/* When the wall clock was within an error of the true time. */
struct weft__wall_note {
	uint64_t own_ns; /* by CLOCK_MONOTONIC */
	uint64_t wall_ns, error_ns;
};

#define WEFT__WALL_NOTES        2u  /* that are read of a trace */
#define WEFT__SHARED_WALL_NOTES 64u /* of those of a host, the first ones */

/* Guests of Linux whose processes share a clock; those of more than that many have clocks of their
 * own. */
#define WEFT__SHARED_GUESTS 64u

/* The readings from which several traces are converted. */
struct weft__shared_readings {
	struct weft__readings counter; /* of the processor's counter; last.ticks 0: not shared */
	struct weft__host_clock host;  /* of guests of Xen; its count 0: not shared */
	/* The counter's rates, for a trace of Xen itself, which has no readings; multiplier 0:
	 * unknown. */
	struct weft__ticks cycles;
	int64_t offset_ns; /* from CLOCK_MONOTONIC to ns since 1970; 0: unknown */
	uint32_t wall_note_count;
	struct weft__wall_note wall_notes[WEFT__SHARED_WALL_NOTES];
	/* The clocks of Linux guests, by the number of the guest; 0 ends the list. */
	uint32_t guests[WEFT__SHARED_GUESTS];
	struct weft__guest_clock guest_clocks[WEFT__SHARED_GUESTS];
};

struct weft__identity {
	uint8_t boot_id[16], uuid[16]; /* zero: unknown */
	char host[64];                 /* "": unknown */
	uint32_t pid;
	uint64_t series;                /* of the files of one stream; 0: none */
	uint32_t piece;                 /* the file's number in it */
	bool is_monotonic;              /* its times are ns since the boot */
	bool has_counter;               /* its ticks are those of the processor's counter */
	bool is_hypervisor;             /* it is Xen's own, which says nothing of all this */
	uint64_t first_cycles, hz;      /* of that: its first ticks and their rate; hz 0: unknown */
	int64_t offset_ns;              /* see above */
	struct weft__readings readings; /* of its clock */
	uint64_t end_ns;                /* of the last of them; of a part, its own end */
	uint32_t guest;                 /* 1 + its domain's number, if it has a clock of that */
	struct weft__guest_clock guest_clock;
	uint32_t wall_note_count;
	struct weft__wall_note wall_notes[WEFT__WALL_NOTES];
	/* Comparisons of its host's clocks, if it is a guest of Xen. */
	uint32_t comparison_count;
	struct weft_abi_comparison comparisons[WEFT_ABI_COMPARISONS];
};

/* Reads the identity of a trace in weft's format. False for other bytes; damage counts as unknown.
 */
bool weft__format_identify_trace(
	const void *bytes, size_t size, struct weft__identity *ret_identity);

/* Finds the readings from which all traces of one boot are converted, so that the order of their
 * events is that of the clock that they have in common: the first and the last of all. A clock is
 * not shared if only one trace has it, or if their readings disagree, as after a suspend: then each
 * trace is converted by its own. The result must not be moved. 0 or WEFT_ERROR_MEMORY. */
int weft__format_share_readings(const struct weft__identity *identities, size_t count,
	struct weft__shared_readings *ret_readings);

/* The clock that the processes of that guest share, or the process's own. */
struct weft__guest_clock weft__format_share_guest_clock(
	const struct weft__shared_readings *readings, uint32_t guest, struct weft__guest_clock own);

/* True if the hypervisor's trace can be of the boot that the readings are of. */
bool weft__format_identity_fits(
	const struct weft__identity *hypervisor, const struct weft__shared_readings *readings);

struct weft_decoder;

/* Makes the decoder convert ticks by these readings, which must outlive it. Call before finish. */
void weft__format_decoder_share_readings(
	struct weft_decoder *decoder, const struct weft__shared_readings *readings);

#endif

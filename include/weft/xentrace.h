/* SPDX-License-Identifier: ISC
 *
 * The records of Xen's own trace, as the tool xentrace wrote them, one by one. They are read
 * instead of the events that weft_decoder_next() makes of them; a decoder gives one or the other.
 *
 * A record borrows nothing but static texts. Nothing here locks or does I/O.
 */
#ifndef WEFT_XENTRACE_H
#define WEFT_XENTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_XENTRACE_ARGS_MAX 7

/* Instead of a domain: the trace does not say yet. */
#define WEFT_XENTRACE_UNKNOWN UINT32_MAX
/* The domain of the idle vCPUs; its vCPU n runs on pCPU n only. */
#define WEFT_XENTRACE_IDLE 32767u

struct weft_xentrace_record {
	uint64_t time_ns; /* since the trace's first record */
	uint64_t cycles;  /* of the pCPU's TSC */
	bool has_cycles;  /* false: they are those of the record before */
	uint64_t offset;  /* bytes from the input's start */
	uint32_t cpu;     /* the physical one */
	uint32_t id;      /* class, subclass and number, as in Xen's public header trace.h */
	uint32_t domain;  /* which ran there, by the records before this one */
	uint32_t vcpu;
	const char *name;   /* "unknown" for ids that Xen 4.20 does not have */
	const char *detail; /* the name of a hypercall, trap or exit reason; NULL: none */
	uint32_t arg_count;
	uint32_t args[WEFT_XENTRACE_ARGS_MAX];
};

/* ---- Notes ----
 *
 * xentrace's format names neither the rate of the cycles nor the host. A trace that weft recorded
 * says so in notes, which other readers skip: records CPU_CHANGE of empty windows, with five words
 * more than xentrace writes.
 *
 *     note     u32 0x7001f003
 *              u32 pCPU, 0
 *              u32 bytes of the window, 0
 *              u8  "wef", u8 kind
 *              u64 values[2]
 */
#define WEFT_XENTRACE_NOTE_BYTES 32

/* A reader keeps so many of the first notes of a trace. */
#define WEFT_XENTRACE_NOTES_MAX 16

enum weft_xentrace_note_kind {
	WEFT_XENTRACE_NOTE_RATE = 1, /* cycles in a second; 0 */
	WEFT_XENTRACE_NOTE_TIME = 2, /* cycles; Xen's system time at that moment, in ns */
	WEFT_XENTRACE_NOTE_HOST = 3, /* Xen's system time; CLOCK_MONOTONIC of dom0 at that moment */
	WEFT_XENTRACE_NOTE_BOOT = 4, /* the 16 bytes of dom0's boot id */
};

struct weft_xentrace_note {
	uint32_t kind;
	uint64_t values[2];
};

void weft_xentrace_write_note(
	const struct weft_xentrace_note *note, unsigned char ret_bytes[WEFT_XENTRACE_NOTE_BYTES]);

#ifdef __cplusplus
}
#endif
#endif

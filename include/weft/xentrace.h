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

/* ---- States ----
 *
 * What vCPUs, domains and pCPUs did when. A vCPU counts from the first time on that it is seen to
 * begin to run. While records of a pCPU are lost, the vCPUs that do not run elsewhere are in
 * WEFT_XENTRACE_IN_LOSS, as for xenalyze. A state that goes on after a record of the scheduler is
 * another stay.
 */
enum weft_xentrace_whose {
	WEFT_XENTRACE_OF_VCPU,
	WEFT_XENTRACE_OF_DOMAIN,
	WEFT_XENTRACE_OF_PCPU,
};

enum weft_xentrace_state {
	WEFT_XENTRACE_RUNNING,
	WEFT_XENTRACE_RUNNABLE_WAKE,    /* a vCPU that was blocked or offline waits for a pCPU */
	WEFT_XENTRACE_RUNNABLE_PREEMPT, /* a vCPU that ran waits for one */
	WEFT_XENTRACE_RUNNABLE_OTHER,   /* and one of which the trace does not say */
	/* A domain's, by those of its vCPUs. */
	WEFT_XENTRACE_FULL_RUN,           /* all that do not sleep run, and none sleeps */
	WEFT_XENTRACE_PARTIAL_RUN,        /* the same, but others sleep */
	WEFT_XENTRACE_CONCURRENCY_HAZARD, /* some run, while others are runnable */
	WEFT_XENTRACE_FULL_CONTENTION,    /* all are runnable, and none runs */
	WEFT_XENTRACE_PARTIAL_CONTENTION, /* the same, but others sleep */
	WEFT_XENTRACE_BLOCKED,
	WEFT_XENTRACE_OFFLINE,
	WEFT_XENTRACE_RUNS_IDLE, /* of a pCPU: it runs no domain */
	WEFT_XENTRACE_IN_LOSS,
	WEFT_XENTRACE_STATES,
};

struct weft_xentrace_stay {
	enum weft_xentrace_whose whose;
	enum weft_xentrace_state state;
	uint32_t domain; /* of a pCPU: WEFT_XENTRACE_UNKNOWN */
	uint32_t number; /* of the vCPU or the pCPU; of a domain 0 */
	uint32_t cpu;    /* on which a vCPU runs; otherwise WEFT_XENTRACE_UNKNOWN */
	uint64_t start_ns, end_ns;
	bool is_open; /* it goes on at the end of the trace */
};

/* "running", "full run" */
const char *weft_xentrace_state_name(enum weft_xentrace_state state);

/* ---- A file that grows ----
 *
 * xentrace writes the windows of all pCPUs in turns. So the records up to a time are complete when
 * it has written the turn after that. They are given then, in the order of time.
 */
struct weft_clock;
struct weft_diagnostics;
struct weft_xentrace_growing;

/* `hz` is the rate of the cycles; 0: as the file says, or as its first turns let estimate. 0 or
 * WEFT_ERROR_MEMORY. */
int weft_xentrace_growing_create(uint64_t hz, struct weft_xentrace_growing **ret_growing);
void weft_xentrace_growing_destroy(struct weft_xentrace_growing *growing);

/* True if a file that begins with these bytes, at least 12, may be read in this way. */
bool weft_xentrace_growing_probe(const void *bytes, size_t size);

/* Adds the next bytes of the file. 0 or WEFT_ERROR_MEMORY. */
int weft_xentrace_growing_feed(
	struct weft_xentrace_growing *growing, const void *bytes, size_t size);
/* Nothing was written for longer than a turn takes: the records of all whole windows are given.
 * With `is_end` nothing will be written, and those of a part of a window are given, too. Call it
 * after `next` returned WEFT_AGAIN. */
void weft_xentrace_growing_flush(struct weft_xentrace_growing *growing, bool is_end);

/* WEFT_OK and a record, whose offset is not set; WEFT_AGAIN: more bytes are needed first; or an
 * error. */
int weft_xentrace_growing_next(
	struct weft_xentrace_growing *growing, struct weft_xentrace_record *ret_record);

/* Known when the first record is. */
const struct weft_clock *weft_xentrace_growing_clock(const struct weft_xentrace_growing *growing);
const struct weft_diagnostics *weft_xentrace_growing_diagnostics(
	const struct weft_xentrace_growing *growing);

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

/* Processes of dom0's Linux are threads of it, by their pids. Each of its vCPUs has an idle one
 * with the pid 0. */
#define WEFT_XENTRACE_PROCESS_NAME_BYTES 16 /* with a NUL */
#define WEFT_XENTRACE_PROCESS_MAX        0xfffffe
/* Instead of the pid after a switch: the kernel lost switches, so which process runs is unknown.
 * The pid before is then the number of lost switches; 0: unknown. With the highest bit nothing was
 * lost: the kernel's recording ended. */
#define WEFT_XENTRACE_PROCESS_UNKNOWN 0xffffff

enum weft_xentrace_note_kind {
	WEFT_XENTRACE_NOTE_RATE = 1,     /* cycles in a second; 1: estimated, 0: known */
	WEFT_XENTRACE_NOTE_TIME = 2,     /* cycles; Xen's system time at that time, in ns */
	WEFT_XENTRACE_NOTE_HOST = 3,     /* Xen's system time; CLOCK_MONOTONIC of dom0 at that time */
	WEFT_XENTRACE_NOTE_BOOT = 4,     /* the 16 bytes of dom0's boot id */
	WEFT_XENTRACE_NOTE_FILTERED = 5, /* a filter left records out; 0; 0 */
	/* dom0's vCPU runs another process. Cycles; from the lowest bit on the pid after and the pid
	 * before, 24 bits each, the vCPU, 15 bits, and 1 bit: the process before has ended. */
	WEFT_XENTRACE_NOTE_SWITCH = 6,
	/* The same words, but the process before makes the one after. */
	WEFT_XENTRACE_NOTE_FORK = 7,
	/* A process gets a name, from the next note of the two kinds above on. The pid in the lower 32
	 * bits, above it 0 for the first half of the name or 1 for the second; 8 bytes of the name. */
	WEFT_XENTRACE_NOTE_NAME = 8,
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

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

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: ISC
 *
 * Statistics of the states of Xen's vCPUs, domains and pCPUs, while they are made and printed.
 */
#ifndef WEFT_APPS_STATS_XEN_H
#define WEFT_APPS_STATS_XEN_H

#include "stats.h"

/* The times in one state, or on one pCPU. */
struct xen_times {
	uint64_t count, ns;
	uint64_t p5_ns, p50_ns, p95_ns; /* weighted by length */
};

/* A vCPU, a domain or a pCPU. */
struct xen_row {
	uint32_t domain, number;
	struct xen_times times[WEFT_XENTRACE_STATES];
	uint32_t first_pcpu, pcpu_count; /* of `pcpus` below */
	uint64_t moves;                  /* to another pCPU */
	const char *open;                /* the state that goes on at the end; NULL: it is not known */
	uint64_t open_ns;
	uint32_t first_call, call_count; /* of `called` below */
};

struct xen_pcpu {
	uint32_t number;
	uint64_t ns; /* that a vCPU ran there */
};

/* The calls of one kind that a vCPU or domain made. */
struct xen_call {
	const char *kind, *name; /* "hypercall", "mmu_update" */
	uint64_t count;
};

struct xen_stats {
	const struct stats_xen_request *request;
	uint64_t end_ns; /* of the range, or of the trace if that is earlier */
	struct weft_xentrace_stay *stays;
	size_t stay_count, stay_capacity;
	struct xen_row *rows;
	size_t row_count, row_capacity;
	struct xen_pcpu *pcpus;
	size_t pcpu_count, pcpu_capacity;
	struct xen_called {
		uint32_t domain, vcpu;
		struct xen_call call;
	} * called; /* sorted like the rows */
	size_t called_count, called_capacity;
};

/* The number of the first stay after those of the same vCPU, domain or pCPU as `first`. */
size_t xen_row_end(const struct xen_stats *stats, size_t first);

/* "d0v1", "d0" or "pCPU 1" */
void xen_name(const struct xen_stats *stats, const struct xen_row *row, char name[32]);

void xen_write_table(const struct xen_stats *stats, const char *path, struct weft_text *text);
void xen_write_json(const struct xen_stats *stats, struct weft_text *text);
void xen_write_csv(const struct xen_stats *stats, struct weft_text *text);
/* Prints, too: short intervals have more lines than memory holds. */
void xen_write_intervals(const struct xen_stats *stats, struct weft_text *text);

#endif

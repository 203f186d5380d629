/* SPDX-License-Identifier: ISC
 *
 * weft record xen:host: Xen's own trace.
 */
#ifndef WEFT_APPS_RECORD_HYPERVISOR_H
#define WEFT_APPS_RECORD_HYPERVISOR_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/guest.h>

#include "cli/xen_filter.h"

struct record_hypervisor {
	const char *output;               /* the file for Xen's trace */
	char **program;                   /* recorded meanwhile, with its arguments; NULL: none */
	const char *directory, *adapters; /* for the program's traces, with a / at its end; as for -a */
	uint32_t events;                  /* the mask for Xen */
	struct xen_filter filter;
	uint64_t duration_ns; /* 0: until a signal comes, or the program ends */
	uint64_t max_bytes;   /* of the file; 0: no limit */
	uint32_t pages;       /* of Xen's buffer for each pCPU; 0: as it is */
	bool has_processes;   /* with the processes of dom0's Linux */
};

/* ---- hypervisor_options.c ---- */

/* True if the operand means the hypervisor's own trace. */
bool record_hypervisor_is_meant(const char *operand);

/* The whole command. Returns the exit status. */
int record_hypervisor(int argc, char **argv);

/* ---- hypervisor.c ---- */

/* Records until a signal, the duration, the limit or the program's end. Returns the exit status,
 * which is the program's if all was saved. */
int record_hypervisor_run(const struct record_hypervisor *request, struct weft_host *host);

#endif

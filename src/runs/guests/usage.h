/* SPDX-License-Identifier: ISC
 *
 * The use of each domain of Xen, by the hypervisor's figures, as counters of a program "xen:web".
 * The domains need not record, and nothing is traced.
 */
#ifndef WEFT_RUNS_USAGE_H
#define WEFT_RUNS_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/guest.h>

#include "runs/attach/counters.h"
#include "runs/attach/page.h"
#include "runs/guests/guest.h"

/* Connects to Xen in dom0, for root. NULL: nothing is known of domains here. */
struct weft_host *weft__runs_usage_open(void);

/* A domain and its counters. */
struct weft__runs_usage {
	uint32_t domain;
	char program[WEFT__RUNS_GUEST_OPERAND_BYTES]; /* "xen:web" */
	struct weft__runs_counters counters;          /* of the list's owner */
};

struct weft__runs_usage_list {
	struct weft__runs_usage *list; /* in the order of XenStore */
	size_t count;
};

/* Lists all domains, without counters. */
void weft__runs_usage_find(struct weft_host *host, struct weft__runs_usage_list *ret_list);
/* The same with their counters; those that end meanwhile are left out. */
void weft__runs_usage_read(struct weft_host *host, struct weft__runs_usage_list *ret_list);
/* The domain as if it were a process: its number, its name. */
void weft__runs_usage_link(const struct weft__runs_usage *usage, struct weft__runs_linked *ret);
void weft__runs_usage_finish(struct weft__runs_usage_list *list);

/* The same for one domain. 0 or an errno; ENOENT: it has ended. */
int weft__runs_usage_read_one(
	struct weft_host *host, uint32_t domain, struct weft__runs_counters *ret_counters);

#endif

/* SPDX-License-Identifier: ISC
 *
 * --filter of the commands that read Xen's own trace: which records they take.
 */
#ifndef WEFT_APPS_XEN_FILTER_H
#define WEFT_APPS_XEN_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/event.h>
#include <weft/xentrace.h>

#define XEN_FILTER_DOMAINS_MAX 16u
#define XEN_FILTER_SPANS_MAX   16u

struct xen_filter_words {
	uint32_t domains[XEN_FILTER_DOMAINS_MAX];
	unsigned domain_count;
	uint32_t classes;                              /* bits 16-27 of an id */
	struct weft_slice spans[XEN_FILTER_SPANS_MAX]; /* names in the filter's text */
	unsigned span_count;
};

/* Zeroed: all records. */
struct xen_filter {
	struct xen_filter_words only; /* of each sort that has words, one has to hold */
	struct xen_filter_words hide; /* none may hold */
};

/* A vCPU for which Xen does something that the filter names. */
struct xen_filter_vcpu {
	uint32_t domain, vcpu;
	/* By the words of `only` and of `hide`. `is_part`: a sub-call, or the hypercall of an exit. */
	bool is_entry[2], is_part[2];
};

/* Zeroed before the first record. */
struct xen_filter_state {
	struct xen_filter_vcpu *vcpus;
	size_t count, capacity;
};
void xen_filter_state_finish(struct xen_filter_state *state);

/* Adds `domain=0,-class=pv,span=mmu_update` and so on to a filter; false after a message. */
bool xen_filter_parse(const char *command, const char *text, struct xen_filter *filter);
/* Parses the mask for Xen: `sched,pv`, or a number such as 0x0002f000. False after a message. */
bool xen_events_parse(const char *command, const char *text, uint32_t *ret_mask);
/* The mask for what the filter takes, with the changes of the vCPU that runs: without these, no
 * record belongs to a domain. */
uint32_t xen_events_for(const struct xen_filter *filter);
/* True if the filter takes the record. Call it for each record, in the order of time. */
bool xen_filter_has(const struct xen_filter *filter, struct xen_filter_state *state,
	const struct weft_xentrace_record *record);
/* True if the record says which vCPU runs: a file has it whatever the filter takes, unless that
 * hides its class, because xenalyze refuses a vCPU that runs without it. */
bool xen_filter_keeps(const struct xen_filter *filter, const struct weft_xentrace_record *record);

/* True if the filter takes all records. */
static inline bool xen_filter_is_empty(const struct xen_filter *filter)
{
	const struct xen_filter_words *only = &filter->only, *hide = &filter->hide;
	return !only->domain_count && !only->classes && !only->span_count && !hide->domain_count &&
		   !hide->classes && !hide->span_count;
}

#endif

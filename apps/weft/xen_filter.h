/* SPDX-License-Identifier: ISC
 *
 * --filter of the commands that read Xen's own trace: which records they take.
 */
#ifndef WEFT_APPS_XEN_FILTER_H
#define WEFT_APPS_XEN_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include <weft/xentrace.h>

#define XEN_FILTER_DOMAINS_MAX 16u

/* Zeroed: all records. */
struct xen_filter {
	uint32_t domains[XEN_FILTER_DOMAINS_MAX];
	unsigned domain_count; /* 0: all */
	uint32_t classes;      /* bits 16-27 of an id; 0: all */
};

/* Adds `domain=0,class=pv` and so on to a filter; false after a message. */
bool xen_filter_parse(const char *command, const char *text, struct xen_filter *filter);
bool xen_filter_has(const struct xen_filter *filter, const struct weft_xentrace_record *record);

/* True if the filter takes all records. */
static inline bool xen_filter_is_empty(const struct xen_filter *filter)
{
	return !filter->domain_count && !filter->classes;
}

#endif

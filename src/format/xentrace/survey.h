/* SPDX-License-Identifier: ISC
 *
 * Facts about a whole xentrace file, which are needed before its first event.
 */
#ifndef WEFT_FORMAT_XENTRACE_SURVEY_H
#define WEFT_FORMAT_XENTRACE_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include "format/xentrace/clock.h"
#include "format/xentrace/windows.h"

/* Domains have 15 bits: the others are Xen's own, such as the idle one. */
#define WEFT__XENTRACE_DOMAINS 0x7ff0u

/* Classes of times in cycles: eight for each power of 2. */
#define WEFT__XENTRACE_GAPS 512u

struct weft__xentrace_survey {
	struct weft__xentrace_samples samples; /* of one pCPU */
	struct weft__xentrace_rate rate;
	uint8_t domains[WEFT__XENTRACE_DOMAINS / 8]; /* a bit for each that has a vCPU in the file */
	uint32_t vcpus[WEFT__XENTRACE_DOMAINS];      /* by domain: 1 + the highest number of a vCPU */
	bool is_svm;                                 /* the reasons of exits are AMD's */
	bool is_vmx;                                 /* or Intel's; neither: no exit tells yet */
	uint32_t gaps[WEFT__XENTRACE_GAPS];          /* see weft__format_xentrace_quick_cycles() */
	uint32_t gap_count;
};

/* Reads all records, without order, or as many windows as `most_bytes` have. `survey` is zeroed. */
void weft__format_xentrace_survey(const uint8_t *bytes,
	const struct weft__xentrace_windows *windows, uint64_t most_bytes,
	struct weft__xentrace_survey *survey);

/* Looks for an exit that tells whose reasons these are, and sets is_svm or is_vmx. */
void weft__format_xentrace_survey_exits(const uint8_t *bytes,
	const struct weft__xentrace_windows *windows, struct weft__xentrace_survey *survey);

/* Counts the time between two hypercalls in a row. */
void weft__format_xentrace_add_gap(struct weft__xentrace_survey *survey, uint64_t cycles);

/* A time in which a guest that has just entered Xen can enter it again, but no program of the guest
 * can: four times as long as between the quickest twentieth of hypercalls in a row. 0: unknown. */
uint64_t weft__format_xentrace_quick_cycles(const struct weft__xentrace_survey *survey);

#endif

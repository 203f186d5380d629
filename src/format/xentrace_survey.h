/* SPDX-License-Identifier: ISC
 *
 * Facts about a whole xentrace file, which are needed before its first event.
 */
#ifndef WEFT_FORMAT_XENTRACE_SURVEY_H
#define WEFT_FORMAT_XENTRACE_SURVEY_H

#include <stdbool.h>
#include <stdint.h>

#include "format/xentrace_clock.h"
#include "format/xentrace_windows.h"

/* Domains have 15 bits: the others are Xen's own, such as the idle one. */
#define WEFT__XENTRACE_DOMAINS 0x7ff0u

struct weft__xentrace_survey {
	struct weft__xentrace_samples samples; /* of one pCPU */
	struct weft__xentrace_rate rate;
	uint8_t domains[WEFT__XENTRACE_DOMAINS / 8]; /* a bit for each that has a vCPU in the file */
	bool is_svm;                                 /* the reasons of exits are AMD's */
};

/* Reads all records, without order, or as many windows as `most_bytes` have. `survey` is zeroed. */
void weft__xentrace_survey(const uint8_t *bytes, const struct weft__xentrace_windows *windows,
	uint64_t most_bytes, struct weft__xentrace_survey *survey);

#endif

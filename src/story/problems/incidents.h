/* SPDX-License-Identifier: ISC
 *
 * Incidents: which problems are consequences of which. A problem is one of another if the trace
 * shows that its task waited for that one's, or could not run because that one had its thread, for
 * half of the time or more. That both were at one time is no evidence.
 */
#ifndef WEFT_STORY_PROBLEMS_INCIDENTS_H
#define WEFT_STORY_PROBLEMS_INCIDENTS_H

#include "story/problems/findings.h"

/* Stores the reasons of the first `count` findings, which are in the order of the list, and makes
 * each reason as grave as what it has led to. */
void weft__story_find_incidents(struct weft__findings *findings, uint32_t count);

#endif

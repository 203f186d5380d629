/* SPDX-License-Identifier: ISC
 *
 * Profiles of where in the code threads waited.
 */
#ifndef WEFT_APPS_FLAME_WAITS_H
#define WEFT_APPS_FLAME_WAITS_H

#include <weft/profile.h>
#include <weft/stats.h>

/* Adds up the waits of a model in the range of the options, without those of hidden tasks. 0 or
 * WEFT_ERROR_MEMORY. */
int flame_make_waits(const struct weft_model *model, const struct weft_stats_options *options,
	struct weft_profile **ret_profile);

/* A message for an empty profile. */
extern const char flame_no_waits[];

#endif

/* SPDX-License-Identifier: ISC
 *
 * Profiles of where in the code threads waited, and of what they ran.
 */
#ifndef WEFT_APPS_FLAME_PROFILES_H
#define WEFT_APPS_FLAME_PROFILES_H

#include <stdbool.h>

#include <weft/profile.h>
#include <weft/stats.h>

enum flame_source {
	FLAME_WAITS,
	FLAME_CPU, /* samples of what threads ran */
};

/* "waits" or "cpu". False after a message. */
bool flame_parse_source(const char *command, const char *text, enum flame_source *ret_source);

/* Adds up the waits or samples of a model in the range of the options, without those of hidden
 * tasks. 0 or WEFT_ERROR_MEMORY. */
int flame_make_profile(enum flame_source source, const struct weft_model *model,
	const struct weft_stats_options *options, struct weft_profile **ret_profile);

/* Why a profile is empty. */
const char *flame_explain_none(enum flame_source source);

#endif

/* SPDX-License-Identifier: ISC
 *
 * Makes statistics in steps, between which the caller may do something else, or give them up.
 */
#ifndef WEFT_STATS_MAKER_H
#define WEFT_STATS_MAKER_H

#include <weft/stats.h>

struct weft__stats_maker;

/* `story` must outlive the maker. 0 or WEFT_ERROR_MEMORY. */
int weft__stats_maker_create(const struct weft_story *story,
	const struct weft_stats_options *options, struct weft__stats_maker **ret_maker);
/* WEFT_AGAIN if there is more to do; 0 with the statistics, as weft_stats_create() makes them; or
 * an error. After either of these the maker can only be destroyed; destroying it earlier gives them
 * up. */
int weft__stats_maker_step(struct weft__stats_maker *maker, struct weft_stats **ret_stats);
void weft__stats_maker_destroy(struct weft__stats_maker *maker);

#endif

/* SPDX-License-Identifier: ISC
 *
 * See waits.h. The statistics by stack have a row for each list of calls, and for each kind of what
 * is waited for there: "[lock]" is below the calls.
 */
#include "waits.h"

#include <stdio.h>
#include <string.h>

const char flame_no_waits[] =
	"no waits whose calls were noted; the adapters of `weft record` note them";

static struct weft_slice slice_of(const char *text)
{
	return (struct weft_slice){text, strlen(text)};
}

static int add_row(
	struct weft_profile *profile, const struct weft_stats *stats, const struct weft_stats_row *row)
{
	char calls[WEFT_STATS_NAME_BYTES], leaf[96] = "";
	uint16_t kind;
	if (weft_stats_kind(stats, row, &kind)) {
		const char *name = weft_model_kind_name(stats->story->model, kind);
		if (name)
			snprintf(leaf, sizeof(leaf), "[%.90s]", name);
		else
			snprintf(leaf, sizeof(leaf), "[kind %u]", kind);
	}
	if (!weft_stats_format_name(stats, row, calls, sizeof(calls)))
		strcpy(calls, "[calls not noted]");
	return weft_profile_add(
		profile, slice_of(calls), slice_of(leaf), row->waiting_ns + row->delay_ns, row->count);
}

static int add_rows(const struct weft_stats *stats, struct weft_profile **ret_profile)
{
	const struct weft_profile_options options = {.size = sizeof(options),
		.counted = "waits",
		.weighed = "waiting",
		.duration_ns = stats->end_ns - stats->start_ns};
	struct weft_profile *profile = NULL;
	int error = weft_profile_create(&options, &profile);
	for (uint32_t i = 0; i < stats->row_count && !error; i++)
		error = add_row(profile, stats, &stats->rows[i]);
	if (error)
		weft_profile_destroy(profile);
	else
		*ret_profile = profile;
	return error;
}

int flame_make_waits(const struct weft_model *model, const struct weft_stats_options *given,
	struct weft_profile **ret_profile)
{
	struct weft_stats_options options = *given;
	struct weft_story_index *index = NULL;
	struct weft_stats *stats = NULL;
	options.by = WEFT_STATS_BY_STACK;
	int error = weft_story_index_create(model, &index);
	const struct weft_story story = {.model = model, .index = index};
	if (!error)
		error = weft_stats_create(&story, &options, &stats);
	if (!error)
		error = add_rows(stats, ret_profile);
	weft_stats_destroy(stats);
	weft_story_index_destroy(index);
	return error;
}

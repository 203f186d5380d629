/* SPDX-License-Identifier: ISC
 *
 * The profiles of a trace. Statistics by stack have a row for each list of calls, and for each kind
 * of what is waited for there: "[lock]" is below the calls.
 */
#include <stdio.h>
#include <string.h>

#include <weft/duration.h>

#include "base/export.h"
#include "profile/profile.h"

static struct weft_slice slice_of(const char *text)
{
	return (struct weft_slice){text, strlen(text)};
}

/* Destroys the profile on an error. */
static int give(struct weft_profile *profile, int error, struct weft_profile **ret_profile)
{
	if (error)
		weft_profile_destroy(profile);
	else
		*ret_profile = profile;
	return error;
}

/* ---- Waits ---- */

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

WEFT__EXPORT int weft_profile_create_waits(
	const struct weft_stats *stats, struct weft_profile **ret_profile)
{
	const struct weft_profile_options options = {.size = sizeof(options),
		.counted = "waits",
		.weighed = "waiting",
		.duration_ns = stats->end_ns - stats->start_ns};
	struct weft_profile *profile = NULL;
	int error = weft_profile_create(&options, &profile);
	for (uint32_t i = 0; i < stats->row_count && !error; i++)
		error = add_row(profile, stats, &stats->rows[i]);
	return give(profile, error, ret_profile);
}

/* ---- Samples ---- */

static bool is_wanted(
	const struct weft_code_sample *sample, const struct weft_stats_options *options)
{
	const bool is_hidden =
		options->hidden && (sample->task == WEFT_NONE || options->hidden[sample->task]);
	return !is_hidden && sample->time >= options->start_ns &&
		   (!options->end_ns || sample->time < options->end_ns);
}

static int add_sample(struct weft_profile *profile, const struct weft_model *model,
	const struct weft_code_sample *sample)
{
	const struct weft_slice calls = sample->calls == WEFT_NONE
										? slice_of("[unknown]")
										: weft_model_string(model, sample->calls);
	return weft_profile_add(profile, calls, slice_of(""), sample->interval_ns, 1);
}

WEFT__EXPORT int weft_profile_create_samples(const struct weft_model *model,
	const struct weft_stats_options *range, struct weft_profile **ret_profile)
{
	const uint64_t start = model->summary.start, end = model->summary.end;
	const uint64_t from = range->start_ns > start ? range->start_ns : start;
	const uint64_t to = range->end_ns && range->end_ns < end ? range->end_ns : end;
	const struct weft_profile_options options = {.size = sizeof(options),
		.counted = "samples",
		.weighed = "running",
		.duration_ns = to > from ? to - from : 0};
	struct weft_profile *profile = NULL;
	int error = weft_profile_create(&options, &profile);
	for (uint32_t i = 0; i < model->code_sample_count && !error; i++)
		if (is_wanted(&model->code_samples[i], range))
			error = add_sample(profile, model, &model->code_samples[i]);
	return give(profile, error, ret_profile);
}

/* ---- Words ---- */

WEFT__EXPORT size_t weft_profile_describe(
	const struct weft_profile *profile, uint64_t from_ns, char *buffer, size_t size)
{
	const struct weft_profile_options *options = &profile->options;
	const bool has_run = options->weighed && strcmp(options->weighed, "running") == 0;
	const char *counted = options->counted ? options->counted : "samples";
	char weight[32], range[32], from[48] = "";
	weft_format_duration(profile->weight, 3, weight);
	weft_format_duration(options->duration_ns, 3, range);
	if (from_ns) {
		strcpy(from, " from ");
		weft_format_duration(from_ns, 3, from + strlen(from));
	}
	const int length = (int)strlen(counted) - (profile->count == 1);
	const int written = snprintf(buffer, size, "%s: %s in %llu %.*s, within %s%s",
		has_run ? "What threads ran" : "Where threads waited", weight,
		(unsigned long long)profile->count, length, counted, range, from);
	return (size_t)written < size ? (size_t)written : size - 1;
}

/* SPDX-License-Identifier: ISC
 *
 * See profiles.h. The statistics by stack have a row for each list of calls, and for each kind of
 * what is waited for there: "[lock]" is below the calls.
 */
#include "profiles.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

bool flame_parse_source(const char *command, const char *text, enum flame_source *ret_source)
{
	*ret_source = strcmp(text, "cpu") == 0 ? FLAME_CPU : FLAME_WAITS;
	if (*ret_source == FLAME_CPU || strcmp(text, "waits") == 0)
		return true;
	cli_usage_error(command, "--of: \"%s\" is unknown; waits or cpu", text);
	return false;
}

const char *flame_explain_none(enum flame_source source)
{
	return source == FLAME_CPU
			   ? "no samples of what threads ran; `weft record --samples 99` takes them"
			   : "no waits whose calls were noted; the adapters of `weft record` note them";
}

/* ---- Waits ---- */

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

static int make_waits(const struct weft_model *model, const struct weft_stats_options *given,
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

static int make_samples(const struct weft_model *model, const struct weft_stats_options *given,
	struct weft_profile **ret_profile)
{
	const uint64_t start = model->summary.start, end = model->summary.end;
	const uint64_t from = given->start_ns > start ? given->start_ns : start;
	const uint64_t to = given->end_ns && given->end_ns < end ? given->end_ns : end;
	const struct weft_profile_options options = {.size = sizeof(options),
		.counted = "samples",
		.weighed = "running",
		.duration_ns = to > from ? to - from : 0};
	struct weft_profile *profile = NULL;
	int error = weft_profile_create(&options, &profile);
	for (uint32_t i = 0; i < model->code_sample_count && !error; i++)
		if (is_wanted(&model->code_samples[i], given))
			error = add_sample(profile, model, &model->code_samples[i]);
	if (error)
		weft_profile_destroy(profile);
	else
		*ret_profile = profile;
	return error;
}

int flame_make_profile(enum flame_source source, const struct weft_model *model,
	const struct weft_stats_options *options, struct weft_profile **ret_profile)
{
	return source == FLAME_CPU ? make_samples(model, options, ret_profile)
							   : make_waits(model, options, ret_profile);
}

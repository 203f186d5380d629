/* SPDX-License-Identifier: ISC
 *
 * See profiles.h.
 */
#include "profiles.h"

#include <string.h>

#include "cli/cli.h"

bool flame_parse_source(const char *command, const char *text, enum flame_source *ret_source)
{
	static const char *const names[] = {"waits", "cpu", NULL};
	int chosen = cli_choose(command, "--of:", text, names);
	*ret_source = chosen == 1 ? FLAME_CPU : FLAME_WAITS;
	return chosen >= 0;
}

const char *flame_explain_none(enum flame_source source)
{
	return source == FLAME_CPU
			   ? "no samples of what threads ran here; `weft record --samples 99` takes them"
			   : "no waits here whose calls were noted; the adapters of `weft record` note them";
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
		error = weft_profile_create_waits(stats, ret_profile);
	weft_stats_destroy(stats);
	weft_story_index_destroy(index);
	return error;
}

int flame_make_profile(enum flame_source source, const struct weft_model *model,
	const struct weft_stats_options *options, struct weft_profile **ret_profile)
{
	return source == FLAME_CPU ? weft_profile_create_samples(model, options, ret_profile)
							   : make_waits(model, options, ret_profile);
}

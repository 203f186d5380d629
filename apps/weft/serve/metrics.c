/* SPDX-License-Identifier: ISC
 *
 * The counters of this user's running programs, for Prometheus.
 */
#include "serve.h"

#include <pthread.h>

#include "metrics/exposition.h"
#include "metrics/programs.h"

/* One request at a time looks through all processes: more would take no less time each. */
static pthread_mutex_t is_looking = PTHREAD_MUTEX_INITIALIZER;

static bool read_programs(struct metrics_programs *ret_programs)
{
	struct weft__runs_linked_list linked;
	if (!weft__runs_counting_find(&linked))
		return false;
	bool good = metrics_programs_read(&linked, false, NULL, ret_programs);
	weft__runs_linked_finish(&linked);
	return good;
}

bool serve_metrics(bool is_openmetrics, size_t depth, struct weft_text *text)
{
	const struct weft__metrics_exposition exposition = {
		.is_openmetrics = is_openmetrics, .counts_left_out = true, .depth = depth};
	struct metrics_programs programs = {0};
	pthread_mutex_lock(&is_looking);
	bool good = read_programs(&programs);
	pthread_mutex_unlock(&is_looking);
	if (good)
		weft__metrics_expose(&exposition, programs.samples, programs.sample_count, text);
	metrics_programs_finish(&programs);
	return good && !text->error;
}

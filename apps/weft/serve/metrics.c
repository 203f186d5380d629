/* SPDX-License-Identifier: ISC
 *
 * Counters for Prometheus: from the database of an agent, or if none looks, those of this user's
 * running programs. The series of the two differ, so once an agent has looked, there is no way back
 * to processes: a Prometheus would add up both.
 */
#include "metrics.h"

#include <pthread.h>
#include <stdlib.h>

#include "agents.h"
#include "metrics/programs.h"
#include "reply.h"

/* One request at a time looks through all processes: more would take no less time each. */
static pthread_mutex_t is_looking = PTHREAD_MUTEX_INITIALIZER;

static const char *data;
static bool is_agents; /* for good */

void serve_metrics_init(const char *database)
{
	data = database ? database : serve_agents_data();
	is_agents = database;
}

static void write_samples(const struct serve_metrics_request *request,
	const struct weft__metrics_sample *samples, size_t count, struct weft_text *text)
{
	const struct weft__metrics_exposition exposition = {
		.counts_left_out = true, .depth = request->depth};
	metrics_format_write(request->format, exposition, samples, count, text);
}

/* ---- Processes ---- */

/* Leaves those that have the labels. */
static void choose(struct metrics_programs *programs, const struct serve_token *bound)
{
	size_t count = 0;
	for (size_t i = 0; bound && i < programs->sample_count; i++)
		if (weft__metrics_has_labels(&programs->samples[i], bound->labels, bound->label_count))
			programs->samples[count++] = programs->samples[i];
	if (bound)
		programs->sample_count = count;
}

static const char *write_programs(
	const struct serve_metrics_request *request, struct weft_text *text)
{
	struct metrics_programs programs = {0};
	struct weft__runs_linked_list linked;
	if (!weft__runs_counting_find(&linked))
		return SERVE_REPLY_SHORT;
	bool good = metrics_programs_read(&linked, false, NULL, &programs) &&
				metrics_programs_add_domains(&programs);
	weft__runs_linked_finish(&linked);
	if (good) {
		choose(&programs, request->bound);
		write_samples(request, programs.samples, programs.sample_count, text);
	}
	metrics_programs_finish(&programs);
	return good ? NULL : SERVE_REPLY_SHORT;
}

/* ---- The agent ---- */

const char *serve_metrics(const struct serve_metrics_request *request, struct weft_text *text)
{
	const char *problem;
	pthread_mutex_lock(&is_looking);
	enum serve_agent state = serve_agents_write(data, request, write_samples, text);
	is_agents |= state == SERVE_AGENT_LOOKS;
	if (state == SERVE_AGENT_LOOKS)
		problem = NULL;
	else if (is_agents)
		problem = state == SERVE_AGENT_GONE ? "no weft agent looks, so the values are not known\n"
											: SERVE_REPLY_SHORT;
	else
		problem = write_programs(request, text);
	pthread_mutex_unlock(&is_looking);
	return problem;
}

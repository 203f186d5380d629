/* SPDX-License-Identifier: ISC
 *
 * The range of a trace that is read without the rest: its options, and what is said about it.
 */
#include "range.h"

#include <getopt.h>

#include <weft/duration.h>

static bool is_asked;
static struct weft_range range = {.duration_ns = UINT64_MAX};

bool cli_trace_has_range(void)
{
	return is_asked;
}

void cli_trace_read_only(struct cli_time start, uint64_t duration_ns)
{
	range.start_ns = start.ns;
	range.is_absolute = start.is_absolute;
	range.duration_ns = duration_ns;
}

bool cli_range_take(const char *command, int option)
{
	struct cli_time start;
	is_asked = true;
	if (option == CLI_PAST)
		return cli_parse_duration(command, "--past", optarg, &range.past_ns);
	if (option == CLI_DURATION)
		return cli_parse_duration(command, "--duration", optarg, &range.duration_ns);
	if (!cli_parse_time(command, "--start", optarg, &start))
		return false;
	cli_trace_read_only(start, range.duration_ns);
	return true;
}

const struct weft_range *cli_range(void)
{
	return is_asked ? &range : NULL;
}

void cli_range_report(const struct cli_trace *trace, const struct weft_model *model, bool has_state)
{
	const struct weft_model_summary *s = &model->summary;
	char from[32], to[32];
	if (!s->read_end)
		return;
	weft_format_duration(s->read_start - s->start, 9, from);
	weft_format_duration(s->read_end - s->start, 9, to);
	const bool has_rest = s->read_end <= s->end;
	cli_inform("%s: read from %s %s%s; what tasks did outside of that is not known%s", trace->name,
		from, has_rest ? "to " : "on", has_rest ? to : "",
		has_state ? ", but which were alive, unless events were lost" : "");
	if (s->last < s->read_start || !s->events)
		cli_inform("%s: no event in that range", trace->name);
}

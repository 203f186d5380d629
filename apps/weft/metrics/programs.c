/* SPDX-License-Identifier: ISC
 *
 * Reads the counters of several programs.
 */
#include "metrics/programs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "runs/directory/find.h"
#include "runs/guests/usage.h"

int metrics_programs_name(const char *command, char *const *operands, int count,
	struct weft__runs_linked_list *ret_linked)
{
	struct weft__runs_linked_list linked = {calloc((size_t)count + 1, sizeof(*linked.list)), 0};
	if (!linked.list) {
		cli_error("%s", strerror(ENOMEM));
		return CLI_UNREADABLE;
	}
	for (int i = 0; i < count; i++) {
		pid_t pid = weft__runs_parse_pid(operands[i]);
		if (!pid) {
			weft__runs_linked_finish(&linked);
			return cli_usage_error(
				command, "\"%s\" is neither the number of a process nor a trace", operands[i]);
		}
		weft__runs_linked_name(&linked.list[linked.count++], pid);
	}
	*ret_linked = linked;
	return CLI_DONE;
}

bool metrics_programs_list(struct metrics_programs *programs)
{
	free(programs->samples);
	programs->samples = calloc(programs->sample_count + 1, sizeof(*programs->samples));
	struct weft__metrics_sample *at = programs->samples;
	for (size_t i = 0; at && i < programs->count; i++) {
		const struct metrics_program *program = &programs->list[i];
		for (size_t k = 0; k < program->counters.count; k++)
			*at++ = (struct weft__metrics_sample){.program = program->linked.program,
				.pid = program->linked.pid,
				.counter = &program->counters.list[k],
				.is_domain = program->is_domain};
	}
	return at;
}

bool metrics_programs_read(const struct weft__runs_linked_list *linked, bool children,
	metrics_unreadable *unreadable, struct metrics_programs *ret_programs)
{
	struct metrics_programs programs = {.list = calloc(linked->count + 1, sizeof(*programs.list))};
	for (size_t i = 0; programs.list && i < linked->count; i++) {
		struct metrics_program *program = &programs.list[programs.count];
		const pid_t pid = linked->list[i].pid;
		int error = (children ? weft__runs_children_read : weft__runs_counters_read)(
			pid, &program->counters);
		program->linked = linked->list[i];
		programs.count += !error;
		programs.sample_count += error ? 0 : program->counters.count;
		if (error && unreadable)
			unreadable(pid, error);
	}
	*ret_programs = programs;
	return programs.list && metrics_programs_list(ret_programs);
}

bool metrics_programs_add_domains(struct metrics_programs *programs)
{
	struct weft__runs_usage_list usage;
	struct weft_host *host = weft__runs_usage_open();
	if (!host)
		return true;
	weft__runs_usage_read(host, &usage);
	weft_host_close(host);
	struct metrics_program *list =
		realloc(programs->list, (programs->count + usage.count + 1) * sizeof(*list));
	programs->list = list ? list : programs->list;
	for (size_t i = 0; list && i < usage.count; i++) {
		struct metrics_program *program = &list[programs->count++];
		*program = (struct metrics_program){.counters = usage.list[i].counters, .is_domain = true};
		weft__runs_usage_link(&usage.list[i], &program->linked);
		programs->sample_count += program->counters.count;
		usage.list[i].counters = (struct weft__runs_counters){0};
	}
	weft__runs_usage_finish(&usage);
	return list && metrics_programs_list(programs);
}

void metrics_programs_finish(struct metrics_programs *programs)
{
	for (size_t i = 0; i < programs->count; i++)
		weft__runs_counters_finish(&programs->list[i].counters);
	free(programs->list);
	free(programs->samples);
	*programs = (struct metrics_programs){0};
}

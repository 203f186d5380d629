/* SPDX-License-Identifier: ISC
 *
 * The programs whose counters are shown. Looking through all processes of a machine takes much
 * longer than reading the counters of those that have some.
 */
#include "top.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The search may take this part of the time. */
#define SEARCH_PART 20

double top_now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void top_programs_find(struct top_programs *programs, double now_s)
{
	struct weft__runs_linked_list linked;
	if (programs->are_named ||
		(programs->searched_s > 0 &&
			now_s - programs->searched_s < SEARCH_PART * programs->search_took_s) ||
		!weft__runs_counting_find(&linked))
		return;
	weft__runs_linked_finish(&programs->linked);
	programs->linked = linked;
	programs->searched_s = now_s;
	programs->search_took_s = top_now_s() - now_s;
}

void top_programs_finish(struct top_programs *programs)
{
	weft__runs_linked_finish(&programs->linked);
	weft_host_close(programs->xen);
}

int top_program_compare(const void *left, const void *right)
{
	const struct top_program *l = left, *r = right;
	int order = strcmp(l->linked.program, r->linked.program);
	order = order ? order : (l->linked.pid > r->linked.pid) - (l->linked.pid < r->linked.pid);
	return order ? order
				 : (l->linked.started_ticks > r->linked.started_ticks) -
					   (l->linked.started_ticks < r->linked.started_ticks);
}

static bool has_program(const struct top_forest *forest, const struct top_program *program)
{
	for (uint32_t i = 0; i < forest->program_count; i++)
		if (top_program_compare(&forest->programs[i], program) == 0)
			return true;
	return false;
}

void top_programs_read(struct top_forest *forest, const struct weft__runs_linked_list *linked)
{
	for (size_t i = 0; i < linked->count; i++) {
		struct top_program *program = &forest->programs[forest->program_count];
		*program = (struct top_program){.linked = linked->list[i]};
		/* The number may be another process's by now. */
		weft__runs_linked_name(&program->linked, linked->list[i].pid);
		if (!has_program(forest, program) &&
			weft__runs_counters_read(linked->list[i].pid, &program->counters) == 0) {
			if (forest->has_children)
				(void)weft__runs_children_read(linked->list[i].pid, &program->children);
			forest->program_count++;
		}
	}
	forest->running = forest->program_count;
}

void top_programs_take_domains(struct top_forest *forest, struct weft__runs_usage_list *usage)
{
	for (size_t i = 0; i < usage->count; i++) {
		struct top_program *program = &forest->programs[forest->program_count++];
		*program = (struct top_program){.counters = usage->list[i].counters, .is_domain = true};
		weft__runs_usage_link(&usage->list[i], &program->linked);
		usage->list[i].counters = (struct weft__runs_counters){0};
	}
}

void top_programs_take(struct top_forest *forest, struct metrics_programs *given)
{
	for (size_t i = 0; i < given->count; i++) {
		struct metrics_program *program = &given->list[i];
		forest->programs[forest->program_count++] =
			(struct top_program){.linked = program->linked, .counters = program->counters};
		program->counters = (struct weft__runs_counters){0};
	}
}

void top_programs_keep_ended(struct top_forest *forest, struct top_forest *before)
{
	for (uint32_t i = 0; i < before->program_count; i++) {
		struct top_program *program = &before->programs[i];
		if (has_program(forest, program) || program->ended >= TOP_SAMPLES)
			continue;
		forest->programs[forest->program_count] = *program;
		forest->programs[forest->program_count++].ended++;
		/* The nodes before may still read them, until the new forest has taken its place. */
		program->counters = program->children = (struct weft__runs_counters){0};
	}
}

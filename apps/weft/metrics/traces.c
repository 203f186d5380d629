/* SPDX-License-Identifier: ISC
 *
 * Counters and metrics as they were at the end of a trace. Counters are events: the last sample has
 * the value. Metrics are a side table, if the program had some (abi/table_abi.h).
 */
#include "metrics/programs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/side_tables.h>

#include "cli/cli.h"
#include "abi/table_abi.h"
#include "runs/attach/counted.h"
#include "runs/attach/metrics.h"
#include "runs/directory/find.h"

static struct weft_slice name_in(const void *buffer, unsigned id)
{
	return weft_side_table_name(buffer, id);
}

bool metrics_trace_counted(
	const struct weft_trace_buffer *buffer, struct weft__runs_counters *ret_counted)
{
	for (uint32_t i = 0; i < weft_side_table_count(buffer); i++) {
		const struct weft_side_table table = weft_side_table_at(buffer, i);
		if (table.number == WEFT_ABI_TABLE_counted &&
			table.row_bytes == sizeof(struct weft_abi_counted_row))
			return weft__runs_counted_list(weft_side_table_rows(buffer, i), table.count, name_in,
					   buffer, ret_counted) == 0;
	}
	return false;
}

bool metrics_trace_buffer(
	const struct weft_trace_buffer *buffer, struct weft__runs_counters *ret_metrics)
{
	for (uint32_t i = 0; i < weft_side_table_count(buffer); i++) {
		const struct weft_side_table table = weft_side_table_at(buffer, i);
		if (table.number == WEFT_SIDE_TABLE_METRICS && table.row_bytes == 8)
			return weft__runs_metrics_parse_packed(
					   weft_side_table_rows(buffer, i), 8 * (size_t)table.count, ret_metrics) == 0;
	}
	return false;
}

/* ---- Counters ---- */

/* False if the trace does not know its value at the end. */
static bool describe(const struct weft_model *model, const struct weft_counter *counter,
	struct weft__runs_counter *ret)
{
	if (!counter->count || (counter->is_relative && !counter->is_end_known))
		return false;
	const struct weft_number last = counter->is_relative ? counter->end
														 : weft_counter_number(model, counter,
															   counter->first + counter->count - 1);
	*ret = (struct weft__runs_counter){.name = weft_model_string(model, counter->name).bytes,
		.help = "",
		.unit = "",
		.integer = last.integer,
		.real = last.real,
		.is_real = last.is_real};
	return true;
}

static bool reserve(struct weft__runs_counters *counters, size_t more)
{
	struct weft__runs_counter *list =
		realloc(counters->list, (counters->count + more + 1) * sizeof(*list));
	if (list)
		counters->list = list;
	return list;
}

/* Names in the model have a NUL behind them, but the model does not stay. */
static bool add_counters(
	const struct weft_model *model, uint32_t buffer, struct weft__runs_counters *counters)
{
	struct weft__runs_counter counter;
	if (!reserve(counters, model->counter_count))
		return false;
	size_t first = counters->count, bytes = 1;
	for (uint32_t i = 0; i < model->counter_count; i++)
		if (model->counters[i].buffer == buffer && describe(model, &model->counters[i], &counter)) {
			counters->list[counters->count++] = counter;
			bytes += strlen(counter.name) + 1;
		}
	char *texts = calloc(1, bytes);
	for (size_t i = first; texts && i < counters->count; i++) {
		struct weft__runs_counter *it = &counters->list[i];
		it->name = i == first ? strcpy(texts, it->name)
							  : strcpy((char *)it[-1].name + strlen(it[-1].name) + 1, it->name);
	}
	counters->owned[3] = texts; /* the last one: metrics have three */
	if (!texts)
		counters->count = first;
	return texts;
}

static bool add_counted(
	const struct weft_trace_buffer *buffer, struct weft__runs_counters *counters)
{
	struct weft__runs_counters counted;
	if (!metrics_trace_counted(buffer, &counted))
		return true;
	bool good = reserve(counters, counted.count);
	if (good && counted.count)
		memcpy(
			counters->list + counters->count, counted.list, counted.count * sizeof(*counted.list));
	counters->count += good ? counted.count : 0;
	counters->owned[4] = counted.owned[0];
	free(counted.list);
	return good;
}

/* ---- Programs ---- */

static bool read_program(const struct weft_trace_description *trace, uint32_t number,
	const struct weft_model *model, struct metrics_program *program)
{
	const struct weft_trace_buffer *buffer = &trace->buffers[number];
	snprintf(program->linked.program, sizeof(program->linked.program), "%s", buffer->process);
	program->linked.pid = (pid_t)buffer->pid;
	if (!metrics_trace_buffer(buffer, &program->counters))
		program->counters = (struct weft__runs_counters){0};
	return add_counters(model, number, &program->counters) &&
		   add_counted(buffer, &program->counters);
}

static bool read_programs(const struct weft_trace_description *trace,
	const struct weft_model *model, struct metrics_programs *programs)
{
	bool good = true;
	programs->list = calloc(trace->buffer_count + (size_t)1, sizeof(*programs->list));
	for (uint32_t i = 0; good && programs->list && i < trace->buffer_count; i++) {
		good = read_program(trace, i, model, &programs->list[programs->count++]);
		programs->sample_count += programs->list[i].counters.count;
	}
	return good && programs->list && metrics_programs_list(programs);
}

bool metrics_names_traces(char **operands, int count)
{
	for (int i = 0; i < count; i++)
		if (!weft__runs_parse_pid(operands[i]) && access(operands[i], F_OK) == 0)
			return true;
	return false;
}

int metrics_trace_read(char **files, int count, struct metrics_programs *ret_programs)
{
	struct weft_model *model = NULL;
	struct cli_trace trace;
	*ret_programs = (struct metrics_programs){0};
	int status = cli_trace_open_all(files, count, &trace);
	if (status)
		return status;
	cli_progress_start();
	int error = cli_trace_build_summary(&trace, &model);
	cli_progress_end();
	if (error) {
		status = cli_trace_fail(&trace, error);
	} else if (!read_programs(weft_decoder_describe(trace.decoder), model, ret_programs)) {
		cli_error("%s", strerror(ENOMEM));
		status = CLI_UNREADABLE;
	}
	weft_model_destroy(model);
	cli_trace_report(&trace);
	cli_trace_close(&trace);
	return status;
}

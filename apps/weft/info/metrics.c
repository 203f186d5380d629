/* SPDX-License-Identifier: ISC
 *
 * weft info: the values that metrics had at the end of the record.
 */
#include "info.h"

#include <string.h>

#include "metrics/programs.h"

static void add_program(const struct weft_trace_buffer *buffer, struct weft_text *text)
{
	struct weft__runs_counters metrics;
	if (!metrics_trace_buffer(buffer, &metrics))
		return;
	weft_text_add_string(text, "\nvalue at the end      metric");
	if (buffer->process[0]) {
		weft_text_add_string(text, " of ");
		weft_text_add_shown(text, buffer->process, strlen(buffer->process));
	}
	weft_text_add_string(text, "\n");
	for (size_t i = 0; i < metrics.count; i++)
		metrics_add_value(text, &metrics.list[i]);
	weft__runs_counters_finish(&metrics);
}

static void add_counted(const struct weft_trace_buffer *buffer, struct weft_text *text)
{
	struct weft__runs_counters counted;
	if (!metrics_trace_counted(buffer, &counted))
		return;
	if (counted.count)
		weft_text_add_string(text, "\ncalls that were counted, not recorded\n");
	for (size_t i = 0; i < counted.count; i++)
		metrics_add_value(text, &counted.list[i]);
	weft__runs_counters_finish(&counted);
}

void info_write_metrics(const struct info_report *report, struct weft_text *text)
{
	for (uint32_t i = 0; i < report->trace->buffer_count; i++)
		add_program(&report->trace->buffers[i], text);
	for (uint32_t i = 0; i < report->trace->buffer_count; i++)
		add_counted(&report->trace->buffers[i], text);
}

static void add_objects(
	const struct weft_trace_buffer *buffer, const char **separator, struct weft_text *text)
{
	struct weft__runs_counters metrics;
	if (!metrics_trace_buffer(buffer, &metrics))
		return;
	for (size_t i = 0; i < metrics.count; i++) {
		const struct weft__metrics_sample sample = {
			.program = buffer->process, .pid = (pid_t)buffer->pid, .counter = &metrics.list[i]};
		weft_text_add_string(text, *separator);
		metrics_add_json(text, &sample);
		*separator = ",";
	}
	weft__runs_counters_finish(&metrics);
}

void info_write_metrics_json(const struct info_report *report, struct weft_text *text)
{
	const char *separator = "";
	weft_text_add_string(text, ",\"metrics\":[");
	for (uint32_t i = 0; i < report->trace->buffer_count; i++)
		add_objects(&report->trace->buffers[i], &separator, text);
	weft_text_add_string(text, "]");
}

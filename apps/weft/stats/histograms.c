/* SPDX-License-Identifier: ISC
 *
 * weft stats: histograms among the metrics of the trace's programs. A trace has their values at the
 * end of the record, not those of a range.
 */
#include "stats.h"

#include <string.h>

#include "metrics/programs.h"

/* Where a histogram is in the list. */
struct position {
	bool is_first;            /* of all */
	bool is_first_of_program; /* of several programs */
};

typedef void add_histogram(struct weft_text *text, const struct weft__metrics_sample *sample,
	const struct position *position);

static void add_program(struct weft_text *text, const struct weft_trace_buffer *buffer,
	add_histogram *add, struct position *position)
{
	struct weft__runs_counters metrics;
	if (!metrics_trace_buffer(buffer, &metrics))
		return;
	for (size_t i = 0; i < metrics.count; i++) {
		const struct weft__metrics_sample sample = {
			.program = buffer->process, .pid = (pid_t)buffer->pid, .counter = &metrics.list[i]};
		if (metrics.list[i].type != WEFT__RUNS_HISTOGRAM || !metrics.list[i].histogram.count)
			continue;
		add(text, &sample, position);
		*position = (struct position){false, false};
	}
	weft__runs_counters_finish(&metrics);
}

/* Adds all histograms that have values. */
static void add_all(struct weft_text *text, const struct stats_side *side, add_histogram *add)
{
	const struct weft_trace_description *trace =
		side->trace.input ? weft_decoder_describe(side->trace.decoder) : NULL;
	struct position position = {.is_first = true};
	for (uint32_t i = 0; trace && i < trace->buffer_count; i++) {
		position.is_first_of_program = trace->buffer_count > 1;
		add_program(text, &trace->buffers[i], add, &position);
	}
}

static void add_line(struct weft_text *text, const struct weft__metrics_sample *sample,
	const struct position *position)
{
	if (position->is_first || position->is_first_of_program)
		weft_text_add_string(text, "\nvalues at the end     histogram");
	if (position->is_first_of_program) {
		weft_text_add_string(text, " of ");
		weft_text_add_shown(text, sample->program, strlen(sample->program));
		cli_add_number(text, " ", (uint64_t)sample->pid);
	}
	if (position->is_first || position->is_first_of_program)
		weft_text_add_string(text, "\n");
	metrics_add_value(text, sample->counter);
}

void stats_add_histograms(struct weft_text *text, const struct stats_side *side)
{
	add_all(text, side, add_line);
}

static void add_object(struct weft_text *text, const struct weft__metrics_sample *sample,
	const struct position *position)
{
	weft_text_add_string(text, position->is_first ? "" : ",");
	metrics_add_json(text, sample);
}

void stats_add_histograms_json(struct weft_text *text, const struct stats_side *side)
{
	weft_text_add_string(text, ",\"histograms\":[");
	add_all(text, side, add_object);
	weft_text_add_string(text, "]");
}

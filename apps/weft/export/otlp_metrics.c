/* SPDX-License-Identifier: ISC
 *
 * Units are written as in UCUM: "ns" instead of seconds of which the program counts 10^-9. Where
 * there is no such prefix, values are converted.
 */
#include "otlp_metrics.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "metrics/levels.h"
#include "metrics/programs.h"

struct otlp_metrics_buffer {
	struct weft__runs_counters counters;
	struct weft__metrics_sample *samples;
	struct weft__metrics_levels levels;
};

struct unit {
	const char *name;
	int scale; /* the power of ten that converts to it */
};

static struct unit unit_of(const struct weft__runs_counter *counter)
{
	static const char *const parts_of_seconds[] = {"s", "ms", "us", "ns"};
	const struct weft__unit base = weft__metrics_base_unit(counter);
	if (strcmp(base.name, "seconds") == 0) {
		if (base.scale <= 0 && base.scale >= -9 && base.scale % 3 == 0)
			return (struct unit){parts_of_seconds[-base.scale / 3], 0};
		return (struct unit){"s", base.scale};
	}
	if (strcmp(base.name, "bytes") == 0)
		return (struct unit){"By", base.scale};
	if (strcmp(base.name, "ratio") == 0)
		return (struct unit){"1", base.scale};
	return (struct unit){base.name, base.scale};
}

static enum weft_otlp_metric_type type_of(const struct weft__runs_counter *counter)
{
	if (counter->type == WEFT__RUNS_HISTOGRAM)
		return WEFT_OTLP_HISTOGRAM;
	return counter->type == WEFT__RUNS_COUNTER ? WEFT_OTLP_SUM : WEFT_OTLP_GAUGE;
}

static struct weft_number value_of(const struct weft__runs_counter *counter, int scale)
{
	if (!counter->is_real && scale == 0)
		return (struct weft_number){.integer = counter->integer, .real = counter->real};
	return (struct weft_number){.real = weft__unit_scaled(counter->real, scale), .is_real = true};
}

/* A label has the same members in both structs. */
_Static_assert(sizeof(struct weft_otlp_label) == sizeof(struct weft__runs_label), "labels");

static struct weft_otlp_metric describe(
	const struct weft__runs_counter *counter, uint32_t buffer, uint64_t time_ns)
{
	const struct unit unit = unit_of(counter);
	const struct weft__runs_histogram *histogram = &counter->histogram;
	return (struct weft_otlp_metric){
		.buffer = buffer,
		.type = type_of(counter),
		.is_monotonic = counter->type == WEFT__RUNS_COUNTER,
		.name = counter->name,
		.description = counter->help,
		.unit = unit.name,
		.labels = (const struct weft_otlp_label *)counter->labels,
		.label_count = counter->label_count,
		.start_unix_ns = counter->created_unix_ns,
		.time_ns = time_ns,
		.value = value_of(counter, unit.scale),
		.cells = histogram->cells,
		.cell_count = histogram->cell_count,
		.first_exponent = histogram->first_exponent,
		.factor = weft__unit_scaled(1, unit.scale),
		.sum = weft__unit_scaled((double)histogram->sum, unit.scale),
	};
}

static bool add_all(struct otlp_metrics *metrics, const struct weft__metrics_levels *levels,
	uint32_t number, uint64_t time_ns)
{
	struct weft_otlp_metric *list =
		realloc(metrics->list, (metrics->count + levels->count + 1) * sizeof(*list));
	if (!list)
		return false;
	metrics->list = list;
	for (size_t i = 0; i < levels->count; i++)
		list[metrics->count++] = describe(levels->samples[i].counter, number, time_ns);
	return true;
}

static bool read_buffer(const struct weft_trace_buffer *about, uint32_t number, uint64_t end_ns,
	struct otlp_metrics *metrics)
{
	struct otlp_metrics_buffer *buffer = &metrics->buffers[metrics->buffer_count];
	if (!metrics_trace_buffer(about, &buffer->counters))
		return true;
	metrics->buffer_count++;
	buffer->samples = calloc(buffer->counters.count + 1, sizeof(*buffer->samples));
	if (!buffer->samples)
		return false;
	for (size_t i = 0; i < buffer->counters.count; i++)
		buffer->samples[i] = (struct weft__metrics_sample){
			.program = about->process, .counter = &buffer->counters.list[i]};
	return weft__metrics_levels_init(
			   &buffer->levels, buffer->samples, buffer->counters.count, SIZE_MAX) &&
		   add_all(metrics, &buffer->levels, number, about->end_ns ? about->end_ns : end_ns);
}

bool otlp_metrics_read(const struct weft_trace_description *trace, const struct weft_model *model,
	struct otlp_metrics *ret_metrics)
{
	bool good = true;
	*ret_metrics = (struct otlp_metrics){
		.buffers = calloc(trace->buffer_count + (size_t)1, sizeof(*ret_metrics->buffers))};
	for (uint32_t i = 0; good && ret_metrics->buffers && i < trace->buffer_count; i++)
		good = read_buffer(&trace->buffers[i], i, model->summary.end, ret_metrics);
	return good && ret_metrics->buffers;
}

void otlp_metrics_finish(struct otlp_metrics *metrics)
{
	for (size_t i = 0; i < metrics->buffer_count; i++) {
		weft__metrics_levels_finish(&metrics->buffers[i].levels);
		weft__runs_counters_finish(&metrics->buffers[i].counters);
		free(metrics->buffers[i].samples);
	}
	free(metrics->buffers);
	free(metrics->list);
}

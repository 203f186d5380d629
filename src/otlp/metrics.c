/* SPDX-License-Identifier: ISC
 *
 * Counters and metrics.
 */
#include <weft/otlp.h>

#include <string.h>

#include "base/export.h"
#include "otlp/histogram.h"
#include "otlp/writer.h"

#define CUMULATIVE 2
#define NS_PER_S   UINT64_C(1000000000)

/* ---- A metric and its points ---- */

static bool has_text(const char *text)
{
	return text && *text;
}

static void begin_metric(struct weft__otlp_encoder *e, struct weft_slice name,
	const char *description, const char *unit, unsigned data)
{
	weft__otlp_begin(e, WEFT__OTLP_METRIC);
	weft__otlp_put_text(e, WEFT__OTLP_METRIC_NAME, name);
	if (has_text(description))
		weft__otlp_put_string(e, WEFT__OTLP_METRIC_DESCRIPTION, description);
	if (has_text(unit))
		weft__otlp_put_string(e, WEFT__OTLP_METRIC_UNIT, unit);
	weft__otlp_begin(e, data);
}

static void end_metric(struct weft__otlp_encoder *e, unsigned data, bool is_monotonic)
{
	if (data != WEFT__OTLP_METRIC_GAUGE)
		weft__otlp_put_integer(e, WEFT__OTLP_DATA_TEMPORALITY, CUMULATIVE);
	if (data == WEFT__OTLP_METRIC_SUM)
		weft__otlp_put_integer(e, WEFT__OTLP_SUM_MONOTONIC, is_monotonic);
	weft__otlp_end(e);
	weft__otlp_end(e);
}

static void begin_point(struct weft__otlp_encoder *e, uint64_t start_unix_ns, uint64_t unix_ns)
{
	weft__otlp_begin(e, WEFT__OTLP_DATA_POINT);
	if (start_unix_ns)
		weft__otlp_put_integer(e, WEFT__OTLP_POINT_START, start_unix_ns);
	weft__otlp_put_integer(e, WEFT__OTLP_POINT_TIME, unix_ns);
}

static void put_number(struct weft__otlp_encoder *e, struct weft_number number)
{
	if (number.is_real)
		weft__otlp_put_real(e, WEFT__OTLP_NUMBER_REAL, number.real);
	else
		weft__otlp_put_integer(e, WEFT__OTLP_NUMBER_INTEGER, (uint64_t)number.integer);
}

/* ---- Counters of events ---- */

/* One that the program also sets is a gauge. Of the others, the changes count: from the trace's
 * start on if the value before is unknown or 0, else since an unknown time. */
static int write_counter(struct weft__otlp_writer *w, const struct weft_counter *counter)
{
	const struct weft_model *model = w->model;
	struct weft__otlp_encoder *e = &w->encoder;
	const unsigned data = counter->sets ? WEFT__OTLP_METRIC_GAUGE : WEFT__OTLP_METRIC_SUM;
	const bool is_from_start =
		!counter->sets &&
		(counter->is_relative || (counter->start.real == 0 && counter->start.integer == 0));
	const uint64_t start = is_from_start ? weft__otlp_unix_ns(w, model->summary.start) : 0;
	int error = weft__otlp_writer_open(w, counter->buffer);
	if (error)
		return error;
	begin_metric(e, weft_model_string(model, counter->name), NULL, NULL, data);
	for (uint32_t i = counter->first; i < counter->first + counter->count; i++) {
		const uint64_t time = model->samples.time[i];
		if (i + 1 < counter->first + counter->count &&
			model->samples.time[i + 1] / NS_PER_S == time / NS_PER_S)
			continue;
		begin_point(e, start, weft__otlp_unix_ns(w, time));
		put_number(e, weft_counter_number(model, counter, i));
		weft__otlp_end(e);
		w->count++;
		w->summary.spans++;
	}
	end_metric(e, data, false);
	return e->text.error;
}

/* ---- Metrics at the end ---- */

static unsigned data_of(const struct weft_otlp_metric *m)
{
	if (m->type == WEFT_OTLP_HISTOGRAM)
		return weft__otlp_is_exponential(m) ? WEFT__OTLP_METRIC_EXPONENTIAL
											: WEFT__OTLP_METRIC_HISTOGRAM;
	return m->type == WEFT_OTLP_SUM ? WEFT__OTLP_METRIC_SUM : WEFT__OTLP_METRIC_GAUGE;
}

static bool is_one_metric(const struct weft_otlp_metric *l, const struct weft_otlp_metric *r)
{
	return l->buffer == r->buffer && data_of(l) == data_of(r) &&
		   l->is_monotonic == r->is_monotonic && strcmp(l->name, r->name) == 0 &&
		   strcmp(l->unit, r->unit) == 0;
}

static void write_point(
	struct weft__otlp_writer *w, const struct weft_otlp_metric *m, unsigned data)
{
	struct weft__otlp_encoder *e = &w->encoder;
	const unsigned attribute =
		data == WEFT__OTLP_METRIC_EXPONENTIAL ? WEFT__OTLP_EXPONENTIAL_ATTRIBUTE
		: data == WEFT__OTLP_METRIC_HISTOGRAM ? WEFT__OTLP_HISTOGRAM_ATTRIBUTE
											  : WEFT__OTLP_NUMBER_ATTRIBUTE;
	begin_point(e, data == WEFT__OTLP_METRIC_GAUGE ? 0 : m->start_unix_ns,
		weft__otlp_unix_ns(w, m->time_ns));
	for (size_t i = 0; i < m->label_count; i++)
		weft__otlp_attribute_text(e, attribute, m->labels[i].key, m->labels[i].value);
	if (data == WEFT__OTLP_METRIC_EXPONENTIAL)
		weft__otlp_write_exponential(e, m);
	else if (data == WEFT__OTLP_METRIC_HISTOGRAM)
		weft__otlp_write_histogram(e, m);
	else
		put_number(e, m->value);
	weft__otlp_end(e);
}

/* Writes the first of the list, and those that are further points of the same metric. */
static int write_metric(struct weft__otlp_writer *w, const struct weft_otlp_metric *list,
	size_t count, size_t *ret_taken)
{
	const unsigned data = data_of(list);
	size_t i = 0;
	int error = weft__otlp_writer_open(w, list->buffer);
	if (error)
		return error;
	begin_metric(&w->encoder, (struct weft_slice){list->name, strlen(list->name)},
		list->description, list->unit, data);
	for (; i < count && is_one_metric(list, &list[i]); i++) {
		write_point(w, &list[i], data);
		w->count++;
		w->summary.spans++;
	}
	end_metric(&w->encoder, data, list->is_monotonic);
	*ret_taken = i;
	return w->encoder.text.error;
}

WEFT__EXPORT int weft_otlp_write_metrics(const struct weft_model *model,
	const struct weft_otlp_options *options, const struct weft_otlp_metric *metrics, size_t count,
	const struct weft_otlp_sink *sink, uint64_t *ret_points)
{
	struct weft__otlp_writer w;
	int error = weft__otlp_writer_init(&w, model, options, sink, WEFT_OTLP_METRICS);
	for (uint32_t i = 0; !error && i < model->counter_count; i++)
		if (model->counters[i].count)
			error = write_counter(&w, &model->counters[i]);
	for (size_t i = 0, taken; !error && i < count; i += taken)
		error = write_metric(&w, metrics + i, count - i, &taken);
	if (!error)
		error = weft__otlp_writer_flush(&w);
	weft__otlp_writer_finish(&w);
	if (!error)
		*ret_points = w.summary.spans;
	return error;
}

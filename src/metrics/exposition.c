/* SPDX-License-Identifier: ISC
 *
 * See exposition.h. OpenMetrics has more than the older text: units, and the time at which a
 * counter began at 0. A counter's family has no _total in OpenMetrics, only its values have.
 */
#include "metrics/exposition.h"

#include <math.h>

#include "base/ns.h"
#include "metrics/families.h"
#include "metrics/levels.h"
#include "metrics/names.h"

/* A histogram's classic buckets: one for each factor of two. */
#define CELLS_PER_BUCKET 8

struct writer {
	struct weft_text *text;
	bool is_openmetrics;
};

/* ---- Values ---- */

/* Begins a line: name{labels, bound} */
static void add_name(const struct writer *writer, const struct weft__metrics_series *series,
	const char *suffix, const char *bound)
{
	weft_text_add_string(writer->text, series->family);
	weft_text_add_string(writer->text, suffix);
	weft_text_add_string(writer->text, "{");
	weft_text_add_string(writer->text, series->labels);
	weft_text_add_string(writer->text, bound);
	weft_text_add_string(writer->text, "} ");
}

static void add_created(const struct writer *writer, const struct weft__metrics_series *series)
{
	const uint64_t created_ns = series->sample->counter->created_unix_ns;
	if (!writer->is_openmetrics || !created_ns)
		return;
	add_name(writer, series, "_created", "");
	weft__metrics_add_scaled(writer->text, created_ns, -9);
	weft_text_add_string(writer->text, "\n");
}

/* Whole numbers are written as 8.0, as OpenMetrics has them. */
static void add_bound(struct weft_text *text, double bound)
{
	weft_text_add_string(text, ",le=\"");
	if (isfinite(bound))
		weft_text_add_f64(text, bound);
	else
		weft_text_add_string(text, "+Inf");
	if (isfinite(bound) && bound == floor(bound) && bound < 1e15)
		weft_text_add_string(text, ".0");
	weft_text_add(text, "\"", 2); /* with the NUL */
}

/* OpenMetrics has exemplars behind the values of counters and of buckets. */
static void add_exemplar(const struct writer *writer, const struct weft__metrics_series *series)
{
	const struct weft__runs_exemplar *it = &series->sample->counter->exemplar;
	struct weft_text *text = writer->text;
	weft_text_add_string(text, " # {");
	if (it->task != UINT64_MAX) {
		weft_text_add_string(text, "task=\"");
		weft_text_add_u64(text, it->task);
		weft_text_add_string(text, "\"");
	}
	weft_text_add_string(text, "} ");
	weft__metrics_add_scaled(text, it->value, series->unit.scale);
	if (it->unix_ns) {
		weft_text_add_string(text, " ");
		weft__metrics_add_scaled(text, it->unix_ns, -9);
	}
}

/* True if the exemplar is in the bucket between those bounds. */
static bool is_in(const struct weft__metrics_series *series, double above, double bound)
{
	const struct weft__runs_exemplar *it = &series->sample->counter->exemplar;
	const double value = weft__unit_scaled((double)it->value, series->unit.scale);
	return it->is_there && value > above && value <= bound;
}

static void add_bucket(const struct writer *writer, const struct weft__metrics_series *series,
	double above, double bound, uint64_t count)
{
	struct weft_text label = {0};
	add_bound(&label, bound);
	add_name(writer, series, "_bucket", label.error ? "" : label.bytes);
	weft_text_add_u64(writer->text, count);
	if (writer->is_openmetrics && is_in(series, above, bound))
		add_exemplar(writer, series);
	weft_text_add_string(writer->text, "\n");
	writer->text->error = writer->text->error ? writer->text->error : label.error;
	weft_text_finish(&label);
}

static void add_histogram(const struct writer *writer, const struct weft__metrics_series *series)
{
	const struct weft__runs_histogram *histogram = &series->sample->counter->histogram;
	uint64_t count = 0;
	double above = -INFINITY;
	for (uint32_t i = 0; i < histogram->cell_count; i++) {
		const double bound = weft__metrics_cell_bound(series->sample->counter, i);
		count = weft__ns_add(count, histogram->cells[i]);
		if (i % CELLS_PER_BUCKET != 0 || i + 1 >= histogram->cell_count)
			continue;
		add_bucket(writer, series, above, bound, count);
		above = bound;
	}
	add_bucket(writer, series, above, INFINITY, count);
	add_name(writer, series, "_count", "");
	weft_text_add_u64(writer->text, count);
	weft_text_add_string(writer->text, "\n");
	add_name(writer, series, "_sum", "");
	weft__metrics_add_scaled(writer->text, histogram->sum, series->unit.scale);
	weft_text_add_string(writer->text, "\n");
	add_created(writer, series);
}

static void add_series(const struct writer *writer, const struct weft__metrics_series *series)
{
	const enum weft__runs_type type = series->sample->counter->type;
	if (type == WEFT__RUNS_HISTOGRAM) {
		add_histogram(writer, series);
		return;
	}
	add_name(writer, series, type == WEFT__RUNS_COUNTER ? "_total" : "", "");
	weft__metrics_add_value(writer->text, series->sample->counter);
	if (writer->is_openmetrics && type == WEFT__RUNS_COUNTER &&
		series->sample->counter->exemplar.is_there)
		add_exemplar(writer, series);
	weft_text_add_string(writer->text, "\n");
	if (type == WEFT__RUNS_COUNTER)
		add_created(writer, series);
}

/* ---- Families ---- */

static const char *type_of(const struct writer *writer, enum weft__runs_type type)
{
	bool is_untyped = type == WEFT__RUNS_UNKNOWN && !writer->is_openmetrics;
	return is_untyped ? "untyped" : weft__metrics_type_name(type);
}

/* Begins a line about a family. */
static void begin_family(
	const struct writer *writer, const char *what, const struct weft__metrics_series *first)
{
	weft_text_add_string(writer->text, what);
	weft_text_add_string(writer->text, first->family);
	if (first->sample->counter->type == WEFT__RUNS_COUNTER && !writer->is_openmetrics)
		weft_text_add_string(writer->text, "_total");
	weft_text_add_string(writer->text, " ");
}

/* Without a help, the name as the program has it. */
static void add_help(const struct writer *writer, const struct weft__runs_counter *counter)
{
	if (counter->help[0]) {
		weft__metrics_add_escaped(writer->text, counter->help, writer->is_openmetrics);
		return;
	}
	weft_text_add_string(writer->text, "The counter ");
	weft__metrics_add_escaped(writer->text, counter->name, writer->is_openmetrics);
	weft_text_add_string(writer->text, ".");
}

static void add_head(const struct writer *writer, const struct weft__metrics_series *first)
{
	const struct weft__runs_counter *counter = first->sample->counter;
	begin_family(writer, "# HELP ", first);
	add_help(writer, counter);
	weft_text_add_string(writer->text, "\n");
	begin_family(writer, "# TYPE ", first);
	weft_text_add_string(writer->text, type_of(writer, counter->type));
	weft_text_add_string(writer->text, "\n");
	/* The format has units only of names that end with one behind something else. */
	if (!writer->is_openmetrics || !first->has_unit)
		return;
	begin_family(writer, "# UNIT ", first);
	weft__metrics_add_name(writer->text, first->unit.name);
	weft_text_add_string(writer->text, "\n");
}

static void add_left_out(struct weft_text *text, size_t count)
{
	weft_text_add_string(text,
		"# HELP " WEFT__METRICS_LEFT_OUT
		" Series that are left out, because they would not be valid or others have their names.\n"
		"# TYPE " WEFT__METRICS_LEFT_OUT " gauge\n" WEFT__METRICS_LEFT_OUT " ");
	weft_text_add_u64(text, count);
	weft_text_add_string(text, "\n");
}

static void add_families(const struct writer *writer, const struct weft__metrics_families *families)
{
	for (size_t i = 0; i < families->count; i++) {
		const struct weft__metrics_series *series = &families->series[i];
		if (!i || !weft__metrics_is_one_family(series - 1, series))
			add_head(writer, series);
		add_series(writer, series);
	}
}

void weft__metrics_expose(const struct weft__metrics_exposition *exposition,
	const struct weft__metrics_sample *samples, size_t count, struct weft_text *text)
{
	const struct writer writer = {text, exposition->is_openmetrics};
	struct weft__metrics_levels levels = {0};
	struct weft__metrics_families families = {0};
	if (weft__metrics_levels_init(&levels, samples, count, exposition->depth) &&
		weft__metrics_families_init(
			&families, levels.samples, levels.count, exposition->left_out)) {
		add_families(&writer, &families);
		if (exposition->counts_left_out)
			add_left_out(text, families.left_out);
		if (exposition->is_openmetrics)
			weft_text_add_string(text, "# EOF\n");
	} else {
		text->error = WEFT_ERROR_MEMORY;
	}
	weft__metrics_families_finish(&families);
	weft__metrics_levels_finish(&levels);
}

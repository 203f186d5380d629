/* SPDX-License-Identifier: ISC
 *
 * A counter on a line: text for people, JSON for programs.
 */
#include "metrics/programs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "runs/message.h"

/* ---- Text ---- */

static void add_labels(struct weft_text *text, const struct weft__runs_counter *counter)
{
	for (size_t i = 0; i < counter->label_count; i++) {
		const struct weft__runs_label *label = &counter->labels[i];
		weft_text_add_string(text, i ? "," : "{");
		weft_text_add_shown(text, label->key, strlen(label->key));
		weft_text_add_string(text, "=");
		weft_text_add_quoted(text, label->value, strlen(label->value));
	}
	weft_text_add_string(text, counter->label_count ? "}" : "");
}

static void add_number(struct weft_text *text, const char *name, double number)
{
	char digits[32] = "beyond";
	if (isfinite(number))
		snprintf(digits, sizeof(digits), "%.4g", number);
	weft_text_add_string(text, name);
	weft_text_add_string(text, digits);
}

/* The sizes of a histogram's values. */
static void add_sizes(struct weft_text *text, const struct weft__runs_counter *counter)
{
	const struct weft__runs_histogram *histogram = &counter->histogram;
	if (!histogram->count)
		return;
	add_number(text, "  mean ",
		weft__unit_scaled((double)histogram->sum / (double)histogram->count,
			weft__metrics_base_unit(counter).scale));
	add_number(text, ", 50 % up to ", weft__metrics_quantile(counter, 0.5));
	add_number(text, ", 99 % up to ", weft__metrics_quantile(counter, 0.99));
}

static void add_unit(struct weft_text *text, const struct weft__runs_counter *counter)
{
	const char *unit = weft__metrics_base_unit(counter).name;
	if (counter->type == WEFT__RUNS_HISTOGRAM)
		add_sizes(text, counter);
	else if (unit[0])
		weft_text_add_string(text, " ");
	if (!unit[0])
		return;
	weft_text_add_string(text, " ");
	weft_text_add_shown(text, unit, strlen(unit));
}

void metrics_add_text_head(struct weft_text *text)
{
	weft_text_add_string(text, "pid      program           value                 counter\n");
}

/* How to look at the moment, in the trace or in the program that still records. */
static void add_exemplar(struct weft_text *text, const struct weft__runs_counter *counter)
{
	const struct weft__runs_exemplar *it = &counter->exemplar;
	const size_t column = text->size;
	if (!it->is_there || it->task == UINT64_MAX)
		return;
	weft_text_pad(text, column, 27);
	weft_text_add_string(text, "like ");
	weft__metrics_add_scaled(text, it->value, weft__metrics_base_unit(counter).scale);
	weft_text_add_string(text, ": weft why FILE task:");
	weft_text_add_u64(text, it->task);
	weft_text_add_string(text, " --at @");
	weft_text_add_u64(text, it->monotonic_ns);
	weft_text_add_string(text, "\n");
}

void metrics_add_text(struct weft_text *text, const struct weft__metrics_sample *sample)
{
	size_t column = text->size;
	if (sample->pid || sample->is_domain)
		weft_text_add_u64(text, (uint64_t)sample->pid);
	else
		weft_text_add_string(text, "all");
	weft_text_pad(text, column, 9);
	weft_text_add_string(text, weft__runs_shown(sample->program));
	weft_text_pad(text, column, 27);
	metrics_add_value(text, sample->counter);
	add_exemplar(text, sample->counter);
}

void metrics_add_value(struct weft_text *text, const struct weft__runs_counter *counter)
{
	size_t column = text->size;
	weft__metrics_add_value(text, counter);
	weft_text_pad(text, column, 22);
	weft_text_add_string(text, weft__runs_shown(counter->name));
	add_labels(text, counter);
	add_unit(text, counter);
	weft_text_add_string(text, "\n");
}

/* ---- JSON ---- */

static void add_label_members(struct weft_text *text, const struct weft__runs_counter *counter)
{
	if (!counter->label_count)
		return;
	weft_text_add_string(text, ",\"labels\":{");
	for (size_t i = 0; i < counter->label_count; i++) {
		const struct weft__runs_label *label = &counter->labels[i];
		weft_text_add_string(text, i ? "," : "");
		weft_text_add_json(text, label->key, strlen(label->key));
		weft_text_add_string(text, ":");
		weft_text_add_json(text, label->value, strlen(label->value));
	}
	weft_text_add_string(text, "}");
}

/* Only cells that have counted something, each with its upper bound: null for the last one. */
static void add_histogram(struct weft_text *text, const struct weft__runs_counter *counter)
{
	const struct weft__runs_histogram *histogram = &counter->histogram;
	bool has_any = false;
	weft_text_add_string(text, ",\"sum\":");
	weft__metrics_add_scaled(text, histogram->sum, weft__metrics_base_unit(counter).scale);
	weft_text_add_string(text, ",\"buckets\":[");
	for (uint32_t i = 0; i < histogram->cell_count; i++) {
		if (!histogram->cells[i])
			continue;
		weft_text_add_string(text, has_any ? ",[" : "[");
		weft_text_add_f64(text, weft__metrics_cell_bound(counter, i));
		weft_text_add_string(text, ",");
		weft_text_add_u64(text, histogram->cells[i]);
		weft_text_add_string(text, "]");
		has_any = true;
	}
	weft_text_add_string(text, "]");
}

void metrics_add_json_exemplar(struct weft_text *text, const struct weft__runs_counter *counter)
{
	const struct weft__runs_exemplar *it = &counter->exemplar;
	weft_text_add_string(text, ",\"exemplar\":{\"value\":");
	weft__metrics_add_scaled(text, it->value, weft__metrics_base_unit(counter).scale);
	weft_text_add_string(text, ",\"task\":");
	if (it->task != UINT64_MAX)
		weft_text_add_u64(text, it->task);
	else
		weft_text_add_string(text, "null");
	weft_text_add_string(text, ",\"time\":");
	weft_text_add_u64(text, it->monotonic_ns);
	if (it->unix_ns) {
		weft_text_add_string(text, ",\"unix\":");
		weft__metrics_add_scaled(text, it->unix_ns, -9);
	}
}

void metrics_add_json(struct weft_text *text, const struct weft__metrics_sample *sample)
{
	const struct weft__runs_counter *counter = sample->counter;
	const char *unit = weft__metrics_base_unit(counter).name;
	weft_text_add_string(text, sample->is_domain ? "{\"domain\":"
							   : sample->pid     ? "{\"pid\":"
												 : "{\"uid\":");
	if (sample->pid || sample->is_domain)
		weft_text_add_u64(text, (uint64_t)sample->pid);
	else
		weft_text_add_string(text, sample->user ? sample->user : "null");
	cli_add_json(text, ",\"program\":", sample->program);
	cli_add_json(text, ",\"counter\":", counter->name);
	add_label_members(text, counter);
	if (counter->type != WEFT__RUNS_UNKNOWN)
		cli_add_json(text, ",\"type\":", weft__metrics_type_name(counter->type));
	if (unit[0])
		cli_add_json(text, ",\"unit\":", unit);
	weft_text_add_string(text, ",\"value\":");
	weft__metrics_add_value(text, counter);
	if (counter->type == WEFT__RUNS_HISTOGRAM)
		add_histogram(text, counter);
	if (counter->exemplar.is_there) {
		metrics_add_json_exemplar(text, counter);
		weft_text_add_string(text, "}");
	}
	weft_text_add_string(text, "}");
}

/* SPDX-License-Identifier: ISC
 *
 * Values in few columns, and in a sentence. Numbers have three digits and the letter of a power of
 * ten; lengths of time have their usual units.
 */
#include "top.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Cells ---- */

struct prefix {
	double size;
	const char *letter;
};

/* The first prefix that is not too large, or the last one. */
static struct prefix prefix_of(const struct prefix *prefixes, double size)
{
	/* Numbers that are rounded to 1000 have the next letter. */
	while (prefixes[1].letter && size < 0.9995 * prefixes->size)
		prefixes++;
	return *prefixes;
}

static void format_number(
	double value, const char *letter, const char *unit, bool per_second, char cell[TOP_CELL_BYTES])
{
	double size = fabs(value);
	int digits = !letter[0] && size == floor(size) ? 0 : size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
	snprintf(cell, TOP_CELL_BYTES, "%.*f%s%s%s%s", digits, value, unit[0] ? " " : "", letter, unit,
		per_second ? "/s" : "");
}

void top_format(double value, const char *unit, bool per_second, char ret_cell[TOP_CELL_BYTES])
{
	static const struct prefix powers[] = {{1e18, "E"}, {1e15, "P"}, {1e12, "T"}, {1e9, "G"},
		{1e6, "M"}, {1e3, "k"}, {1, ""}, {0, NULL}};
	static const struct prefix parts[] = {
		{1, ""}, {1e-3, "m"}, {1e-6, "u"}, {1e-9, "n"}, {0, NULL}};
	const bool is_time = strcmp(unit, "seconds") == 0;
	const double size = fabs(value);
	ret_cell[0] = '\0';
	if (!isfinite(value))
		return;
	struct prefix prefix = prefix_of(is_time && size < 1000 ? parts : powers, size);
	if (size == 0)
		prefix = (struct prefix){1, ""};
	if (size / prefix.size >= 1e4 || (size / prefix.size < 0.005 && size > 0))
		snprintf(ret_cell, TOP_CELL_BYTES, "%.1e%s", value, per_second ? "/s" : "");
	else
		format_number(value / prefix.size, prefix.letter,
			is_time                      ? "s"
			: strcmp(unit, "bytes") == 0 ? "B"
										 : "",
			per_second, ret_cell);
}

/* The number of a histogram's values has no unit. */
static const char *unit_of(const struct top_node *node)
{
	return node->counter->type == WEFT__RUNS_HISTOGRAM
			   ? ""
			   : weft__metrics_base_unit(node->counter).name;
}

void top_format_value(
	const struct top_forest *forest, const struct top_node *node, char ret_cell[TOP_CELL_BYTES])
{
	ret_cell[0] = '\0';
	if (node->counter)
		top_format(node->value, unit_of(node), false, ret_cell);
	else if (node->kind == TOP_PROGRAM && forest->programs[node->program].ended)
		strcpy(ret_cell, "ended");
}

void top_format_rate(const struct top_node *node, char ret_cell[TOP_CELL_BYTES])
{
	ret_cell[0] = '\0';
	if (node->counter)
		top_format(node->rate, unit_of(node), true, ret_cell);
}

/* ---- Pictures ---- */

/* The largest sample in a column. */
static double column_of(
	const struct top_forest *forest, const float *samples, unsigned column, unsigned columns)
{
	unsigned first = column * TOP_SAMPLES / columns, end = (column + 1) * TOP_SAMPLES / columns;
	double most = NAN;
	for (unsigned i = first; i < end; i++) {
		/* The newest one is the last. */
		uint64_t sample = forest->sample + 1 + i;
		float it = samples[sample % TOP_SAMPLES];
		if (!isnan(it) && !(most >= (double)it))
			most = (double)it;
	}
	return most;
}

/* A counter of unknown type is shown by its rate as long as it only grows. */
static const float *samples_of(const struct top_node *node)
{
	const struct top_history *history = node->history;
	if (node->counter->type == WEFT__RUNS_GAUGE)
		return history->value;
	for (unsigned i = 0; node->counter->type == WEFT__RUNS_UNKNOWN && i < TOP_SAMPLES; i++)
		if (history->rate[i] < 0)
			return history->value;
	return history->rate;
}

void top_add_picture(struct weft_text *text, const struct top_forest *forest,
	const struct top_node *node, unsigned columns, bool has_utf8)
{
	static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const letters[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
	double least = 0, most = 0;
	if (!node->counter || !node->history || !columns || columns > TOP_SAMPLES)
		return;
	const float *samples = samples_of(node);
	for (unsigned i = 0; i < TOP_SAMPLES; i++) {
		least = (double)samples[i] < least ? (double)samples[i] : least;
		most = (double)samples[i] > most ? (double)samples[i] : most;
	}
	for (unsigned i = 0; i < columns; i++) {
		double it = column_of(forest, samples, i, columns);
		double level = most > least ? 7.99 * (it - least) / (most - least) : 0;
		if (isnan(it))
			weft_text_add_string(text, " ");
		else
			weft_text_add_string(text, (has_utf8 ? blocks : letters)[(unsigned)level]);
	}
}

/* ---- Sentences ---- */

static void add_number(struct weft_text *text, const char *before, double value, const char *unit)
{
	char cell[TOP_CELL_BYTES];
	top_format(value, unit, false, cell);
	weft_text_add_string(text, before);
	weft_text_add_string(text, cell[0] ? cell : "more than the last bound");
}

static void add_histogram(struct weft_text *text, const struct weft__runs_counter *counter)
{
	const struct weft__unit unit = weft__metrics_base_unit(counter);
	const struct weft__runs_histogram *histogram = &counter->histogram;
	if (!histogram->count)
		return;
	add_number(text, ", mean ",
		weft__unit_scaled((double)histogram->sum / (double)histogram->count, unit.scale),
		unit.name);
	add_number(text, ", 50 % up to ", weft__metrics_quantile(counter, 0.5), unit.name);
	add_number(text, ", 99 % up to ", weft__metrics_quantile(counter, 0.99), unit.name);
}

static void add_counter(struct weft_text *text, const struct weft__runs_counter *counter)
{
	const char *unit = weft__metrics_base_unit(counter).name;
	weft_text_add_string(text, ": ");
	weft__metrics_add_value(text, counter);
	weft_text_add_string(text, counter->type == WEFT__RUNS_HISTOGRAM ? " values" : "");
	if (unit[0] && counter->type != WEFT__RUNS_HISTOGRAM) {
		weft_text_add_string(text, " ");
		weft_text_add_shown(text, unit, strlen(unit));
	}
	if (counter->type != WEFT__RUNS_UNKNOWN) {
		weft_text_add_string(text, ", ");
		weft_text_add_string(text, weft__metrics_type_name(counter->type));
	}
	if (counter->type == WEFT__RUNS_HISTOGRAM)
		add_histogram(text, counter);
	if (counter->help[0]) {
		weft_text_add_string(text, ". ");
		weft_text_add_shown(text, counter->help, strlen(counter->help));
	}
}

static void add_name(struct weft_text *text, const struct weft__runs_counter *counter)
{
	weft_text_add_shown(text, counter->name, strlen(counter->name));
	for (size_t i = 0; i < counter->label_count; i++) {
		weft_text_add_string(text, i ? "," : "{");
		weft_text_add_shown(text, counter->labels[i].key, strlen(counter->labels[i].key));
		weft_text_add_string(text, "=");
		weft_text_add_shown(text, counter->labels[i].value, strlen(counter->labels[i].value));
	}
	weft_text_add_string(text, counter->label_count ? "}" : "");
}

/* Appends the parts of a name down to a node. */
static void add_parts(
	struct weft_text *text, const struct top_forest *forest, const struct top_node *node)
{
	const uint32_t number = (uint32_t)(node - forest->nodes);
	bool is_first = true;
	for (uint32_t i = 0; i <= number; i++) {
		const struct top_node *at = &forest->nodes[i];
		if (at->program != node->program || at->kind == TOP_PROGRAM || at->end <= number)
			continue;
		weft_text_add_string(text, is_first ? "" : at->kind == TOP_NAME ? "/" : ", ");
		weft_text_add_string(text, at->text);
		is_first = false;
	}
}

void top_add_details(
	struct weft_text *text, const struct top_forest *forest, const struct top_node *node)
{
	const struct top_program *program = &forest->programs[node->program];
	if (node->counter) {
		add_name(text, node->counter);
		add_counter(text, node->counter);
		return;
	}
	add_parts(text, forest, node);
	weft_text_add_string(text, node->kind == TOP_PROGRAM ? "" : " of ");
	weft_text_add_string(text, program->is_domain ? "domain " : "process ");
	weft_text_add_u64(text, (uint64_t)program->linked.pid);
	weft_text_add_string(text, program->ended ? ", which has ended" : "");
}

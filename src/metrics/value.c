/* SPDX-License-Identifier: ISC
 *
 * Values of counters as numbers in base units: a duration that the program counts in nanoseconds is
 * written in seconds, exactly, because each power of ten only moves the decimal point.
 */
#include "metrics/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/metric_rows.h"

/* ---- Labels ---- */

static bool has_label(const struct weft__metrics_sample *sample, const char *label)
{
	const struct weft__runs_counter *counter = sample->counter;
	const char *equals = strchr(label, '=');
	const size_t size = equals ? (size_t)(equals - label) : 0;
	if (size == 7 && memcmp(label, "program", size) == 0)
		return strcmp(sample->program, equals + 1) == 0;
	if (size == 3 && memcmp(label, "uid", size) == 0)
		return sample->user && strcmp(sample->user, equals + 1) == 0;
	for (size_t i = 0; size && i < counter->label_count; i++)
		if (strlen(counter->labels[i].key) == size &&
			memcmp(counter->labels[i].key, label, size) == 0)
			return strcmp(counter->labels[i].value, equals + 1) == 0;
	return false;
}

bool weft__metrics_has_labels(
	const struct weft__metrics_sample *sample, const char *const *labels, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!has_label(sample, labels[i]))
			return false;
	return true;
}

/* The digits of the largest number, and of the largest power of ten that is written out. */
#define DIGITS_MAX 20

struct weft__unit weft__metrics_base_unit(const struct weft__runs_counter *counter)
{
	return weft__unit_base(counter->unit, counter->scale);
}

void weft__metrics_add_scaled(struct weft_text *text, uint64_t number, int scale)
{
	char digits[2 * DIGITS_MAX];
	const size_t after = scale < 0 ? (size_t)-scale : 0; /* digits behind the decimal point */
	if (abs(scale) > DIGITS_MAX - 1) {
		weft_text_add_f64(text, weft__unit_scaled((double)number, scale));
		return;
	}
	const size_t point = sizeof(digits) - after;
	size_t at = sizeof(digits), end = sizeof(digits);
	for (uint64_t rest = number; rest || at >= point; rest /= 10)
		digits[--at] = (char)('0' + rest % 10);
	while (end > point && digits[end - 1] == '0')
		end--;
	weft_text_add(text, digits + at, point - at);
	for (int i = 0; number && i < scale; i++)
		weft_text_add_string(text, "0");
	if (end > point)
		weft_text_add_string(text, ".");
	weft_text_add(text, digits + point, end - point);
}

void weft__metrics_add_value(struct weft_text *text, const struct weft__runs_counter *counter)
{
	const int scale = weft__metrics_base_unit(counter).scale;
	const int64_t number = counter->integer;
	if (counter->type == WEFT__RUNS_HISTOGRAM) {
		weft_text_add_u64(text, counter->histogram.count);
	} else if (counter->is_real) {
		weft_text_add_f64(text, weft__unit_scaled(counter->real, scale));
	} else {
		weft_text_add_string(text, number < 0 ? "-" : "");
		weft__metrics_add_scaled(text, number < 0 ? 0 - (uint64_t)number : (uint64_t)number, scale);
	}
}

const char *weft__metrics_type_name(enum weft__runs_type type)
{
	static const char *const names[] = {
		[WEFT__RUNS_UNKNOWN] = "unknown",
#define METRIC_TYPE(number, id, name) [WEFT__RUNS_##id] = name,
#include "abi/metric_types.def"
#undef METRIC_TYPE
	};
	return names[type];
}

double weft__metrics_cell_bound(const struct weft__runs_counter *counter, uint32_t cell)
{
	const struct weft__runs_histogram *histogram = &counter->histogram;
	if (cell + 1 >= histogram->cell_count)
		return INFINITY;
	return weft__unit_scaled(weft__model_metric_limit((unsigned)histogram->first_exponent, cell),
		weft__metrics_base_unit(counter).scale);
}

double weft__metrics_quantile(const struct weft__runs_counter *counter, double part)
{
	const struct weft__runs_histogram *histogram = &counter->histogram;
	double all = 0, below = 0;
	uint32_t cell = 0;
	for (uint32_t i = 0; i < histogram->cell_count; i++)
		all += (double)histogram->cells[i];
	if (!(all > 0))
		return NAN;
	for (; cell + 1 < histogram->cell_count; cell++) {
		below += (double)histogram->cells[cell];
		if (below >= part * all)
			break;
	}
	return weft__metrics_cell_bound(counter, cell);
}

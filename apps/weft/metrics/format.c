/* SPDX-License-Identifier: ISC
 *
 * See format.h.
 */
#include "metrics/format.h"

#include <string.h>

#include "metrics/programs.h"

static const struct {
	const char *name, *type;
} formats[METRICS_FORMATS] = {
	[METRICS_TEXT] = {"text", "text/plain; charset=utf-8"},
	[METRICS_JSON] = {"json", "application/json"},
	[METRICS_OPENMETRICS] = {"openmetrics", WEFT__METRICS_OPENMETRICS_TYPE},
	[METRICS_PROMETHEUS] = {"prometheus", WEFT__METRICS_TEXT_TYPE},
};

const char *metrics_format_name(enum metrics_format format)
{
	return formats[format].name;
}

enum metrics_format metrics_format_named(const char *name)
{
	enum metrics_format format = 0;
	while (format < METRICS_FORMATS && strcmp(formats[format].name, name) != 0)
		format++;
	return format;
}

const char *metrics_format_type(enum metrics_format format)
{
	return formats[format].type;
}

static void write_lines(enum metrics_format format, const struct weft__metrics_sample *samples,
	size_t count, struct weft_text *text)
{
	if (format == METRICS_TEXT && count)
		metrics_add_text_head(text);
	for (size_t i = 0; i < count; i++) {
		if (format == METRICS_JSON) {
			metrics_add_json(text, &samples[i]);
			weft_text_add_string(text, "\n");
		} else {
			metrics_add_text(text, &samples[i]);
		}
	}
}

void metrics_format_write(enum metrics_format format, struct weft__metrics_exposition exposition,
	const struct weft__metrics_sample *samples, size_t count, struct weft_text *text)
{
	exposition.is_openmetrics = format == METRICS_OPENMETRICS;
	if (format == METRICS_OPENMETRICS || format == METRICS_PROMETHEUS)
		weft__metrics_expose(&exposition, samples, count, text);
	else
		write_lines(format, samples, count, text);
}

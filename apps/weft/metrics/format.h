/* SPDX-License-Identifier: ISC
 *
 * The forms in which counters are printed, and sent by `weft serve` and `weft agent`.
 */
#ifndef WEFT_APPS_METRICS_FORMAT_H
#define WEFT_APPS_METRICS_FORMAT_H

#include "metrics/exposition.h"

enum metrics_format {
	METRICS_TEXT,
	METRICS_JSON,
	METRICS_OPENMETRICS,
	METRICS_PROMETHEUS,
	METRICS_FORMATS
};

/* The name of an option or of the argument `format`. */
const char *metrics_format_name(enum metrics_format format);
/* METRICS_FORMATS: there is no such format. */
enum metrics_format metrics_format_named(const char *name);
/* The type of such a text, for HTTP. */
const char *metrics_format_type(enum metrics_format format);

/* Writes samples. `exposition` is for the two formats of Prometheus, and is given its format. */
void metrics_format_write(enum metrics_format format, struct weft__metrics_exposition exposition,
	const struct weft__metrics_sample *samples, size_t count, struct weft_text *text);

#endif

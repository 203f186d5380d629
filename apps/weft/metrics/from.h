/* SPDX-License-Identifier: ISC
 *
 * weft metrics --from: values that a `weft agent --http` or a `weft serve` shows.
 */
#ifndef WEFT_APPS_METRICS_FROM_H
#define WEFT_APPS_METRICS_FROM_H

#include "metrics/format.h"

struct metrics_from {
	const char *url;        /* "http://127.0.0.1:9339/" */
	const char *token_file; /* NULL: none was given */
};

/* Asks there, and adds the answer to a text. CLI_DONE, or another status after a message. */
int metrics_from_read(const char *command, const struct metrics_from *from,
	enum metrics_format format, struct weft_text *text);

#endif

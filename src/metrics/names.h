/* SPDX-License-Identifier: ISC
 *
 * Names and labels as Prometheus allows them.
 */
#ifndef WEFT_METRICS_NAMES_H
#define WEFT_METRICS_NAMES_H

#include "metrics/value.h"

/* Adds a name: letters, digits and underscores stay, other bytes are written as _2f_, their code in
 * hexadecimal. Two names never become one. */
void weft__metrics_add_name(struct weft_text *text, const char *name);

/* The same for the key of a label. */
void weft__metrics_add_key(struct weft_text *text, const char *key);

/* Adds a text that stands behind # HELP, or in quotes. Bytes that are not UTF-8 become U+FFFD. */
void weft__metrics_add_escaped(struct weft_text *text, const char *value, bool escapes_quotes);

/* Adds program="…",uid="…",pid="…",key="value", keys in the order of the alphabet. NULL, or the
 * reason why a series cannot have such labels. */
const char *weft__metrics_add_labels(
	struct weft_text *text, const struct weft__metrics_sample *sample);

#endif

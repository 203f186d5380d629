/* SPDX-License-Identifier: ISC
 *
 * Facts about a trace, as the title line and the status have them.
 */
#ifndef WEFT_RENDER_FACTS_H
#define WEFT_RENDER_FACTS_H

#include <stddef.h>

struct weft_model;
struct weft_scene;

/* Writes "28.5 ms · 1,234 events · 56 tasks · no losses". */
void weft__render_describe_trace(const struct weft_model *model, char *text, size_t size);

/* bands.c: the share of the trace in which nothing runs. */
double weft__render_idle_share(const struct weft_scene *scene);

#endif

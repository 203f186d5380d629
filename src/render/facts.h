/* SPDX-License-Identifier: ISC
 *
 * A line of facts about a trace, as the title line has it.
 */
#ifndef WEFT_RENDER_FACTS_H
#define WEFT_RENDER_FACTS_H

#include <stddef.h>

struct weft_model;

/* Writes "28.5 ms · 1,234 events · 56 tasks · no losses". */
void weft__render_describe_trace(const struct weft_model *model, char *text, size_t size);

#endif

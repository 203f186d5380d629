/* SPDX-License-Identifier: ISC
 *
 * The events and links of a task's span: its notes and edges, and those of the tasks folded into
 * it.
 */
#ifndef WEFT_OTLP_REMARKS_H
#define WEFT_OTLP_REMARKS_H

#include "otlp/writer.h"

void weft__otlp_write_events(
	struct weft__otlp_writer *writer, const struct weft__otlp_plan *plan, uint32_t task);
void weft__otlp_write_links(
	struct weft__otlp_writer *writer, const struct weft__otlp_plan *plan, uint32_t task);

#endif

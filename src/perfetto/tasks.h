/* SPDX-License-Identifier: ISC
 *
 * A task's track: its slice, the spans in it, its remarks.
 */
#ifndef WEFT_PERFETTO_TASKS_H
#define WEFT_PERFETTO_TASKS_H

#include "perfetto/packet.h"

/* Describes the track, and writes what is on it but for edges. */
void weft__perfetto_write_task(struct weft__perfetto_writer *writer, uint32_t task);

/* The name of a task for people, at most `size` bytes with the NUL: its label, or kind and id. */
struct weft_slice weft__perfetto_task_name(
	const struct weft_model *model, uint32_t task, char *room, size_t size);

/* A flow from one task to another, which begins and ends at these times. */
void weft__perfetto_write_flow(struct weft__perfetto_writer *writer, uint64_t flow,
	const char *name, uint32_t from, uint64_t from_ns, uint32_t to, uint64_t to_ns);

#endif

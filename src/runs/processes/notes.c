/* SPDX-License-Identifier: ISC
 *
 * A process has a name from its first switch on, and another one once it executes a program.
 */
#include "runs/processes/notes.h"

#include <stdlib.h>
#include <string.h>

/* Linux's limit of pids. Only what is used of the table of names takes memory. */
#define PIDS_MAX (1u << 22)

/* A note has 15 bits for a processor. */
#define CPUS_MAX 0x8000u

static void give(struct weft__runs_notes *n, uint32_t kind, uint64_t first, uint64_t second)
{
	const struct weft_xentrace_note note = {kind, {first, second}};
	if (!n->has_failed)
		n->has_failed = !n->take(n->context, &note);
}

static void give_moment(
	struct weft__runs_notes *n, uint32_t kind, uint32_t cpu, const struct weft__ftrace_event *event)
{
	give(n, kind, event->time,
		event->pid | (uint64_t)event->other << 24 | (uint64_t)cpu << 48 |
			(uint64_t)event->has_ended << 63);
}

static void give_name(
	struct weft__runs_notes *n, uint32_t pid, const char name[WEFT__FTRACE_NAME_BYTES])
{
	if (!pid || pid >= PIDS_MAX || !name[0] || strcmp(n->names[pid], name) == 0)
		return;
	memcpy(n->names[pid], name, sizeof(n->names[pid]));
	for (uint64_t part = 0; part < 2; part++) {
		uint64_t bytes = 0;
		for (unsigned i = 0; i < 8; i++)
			bytes |= (uint64_t)(unsigned char)name[8 * part + i] << 8 * i;
		if (bytes || !part)
			give(n, WEFT_XENTRACE_NOTE_NAME, pid | part << 32, bytes);
	}
}

static void forget_name(struct weft__runs_notes *n, uint32_t pid)
{
	if (pid < PIDS_MAX)
		memset(n->names[pid], 0, sizeof(n->names[pid]));
}

/* The processor may have run anything since its last event. */
static void give_loss(
	struct weft__runs_notes *n, uint32_t cpu, const struct weft__ftrace_event *event)
{
	struct weft__ftrace_event loss = {.time = event->time,
		.pid = WEFT_XENTRACE_PROCESS_UNKNOWN,
		.other =
			event->other < WEFT_XENTRACE_PROCESS_MAX ? event->other : WEFT_XENTRACE_PROCESS_MAX};
	give_moment(n, WEFT_XENTRACE_NOTE_SWITCH, cpu, &loss);
}

static void give_switch(
	struct weft__runs_notes *n, uint32_t cpu, const struct weft__ftrace_event *event)
{
	give_name(n, event->other, event->other_name);
	give_name(n, event->pid, event->name);
	give_moment(n, WEFT_XENTRACE_NOTE_SWITCH, cpu, event);
	if (event->has_ended)
		forget_name(n, event->other);
}

static bool are_pids(const struct weft__ftrace_event *event)
{
	return event->pid <= WEFT_XENTRACE_PROCESS_MAX && event->other <= WEFT_XENTRACE_PROCESS_MAX;
}

void weft__runs_notes_add(
	struct weft__runs_notes *n, uint32_t cpu, const struct weft__ftrace_event *event)
{
	if (cpu >= CPUS_MAX || (event->kind != WEFT__FTRACE_LOSS && !are_pids(event)))
		return;
	n->has_cpu[cpu / 8] |= (uint8_t)(1u << cpu % 8);
	switch (event->kind) {
	case WEFT__FTRACE_SWITCH:
		give_switch(n, cpu, event);
		break;
	case WEFT__FTRACE_FORK:
		forget_name(n, event->pid);
		give_moment(n, WEFT_XENTRACE_NOTE_FORK, cpu, event);
		break;
	case WEFT__FTRACE_LOSS:
		give_loss(n, cpu, event);
		break;
	case WEFT__FTRACE_WAKING: /* notes have no wakes and no system calls */
	case WEFT__FTRACE_WAKEUP:
	case WEFT__FTRACE_BORN:
	case WEFT__FTRACE_CALL:
	case WEFT__FTRACE_RETURN:
	case WEFT__FTRACE_KINDS:
		break;
	}
}

void weft__runs_notes_end(struct weft__runs_notes *n, uint64_t time)
{
	const struct weft__ftrace_event end = {
		.time = time, .pid = WEFT_XENTRACE_PROCESS_UNKNOWN, .has_ended = true};
	for (uint32_t cpu = 0; cpu < CPUS_MAX; cpu++)
		if (n->has_cpu[cpu / 8] >> cpu % 8 & 1)
			give_moment(n, WEFT_XENTRACE_NOTE_SWITCH, cpu, &end);
}

bool weft__runs_notes_init(struct weft__runs_notes *n)
{
	*n = (struct weft__runs_notes){.names = calloc(PIDS_MAX, sizeof(*n->names))};
	return n->names;
}

void weft__runs_notes_finish(struct weft__runs_notes *n)
{
	free(n->names);
}

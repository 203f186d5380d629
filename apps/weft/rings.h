/* SPDX-License-Identifier: ISC
 *
 * The rings in our run directory: those of programs under `weft record`, and those that were left.
 */
#ifndef WEFT_APPS_RINGS_H
#define WEFT_APPS_RINGS_H

#include <weft/buffer.h>

#include "record.h"

struct ring {
	struct record_ring ring;
	char path[PATH_MAX + NAME_MAX + 1];
	bool is_alive;    /* its process is, or another by that number */
	bool is_attended; /* a `weft record` is there, and will save it */
};

struct ring_list {
	struct ring *list; /* by pid */
	size_t count;
};

/* Does the process still record there? Its number alone would not tell: it may be another's by now.
 */
bool ring_is_running(const char *directory, const struct record_ring *ring);

/* A descriptor of a ring in a run directory, see weft_source_open_ring; -1 after a message. */
int ring_open(const char *path, pid_t pid, unsigned access);

/* What a ring in a run directory says of itself. False if it cannot be opened or is no buffer. */
bool ring_summarize(
	const char *path, pid_t pid, struct weft_buffer_summary *ret_summary, size_t *ret_size);

/* Failures to record are left out, and entries that cannot be rings, of which each is named once in
 * a message. False after a message. */
bool rings_find(struct ring_list *ret_rings);
void rings_finish(struct ring_list *rings);

/* The ring of a process, the newest if it was several programs. False after a message. */
bool rings_find_process(pid_t pid, struct ring *ret_ring);

/* The file that an operand FILE|PID means: the operand itself, and then `room` has no pid, or a
 * ring's path in `room`. NULL after a message. */
char *ring_path(char *operand, struct ring *room);

/* A descriptor of what ring_path found, for writing too where that is allowed; -1 after a message.
 */
int ring_open_operand(const char *path, const struct ring *ring);

/* Is the operand a PID? */
bool ring_is_pid(const char *operand);

#endif

/* SPDX-License-Identifier: ISC
 *
 * How far each ring was read by an agent that sends spans, in a file beside the messages of the
 * spool, so that an agent that is started again goes on there, and sends no span for a second time.
 */
#ifndef WEFT_AGENT_SENT_H
#define WEFT_AGENT_SENT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* The latest stamp, and how many events had it. Readers get events in the order of their stamps,
 * whichever thread recorded them and whatever has been overwritten. A count of all events would not
 * do: those of a thread that records little outlive later ones of other threads. */
struct weft__agent_point {
	uint64_t ticks; /* 0: nothing was read; or one of those below */
	uint64_t events;
	uint64_t recorded; /* events up to here, read or lost */
};

#define WEFT__AGENT_SENT_ALL     UINT64_MAX       /* until the program's end */
#define WEFT__AGENT_SENT_UNKNOWN (UINT64_MAX - 1) /* the agent was killed */

struct weft__agent_sent_ring {
	uint8_t uuid[16];
	pid_t pid;
	struct weft__agent_point point;
};

struct weft__agent_sent {
	char file[PATH_MAX];
	struct weft__agent_sent_ring *list;
	size_t count;
};

/* Reads the file of that folder. False after a report. */
bool weft__agent_sent_open(struct weft__agent_sent *sent, const char *folder);
void weft__agent_sent_close(struct weft__agent_sent *sent);

/* NULL: nothing of that ring. */
const struct weft__agent_sent_ring *weft__agent_sent_find(
	const struct weft__agent_sent *sent, const uint8_t uuid[16]);

/* Sets what was sent of a ring. False: there is no memory. */
bool weft__agent_sent_set(struct weft__agent_sent *sent, const struct weft__agent_sent_ring *ring);

/* Writes the file, without the rings of processes that are gone. A failure is reported. */
void weft__agent_sent_write(struct weft__agent_sent *sent);

/* The lines of the file. False with errno. */
bool weft__agent_sent_read_lines(struct weft__agent_sent *sent, FILE *file);
bool weft__agent_sent_write_lines(const struct weft__agent_sent *sent, FILE *file);

#endif

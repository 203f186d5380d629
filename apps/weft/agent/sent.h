/* SPDX-License-Identifier: ISC
 *
 * How much of each ring has been sent, in a file beside the messages of the spool, so that an agent
 * that is started again goes on there, and sends no span for a second time.
 */
#ifndef WEFT_APPS_AGENT_SENT_H
#define WEFT_APPS_AGENT_SENT_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Events that were taken of a ring, with those that were lost before and meanwhile. */
#define AGENT_SENT_ALL     UINT64_MAX       /* until the program's end */
#define AGENT_SENT_UNKNOWN (UINT64_MAX - 1) /* the agent was killed */

struct agent_sent_ring {
	uint8_t uuid[16];
	pid_t pid;
	uint64_t events;
};

struct agent_sent {
	char file[PATH_MAX];
	struct agent_sent_ring *list;
	size_t count;
};

/* Reads the file of that folder. False after a message. */
bool agent_sent_open(struct agent_sent *sent, const char *folder);
void agent_sent_close(struct agent_sent *sent);

/* NULL: nothing of that ring. */
struct agent_sent_ring *agent_sent_find(const struct agent_sent *sent, const uint8_t uuid[16]);

/* Sets what was sent of a ring. False: there is no memory. */
bool agent_sent_set(struct agent_sent *sent, struct agent_sent_ring ring);

/* Writes the file, without the rings of processes that are gone. A failure is reported. */
void agent_sent_write(struct agent_sent *sent);

#endif

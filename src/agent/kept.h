/* SPDX-License-Identifier: ISC
 *
 * Second names of files in the agent's folder (abi/counter_abi.h). `weft record` removes them, and
 * the agent those that it has forgotten, because it was killed.
 */
#ifndef WEFT_AGENT_KEPT_H
#define WEFT_AGENT_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/* How many each user has, in one round over the folder. */
struct weft__agent_kept {
	struct weft__agent_kept_user {
		uid_t user;
		size_t count;
	} * list;
	size_t count;
};

/* True: it is such a name. Removes it if it is the file's last one since a week, and if it `cleans`
 * also what no program made: other kinds of files, and a user's names beyond `most`. */
bool weft__agent_kept_look(struct weft__agent_kept *kept, int folder, const char *name, bool cleans,
	size_t most, time_t now);

void weft__agent_kept_finish(struct weft__agent_kept *kept);

#endif

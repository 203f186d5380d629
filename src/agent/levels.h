/* SPDX-License-Identifier: ISC
 *
 * Levels of categories in running programs that are set as long as a rule holds. Several rules, or
 * several groups of one, may set the level of one category: the newest one determines it, and the
 * level that it had before all of them comes back with the end of the last.
 */
#ifndef WEFT_AGENT_LEVELS_H
#define WEFT_AGENT_LEVELS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <weft/levels.h>
#include <weft/event.h>

struct weft__agent_level;

struct weft__agent_levels {
	struct weft__agent_level *list; /* in the order in which they were set */
	size_t count;
};

/* Sets the level of a category of the process, or "*" of all, as `weft ctl set` does. Reports what
 * cannot be set. */
void weft__agent_levels_set(struct weft__agent_levels *levels, uint64_t owner, pid_t pid,
	struct weft_slice category, enum weft_level level);

/* Ends what the owner has set: a level is the former one again, unless a user has changed it. */
void weft__agent_levels_restore(struct weft__agent_levels *levels, uint64_t owner);

/* The same for all owners. */
void weft__agent_levels_finish(struct weft__agent_levels *levels);

#endif

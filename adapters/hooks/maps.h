/* SPDX-License-Identifier: ISC
 *
 * The mapping that has an address, from /proc/self/maps.
 */
#ifndef WEFT_ADAPTERS_HOOKS_MAPS_H
#define WEFT_ADAPTERS_HOOKS_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#define WEFT__HOOKS_PATH_ROOM 512

struct weft__hooks_mapping {
	uintptr_t base; /* where the first byte of a file with a path is */
	uint64_t device, inode;
	uint64_t offset;                  /* of the address in the file */
	char path[WEFT__HOOKS_PATH_ROOM]; /* absolute; empty: there is none, or it is too long */
};

/* False if the address is in no mapping. Needs much stack, and may make system calls. */
bool weft__hooks_find_mapping(uintptr_t address, struct weft__hooks_mapping *ret);

#endif

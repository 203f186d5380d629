/* SPDX-License-Identifier: ISC
 *
 * The build id of an ELF file that is loaded: by it a reader knows that a file is the one that ran.
 */
#ifndef WEFT_ADAPTERS_BUILD_ID_H
#define WEFT_ADAPTERS_BUILD_ID_H

#include <link.h>

enum {
	WEFT__HOOKS_BUILD_ID_BYTES = 32, /* those of linkers have up to 20 */
	WEFT__HOOKS_BUILD_ID_ROOM = 2 * WEFT__HOOKS_BUILD_ID_BYTES + 1
};

/* Writes the build id in hexadecimal; "" if there is none, or it is longer than those of linkers.
 */
void weft__hooks_build_id(const struct link_map *map, char ret_digits[WEFT__HOOKS_BUILD_ID_ROOM]);

#endif

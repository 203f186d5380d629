/* SPDX-License-Identifier: ISC
 *
 * A library with a category, loaded and unloaded. See levels.py.
 */
#define WEFT_CATEGORY plug
#include <weft/weft.h>

#include "levels_notes.h"

WEFT_CATEGORY_DEFINE(plug, "plug", "a library that comes and goes");

__attribute__((visibility("default"))) void plugin_record(void);

void plugin_record(void)
{
	LEVELS_NOTES("plug");
}

/* SPDX-License-Identifier: ISC
 *
 * Loads ncursesw.
 */
#include <stddef.h>
#include <string.h>

#include <dlfcn.h>

#include "cli/cli.h"
#include "curses.h"

struct top_curses top_curses;

bool top_load_curses(void)
{
	static const struct {
		const char *name;
		size_t offset;
	} functions[] = {
#define FUNCTION(name) {#name, offsetof(struct top_curses, name##_)},
		TOP_CURSES_FUNCTIONS(FUNCTION)
#undef FUNCTION
	};
	void *library = dlopen("libncursesw.so.6", RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; library && i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *function = dlsym(library, functions[i].name);
		if (!function)
			library = NULL;
		memcpy((char *)&top_curses + functions[i].offset, &function, sizeof(function));
	}
	if (!library)
		cli_error("libncursesw cannot be loaded: %s; `weft top --once` does without", dlerror());
	return library != NULL;
}

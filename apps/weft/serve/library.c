/* SPDX-License-Identifier: ISC
 *
 * Loads libmicrohttpd.
 */
#include <stddef.h>
#include <string.h>

#include <dlfcn.h>

#include "cli/cli.h"
#include "library.h"

struct serve_library serve_library;

bool serve_load_library(void)
{
	static const struct {
		const char *name;
		size_t offset;
	} functions[] = {
#define FUNCTION(name) {#name, offsetof(struct serve_library, name##_)},
		SERVE_FUNCTIONS(FUNCTION)
#undef FUNCTION
	};
	void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; library && i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *function = dlsym(library, functions[i].name);
		if (!function)
			library = NULL;
		memcpy((char *)&serve_library + functions[i].offset, &function, sizeof(function));
	}
	if (!library)
		cli_error("libmicrohttpd cannot be loaded: %s", dlerror());
	return library != NULL;
}

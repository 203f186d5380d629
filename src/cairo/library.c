/* SPDX-License-Identifier: ISC
 *
 * Loads cairo and pango. One handle finds the functions of all libraries that pangocairo needs.
 */
#include <stddef.h>
#include <string.h>

#include <dlfcn.h>
#include <pthread.h>

#include <weft/error.h>

#include "cairo/library.h"

struct weft__pango weft__pango;

static int status = WEFT_ERROR_UNSUPPORTED;

static const struct {
	const char *name;
	size_t offset;
} functions[] = {
#define FUNCTION(name) {#name, offsetof(struct weft__pango, name##_)},
#include "cairo/functions.def"
#undef FUNCTION
};

/* The library stays loaded: others that it has loaded cannot be unloaded. */
static void load(void)
{
	void *library = dlopen("libpangocairo-1.0.so.0", RTLD_NOW | RTLD_LOCAL);
	for (size_t i = 0; library && i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *function = dlsym(library, functions[i].name);
		if (!function)
			return;
		memcpy((char *)&weft__pango + functions[i].offset, &function, sizeof(function));
	}
	status = library ? 0 : WEFT_ERROR_UNSUPPORTED;
}

int weft__cairo_pango_load(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, load);
	return status;
}

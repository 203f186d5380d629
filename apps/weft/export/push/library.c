/* SPDX-License-Identifier: ISC */
#include "library.h"

#include <stddef.h>
#include <string.h>

#include <dlfcn.h>

#include "cli/cli.h"

struct push_library push_library;

static void *open_any(void)
{
	void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
	return library ? library : dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
}

bool push_load_library(void)
{
	static const struct {
		const char *name;
		size_t offset;
	} functions[] = {
#define FUNCTION(name) {"curl_" #name, offsetof(struct push_library, name)},
		PUSH_FUNCTIONS(FUNCTION)
#undef FUNCTION
	};
	void *library = open_any();
	for (size_t i = 0; library && i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *function = dlsym(library, functions[i].name);
		if (!function)
			library = NULL;
		memcpy((char *)&push_library + functions[i].offset, &function, sizeof(function));
	}
	if (library && push_library.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
		return true;
	cli_error("libcurl cannot be loaded: %s", library ? "it does not start" : dlerror());
	return false;
}

/* SPDX-License-Identifier: ISC
 *
 * See function_name.h.
 */
#include "function_name.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* __cxa_demangle of the C++ runtime; NULL: it is not installed. */
static char *(*demangle)(const char *name, char *text, size_t *size, int *status);

void function_names_load(void)
{
	void *runtime = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
	if (runtime)
		*(void **)&demangle = dlsym(runtime, "__cxa_demangle");
}

/* Removes the arguments of a C++ function: "a::(anonymous namespace)::f(int) const". */
static void drop_arguments(char *name)
{
	char *end = strrchr(name, ')');
	int depth = 0;
	if (end && end[1] != '\0' && end[1] != ' ')
		return;
	for (char *at = end; at && at > name; at--) {
		depth += *at == ')' ? 1 : *at == '(' ? -1 : 0;
		if (depth == 0) {
			*at = '\0';
			return;
		}
	}
}

void function_name(char *ret_name, size_t room, const char *symbol)
{
	int status = 0;
	char *shown =
		demangle && strncmp(symbol, "_Z", 2) == 0 ? demangle(symbol, NULL, NULL, &status) : NULL;
	if (shown)
		drop_arguments(shown);
	snprintf(
		ret_name, room, "%.*s", (int)strcspn(shown ? shown : symbol, "@"), shown ? shown : symbol);
	free(shown);
}

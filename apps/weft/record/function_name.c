/* SPDX-License-Identifier: ISC
 *
 * See function_name.h.
 */
#include "function_name.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/demangle.h"

#define LONG 80 /* letters of a name, at most */

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

/* Rust's names until 2025 are those of C++ with a hash: "…17h94493eb9fafe3700E". */
static bool is_rust(const char *symbol)
{
	const size_t size = strlen(symbol);
	return strncmp(symbol, "_R", 2) == 0 ||
		   (size > 20 && symbol[size - 1] == 'E' && strncmp(symbol + size - 20, "17h", 3) == 0);
}

/* The library's class that runs the function of a thread: the short form has that function. */
static bool is_thread(const char *symbol)
{
	return strstr(symbol, "_State_impl") && strstr(symbol, "_M_run");
}

static void write_short(char *ret_name, size_t room, const char *symbol)
{
	struct weft__symbols_name name = {ret_name, 0, room - 1};
	weft__symbols_demangle(&name, symbol);
	ret_name[name.size] = '\0';
}

static bool is_cplusplus(const char *symbol)
{
	return strncmp(symbol, "_Z", 2) == 0 && !is_rust(symbol) && !is_thread(symbol);
}

/* Names with templates in their arguments' arguments fill a screen. */
void function_name(char *ret_name, size_t room, const char *symbol)
{
	int status = 0;
	char *shown = demangle && is_cplusplus(symbol) ? demangle(symbol, NULL, NULL, &status) : NULL;
	if (shown)
		drop_arguments(shown);
	if (shown && strlen(shown) <= LONG)
		snprintf(ret_name, room, "%s", shown);
	else if (strncmp(symbol, "_Z", 2) == 0 || strncmp(symbol, "_R", 2) == 0)
		write_short(ret_name, room, symbol);
	else
		snprintf(ret_name, room, "%.*s", (int)strcspn(symbol, "@"), symbol);
	free(shown);
}

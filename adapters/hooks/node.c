/* SPDX-License-Identifier: ISC
 *
 * Node, which loads what records its promises and callbacks.
 *
 * NODE_OPTIONS is the only way that needs neither a flag nor an edit, and works for scripts,
 * modules and worker threads. The option comes before those that are there, so that our file is the
 * first that runs: it takes the option out again before any other code can see it. Processes that
 * the program starts get it from the adapters in them.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WEFT_CATEGORY always
#include "hooks/environment.h"
#include "hooks/node.h"

/* With these, node refuses addons or files that it was not told of, and would end; or it makes a
 * snapshot of its memory, with all that was loaded. */
static const char *const refusing[] = {"--permission", "--experimental-permission",
	"--experimental-policy", "--policy-integrity", "--build-snapshot", "--experimental-sea-config"};

static bool refuses(const char *text)
{
	for (size_t i = 0; i < sizeof(refusing) / sizeof(refusing[0]); i++)
		if (strstr(text, refusing[i]))
			return true;
	return false;
}

/* Other programs that contain node, such as Electron's, do not take its options. */
static bool is_node(void)
{
	char path[PATH_MAX];
	ssize_t size = -1;
	if (dlsym(RTLD_DEFAULT, "napi_create_function"))
		size = readlink("/proc/self/exe", path, sizeof(path) - 1);
	if (size <= 0)
		return false;
	path[size] = '\0';
	const char *slash = strrchr(path, '/');
	return slash && strncmp(slash + 1, "node", 4) == 0;
}

/* Copies a path as node reads it between quotes. */
static char *quote(char *to, const char *path)
{
	for (; *path; path++) {
		if (*path == '"' || *path == '\\')
			*to++ = '\\';
		*to++ = *path;
	}
	return to;
}

static bool add_option(const char *script)
{
	const char *old = getenv("NODE_OPTIONS");
	char *text = malloc(2 * strlen(script) + sizeof("--require=\"\" ") + (old ? strlen(old) : 0));
	if (!text)
		return false;
	char *end = quote(stpcpy(text, "--require=\""), script);
	end = stpcpy(end, "\"");
	if (old)
		stpcpy(stpcpy(end, " "), old);
	bool is_set = setenv("NODE_OPTIONS", text, 1) == 0;
	free(text);
	return is_set;
}

/* The cheap level is for servers under load, whose threads wait hundreds of times for a request. A
 * user who sets levels knows better. */
static void leave_out_stacks(void)
{
	if (!weft__hooks_level_is_given("stack"))
		weft_set_level("stack", WEFT_LEVEL_OFF);
}

bool weft__hooks_node_begin(int count, char *const arguments[])
{
	char script[PATH_MAX];
	const char *level = getenv("WEFT_NODE"), *options = getenv("NODE_OPTIONS");
	if (!is_node() || (level && strcmp(level, "off") == 0) || (options && refuses(options)))
		return false;
	for (int i = 1; i < count; i++)
		if (refuses(arguments[i]))
			return false;
	if (!weft__hooks_find_beside("node/weft.js", "../bindings/node/weft.js", script) ||
		!add_option(script))
		return false;
	if (level && strcmp(level, "guess") == 0)
		leave_out_stacks();
	return true;
}

/* SPDX-License-Identifier: ISC
 *
 * See runtime.h. The adapters decide by what is in the program's memory; here, only its name is
 * known.
 */
#include "runtime.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct record_runtime runtimes[] = {
	{"node", "async functions, promises, timers, files and requests", "WEFT_NODE",
		{"node/weft.node", "../bindings/node/weft.node"}},
	{"python", "tasks of asyncio, from Python 3.11 on", "WEFT_PYTHON",
		{"weft-python.so", "../bindings/python/weft/weft-python.so"}},
};

static bool is_beside(const char *library, const char *file)
{
	char path[PATH_MAX];
	const char *slash = strrchr(library, '/');
	int size =
		slash ? snprintf(path, PATH_MAX, "%.*s/%s", (int)(slash - library), library, file) : -1;
	return size > 0 && size < PATH_MAX && access(path, R_OK) == 0;
}

static bool is_off(const struct record_runtime *it)
{
	const char *value = getenv(it->variable);
	return value && strcmp(value, "off") == 0;
}

static const struct record_runtime *find(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	for (size_t i = 0; i < sizeof(runtimes) / sizeof(runtimes[0]); i++)
		if (strncmp(name, runtimes[i].adapter, strlen(runtimes[i].adapter)) == 0)
			return &runtimes[i];
	return NULL;
}

/* A script that chooses a version and executes it, as pyenv has them. */
static const struct record_runtime *find_chosen(const char *program)
{
	const struct record_runtime *it = find(program);
	const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
	const char *rest = it ? name + strlen(it->adapter) : "";
	return rest[strspn(rest, "0123456789.")] == '\0' ? it : NULL;
}

const struct record_runtime *record_runtime_find(
	const char *program, const struct weft__runs_executable *executable, const char *library)
{
	const struct record_runtime *it = find(executable->path);
	if (!it && executable->is_script)
		it = find_chosen(program);
	if (!it || is_off(it))
		return NULL;
	return is_beside(library, it->files[0]) || is_beside(library, it->files[1]) ? it : NULL;
}

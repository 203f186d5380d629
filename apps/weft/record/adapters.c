/* SPDX-License-Identifier: ISC
 *
 * Programs that nobody changed: LD_PRELOAD puts libweft-adapters.so before libc, and it records
 * what the program asks of its libraries.
 */
#include "adapters.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/run_abi.h"
#include "cli/cli.h"
#include "runs/message.h"
#include "runs/program/executable.h"
#include "runs/program/libraries.h"
#include "runtime.h"

static const char *const names[] = {"uv", "glib", "thread", "io", "xen", "node", "python"};

enum {
	NAMES = sizeof(names) / sizeof(names[0])
};

/* ---- The list ---- */

static bool is_name(const char *item, size_t size)
{
	for (size_t i = 0; i < NAMES; i++)
		if (strlen(names[i]) == size && memcmp(names[i], item, size) == 0)
			return true;
	return false;
}

bool record_adapters_check(const char *command, const char *list)
{
	if (strcmp(list, "auto") == 0 || strcmp(list, "none") == 0)
		return true;
	for (const char *item = list;; item++) {
		size_t size = strcspn(item, ",");
		if (!is_name(item, size)) {
			cli_usage_error(command,
				"-a: there is no adapter \"%.*s\"; the adapters are uv, glib, thread, io, xen, node and python",
				(int)size, item);
			return false;
		}
		item += size;
		if (!*item)
			return true;
	}
}

/* ---- The library ---- */

/* The directory of this program, with a slash. */
static bool own_directory(char ret_path[PATH_MAX])
{
	ssize_t size = readlink("/proc/self/exe", ret_path, PATH_MAX - 1);
	if (size <= 0)
		return false;
	ret_path[size] = '\0';
	char *slash = strrchr(ret_path, '/');
	if (slash)
		slash[1] = '\0';
	return slash != NULL;
}

/* In the build folder, where it was installed beside this program, or where it was configured. */
bool record_adapters_find(char ret_path[PATH_MAX])
{
	static const char *const folders[] = {"adapters", WEFT_ADAPTERS_RELATIVE, WEFT_ADAPTERS_FOLDER};
	char own[PATH_MAX];
	bool has_own = own_directory(own);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		bool is_absolute = folders[i][0] == '/';
		if (!is_absolute && !has_own)
			continue;
		int size = snprintf(
			ret_path, PATH_MAX, "%s%s/libweft-adapters.so", is_absolute ? "" : own, folders[i]);
		if (size < PATH_MAX && access(ret_path, R_OK) == 0)
			return true;
	}
	return false;
}

/* ---- The environment ---- */

/* LD_PRELOAD: a sanitizer's runtime, which ends the program unless it comes first; what is there;
 * and ours. NULL if memory ran out. */
static char *make_preload(const char *first, const char *library)
{
	const char *there = getenv("LD_PRELOAD");
	if (!there)
		there = "";
	size_t size = strlen(first) + strlen(there) + strlen(library) + 3;
	char *list = malloc(size);
	if (list)
		snprintf(
			list, size, "%s%s%s%s%s", first, *first ? ":" : "", there, *there ? ":" : "", library);
	return list;
}

/* True if the dynamic linker can load a library into the program. */
static bool is_suitable(const struct weft__runs_executable *it)
{
	return !it->error && it->is_elf && it->is_dynamic && !it->machine && !it->privilege;
}

/* "redis-server is recorded by the adapters thread and io": those for which it has the library. */
static void announce(const char *program, const struct weft__runs_libraries *libraries,
	const struct record_runtime *runtime)
{
	if (!libraries->is_known || libraries->has_weft)
		return;
	cli_error("%s is recorded by the adapters %s%s%s%s%sthread and io%s%s",
		weft__runs_shown(program), runtime ? runtime->adapter : "", runtime ? ", " : "",
		libraries->has_uv ? "uv, " : "", libraries->has_glib ? "glib, " : "",
		libraries->has_xen ? "xen, " : "", runtime ? ": " : "", runtime ? runtime->what : "");
}

/* True if the library is there. `ret_is_fatal`: it is not, and a message has said so. */
static bool choose_library(const char *list, char ret_library[PATH_MAX], bool *ret_is_fatal)
{
	*ret_is_fatal = strcmp(list, "auto") != 0;
	if (!record_adapters_find(ret_library)) {
		if (*ret_is_fatal)
			cli_error("-a %s: libweft-adapters.so is not installed", list);
		return false;
	}
	if (!strpbrk(ret_library, ": "))
		return true;
	cli_error("%s cannot be loaded into programs, since its path has a space or a colon: only "
			  "programs that call libweft are recorded",
		weft__runs_shown(ret_library));
	return false;
}

bool record_adapters_prepare(
	const char *list, const char *program, struct record_adapters *ret_adapters)
{
	struct weft__runs_executable it;
	struct weft__runs_libraries libraries = {0};
	char library[PATH_MAX];
	bool is_fatal;
	*ret_adapters = (struct record_adapters){0};
	if (strcmp(list, "none") == 0)
		return true;
	if (!choose_library(list, library, &is_fatal))
		return !is_fatal;
	weft__runs_executable_examine(program, &it);
	if (is_suitable(&it) && weft__runs_libraries_is_foreign(it.path))
		return true; /* it would not start with them */
	if (is_suitable(&it))
		weft__runs_libraries_list(it.path, &libraries);
	if (strcmp(list, "auto") == 0)
		announce(program, &libraries, record_runtime_find(program, &it, library));
	*ret_adapters = (struct record_adapters){list, make_preload(libraries.sanitizer, library)};
	if (!ret_adapters->preload)
		cli_error("out of memory");
	return ret_adapters->preload != NULL;
}

bool record_adapters_apply(const struct record_adapters *adapters)
{
	if (!adapters->list)
		return unsetenv(WEFT_ABI_RUN_ADAPTERS) == 0;
	return setenv(WEFT_ABI_RUN_ADAPTERS, adapters->list, 1) == 0 &&
		   setenv("LD_PRELOAD", adapters->preload, 1) == 0;
}

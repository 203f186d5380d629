/* SPDX-License-Identifier: ISC
 *
 * Turns on the adapters that an environment variable names, and begins the first task of the
 * process.
 *
 *     WEFT_ADAPTERS=uv,thread    these; the others have the level off, until `weft ctl` changes it
 *     WEFT_ADAPTERS=auto         all, also node and python, unless the program records itself
 *
 * A program records itself if it, or one of its libraries, is linked with libweft. `weft record`
 * sets the variable. Without it, this library records nothing.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#define WEFT_CATEGORY always
#include "hooks/hooks.h"
#include "hooks/node.h"
#include "hooks/python.h"
#include "hooks/unseen.h"

WEFT_CATEGORY_DEFINE(thread, "thread", "threads, and locks for which they wait");
WEFT_CATEGORY_DEFINE(io, "io", "descriptors, and loops of epoll, poll and select");
WEFT_CATEGORY_DEFINE(uv, "uv", "libuv's handles and requests");
WEFT_CATEGORY_DEFINE(glib, "glib", "GLib's sources and tasks");
WEFT_CATEGORY_DEFINE(xen, "xen", "hypercalls, and calls of Xen's devices");

static const char *const adapters[] = {"thread", "io", "uv", "glib", "xen"};

/* True if the comma-separated list has that name. */
static bool is_in(const char *list, const char *name)
{
	size_t size = strlen(name);
	while (list) {
		size_t length = strcspn(list, ",");
		if (length == size && memcmp(list, name, size) == 0)
			return true;
		list = list[length] ? list + length + 1 : NULL;
	}
	return false;
}

/* ---- Programs that record themselves ---- */

/* True if the object with this dynamic section is linked with libweft. The dynamic linker has
 * relocated the section's addresses already. */
static bool needs_libweft(const ElfW(Dyn) * section)
{
	const char *names = NULL;
	for (const ElfW(Dyn) *it = section; it && it->d_tag != DT_NULL; it++)
		if (it->d_tag == DT_STRTAB)
			names = (const char *)it->d_un.d_ptr;
	for (const ElfW(Dyn) *it = section; names && it->d_tag != DT_NULL; it++)
		if (it->d_tag == DT_NEEDED && strncmp(names + it->d_un.d_val, "libweft.so", 10) == 0)
			return true;
	return false;
}

/* True if the program or one of its libraries is linked with libweft: all objects in the dynamic
 * linker's list, except this library. */
static bool records_itself(void)
{
	struct link_map *own = NULL;
	Dl_info info;
	if (!dladdr1((void *)records_itself, &info, (void **)&own, RTLD_DL_LINKMAP) || !own)
		return false;
	const struct link_map *it = own;
	while (it->l_prev)
		it = it->l_prev;
	for (; it; it = it->l_next)
		if (it != own && needs_libweft(it->l_ld))
			return true;
	return false;
}

static bool is_wanted(const char *list, const char *name)
{
	if (list && strcmp(list, "auto") == 0)
		return !records_itself();
	return is_in(list, name);
}

void weft__hooks_turn_off(void)
{
	for (size_t i = 0; i < sizeof(adapters) / sizeof(adapters[0]); i++)
		weft_set_level(adapters[i], WEFT_LEVEL_OFF);
}

/* ---- The process ---- */

bool weft__hooks_level_is_given(const char *category)
{
	const char *categories = getenv("WEFT_CATEGORIES");
	return getenv("WEFT_LEVEL") || (categories && strstr(categories, category));
}

/* A task that ran for long because other programs had the processor is no fault of this program,
 * and only the thread's own clock shows that. It is asked once in 50 us at most. A user who sets
 * levels knows better. */
static void measure_off_cpu(void)
{
	if (!weft__hooks_level_is_given("cpu"))
		weft_set_level("cpu", WEFT_LEVEL_DEBUG);
}

/* Runs after libweft's own constructor (101) and the registration of the categories (102). */
__attribute__((constructor(110))) static void begin(int count, char *const arguments[])
{
	const char *list = getenv("WEFT_ADAPTERS");
	int saved = weft__hooks_begin();
	bool is_any_wanted = false;
	for (size_t i = 0; i < sizeof(adapters) / sizeof(adapters[0]); i++)
		if (is_wanted(list, adapters[i]))
			is_any_wanted = true;
		else
			weft_set_level(adapters[i], WEFT_LEVEL_OFF);
	if (!is_any_wanted)
		weft_set_level("stack", WEFT_LEVEL_OFF); /* only the adapters' waits have one */
	if (is_any_wanted)
		measure_off_cpu();
	if (is_any_wanted && weft_is_recording()) {
		struct weft__hooks_text name = {0};
		weft__hooks_append(&name, program_invocation_short_name);
		struct weft__hooks_alive task;
		weft__hooks_create_thread(&task, &name);
		weft__hooks_process_begins(task.task);
		weft__hooks_thread_begin(&task);
	}
	/* Node's calls of the libuv in it are seen by the callbacks that they lead to. */
	bool is_node =
		is_wanted(list, "node") && weft_is_recording() && weft__hooks_node_begin(count, arguments);
	if (is_wanted(list, "python") && weft_is_recording())
		weft__hooks_python_begin();
	if (is_any_wanted && weft_is_recording() && !is_node)
		weft__hooks_unseen_own();
	weft__hooks_end(saved);
}

__attribute__((destructor(110))) static void end(void)
{
	if (weft__hooks_main_task() == WEFT_TASK_NONE)
		return;
	int saved = weft__hooks_begin();
	weft__hooks_children_at_end();
	weft__hooks_process_ends();
	weft__hooks_end(saved);
}

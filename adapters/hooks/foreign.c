/* SPDX-License-Identifier: ISC
 *
 * Functions of the program's libraries, and of the program itself, that have the names of hooks.
 * Calls of these are not recorded, and the trace says so.
 *
 * A library's function comes after the hook, which gives way to it (entry.h): that is reported when
 * it is first called. One of the program itself comes before the hook, so its calls are not
 * noticed: that is reported when the program begins.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

#define WEFT_CATEGORY thread
#include "hooks/hooks.h"
#include "hooks/object.h"
#include "hooks/unseen.h"

static void report_foreign(const char *key, struct weft__hooks_text *what, const char *path)
{
	const char *slash = strrchr(path, '/');
	weft__hooks_append(what, " in ");
	weft__hooks_append(what, slash ? slash + 1 : path);
	what->bytes[what->size < sizeof(what->bytes) ? what->size : sizeof(what->bytes) - 1] = '\0';
	weft__hooks_unseen(key, what->bytes);
}

/* ---- Libraries ---- */

struct passed {
	const char *name, *path;
};

static void report_passed(void *of)
{
	const struct passed *passed = of;
	struct weft__hooks_text what = {0};
	weft__hooks_thread_task();
	weft__hooks_append(&what, passed->name);
	report_foreign("foreign", &what, passed->path);
}

void weft__hooks_unseen_passed(const char *name, const void *function)
{
	struct dl_find_object found;
	bool has_begun = weft__hooks_epoch() != 1 || weft__hooks_main_task() != WEFT_TASK_NONE;
	if (!has_begun || !HOOKS_RECORD || _dl_find_object((void *)(uintptr_t)function, &found) != 0 ||
		!found.dlfo_link_map)
		return;
	const char *path = found.dlfo_link_map->l_name; /* the program has none */
	struct passed passed = {name, *path ? path : program_invocation_short_name};
	int saved = weft__hooks_begin();
	weft__hooks_aside(report_passed, &passed);
	weft__hooks_end(saved);
}

/* ---- The program ---- */

extern struct weft__hooks_entry __start_weft_entries[] __attribute__((weak, visibility("hidden")));
extern struct weft__hooks_entry __stop_weft_entries[] __attribute__((weak, visibility("hidden")));

struct own {
	struct weft__hooks_text names;
	unsigned count;
};

static void add_own(struct own *own, const char *name)
{
	enum {
		SHOWN = 3
	};
	if (own->count && own->count < SHOWN)
		weft__hooks_append(&own->names, ", ");
	if (own->count++ < SHOWN)
		weft__hooks_append(&own->names, name);
	if (own->count == SHOWN + 1)
		weft__hooks_append(&own->names, " and others");
}

/* The program is the first object. One that contains the runtime of a sanitizer has all its
 * functions, which call those of libc. */
static int look_at_program(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct own *own = argument;
	struct weft__hooks_object program;
	(void)size;
	if (!weft__hooks_object_read(&program, info) ||
		weft__hooks_object_function(&program, "__sanitizer_print_stack_trace"))
		return 1;
	for (struct weft__hooks_entry *it = __start_weft_entries; it < __stop_weft_entries; it++)
		if (weft__hooks_object_function(&program, it->name))
			add_own(own, it->name);
	return 1;
}

void weft__hooks_unseen_own(void)
{
	struct own own = {0};
	dl_iterate_phdr(look_at_program, &own);
	if (own.count)
		report_foreign("own", &own.names, program_invocation_short_name);
}

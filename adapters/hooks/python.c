/* SPDX-License-Identifier: ISC
 *
 * Python, which loads what records asyncio once a program imports that.
 *
 * An audit hook may be set before Python begins, and needs no variable, option or file of the
 * program's. Python calls it before each import. Most programs never import asyncio: for them this
 * is all. The last part that asyncio imports is `asyncio.unix_events`, so when that is about to be
 * imported, all that is recorded is there, and the program has not seen any of it yet.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WEFT_CATEGORY always
#include "hooks/audit.h"
#include "hooks/environment.h"
#include "hooks/python.h"
#include "hooks/unseen.h"

#define NAME_MAX_BYTES 63 /* of a thread */

/* Functions of Python, the same in all versions: objects are void pointers here. */
static void *(*item_of)(void *tuple, ssize_t index);
static const char *(*text_of)(void *object, ssize_t *ret_size);
static void (*clear_error)(void);
static void *(*own_interpreter)(void);
static int64_t (*id_of)(void *interpreter);
static const char *(*version)(void);

/* Functions of weft-python.so; NULL: it is not loaded. */
static bool (*load_asyncio)(char *ret_error, size_t size);
static void (*load_pools)(void);

static bool is_begun;
static bool
	is_watched; /* the program has an audit hook of its own, to which ours would not be hidden */

static bool find_python(void)
{
	/* Python 3.8 has none, which is only told that it is too old. */
	weft__hooks_audit_find(RTLD_DEFAULT, "PyInterpreterState_Get", &own_interpreter);
	return weft__hooks_audit_find(RTLD_DEFAULT, "PyTuple_GetItem", &item_of) &&
		   weft__hooks_audit_find(RTLD_DEFAULT, "PyUnicode_AsUTF8AndSize", &text_of) &&
		   weft__hooks_audit_find(RTLD_DEFAULT, "PyErr_Clear", &clear_error) &&
		   weft__hooks_audit_find(RTLD_DEFAULT, "PyInterpreterState_GetID", &id_of) &&
		   weft__hooks_audit_find(RTLD_DEFAULT, "Py_GetVersion", &version);
}

static void report(const char *reason)
{
	weft__hooks_unseen("asyncio", reason);
}

static void load(void)
{
	char path[PATH_MAX];
	const bool is_there =
		weft__hooks_find_beside("weft-python.so", "../bindings/python/weft/weft-python.so", path);
	void *library = is_there ? NEXT(dlopen)(path, RTLD_NOW | RTLD_LOCAL) : NULL;
	if (!library || !weft__hooks_audit_find(library, "weft_python_begin", &load_asyncio) ||
		!weft__hooks_audit_find(library, "weft_python_begin_pools", &load_pools))
		report("weft-python.so is not installed, or does not fit");
}

/* The file uses the stable ABI of Python 3.11, where there is one lock for all threads. */
static bool is_suitable(void)
{
	char text[64];
	if (!dlsym(RTLD_DEFAULT, "Py_Version")) {
		const char *own = version();
		snprintf(text, sizeof(text), "Python %.*s is older than 3.11", (int)strcspn(own, " "), own);
		report(text);
	} else if (strstr(version(), "free-threading")) {
		report("this Python has no global lock");
	} else if (is_watched) {
		report("the program has an audit hook of its own");
	} else {
		return true;
	}
	return false;
}

static bool is_main_interpreter(void)
{
	return !own_interpreter || id_of(own_interpreter()) == 0;
}

static void begin_asyncio(void)
{
	static bool is_tried;
	char error[128] = "";
	if (is_tried)
		return;
	is_tried = true;
	if (is_suitable())
		load();
	if (load_asyncio && !load_asyncio(error, sizeof(error)))
		report(error);
}

static void begin_pools(void)
{
	static bool is_tried;
	if (load_pools && !is_tried) {
		is_tried = true;
		load_pools();
	}
}

/* Its event loops do by themselves what the recorder sees those of asyncio do. */
static void see_uvloop(void)
{
	report("those that loops of uvloop run");
}

static void see_import(const char *module)
{
	static const struct {
		const char *module;
		void (*see)(void);
	} imports[] = {{"asyncio.unix_events", begin_asyncio},
		{"concurrent.futures.thread", begin_pools}, {"uvloop.loop", see_uvloop}};
	for (size_t i = 0; i < sizeof(imports) / sizeof(imports[0]); i++)
		if (strcmp(module, imports[i].module) == 0 && is_main_interpreter())
			imports[i].see();
}

static void see(const char *event, void *values)
{
	if (strcmp(event, "import") == 0) {
		void *name = item_of(values, 0);
		const char *module = name ? text_of(name, NULL) : NULL;
		if (module)
			see_import(module);
		clear_error();
	} else if (strcmp(event, "sys.addaudithook") == 0) {
		is_watched = true;
	}
}

/* From PyThread_acquire_lock_timed on, which is in the same file as the rest. */
static uintptr_t own_begin, own_end;

static void find_own(void)
{
	struct dl_find_object found;
	void *inside = dlsym(RTLD_DEFAULT, "PyThread_acquire_lock_timed");
	if (!inside || _dl_find_object(inside, &found) != 0)
		return;
	own_begin = (uintptr_t)found.dlfo_map_start;
	own_end = (uintptr_t)found.dlfo_map_end;
}

bool weft__hooks_python_has(const void *code)
{
	return (uintptr_t)code - own_begin < own_end - own_begin;
}

bool weft__hooks_python_is_followed(void)
{
	return is_begun && !is_watched;
}

void weft__hooks_python_begin(void)
{
	const char *level = getenv("WEFT_PYTHON");
	if ((!level || strcmp(level, "off") != 0) && find_python())
		is_begun = weft__hooks_audit_begin(see);
	if (is_begun)
		find_own();
}

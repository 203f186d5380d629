/* SPDX-License-Identifier: ISC
 *
 * Libraries: where they are, and their functions.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WEFT_CATEGORY always
#include "hooks/library.h"

/* ---- Where it is ---- */

struct search {
	struct weft__hooks_library *library;
	uintptr_t wanted;
};

/* The file name without its version: a file that contains the library's code, as a program that is
 * linked to it statically does, has another one. All calls would look like the library's own. */
static bool is_file(const char *path, const char *file)
{
	const char *slash = strrchr(path, '/'), *end = strchr(file, '.');
	const char *name = slash ? slash + 1 : path;
	return end && strncmp(name, file, (size_t)(end - file)) == 0;
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *argument)
{
	const struct search *search = argument;
	uintptr_t low = UINTPTR_MAX, high = 0;
	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *it = &info->dlpi_phdr[i];
		if (it->p_type != PT_LOAD || !(it->p_flags & PF_X))
			continue;
		uintptr_t begin = info->dlpi_addr + it->p_vaddr;
		low = begin < low ? begin : low;
		high = begin + it->p_memsz > high ? begin + it->p_memsz : high;
	}
	if (search->wanted < low || search->wanted >= high)
		return 0;
	if (is_file(info->dlpi_name, search->library->file)) {
		search->library->begin = low;
		search->library->size = high - low;
	}
	return 1;
}

/* By the address of any of its functions. */
static void locate(struct weft__hooks_library *library, const void *function)
{
	struct search search = {library, (uintptr_t)function};
	if (function)
		dl_iterate_phdr(look_at_object, &search);
}

/* ---- Functions ---- */

/* From a file that is loaded already. Its own functions and those of the libraries that it links to
 * are searched, so this never finds a hook. */
static void *find_in(const char *file, const char *name)
{
	void *handle = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
	void *found = handle ? dlsym(handle, name) : NULL;
	if (handle)
		NEXT(dlclose)(handle); /* without the hook: it stays loaded, as it calls us */
	return found;
}

static void *find_function(const char *file, const char *name, const void *caller)
{
	Dl_info info;
	void *found = dlsym(RTLD_NEXT, name);
	if (!found)
		found = find_in(file, name);
	if (!found && dladdr(caller, &info))
		found = find_in(info.dli_fname, name);
	return found;
}

void *weft__hooks_library_find(struct weft__hooks_library_original *original, const void *caller)
{
	int saved = errno;
	void *found = find_function(original->library->file, original->name, caller);
	if (!found)
		weft__hooks_missing(original->name);
	locate(original->library, found);
	original->may_go = true;
	__atomic_store_n(&original->found, found, __ATOMIC_RELEASE);
	errno = saved;
	return found;
}

/* The linker defines these two, unless no adapter of a library is built. */
extern struct weft__hooks_library_original __start_weft_library_originals[]
	__attribute__((weak, visibility("hidden")));
extern struct weft__hooks_library_original __stop_weft_library_originals[]
	__attribute__((weak, visibility("hidden")));

void weft__hooks_library_begin(struct weft__hooks_library *library, const char *known)
{
	struct weft__hooks_library_original *it = __start_weft_library_originals;
	locate(library, weft__hooks_find_next(known, NULL));
	for (; library->size && it < __stop_weft_library_originals; it++)
		if (it->library == library && !it->found)
			__atomic_store_n(&it->found, weft__hooks_find_next(it->name, NULL), __ATOMIC_RELEASE);
}

void weft__hooks_library_unloaded(void)
{
	struct weft__hooks_library_original *it = __start_weft_library_originals;
	for (; it < __stop_weft_library_originals; it++)
		if (it->may_go)
			__atomic_store_n(&it->found, NULL, __ATOMIC_RELEASE);
}

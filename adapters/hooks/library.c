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

static int look_at(struct dl_phdr_info *info, size_t size, void *argument)
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

void weft__hooks_library_locate(struct weft__hooks_library *library, const void *function)
{
	struct search search = {library, (uintptr_t)function};
	if (function && !library->size)
		dl_iterate_phdr(look_at, &search);
}

/* ---- Functions ---- */

/* From a file that is loaded already. Its own functions and those of the libraries that it links to
 * are searched, so this never finds a hook. */
static void *find_in(const char *file, const char *name)
{
	void *handle = dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
	void *found = handle ? dlsym(handle, name) : NULL;
	if (handle)
		dlclose(handle); /* it stays loaded: it calls us */
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

void *weft__hooks_library_find(
	struct weft__hooks_library *library, void **cache, const char *name, const void *caller)
{
	int saved = errno;
	void *found = find_function(library->file, name, caller);
	if (!found)
		weft__hooks_missing(name);
	weft__hooks_library_locate(library, found);
	__atomic_store_n(cache, found, __ATOMIC_RELEASE);
	errno = saved;
	return found;
}

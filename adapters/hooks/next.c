/* SPDX-License-Identifier: ISC
 *
 * Finds the functions that ours stand in front of.
 *
 * dlsym takes the dynamic linker's lock, and allocates to report an error. A signal handler, the
 * child of a program with threads, or a program in a sandbox may not do that, so a constructor
 * finds all functions. A hook finds its own only if it is called earlier, by a library's
 * constructor that runs before ours.
 */
#include "hooks/layer.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The linker defines these two. */
extern struct weft__hooks_original __start_weft_originals[] __attribute__((visibility("hidden")));
extern struct weft__hooks_original __stop_weft_originals[] __attribute__((visibility("hidden")));

extern struct weft__hooks_layer __start_weft_layers[] __attribute__((visibility("hidden")));
extern struct weft__hooks_layer __stop_weft_layers[] __attribute__((visibility("hidden")));

void *weft__hooks_find_next(const char *name, const char *version)
{
	int saved = errno;
	void *found = version ? dlvsym(RTLD_NEXT, name, version) : NULL;
	if (!found) /* other machines have other versions */
		found = dlsym(RTLD_NEXT, name);
	errno = saved;
	return found;
}

/* libc's, if a function of another library comes next. */
static void *find_in_libc(const char *name, const char *version)
{
	int saved = errno;
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	void *found = libc && version ? dlvsym(libc, name, version) : NULL;
	if (libc && !found)
		found = dlsym(libc, name);
	if (libc)
		dlclose(libc);
	errno = saved;
	return found;
}

static void *find_symbol(const char *name, const char *version)
{
	void *found = weft__hooks_find_next(name, version);
	if (found && !weft__hooks_is_of(found, HOOKS_LIBC))
		found = find_in_libc(name, version);
	return found;
}

/* ---- Layers ---- */

void *weft__hooks_below(struct weft__hooks_layer *layer)
{
	void *found = __atomic_load_n(&layer->original, __ATOMIC_RELAXED);
	if (found)
		return found;
	found = find_symbol(layer->name, NULL);
	if (!found)
		weft__hooks_missing(layer->name);
	__atomic_store_n(&layer->original, found, __ATOMIC_RELAXED);
	return found;
}

/* The function that a hook calls: a layer, if there is one. */
static void *find_below_hook(const struct weft__hooks_original *original)
{
	for (struct weft__hooks_layer *it = __start_weft_layers; it < __stop_weft_layers; it++)
		if (strcmp(it->name, original->name) == 0)
			return it->function;
	return find_symbol(original->name, original->version);
}

/* ---- Originals ---- */

/* Several hooks, and several calls in one hook, may have the same original: their entries are close
 * to each other. */
static void *find_near(const struct weft__hooks_original *original)
{
	enum {
		NEAR = 4
	};
	for (int i = 1; i <= NEAR && original - i >= __start_weft_originals; i++)
		if (original[-i].found && strcmp(original[-i].name, original->name) == 0)
			return original[-i].found;
	return find_below_hook(original);
}

/* Functions that only some programs have. */
static bool is_optional(const char *name)
{
	return strncmp(name, "uv_", 3) == 0 || strncmp(name, "g_", 2) == 0;
}

static bool is_of_libc(const char *name)
{
	return !is_optional(name);
}

static void find_some(bool (*is_wanted)(const char *name))
{
	weft__hooks_find_entries(is_wanted);
	for (struct weft__hooks_original *it = __start_weft_originals; it < __stop_weft_originals; it++)
		if (!it->found && is_wanted(it->name))
			__atomic_store_n(&it->found, find_near(it), __ATOMIC_RELAXED);
}

/* Other C libraries and versions lack some: programs do not call these. libc's come first: when
 * dlsym has failed, the next call frees the text of the error, perhaps by the program's own free,
 * which may call a hook. */
__attribute__((constructor(101))) static void find_all(void)
{
	for (struct weft__hooks_layer *it = __start_weft_layers; it < __stop_weft_layers; it++)
		weft__hooks_below(it);
	find_some(is_of_libc);
	find_some(is_optional);
	weft__hooks_has_found_entries();
	(void)dlerror(); /* the program did not make that error */
}

static void print(const char *text)
{
	ssize_t written = write(STDERR_FILENO, text, strlen(text));
	(void)written;
}

void *weft__hooks_find(struct weft__hooks_original *original)
{
	void *found = find_below_hook(original);
	if (!found)
		weft__hooks_missing(original->name);
	__atomic_store_n(&original->found, found, __ATOMIC_RELAXED);
	return found;
}

void weft__hooks_missing(const char *name)
{
	print("weft: no library has ");
	print(name);
	print(", which the program calls\n");
	abort();
}

/* SPDX-License-Identifier: ISC
 *
 * Finds the functions that ours stand in front of.
 *
 * A hook finds its original at its first call. dlsym takes the dynamic linker's lock, which is
 * recursive, and allocates only to report an error. So a thread's first call of a function waits
 * while another thread is inside dlopen.
 */
#include "hooks/hooks.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *weft__hooks_find_optional(void **cache, const char *name, const char *version)
{
	int saved = errno;
	void *found = version ? dlvsym(RTLD_NEXT, name, version) : NULL;
	if (!found) /* other machines have other versions */
		found = dlsym(RTLD_NEXT, name);
	__atomic_store_n(cache, found, __ATOMIC_RELAXED);
	errno = saved;
	return found;
}

static void print(const char *text)
{
	ssize_t written = write(STDERR_FILENO, text, strlen(text));
	(void)written;
}

void *weft__hooks_find(void **cache, const char *name, const char *version)
{
	void *found = weft__hooks_find_optional(cache, name, version);
	if (!found)
		weft__hooks_missing(name);
	return found;
}

void weft__hooks_missing(const char *name)
{
	print("weft: no library has ");
	print(name);
	print(", which the program calls\n");
	abort();
}

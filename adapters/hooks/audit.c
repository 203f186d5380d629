/* SPDX-License-Identifier: ISC
 *
 * An audit hook that is set before Python begins.
 *
 * Python takes memory for it then, and gives it back at its end. Meanwhile -X dev and
 * PYTHONMALLOC=debug may have changed the allocator to one that refuses what it has not given, so
 * the memory goes back to the one that it came from.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define WEFT_CATEGORY always
#include "hooks/audit.h"
#include "hooks/hooks.h"

#define RAW_MEMORY 0 /* PYMEM_DOMAIN_RAW */

/* PyMemAllocatorEx */
struct allocator {
	void *context;
	void *(*allocate)(void *context, size_t size);
	void *(*allocate_zeroed)(void *context, size_t count, size_t size);
	void *(*reallocate)(void *context, void *memory, size_t size);
	void (*free)(void *context, void *memory);
};

static int (*add_hook)(int (*hook)(const char *, void *, void *), void *data);
static void (*get_allocator)(int domain, struct allocator *ret);
static void (*set_allocator)(int domain, struct allocator *allocator);

static void (*see_event)(const char *event, void *values);
static struct allocator first, last; /* when the hook was set, and when Python ends */
static void *memory;                 /* of the hook */

bool weft__hooks_audit_find(void *library, const char *name, void *ret_function)
{
	void *found = dlsym(library, name);
	memcpy(ret_function, &found, sizeof(found));
	return found != NULL;
}

/* ---- The hook's memory ---- */

static void *note_memory(void *context, size_t size)
{
	return memory = first.allocate(context, size);
}

static void free_memory(void *context, void *freed)
{
	if (freed != memory) {
		last.free(context, freed);
		return;
	}
	set_allocator(RAW_MEMORY, &last);
	first.free(first.context, freed);
}

/* All but one function stays, as other threads may call them meanwhile. */
static void expect_end(void)
{
	get_allocator(RAW_MEMORY, &last);
	if (last.free == first.free && last.context == first.context)
		return;
	struct allocator changed = last;
	changed.free = free_memory;
	set_allocator(RAW_MEMORY, &changed);
}

static int see(const char *event, void *values, void *nothing)
{
	(void)nothing;
	if (strcmp(event, "cpython._PySys_ClearAuditHooks") == 0)
		expect_end();
	else
		see_event(event, values);
	return 0;
}

bool weft__hooks_audit_begin(void (*see_it)(const char *event, void *values))
{
	if (!weft__hooks_audit_find(RTLD_DEFAULT, "PySys_AddAuditHook", &add_hook) ||
		!weft__hooks_audit_find(RTLD_DEFAULT, "PyMem_GetAllocator", &get_allocator) ||
		!weft__hooks_audit_find(RTLD_DEFAULT, "PyMem_SetAllocator", &set_allocator))
		return false;
	see_event = see_it;
	get_allocator(RAW_MEMORY, &first);
	struct allocator noting = first;
	noting.allocate = note_memory;
	set_allocator(RAW_MEMORY, &noting);
	add_hook(see, NULL);
	set_allocator(RAW_MEMORY, &first);
	return true;
}

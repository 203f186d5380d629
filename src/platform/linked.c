/* SPDX-License-Identifier: ISC
 *
 * Says whether the program wants the recorder itself, or only the adapters that `weft record` has
 * preloaded do: then it gets no descriptor that it would not have alone.
 */
#include <link.h>
#include <string.h>

#include "platform/linux.h"

#define LIBRARY  "libweft.so"
#define ADAPTERS "libweft-adapters.so"

struct objects {
	bool is_needed;  /* by an object that is not the adapters */
	bool is_library; /* this recorder is a library, and no part of the program or of a plug-in */
};

/* Some C libraries relocate what a dynamic section refers to, others do not. */
static const char *strings_of(const ElfW(Dyn) * section, ElfW(Addr) base)
{
	for (; section->d_tag != DT_NULL; section++)
		if (section->d_tag == DT_STRTAB)
			return (const char *)(section->d_un.d_ptr < base ? section->d_un.d_ptr + base
															 : section->d_un.d_ptr);
	return NULL;
}

static bool has_entry(const ElfW(Dyn) * section, const char *strings, ElfW(Sxword) tag)
{
	for (; strings && section->d_tag != DT_NULL; section++)
		if (section->d_tag == tag &&
			strncmp(strings + section->d_un.d_val, LIBRARY, sizeof(LIBRARY) - 1) == 0)
			return true;
	return false;
}

static bool is_called(const char *path, const char *name)
{
	const size_t size = strlen(path), end = strlen(name);
	return size >= end && strcmp(path + size - end, name) == 0;
}

static int see_object(struct dl_phdr_info *object, size_t size, void *context)
{
	struct objects *objects = context;
	const ElfW(Addr) base = object->dlpi_addr, here = (ElfW(Addr)) & see_object;
	const ElfW(Dyn) *section = NULL;
	bool is_ours = false;
	(void)size;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		const ElfW(Addr) start = base + part->p_vaddr;
		if (part->p_type == PT_DYNAMIC)
			section = (const void *)start;
		else if (part->p_type == PT_LOAD && here >= start && here - start < part->p_memsz)
			is_ours = true;
	}
	const char *strings = section ? strings_of(section, base) : NULL;
	if (is_ours)
		objects->is_library = section && has_entry(section, strings, DT_SONAME);
	else if (section && has_entry(section, strings, DT_NEEDED) &&
			 !is_called(object->dlpi_name, ADAPTERS))
		objects->is_needed = true;
	return 0;
}

bool weft__platform_linux_is_linked(void)
{
	struct objects objects = {false, false};
	dl_iterate_phdr(see_object, &objects);
	return objects.is_needed || !objects.is_library;
}

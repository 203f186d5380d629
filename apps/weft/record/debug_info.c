/* SPDX-License-Identifier: ISC
 *
 * Lines of code by libdw, which also finds debug information in files of its own: by build id or
 * debug link, below /usr/lib/debug. It is loaded when it is needed, because loading it would make
 * each command of weft begin 0.3 ms later.
 */
#include <dlfcn.h>
#include <elfutils/libdwfl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lines.h"

/* ELF files of one trace, at most: a program and the libraries that call it back. */
#define FILES_MAX 64

/* The functions of libdw that are used here. */
#define FUNCTIONS(F)                \
	F(dwfl_begin)                   \
	F(dwfl_build_id_find_elf)       \
	F(dwfl_end)                     \
	F(dwfl_lineinfo)                \
	F(dwfl_module_getelf)           \
	F(dwfl_module_getsrc)           \
	F(dwfl_offline_section_address) \
	F(dwfl_report_begin_add)        \
	F(dwfl_report_end)              \
	F(dwfl_report_offline)          \
	F(dwfl_standard_find_debuginfo)

static struct {
#define FUNCTION(name) __typeof__(name) *name;
	FUNCTIONS(FUNCTION)
#undef FUNCTION
} dw;

struct debug_info {
	Dwfl *dwfl;
	Dwfl_Callbacks callbacks;
	size_t count;
	struct {
		char path[PATH_MAX];
		Dwfl_Module *module; /* NULL: it cannot be read */
	} files[FILES_MAX];
};

/* False if libdw is not installed. It is never unloaded. */
static bool load(void)
{
	void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
	bool is_complete = library != NULL;
#define FUNCTION(name) is_complete = is_complete && (*(void **)&dw.name = dlsym(library, #name));
	FUNCTIONS(FUNCTION)
#undef FUNCTION
	return is_complete;
}

struct debug_info *debug_info_open(void)
{
	struct debug_info *info = load() ? calloc(1, sizeof(*info)) : NULL;
	if (!info)
		return NULL;
	info->callbacks.find_elf = dw.dwfl_build_id_find_elf;
	info->callbacks.find_debuginfo = dw.dwfl_standard_find_debuginfo;
	info->callbacks.section_address = dw.dwfl_offline_section_address;
	info->dwfl = dw.dwfl_begin(&info->callbacks);
	if (info->dwfl)
		return info;
	free(info);
	return NULL;
}

void debug_info_close(struct debug_info *info)
{
	if (!info)
		return;
	dw.dwfl_end(info->dwfl);
	free(info);
}

static bool is_regular(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static Dwfl_Module *report(struct debug_info *info, const char *path)
{
	if (!is_regular(path))
		return NULL;
	dw.dwfl_report_begin_add(info->dwfl);
	Dwfl_Module *module = dw.dwfl_report_offline(info->dwfl, path, path, -1);
	dw.dwfl_report_end(info->dwfl, NULL, NULL);
	return module;
}

static Dwfl_Module *find_module(struct debug_info *info, const char *path)
{
	for (size_t i = 0; i < info->count; i++)
		if (strcmp(info->files[i].path, path) == 0)
			return info->files[i].module;
	if (info->count == FILES_MAX || strlen(path) >= PATH_MAX)
		return NULL;
	snprintf(info->files[info->count].path, PATH_MAX, "%s", path);
	info->files[info->count].module = report(info, path);
	return info->files[info->count++].module;
}

bool debug_info_find(
	struct debug_info *info, const char *file, uint64_t address, char *ret_location, size_t room)
{
	Dwfl_Module *module = find_module(info, file);
	GElf_Addr bias = 0;
	int number = 0;
	/* libdw gives each file a range of addresses of its own; `bias` is the difference from the
	 * addresses in the file. */
	if (!module || !dw.dwfl_module_getelf(module, &bias))
		return false;
	Dwfl_Line *line = dw.dwfl_module_getsrc(module, address + bias);
	const char *source = line ? dw.dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
	if (!source || number <= 0)
		return false;
	const char *slash = strrchr(source, '/');
	int size = snprintf(ret_location, room, "%s:%d", slash ? slash + 1 : source, number);
	return size > 0 && (size_t)size < room;
}

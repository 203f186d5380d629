/* SPDX-License-Identifier: ISC
 *
 * Lines of code by libdw, which also finds debug information in files of its own: by build id or
 * debug link, below /usr/lib/debug.
 */
#include <elfutils/libdwfl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lines.h"

/* ELF files of one trace, at most: a program and the libraries that call it back. */
#define FILES_MAX 64

struct debug_info {
	Dwfl *dwfl;
	size_t count;
	struct {
		char path[PATH_MAX];
		Dwfl_Module *module; /* NULL: it cannot be read */
	} files[FILES_MAX];
};

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

struct debug_info *debug_info_open(void)
{
	struct debug_info *info = calloc(1, sizeof(*info));
	if (!info)
		return NULL;
	info->dwfl = dwfl_begin(&callbacks);
	if (info->dwfl)
		return info;
	free(info);
	return NULL;
}

void debug_info_close(struct debug_info *info)
{
	if (!info)
		return;
	dwfl_end(info->dwfl);
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
	dwfl_report_begin_add(info->dwfl);
	Dwfl_Module *module = dwfl_report_offline(info->dwfl, path, path, -1);
	dwfl_report_end(info->dwfl, NULL, NULL);
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
	struct debug_info *info, const char *file, uint64_t address, char *ret_place, size_t room)
{
	Dwfl_Module *module = find_module(info, file);
	GElf_Addr bias = 0;
	int number = 0;
	/* The bias is between the linker's addresses and libdw's, which places the files apart. */
	if (!module || !dwfl_module_getelf(module, &bias))
		return false;
	Dwfl_Line *line = dwfl_module_getsrc(module, address + bias);
	const char *source = line ? dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
	if (!source || number <= 0)
		return false;
	const char *slash = strrchr(source, '/');
	int size = snprintf(ret_place, room, "%s:%d", slash ? slash + 1 : source, number);
	return size > 0 && (size_t)size < room;
}

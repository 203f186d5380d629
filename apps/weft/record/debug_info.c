/* SPDX-License-Identifier: ISC
 *
 * Lines of code by libdw, which gets all files from debug_files.c: the ELF files, and those that
 * have their debug information.
 */
#include <elfutils/libdwfl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "inlined.h"
#include "libdw.h"
#include "lines.h"

/* ELF files of one trace, at most: a program and the libraries that call it back. */
#define FILES_MAX 64

/* The functions of libdw that are used here. */
#define FUNCTIONS(F)                \
	F(dwfl_begin)                   \
	F(dwfl_lineinfo)                \
	F(dwfl_module_addrname)         \
	F(dwfl_module_getelf)           \
	F(dwfl_module_getsrc)           \
	F(dwfl_offline_section_address) \
	F(dwfl_report_begin_add)        \
	F(dwfl_report_end)              \
	F(dwfl_report_offline)          \
	F(dwfl_module_build_id)

static struct {
	FUNCTIONS(LIBDW_POINTER)
} dw;

struct debug_info {
	Dwfl *dwfl;
	Dwfl_Callbacks callbacks;
	bool has_others;
	size_t count;
	struct {
		char path[PATH_MAX], real[PATH_MAX];
		Dwfl_Module *module; /* NULL: it cannot be read */
	} files[FILES_MAX];
};

static bool load(void)
{
	static const char *const names[] = {FUNCTIONS(LIBDW_NAME)};
	void *functions[sizeof(names) / sizeof(*names)];
	if (!inlined_load() || !libdw_find(names, sizeof(names) / sizeof(*names), functions))
		return false;
	memcpy(&dw, functions, sizeof(dw));
	return true;
}

/* libdw asks for files of a core dump only. */
static int find_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
	char **ret_file, Elf **ret_elf)
{
	(void)module, (void)data, (void)name, (void)base, (void)ret_file, (void)ret_elf;
	return -1;
}

/* Also for the common part of several files' information, whose build id `module` then has. */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
	const char *file, const char *link, GElf_Word checksum, char **ret_file)
{
	struct debug_files_wanted wanted = {
		.file = file ? file : "", .link = link, .checksum = checksum};
	GElf_Addr address;
	(void)data, (void)name, (void)base, (void)ret_file;
	int size = dw.dwfl_module_build_id(module, &wanted.build_id, &address);
	wanted.build_id_size = size > 0 ? (size_t)size : 0;
	return debug_files_find(&wanted);
}

struct debug_info *debug_info_open(void)
{
	struct debug_info *info = load() ? calloc(1, sizeof(*info)) : NULL;
	if (!info)
		return NULL;
	info->callbacks.find_elf = find_elf;
	info->callbacks.find_debuginfo = find_debuginfo;
	info->callbacks.section_address = dw.dwfl_offline_section_address;
	info->dwfl = dw.dwfl_begin(&info->callbacks);
	if (info->dwfl)
		return info;
	free(info);
	return NULL;
}

/* `real` stays as long as the module. */
static Dwfl_Module *report(struct debug_info *info, const char *path, char real[PATH_MAX])
{
	struct stat status;
	int fd = debug_files_open(path, real);
	if (fd < 0)
		return NULL;
	info->has_others |=
		fstat(fd, &status) != 0 || status.st_uid != geteuid() || (status.st_mode & 022);
	dw.dwfl_report_begin_add(info->dwfl);
	Dwfl_Module *module = dw.dwfl_report_offline(info->dwfl, real, real, fd);
	dw.dwfl_report_end(info->dwfl, NULL, NULL);
	if (!module)
		close(fd);
	return module;
}

bool debug_info_is_ours(const struct debug_info *info)
{
	return !info->has_others;
}

static Dwfl_Module **find_module(struct debug_info *info, const char *path)
{
	for (size_t i = 0; i < info->count; i++)
		if (strcmp(info->files[i].path, path) == 0)
			return &info->files[i].module;
	return NULL;
}

void debug_info_add(struct debug_info *info, const char *file)
{
	if (find_module(info, file) || info->count == FILES_MAX || strlen(file) >= PATH_MAX)
		return;
	size_t at = info->count++;
	snprintf(info->files[at].path, PATH_MAX, "%s", file);
	info->files[at].module = report(info, file, info->files[at].real);
}

/* The module that was added; NULL: none, or it cannot be read. `*ret_bias`: libdw gives each file a
 * range of addresses of its own, and this is the difference from the addresses in the file. */
static Dwfl_Module *module_of(struct debug_info *info, const char *file, GElf_Addr *ret_bias)
{
	Dwfl_Module **found = find_module(info, file);
	return found && *found && dw.dwfl_module_getelf(*found, ret_bias) ? *found : NULL;
}

bool debug_info_is(struct debug_info *info, const char *file, const char *build_id)
{
	GElf_Addr bias, address;
	const unsigned char *id;
	Dwfl_Module *module = module_of(info, file, &bias);
	int size = module ? dw.dwfl_module_build_id(module, &id, &address) : -1;
	if (size < 0 || strlen(build_id) != 2 * (size_t)size)
		return false;
	for (int i = 0; i < size; i++) {
		char digits[3];
		snprintf(digits, sizeof(digits), "%02x", id[i]);
		if (memcmp(digits, build_id + 2 * i, 2) != 0)
			return false;
	}
	return true;
}

size_t debug_info_calls(struct debug_info *info, const char *file, uint64_t address,
	struct debug_call ret_calls[DEBUG_CALLS_MAX])
{
	GElf_Addr bias;
	Dwfl_Module *module = module_of(info, file, &bias);
	const char *symbol = module ? dw.dwfl_module_addrname(module, address + bias) : NULL;
	if (!symbol)
		return 0;
	const size_t count = inlined_find(module, address + bias, ret_calls);
	ret_calls[count - 1].symbol = symbol;
	return count;
}

bool debug_info_find(
	struct debug_info *info, const char *file, uint64_t address, char *ret_location, size_t room)
{
	GElf_Addr bias;
	int number = 0;
	Dwfl_Module *module = module_of(info, file, &bias);
	if (!module)
		return false;
	Dwfl_Line *line = dw.dwfl_module_getsrc(module, address + bias);
	const char *source = line ? dw.dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
	if (!source || number <= 0)
		return false;
	const char *slash = strrchr(source, '/');
	int size = snprintf(ret_location, room, "%s:%d", slash ? slash + 1 : source, number);
	return size > 0 && (size_t)size < room;
}

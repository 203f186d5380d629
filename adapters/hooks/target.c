/* SPDX-License-Identifier: ISC
 *
 * Can the adapters be loaded into a program that is about to be executed?
 *
 * Its file tells: the dynamic linker that it names has to be the one that has
 * loaded them here. A child of vfork asks as well, so this allocates nothing
 * and changes no memory but its own stack.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define WEFT_CATEGORY always
#include "hooks/environment.h"
#include "hooks/locked.h"
#include "kernel/call.h"

#define SCRIPTS_MAX 4  /* interpreters that are scripts themselves */
#define HEADERS_MAX 64 /* program headers that are examined */
#define LOADER_ROOM 256

extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

/* The file name of the dynamic linker; "": unknown. */
static char own_loader[LOADER_ROOM];
static char library[PATH_MAX];

const char *weft__hooks_library_path(void)
{
	return library;
}

bool weft__hooks_find_beside(const char *installed, const char *built, char ret_path[PATH_MAX])
{
	const char *const names[] = {installed, built}, *slash = strrchr(library, '/');
	for (size_t i = 0; slash && i < sizeof(names) / sizeof(names[0]); i++) {
		int size =
			snprintf(ret_path, PATH_MAX, "%.*s/%s", (int)(slash - library), library, names[i]);
		if (size < PATH_MAX && access(ret_path, R_OK) == 0)
			return true;
	}
	return false;
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* The kernel says where the program's headers are. */
__attribute__((constructor(109))) static void find_own(void)
{
	Dl_info info;
	const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	size_t count = headers ? getauxval(AT_PHNUM) : 0;
	uintptr_t base = 0;
	for (size_t i = 0; i < count; i++)
		if (headers[i].p_type == PT_PHDR)
			base = (uintptr_t)headers - headers[i].p_vaddr;
	for (size_t i = 0; i < count; i++)
		if (headers[i].p_type == PT_INTERP && headers[i].p_filesz <= sizeof(own_loader))
			strncpy(own_loader, file_name((const char *)(base + headers[i].p_vaddr)),
				sizeof(own_loader) - 1);
	if (dladdr(&__ehdr_start, &info) && info.dli_fname && strlen(info.dli_fname) < sizeof(library))
		strcpy(library, info.dli_fname);
}

/* ---- The file ---- */

static long read_at(int fd, void *bytes, size_t size, uint64_t at)
{
	return weft__kernel_read_at(fd, bytes, size, (off_t)at);
}

static bool is_own_machine(const ElfW(Ehdr) * header)
{
	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
		   header->e_ident[EI_CLASS] == __ehdr_start.e_ident[EI_CLASS] &&
		   header->e_ident[EI_DATA] == __ehdr_start.e_ident[EI_DATA] &&
		   header->e_machine == __ehdr_start.e_machine;
}

static bool is_loader(const char *name)
{
	return strncmp(name, "ld-", 3) == 0 || strncmp(name, "ld.so", 5) == 0 ||
		   strncmp(name, "ld64.so", 7) == 0;
}

/* A program that names no dynamic linker pays no attention to the environment,
 * unless it is the dynamic linker, which gets the program as an argument. */
static enum weft__hooks_fit fit_of_loader(int fd, const ElfW(Ehdr) * header, const char *path)
{
	ElfW(Phdr) it;
	char loader[LOADER_ROOM] = "";
	for (unsigned i = 0; i < header->e_phnum && i < HEADERS_MAX; i++) {
		if (read_at(fd, &it, sizeof(it), header->e_phoff + i * sizeof(it)) != (long)sizeof(it))
			return WEFT__HOOKS_UNKNOWN;
		if (it.p_type != PT_INTERP)
			continue;
		size_t size = it.p_filesz < sizeof(loader) ? it.p_filesz : sizeof(loader) - 1;
		if (read_at(fd, loader, size, it.p_offset) != (long)size || !own_loader[0])
			return WEFT__HOOKS_UNKNOWN;
		return strcmp(file_name(loader), own_loader) == 0 ? WEFT__HOOKS_LOADS
														  : WEFT__HOOKS_OTHER_LIBC;
	}
	bool is_program = header->e_type == ET_EXEC || header->e_type == ET_DYN;
	return is_program && !is_loader(file_name(path)) ? WEFT__HOOKS_STATIC : WEFT__HOOKS_UNKNOWN;
}

/* The interpreter that a script names. False if the file is no script. */
static bool read_interpreter(char path[static LOADER_ROOM], const char *head)
{
	size_t size;
	if (head[0] != '#' || head[1] != '!')
		return false;
	head += 2 + strspn(head + 2, " \t");
	size = strcspn(head, " \t\n");
	if (size >= LOADER_ROOM)
		size = 0;
	memcpy(path, head, size);
	path[size] = '\0';
	return true;
}

/* The file may give other rights to the program. */
static bool offers_rights(int fd, const struct stat *status)
{
	return status->st_mode & (S_ISUID | S_ISGID) ||
		   fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

/* The dynamic linker ignores the environment of a program that gets them: the
 * user or group with which it runs is not the real one, or it has a capability.
 * Root gets none by the file, and a process or a file system may rule them out.
 */
static enum weft__hooks_fit fit_of_rights(int fd, const struct stat *status)
{
	struct statfs system;
	const uid_t user = (uid_t)weft__kernel_call(SYS_getuid, 0, 0, 0, 0, 0, 0);
	bool is_user = (status->st_mode & S_ISUID) && status->st_uid != user;
	bool is_group = (status->st_mode & S_ISGID) && (status->st_mode & S_IXGRP) &&
					status->st_gid != (gid_t)weft__kernel_call(SYS_getgid, 0, 0, 0, 0, 0, 0);
	bool is_able = user != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;
	bool is_ruled_out = weft__kernel_call(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0) != 0 ||
						fstatfs(fd, &system) != 0 || system.f_flags & ST_NOSUID;
	return (is_user || is_group || is_able) && !is_ruled_out ? WEFT__HOOKS_HAS_RIGHTS
															 : WEFT__HOOKS_UNKNOWN;
}

/* Only these are executed. */
static bool is_regular(int fd, struct stat *ret)
{
	return weft__kernel_stat(fd, ret) == 0 && S_ISREG(ret->st_mode);
}

/* `path`: of the file. It is changed to that of a script's interpreter: then
 * `*ret_is_script`. */
static enum weft__hooks_fit fit_of_file(
	int fd, char path[static WEFT__HOOKS_FILE_BYTES], bool *ret_is_script)
{
	union {
		ElfW(Ehdr) elf;
		char text[LOADER_ROOM + 1];
	} head;
	struct stat status;
	*ret_is_script = false;
	if (!is_regular(fd, &status))
		return WEFT__HOOKS_UNKNOWN;
	long size = read_at(fd, head.text, LOADER_ROOM, 0);
	if (size < 2)
		return WEFT__HOOKS_UNKNOWN;
	head.text[size] = '\0';
	*ret_is_script = read_interpreter(path, head.text);
	if (*ret_is_script || size < (long)sizeof(head.elf) ||
		memcmp(head.elf.e_ident, ELFMAG, SELFMAG) != 0)
		return WEFT__HOOKS_UNKNOWN;
	if (offers_rights(fd, &status))
		return fit_of_rights(fd, &status);
	return is_own_machine(&head.elf) ? fit_of_loader(fd, &head.elf, path)
									 : WEFT__HOOKS_OTHER_MACHINE;
}

/* The path of a file that is open. The program's own memory is not read for it.
 */
static void read_path(int fd, char ret_path[static WEFT__HOOKS_FILE_BYTES])
{
	struct weft__hooks_text link = {0};
	weft__hooks_append(&link, "/proc/self/fd/");
	weft__hooks_append_number(&link, fd);
	link.bytes[link.size] = '\0';
	long size = weft__kernel_readlink(link.bytes, ret_path, WEFT__HOOKS_FILE_BYTES - 1);
	ret_path[size > 0 ? size : 0] = '\0';
}

static void find_at(struct weft__hooks_target *ret, const char *path)
{
	bool is_script = true;
	for (int i = 0; is_script && i < SCRIPTS_MAX; i++) {
		if (!weft__hooks_may_open(path))
			return;
		int fd = weft__kernel_open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
		if (fd < 0)
			return;
		read_path(fd, ret->file);
		ret->fit = fit_of_file(fd, ret->file, &is_script);
		weft__kernel_close(fd);
		path = ret->file;
	}
}

/* After chroot, and in other namespaces, the library may be out of reach. */
static void check_library(struct weft__hooks_target *target)
{
	if (target->fit == WEFT__HOOKS_LOADS &&
		weft__kernel_call(SYS_faccessat, AT_FDCWD, (long)library, R_OK, 0, 0, 0) != 0)
		target->fit = WEFT__HOOKS_UNREACHABLE;
}

/* ---- What is executed ---- */

/* Calls `find`, which sets `*ret`. errno stays. */
#define EXAMINE(ret, find)                                         \
	int weft__saved = errno;                                       \
	*(ret) = (struct weft__hooks_target){WEFT__HOOKS_UNKNOWN, ""}; \
	if (library[0] == '/' && weft__hooks_system_begin()) {         \
		find;                                                      \
		check_library(ret);                                        \
		weft__hooks_system_end();                                  \
	}                                                              \
	errno = weft__saved

void weft__hooks_find_target(struct weft__hooks_target *ret, const char *path)
{
	EXAMINE(ret, find_at(ret, path));
}

static void find_opened(struct weft__hooks_target *ret, int fd)
{
	bool is_script;
	read_path(fd, ret->file);
	ret->fit = fit_of_file(fd, ret->file, &is_script);
	if (is_script)
		find_at(ret, ret->file);
}

void weft__hooks_find_target_by_descriptor(struct weft__hooks_target *ret, int fd)
{
	EXAMINE(ret, find_opened(ret, fd));
}

/* The first executable file of that name in the directories of PATH, as execvp
 * finds it. */
static void find_in_path(struct weft__hooks_target *ret, const char *file)
{
	const char *at = weft__hooks_variable(environ, "PATH");
	char path[PATH_MAX];
	size_t name_size = strlen(file) + 1;
	if (!at)
		at = "/bin:/usr/bin";
	for (size_t size; at; at = at[size] ? at + size + 1 : NULL) {
		size = strcspn(at, ":");
		if (size + 1 + name_size > sizeof(path))
			continue;
		memcpy(path, at, size);
		path[size] = '/';
		memcpy(path + size + (size != 0), file, name_size);
		if (weft__kernel_call(SYS_faccessat, AT_FDCWD, (long)path, X_OK, 0, 0, 0) == 0) {
			find_at(ret, path);
			return;
		}
	}
}

static void find_name(struct weft__hooks_target *ret, const char *file)
{
	if (strchr(file, '/'))
		find_at(ret, file);
	else
		find_in_path(ret, file);
}

void weft__hooks_find_target_by_name(struct weft__hooks_target *ret, const char *file)
{
	EXAMINE(ret, find_name(ret, file));
}

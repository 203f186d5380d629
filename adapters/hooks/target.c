/* SPDX-License-Identifier: ISC
 *
 * Can the adapters be loaded into a program that is about to be executed?
 *
 * Its file tells: the dynamic linker that it names has to be the one that has loaded them here. A
 * child of vfork asks as well, so this allocates nothing and changes no memory but its own stack.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#define WEFT_CATEGORY always
#include "hooks/environment.h"
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
	return syscall(SYS_pread64, fd, bytes, size, (off_t)at);
}

static bool is_own_machine(const ElfW(Ehdr) * header)
{
	return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
		   header->e_ident[EI_CLASS] == __ehdr_start.e_ident[EI_CLASS] &&
		   header->e_ident[EI_DATA] == __ehdr_start.e_ident[EI_DATA] &&
		   header->e_machine == __ehdr_start.e_machine;
}

/* A program that names no dynamic linker pays no attention to the environment. */
static enum weft__hooks_fit fit_of_loader(int fd, const ElfW(Ehdr) * header)
{
	ElfW(Phdr) it;
	char loader[LOADER_ROOM] = "";
	for (unsigned i = 0; i < header->e_phnum && i < HEADERS_MAX; i++) {
		if (read_at(fd, &it, sizeof(it), header->e_phoff + i * sizeof(it)) != (long)sizeof(it))
			break;
		if (it.p_type != PT_INTERP)
			continue;
		size_t size = it.p_filesz < sizeof(loader) ? it.p_filesz : sizeof(loader) - 1;
		if (read_at(fd, loader, size, it.p_offset) != (long)size || !own_loader[0])
			break;
		return strcmp(file_name(loader), own_loader) == 0 ? WEFT__HOOKS_LOADS : WEFT__HOOKS_REFUSES;
	}
	return WEFT__HOOKS_UNKNOWN;
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

/* The dynamic linker ignores the environment if the program gets other rights by its file. */
static bool has_rights(int fd)
{
	struct stat status;
	return weft__kernel_stat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
		   status.st_mode & (S_ISUID | S_ISGID) ||
		   fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

/* `path` is changed to that of a script's interpreter: then `*ret_is_script`. */
static enum weft__hooks_fit fit_of_file(int fd, char path[static LOADER_ROOM], bool *ret_is_script)
{
	union {
		ElfW(Ehdr) elf;
		char text[LOADER_ROOM + 1];
	} head;
	long size = has_rights(fd) ? -1 : read_at(fd, head.text, LOADER_ROOM, 0);
	*ret_is_script = false;
	if (size < 2)
		return WEFT__HOOKS_UNKNOWN;
	head.text[size] = '\0';
	*ret_is_script = read_interpreter(path, head.text);
	if (*ret_is_script || size < (long)sizeof(head.elf) ||
		memcmp(head.elf.e_ident, ELFMAG, SELFMAG) != 0)
		return WEFT__HOOKS_UNKNOWN;
	return is_own_machine(&head.elf) ? fit_of_loader(fd, &head.elf) : WEFT__HOOKS_REFUSES;
}

static enum weft__hooks_fit fit_at(const char *path)
{
	enum weft__hooks_fit fit = WEFT__HOOKS_UNKNOWN;
	char interpreter[LOADER_ROOM];
	bool is_script = true;
	for (int i = 0; is_script && i < SCRIPTS_MAX; i++) {
		int fd = (int)syscall(
			SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
		if (fd < 0)
			return WEFT__HOOKS_UNKNOWN;
		fit = fit_of_file(fd, interpreter, &is_script);
		syscall(SYS_close, fd);
		path = interpreter;
	}
	return fit;
}

/* After chroot, and in other namespaces, the library may be out of reach. */
static enum weft__hooks_fit check_library(enum weft__hooks_fit fit)
{
	bool is_lost = fit == WEFT__HOOKS_LOADS && syscall(SYS_faccessat, AT_FDCWD, library, R_OK) != 0;
	return is_lost ? WEFT__HOOKS_REFUSES : fit;
}

/* ---- What is executed ---- */

/* errno stays. */
#define EXAMINE(expression)                                    \
	__extension__({                                            \
		enum weft__hooks_fit weft__fit = WEFT__HOOKS_UNKNOWN;  \
		int weft__saved = errno;                               \
		if (library[0] == '/' && weft__hooks_system_begin()) { \
			weft__fit = check_library(expression);             \
			weft__hooks_system_end();                          \
		}                                                      \
		errno = weft__saved;                                   \
		weft__fit;                                             \
	})

enum weft__hooks_fit weft__hooks_fit(const char *path)
{
	return EXAMINE(fit_at(path));
}

enum weft__hooks_fit weft__hooks_fit_of_descriptor(int fd)
{
	char interpreter[LOADER_ROOM];
	bool is_script = false;
	enum weft__hooks_fit fit = EXAMINE(fit_of_file(fd, interpreter, &is_script));
	return is_script ? weft__hooks_fit(interpreter) : fit;
}

/* The first executable file of that name in the directories of PATH, as execvp finds it. */
static enum weft__hooks_fit fit_in_path(const char *file)
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
		if (syscall(SYS_faccessat, AT_FDCWD, path, X_OK) == 0)
			return fit_at(path);
	}
	return WEFT__HOOKS_UNKNOWN;
}

enum weft__hooks_fit weft__hooks_fit_of_name(const char *file)
{
	return EXAMINE(strchr(file, '/') ? fit_at(file) : fit_in_path(file));
}

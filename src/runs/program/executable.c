/* SPDX-License-Identifier: ISC
 *
 * Looks at the file of a program: at its first bytes, which say whether it is a script or an ELF
 * file, at the ELF program headers, and for texts that only files with libweft or Go's runtime
 * have. Searching for these texts needs no symbols, which may have been removed.
 */
#include "runs/program/executable.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "abi/run_abi.h"

/* Interpreters that are scripts themselves, at most. The kernel has a similar limit. */
#define SCRIPTS_MAX 4
/* A file with more is searched up to here. */
#define SEARCHED_MAX_BYTES ((off_t)1 << 30)
/* Program headers that are examined, at most. */
#define HEADERS_MAX 256

/* ---- Finding the file ---- */

static bool is_program(const char *path)
{
	struct stat status;
	return access(path, X_OK) == 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* The path of a program; its name if it is in no directory of PATH. */
static void find_executable(const char *name, char ret_path[PATH_MAX])
{
	const char *at = getenv("PATH");
	for (size_t length; at && !strchr(name, '/'); at += length + 1) {
		length = strcspn(at, ":");
		snprintf(ret_path, PATH_MAX, "%.*s%s%s", (int)length, at, length ? "/" : "", name);
		if (is_program(ret_path))
			return;
		if (!at[length])
			break;
	}
	snprintf(ret_path, PATH_MAX, "%s", name);
}

static int open_regular(const char *path)
{
	struct stat status;
	bool is_regular = stat(path, &status) != 0 || S_ISREG(status.st_mode);
	/* Opening a device may have effects. */
	int fd = is_regular ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	if (!is_regular)
		errno = EINVAL;
	if (fd >= 0 && (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))) {
		close(fd);
		errno = EINVAL;
		fd = -1;
	}
	return fd;
}

/* ---- Scripts ---- */

/* Takes the next word of a script's first line; NULL if there is none. */
static char *take_word(char **at)
{
	char *word = *at + strspn(*at, " \t");
	if (!*word)
		return NULL;
	*at = word + strcspn(word, " \t");
	if (**at)
		*(*at)++ = '\0';
	return word;
}

/* The interpreter of a script, from its first bytes: `#!PATH`, or `#!/usr/bin/env NAME`. */
static void find_interpreter(char *head, char ret_path[PATH_MAX])
{
	char *at = head + 2;
	head[strcspn(head, "\n")] = '\0';
	char *word = strncmp(head, "#!", 2) == 0 ? take_word(&at) : NULL;
	const char *slash = word ? strrchr(word, '/') : NULL;
	const char *interpreter = word ? word : "/bin/sh"; /* as execvp does */
	if (slash && strcmp(slash, "/env") == 0) {
		while ((word = take_word(&at)) && (*word == '-' || strchr(word, '=')))
			continue;
		interpreter = word ? word : interpreter;
	}
	find_executable(interpreter, ret_path);
}

/* ---- ELF ---- */

static const char *name_machine(unsigned machine)
{
	static const struct {
		unsigned number;
		const char *name;
	} machines[] = {{EM_X86_64, "x86-64"}, {EM_386, "i386"}, {EM_AARCH64, "AArch64"},
		{EM_ARM, "ARM"}, {EM_RISCV, "RISC-V"}, {EM_PPC64, "PowerPC"}, {EM_S390, "s390"},
		{EM_MIPS, "MIPS"}};
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].number == machine)
			return machines[i].name;
	return "another machine";
}

/* The bytes of an ELF header that are alike for 32 and 64 bits. */
struct identity {
	unsigned char ident[EI_NIDENT];
	uint16_t type, machine;
};

static bool read_identity(const char *path, struct identity *ret_identity)
{
	int fd = open_regular(path);
	bool good = fd >= 0 &&
				pread(fd, ret_identity, sizeof(*ret_identity), 0) == (ssize_t)sizeof(*ret_identity);
	if (fd >= 0)
		close(fd);
	return good;
}

/* True if the program headers name a loader. They are read for either word size, in this machine's
 * byte order. */
static bool is_dynamic(int fd, const struct identity *identity)
{
	Elf64_Ehdr wide = {0};
	Elf32_Ehdr narrow = {0};
	bool is_wide = identity->ident[EI_CLASS] == ELFCLASS64;
	ssize_t size =
		is_wide ? pread(fd, &wide, sizeof(wide), 0) : pread(fd, &narrow, sizeof(narrow), 0);
	if (size != (ssize_t)(is_wide ? sizeof(wide) : sizeof(narrow)))
		return false;
	uint64_t at = is_wide ? wide.e_phoff : narrow.e_phoff;
	unsigned count = is_wide ? wide.e_phnum : narrow.e_phnum;
	unsigned step = is_wide ? wide.e_phentsize : narrow.e_phentsize;
	for (unsigned i = 0; i < count && i < HEADERS_MAX; i++, at += step) {
		uint32_t type; /* the first member in both sizes */
		if (at > INT32_MAX || pread(fd, &type, sizeof(type), (off_t)at) != sizeof(type))
			return false;
		if (type == PT_INTERP)
			return true;
	}
	return false;
}

static void examine_elf(
	int fd, const struct identity *identity, struct weft__runs_executable *executable)
{
	struct identity own;
	executable->is_elf = true;
	executable->is_dynamic = is_dynamic(fd, identity);
	if (!read_identity("/proc/self/exe", &own))
		own = *identity;
	bool is_swapped = own.ident[EI_DATA] != identity->ident[EI_DATA];
	if (is_swapped || own.machine != identity->machine ||
		own.ident[EI_CLASS] != identity->ident[EI_CLASS])
		executable->machine =
			name_machine(is_swapped ? __builtin_bswap16(identity->machine) : identity->machine);
}

/* ---- Privileges ---- */

static const char *find_privilege(int fd)
{
	struct stat status;
	if (fstat(fd, &status) != 0)
		return NULL;
	if ((status.st_mode & S_ISUID) && status.st_uid != getuid())
		return "set-user-ID";
	if ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != getgid())
		return "set-group-ID";
	if (getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return "a program with file capabilities";
	return NULL;
}

/* ---- */

/* Examines the file at `path`. True if it is a script; then `path` is that of its interpreter. */
static bool examine_file(struct weft__runs_executable *executable)
{
	union {
		char text[256 + 1];
		struct identity elf;
	} head;
	int fd = open_regular(executable->path);
	ssize_t size = fd < 0 ? -1 : pread(fd, head.text, sizeof(head.text) - 1, 0);
	executable->error = size < 0 ? errno : 0;
	if (size >= 0)
		head.text[size] = '\0';
	bool is_elf = size >= (ssize_t)sizeof(head.elf) && memcmp(head.elf.ident, ELFMAG, SELFMAG) == 0;
	if (is_elf) {
		examine_elf(fd, &head.elf, executable);
		executable->privilege = find_privilege(fd);
	} else if (size >= 0) {
		find_interpreter(head.text, executable->path);
	}
	if (fd >= 0)
		close(fd);
	return size >= 0 && !is_elf;
}

void weft__runs_executable_examine(const char *name, struct weft__runs_executable *ret_executable)
{
	struct weft__runs_executable executable = {0};
	find_executable(name, executable.path);
	executable.is_executable = is_program(executable.path) && strchr(executable.path, '/');
	for (unsigned scripts = 0; scripts < SCRIPTS_MAX && examine_file(&executable); scripts++)
		executable.is_script = true;
	*ret_executable = executable;
}

/* Searches the file for the texts: the name of libweft's shared library, that of a variable that
 * only libweft reads, and the mark of Go's linker. */
static void search_file(int fd, struct weft__runs_executable *executable)
{
	enum {
		BYTES = 1 << 16,
		OVERLAP = 32
	};
	static const char go[] = "\xff Go buildinf:";
	char *bytes = malloc(OVERLAP + BYTES);
	size_t kept = 0;
	ssize_t size;
	for (off_t at = 0; bytes && at < SEARCHED_MAX_BYTES; at += size) {
		size = pread(fd, bytes + kept, BYTES, at);
		if (size <= 0)
			break;
		size_t filled = kept + (size_t)size;
		executable->has_libweft |=
			memmem(bytes, filled, "libweft.so", 10) != NULL ||
			memmem(bytes, filled, WEFT_ABI_RUN_IN_PLACE, sizeof(WEFT_ABI_RUN_IN_PLACE)) != NULL;
		executable->is_go |= memmem(bytes, filled, go, sizeof(go) - 1) != NULL;
		kept = filled < OVERLAP ? filled : OVERLAP;
		memmove(bytes, bytes + filled - kept, kept);
	}
	free(bytes);
}

void weft__runs_executable_search(struct weft__runs_executable *executable)
{
	int fd = executable->is_elf ? open_regular(executable->path) : -1;
	if (fd < 0)
		return;
	search_file(fd, executable);
	close(fd);
}

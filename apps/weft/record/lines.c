/* SPDX-License-Identifier: ISC
 *
 * Appends lines of code to a saved trace: those of functions that labels name, and of calls
 * (calls.c).
 *
 * The program under trace names the ELF files, and may have written anything into them. So a child
 * process reads them, without rights, with little memory and time; if it dies, the trace has no
 * lines, but is whole: entries of the table of names count only when the last store has published
 * them.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weft/parse.h>

#include "calls.h"
#include "cli/cli.h"
#include "function_name.h"
#include "lines.h"
#include "runs/message.h"

/* Exit status of the child if the system cannot confine it. */
#define UNCONFINED 3

/* ---- Looking up ---- */

/* A text "\1code\0NAME\0FILE\0ADDRESS", with a NUL after it. */
static bool parse(const char *text, uint32_t size, const char **ret_name, const char **ret_file,
	uint64_t *ret_address)
{
	const char *end = text + size;
	if (size < WEFT_ABI_CODE_PREFIX_BYTES ||
		memcmp(text, WEFT_ABI_CODE_PREFIX, WEFT_ABI_CODE_PREFIX_BYTES) != 0)
		return false;
	*ret_name = text + WEFT_ABI_CODE_PREFIX_BYTES;
	*ret_file = *ret_name + strlen(*ret_name) + 1;
	const char *address = *ret_file < end ? *ret_file + strlen(*ret_file) + 1 : end;
	if (address >= end || **ret_file != '/')
		return false;
	return weft_parse_hexadecimal(address, strlen(address), ret_address) == WEFT_PARSE_OK;
}

static void look_up(
	struct name_table *names, struct debug_info *info, const char *text, uint32_t size)
{
	char copy[WEFT_ABI_NAME_MAX_BYTES + 1], line[WEFT_ABI_NAME_MAX_BYTES], location[256];
	const char *name, *file;
	uint64_t address;
	memcpy(copy, text, size);
	copy[size] = '\0';
	if (!parse(copy, size, &name, &file, &address) ||
		!debug_info_find(info, file, address, location, sizeof(location)))
		return;
	int length = snprintf(
		line, sizeof(line), "%s%c%s%c%s", WEFT_ABI_LINE_PREFIX, '\0', name, '\0', location);
	if (length > 0 && (size_t)length < sizeof(line))
		name_table_append(names, line, (uint32_t)length);
}

/* Opens all files that the trace names, which the child cannot do later. */
static void add_files(const struct name_table *names, struct debug_info *info)
{
	char copy[WEFT_ABI_NAME_MAX_BYTES + 1];
	const char *text, *name, *file;
	uint64_t address;
	for (uint32_t at = 0, size; at < names->used; at += name_table_bytes(size)) {
		size = name_table_text(names, at, &text);
		memcpy(copy, text, size);
		copy[size] = '\0';
		if (parse(copy, size, &name, &file, &address))
			debug_info_add(info, file);
	}
	calls_add_files(names, info);
}

static void add_lines(struct name_table *names, struct debug_info *info)
{
	const uint32_t used = names->used;
	const char *text;
	calls_add(names, info);
	for (uint32_t at = 0, size; at < used; at += name_table_bytes(size)) {
		size = name_table_text(names, at, &text);
		look_up(names, info, text, size);
	}
	name_table_publish(names);
}

/* ---- The child ---- */

/* libdw is loaded first: it may not open files later. Returns the exit status. */
static int run_child(struct name_table *names, uid_t user)
{
	confine_limit();
	struct debug_info *info = debug_info_open();
	if (!info)
		return 0;
	function_names_load();
	confine_become(user);
	add_files(names, info);
	/* Root's own files may be in folders that only root can enter. */
	if (!debug_info_is_ours(info))
		confine_become(CONFINE_NOBODY);
	if (!confine())
		return UNCONFINED;
	add_lines(names, info);
	return 0;
}

/* Says why the trace has no lines. */
static void report_lines(const char *file, int status)
{
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	if (number == SIGXCPU || number == SIGALRM || number == SIGKILL)
		cli_error("%s has no lines of code: reading the program's debug information takes too long",
			weft__runs_shown(file));
	else if (number)
		cli_error("%s has no lines of code: the program's debug information is damaged (%s)",
			weft__runs_shown(file), strsignal(number));
	else if (WIFEXITED(status) && WEXITSTATUS(status) == UNCONFINED)
		cli_error("%s has no lines of code: debug information is only read inside of a filter of "
				  "system calls, which this system lacks",
			weft__runs_shown(file));
}

static bool has_code(const struct name_table *names)
{
	const char *text;
	for (uint32_t at = 0, size; at < names->used; at += name_table_bytes(size)) {
		size = name_table_text(names, at, &text);
		if (size > WEFT_ABI_CODE_PREFIX_BYTES &&
			memcmp(text, WEFT_ABI_CODE_PREFIX, WEFT_ABI_CODE_PREFIX_BYTES) == 0)
			return true;
	}
	return calls_exist(names);
}

static void add_in_child(struct name_table *names, const char *file, uid_t user)
{
	int status = 0;
	pid_t child = fork();
	if (child == 0)
		_exit(run_child(names, user));
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	report_lines(file, status);
}

void record_add_lines(const char *file, uid_t user)
{
	struct stat status;
	struct name_table names;
	int fd = open(file, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return;
	void *bytes = MAP_FAILED;
	size_t size = 0;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
		status.st_size >= (off_t)sizeof(struct weft_abi_buffer)) {
		size = (size_t)status.st_size;
		bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	}
	close(fd);
	if (bytes == MAP_FAILED)
		return;
	if (name_table_find(bytes, size, &names) && has_code(&names))
		add_in_child(&names, file, user);
	munmap(bytes, size);
}

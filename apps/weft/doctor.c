/* SPDX-License-Identifier: ISC
 *
 * weft doctor: says beforehand what will be seen of a program, or what is in the way, and the next
 * command. Nothing is started, and no process is disturbed.
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/cli.h"
#include "record/adapters.h"
#include "record/record.h"
#include "record/runtime.h"
#include "runs/attach/page.h"
#include "runs/directory/directory.h"
#include "runs/directory/find.h"
#include "runs/message.h"
#include "runs/program/executable.h"
#include "runs/program/libraries.h"

static const char usage[] =
	"usage: weft doctor PROGRAM|PID\n"
	"\n"
	"Says what weft will see of a program, or what it can do about a process that runs: how it is\n"
	"linked, what records it, what will be missing, the room for its ring, and the next command.\n"
	"Nothing is started.\n"
	"\n"
	"  --help  this text\n"
	"\n"
	"Exit status: 0 it can be recorded, 1 it cannot, 3 it cannot be examined.\n";

__attribute__((format(printf, 2, 3))) static void add(const char *name, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	printf("%-11s ", name);
	vprintf(format, values);
	putchar('\n');
	va_end(values);
}

/* ---- The file ---- */

static const char *describe_linking(const struct weft__runs_executable *it)
{
	if (it->is_go)
		return "a Go program";
	if (!it->is_dynamic)
		return "linked statically";
	return weft__runs_libraries_is_foreign(it->path) ? "linked with another C library than glibc"
													 : "linked dynamically with glibc";
}

static void add_file(const struct weft__runs_executable *it)
{
	add("program", "%s%s, %s", it->is_script ? "a script, run by " : "", weft__runs_shown(it->path),
		describe_linking(it));
}

static void add_recorders(const struct weft__runs_executable *it)
{
	struct weft__runs_libraries libraries = {0};
	weft__runs_libraries_list(it->path, &libraries);
	if (it->has_libweft || libraries.has_weft)
		add("recorded", "by libweft, with which it is linked; -a thread,io adds adapters");
	else
		add("recorded", "by the adapters %s%s%sthread and io: threads, locks, descriptors%s%s",
			libraries.has_uv ? "uv, " : "", libraries.has_glib ? "glib, " : "",
			libraries.has_xen ? "xen, " : "",
			libraries.has_uv || libraries.has_glib ? ", and the loop's handles" : "",
			libraries.has_xen ? ", and calls of Xen" : "");
	if (libraries.sanitizer[0])
		add("sanitizer", "%s is loaded first", weft__runs_shown(libraries.sanitizer));
	add("not seen", "io_uring, and code and children that are linked statically");
}

/* The free room where rings are made. */
static void add_room(void)
{
	char directory[PATH_MAX], *slash;
	struct statvfs room;
	weft__runs_directory_searched(directory);
	while (statvfs(directory, &room) != 0 && (slash = strrchr(directory, '/')) && slash > directory)
		*slash = '\0';
	if (statvfs(directory, &room) != 0) {
		add("room", "unknown: %s: %s", weft__runs_shown(directory), strerror(errno));
		return;
	}
	const uint64_t mib = (uint64_t)room.f_bavail * room.f_frsize >> 20;
	add("room", "%" PRIu64 " MiB in %s; a ring takes 16 MiB unless --size says otherwise%s", mib,
		weft__runs_shown(directory), mib < 32 ? ", or less where there is little room" : "");
}

/* Runtimes whose own tasks are recorded, too. */
static void add_runtime(const struct weft__runs_executable *it, const char *name)
{
	char library[PATH_MAX];
	const struct record_runtime *runtime =
		record_adapters_find(library) ? record_runtime_find(name, it, library) : NULL;
	if (runtime)
		add("also", "by the adapter %s: %s", runtime->adapter, runtime->what);
}

static int examine_program(const char *name)
{
	struct weft__runs_executable it;
	char hindrance[RECORD_HINDRANCE_BYTES];
	weft__runs_executable_examine(name, &it);
	weft__runs_executable_search(&it);
	if (it.error) {
		cli_error("%s: %s", weft__runs_shown(it.path), strerror(it.error));
		return CLI_UNREADABLE;
	}
	if (!it.is_elf || !it.is_executable) {
		cli_error("%s cannot be executed", weft__runs_shown(name));
		return CLI_NO;
	}
	add_file(&it);
	if (record_hindrance(&it, hindrance)) {
		add("recorded", "nothing: %s", hindrance);
		return CLI_NO;
	}
	add_recorders(&it);
	add_runtime(&it, name);
	add_room();
	add("next", "weft record -- %s", weft__runs_shown(name));
	return CLI_DONE;
}

/* ---- A process ---- */

/* The value of a line of /proc/PID/status, or "". */
static const char *read_status(pid_t pid, const char *name, char text[256])
{
	char path[64], line[256];
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	FILE *file = fopen(path, "re");
	size_t length = strlen(name);
	text[0] = '\0';
	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, name, length) == 0 && line[length] == ':') {
			const char *value = line + length + 1 + strspn(line + length + 1, " \t");
			snprintf(text, 256, "%.*s", (int)strcspn(value, "\n"), value);
			break;
		}
	if (file)
		fclose(file);
	return text;
}

static unsigned count_io_urings(pid_t pid)
{
	char path[64], target[64];
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *directory = opendir(path);
	unsigned count = 0;
	for (struct dirent *entry; directory && (entry = readdir(directory));) {
		ssize_t size = readlinkat(dirfd(directory), entry->d_name, target, sizeof(target) - 1);
		target[size > 0 ? size : 0] = '\0';
		count += strcmp(target, "anon_inode:[io_uring]") == 0;
	}
	if (directory)
		closedir(directory);
	return count;
}

static void add_confinement(pid_t pid)
{
	char text[256];
	if (strcmp(read_status(pid, "Seccomp", text), "2") == 0)
		add("confined", "by a filter of system calls (seccomp)");
	unsigned rings = count_io_urings(pid);
	if (rings)
		add("not seen", "calls of io_uring, of which it has %u", rings);
}

static int advise(pid_t pid)
{
	struct weft__runs_found found;
	if (weft__runs_look_for(pid, &found) || weft__runs_find_mapped(pid, &found)) {
		add("recorded", "into %s", weft__runs_shown(found.path));
		add("next", "weft why %d; weft dump --problems %d; weft view %d", (int)pid, (int)pid,
			(int)pid);
		return CLI_DONE;
	}
	if (weft__runs_has_page(pid)) {
		add("recorded", "nothing yet: it is linked with libweft, and can be asked to record");
		add("next", "weft record -p %d; weft why %d", (int)pid, (int)pid);
		return CLI_DONE;
	}
	add("recorded", "nothing: adapters are loaded when a program starts");
	add("next",
		"start it again by `weft record -- PROGRAM`; `weft doctor PROGRAM` says what will be "
		"seen");
	return CLI_NO;
}

static int examine_process(pid_t pid)
{
	char text[256], path[64], executable[PATH_MAX];
	if (!read_status(pid, "State", text)[0]) {
		cli_error("there is no process %d, or it is hidden from you", (int)pid);
		return CLI_UNREADABLE;
	}
	if (text[0] == 'Z') {
		add("process", "%d has ended; its parent has not waited for it yet", (int)pid);
		return CLI_NO;
	}
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	ssize_t size = readlink(path, executable, sizeof(executable) - 1);
	executable[size > 0 ? size : 0] = '\0';
	add("process", "%d, %s", (int)pid,
		size > 0 ? weft__runs_shown(executable)
				 : "whose program you may not see: run `weft doctor` as its user or as root");
	add_confinement(pid);
	return advise(pid);
}

int cli_doctor(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
	int code = cli_next_option(argc, argv, options);
	if (code != -1)
		return code == 'h' ? cli_help(usage) : CLI_USAGE;
	const char *operand = cli_only_operand(argc, argv, "PROGRAM or PID");
	if (!operand)
		return CLI_USAGE;
	pid_t pid = weft__runs_parse_pid(operand);
	return pid ? examine_process(pid) : examine_program(operand);
}

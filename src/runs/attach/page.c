/* SPDX-License-Identifier: ISC
 *
 * The list of a process's mappings says whether it has such memory. It is opened through the
 * descriptor that the process keeps, or if the process has closed that one, through its mapping,
 * which only root may.
 *
 * A hostile process may give any file of its own the memory's name: a FIFO or a file of a FUSE
 * daemon blocks its opener. So a file is first opened without access to it (O_PATH), and must be in
 * the kernel's own tmpfs, where our own memfds are.
 */
#include "runs/attach/page.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/parse.h>

#include "abi/attach_abi.h"
#include "abi/counter_abi.h"
#include "abi/metric_abi.h"
#include "abi/run_abi.h"
#include "base/field.h"
#include "runs/directory/rings.h"
#include "runs/message.h"
#include "source/process.h"
#include "source/ring.h"

/* Memory of one kind. */
struct memory_kind {
	const char *name;     /* as /proc shows it, or its end */
	bool is_end;          /* of the path of a file */
	uint64_t least, most; /* bytes */
	int how;              /* to open it */
};

static const struct memory_kind kinds[] = {
	[WEFT__RUNS_PAGE] = {"/memfd:" WEFT_ABI_ATTACH_NAME " (deleted)", false,
		WEFT_ABI_ATTACH_BYTES + WEFT_ABI_COUNTERS_BYTES,
		WEFT_ABI_ATTACH_BYTES + WEFT_ABI_COUNTERS_BYTES, O_RDWR},
	[WEFT__RUNS_METRICS] = {"/memfd:" WEFT_ABI_METRICS_NAME " (deleted)", false,
		WEFT_ABI_METRICS_BYTES, WEFT_ABI_METRICS_BYTES, O_RDONLY},
	[WEFT__RUNS_COUNTERS] = {WEFT_ABI_RUN_COUNTERS, true, 0, 0, O_RDONLY},
	[WEFT__RUNS_LASTING] = {WEFT_ABI_RUN_METRICS, true, 0, 0, O_RDONLY},
	[WEFT__RUNS_NAMELESS] = {"/memfd:" WEFT_ABI_COUNTERS_NAME " (deleted)", false,
		WEFT_ABI_COUNTERS_BYTES, WEFT_ABI_COUNTERS_BYTES, O_RDONLY},
	[WEFT__RUNS_CHILDREN] = {"/memfd:" WEFT_ABI_CHILDREN_NAME " (deleted)", false,
		sizeof(struct weft_abi_children),
		sizeof(struct weft_abi_children) + WEFT_ABI_CHILDREN_MAX * sizeof(struct weft_abi_child),
		O_RDONLY},
};

/* A line of /proc/PID/maps. */
struct mapping {
	uint64_t start, end, inode, major, minor;
};

/* ---- Finding ---- */

static FILE *open_process(pid_t pid, const char *name)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)weft__source_process_thread(pid), name);
	return fopen(path, "re");
}

/* Parses "START-END" or "MAJOR:MINOR" in hexadecimal. */
static bool parse_pair(
	const char *text, size_t size, char between, uint64_t *ret_first, uint64_t *ret_second)
{
	const char *middle = memchr(text, between, size);
	return middle &&
		   weft_parse_hexadecimal(text, (size_t)(middle - text), ret_first) == WEFT_PARSE_OK &&
		   weft_parse_hexadecimal(middle + 1, size - (size_t)(middle + 1 - text), ret_second) ==
			   WEFT_PARSE_OK;
}

/* Parses "START-END RIGHTS OFFSET DEVICE INODE NAME". */
static bool parse_mapping(
	const char *line, const struct memory_kind *kind, struct mapping *ret_mapping)
{
	struct mapping m;
	size_t size, length = strlen(kind->name);
	const char *name = weft__field(line, 5, &size);
	size = strcspn(name, "\n");
	if ((kind->is_end ? size < length : size != length) ||
		memcmp(name + size - length, kind->name, length) != 0)
		return false;
	const char *range = weft__field(line, 0, &size);
	if (!parse_pair(range, size, '-', &m.start, &m.end))
		return false;
	const char *device = weft__field(line, 3, &size);
	if (!parse_pair(device, size, ':', &m.major, &m.minor) ||
		!weft__field_number(line, 4, UINT64_MAX, &m.inode))
		return false;
	*ret_mapping = m;
	return true;
}

/* The first mapping of one of `count` kinds. */
static bool find_mapping(
	pid_t pid, const struct memory_kind *first, size_t count, struct mapping *ret_mapping)
{
	FILE *file = open_process(pid, "maps");
	char *line = NULL;
	size_t capacity = 0;
	bool found = false;
	while (!found && file && getline(&line, &capacity, file) > 0)
		for (size_t i = 0; !found && i < count; i++)
			found = parse_mapping(line, &first[i], ret_mapping);
	free(line);
	if (file)
		fclose(file);
	return found;
}

static bool has_one_of(pid_t pid, enum weft__runs_memory first, size_t count)
{
	struct mapping mapping;
	/* A thread of it has the same mappings. */
	return weft__source_process_of(pid) == pid && find_mapping(pid, &kinds[first], count, &mapping);
}

bool weft__runs_has_page(pid_t pid)
{
	return has_one_of(pid, WEFT__RUNS_PAGE, 1);
}

/* ---- File systems ---- */

/* "ID PARENT MAJOR:MINOR ROOT MOUNTPOINT OPTIONS… - TYPE SOURCE OPTIONS" */
static bool find_type(const char *line, const struct mapping *mapping, bool *ret_is_served)
{
	static const char separator[] = " - ", type[] = "fuse";
	char wanted[48];
	size_t size;
	const char *device = weft__field(line, 2, &size), *end = strstr(line, separator);
	const int length =
		snprintf(wanted, sizeof(wanted), "%" PRIu64 ":%" PRIu64, mapping->major, mapping->minor);
	if (!end || size != (size_t)length || memcmp(device, wanted, size) != 0)
		return false;
	*ret_is_served = strncmp(end + sizeof(separator) - 1, type, sizeof(type) - 1) == 0;
	return true;
}

/* False also of a file system that is not mounted any more. */
static bool is_of_kernel(pid_t pid, const struct mapping *mapping)
{
	FILE *file = open_process(pid, "mountinfo");
	char *line = NULL;
	size_t capacity = 0;
	bool found = false, served = true;
	while (!found && file && getline(&line, &capacity, file) > 0)
		found = find_type(line, mapping, &served);
	free(line);
	if (file)
		fclose(file);
	return !served;
}

/* ---- Opening ---- */

/* True if the file is the mapped one, and if it is memory, of the right size. Asks no file system.
 */
static bool is_memory(int fd, const struct memory_kind *kind, const struct mapping *mapping)
{
	static unsigned major, minor; /* the kernel's own tmpfs */
	struct statx file;
	if (!minor) {
		int own = memfd_create("weft", MFD_CLOEXEC);
		if (own < 0 || statx(own, "", AT_EMPTY_PATH, STATX_INO, &file) != 0)
			file.stx_dev_minor = 0;
		major = file.stx_dev_major;
		minor = file.stx_dev_minor;
		close(own);
	}
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &file) != 0 ||
		file.stx_ino != mapping->inode || !S_ISREG(file.stx_mode))
		return false;
	if (kind->is_end)
		return file.stx_dev_major == mapping->major && file.stx_dev_minor == mapping->minor;
	return file.stx_dev_major == major && file.stx_dev_minor == minor && minor &&
		   file.stx_size >= kind->least && file.stx_size <= kind->most;
}

/* Opens a link of /proc if it leads to the memory. -1 with errno. */
static int open_link(
	const char *path, const struct memory_kind *kind, const struct mapping *mapping)
{
	char self[32];
	int found = open(path, O_PATH | O_CLOEXEC), fd = -1, reason = ENOENT;
	if (found < 0)
		return -1;
	if (is_memory(found, kind, mapping)) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", found);
		/* A lease of the process would let its opener wait. */
		fd = open(self, kind->how | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		reason = errno;
	}
	close(found);
	errno = reason;
	return fd;
}

static bool is_named(int directory, const char *name, const struct memory_kind *kind)
{
	char target[64];
	ssize_t size = readlinkat(directory, name, target, sizeof(target));
	return size == (ssize_t)strlen(kind->name) && memcmp(target, kind->name, (size_t)size) == 0;
}

static int open_by_descriptor(
	pid_t pid, const struct memory_kind *kind, const struct mapping *mapping)
{
	char path[PATH_MAX];
	const pid_t thread = weft__source_process_thread(pid);
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)thread);
	DIR *entries = opendir(path);
	int fd = -1;
	for (struct dirent *entry; fd < 0 && entries && (entry = readdir(entries));) {
		if (!is_named(dirfd(entries), entry->d_name, kind))
			continue;
		snprintf(path, sizeof(path), "/proc/%d/fd/%s", (int)thread, entry->d_name);
		fd = open_link(path, kind, mapping);
	}
	if (entries)
		closedir(entries);
	return fd;
}

static void mapping_path(pid_t pid, const struct mapping *mapping, char *ret_path, size_t size)
{
	snprintf(ret_path, size, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
		(int)weft__source_process_thread(pid), mapping->start, mapping->end);
}

static int open_by_mapping(pid_t pid, const struct memory_kind *kind, const struct mapping *mapping)
{
	char path[96];
	mapping_path(pid, mapping, path, sizeof(path));
	return open_link(path, kind, mapping);
}

int weft__runs_memory_open(pid_t pid, enum weft__runs_memory number)
{
	const struct memory_kind *kind = &kinds[number];
	struct mapping mapping;
	if (!find_mapping(pid, kind, 1, &mapping)) {
		errno = ENOENT;
		return -1;
	}
	int fd = open_by_descriptor(pid, kind, &mapping);
	return fd >= 0 ? fd : open_by_mapping(pid, kind, &mapping);
}

int weft__runs_file_open(pid_t pid, enum weft__runs_memory number)
{
	struct mapping mapping;
	if (find_mapping(pid, &kinds[number], 1, &mapping) && is_of_kernel(pid, &mapping))
		return open_by_mapping(pid, &kinds[number], &mapping);
	errno = ENOENT;
	return -1;
}

/* ---- Rings ---- */

/* A file of any name that is shared and written. */
static bool parse_ring(const char *line, struct mapping *ret_mapping)
{
	static const struct memory_kind any = {.name = "", .is_end = true};
	size_t size;
	const char *rights = weft__field(line, 1, &size);
	return size == 4 && memcmp(rights, "rw-s", size) == 0 && parse_mapping(line, &any, ret_mapping);
}

static bool is_ring(int fd)
{
	struct weft_buffer_summary summary;
	size_t size;
	return weft__runs_ring_summarize_open(fd, &summary, &size) && !summary.is_stopped;
}

/* -1: it is another file. */
static int open_ring(pid_t pid, const struct mapping *mapping)
{
	static const struct memory_kind any = {.is_end = true};
	struct weft_ring_check check;
	char path[96];
	int fd = -1;
	mapping_path(pid, mapping, path, sizeof(path));
	int found = open(path, O_PATH | O_CLOEXEC);
	if (found >= 0 && is_memory(found, &any, mapping))
		fd = weft__source_ring_open_found(found, pid, WEFT_RING_WRITE, &check);
	if (fd >= 0 && !is_ring(fd)) {
		close(fd);
		fd = -1;
	}
	if (found >= 0)
		close(found);
	return fd;
}

int weft__runs_ring_open_mapped(pid_t pid)
{
	struct mapping mapping;
	char *line = NULL;
	size_t capacity = 0;
	int fd = -1;
	FILE *file = open_process(pid, "maps");
	while (fd < 0 && file && getline(&line, &capacity, file) > 0)
		if (parse_ring(line, &mapping) && is_of_kernel(pid, &mapping))
			fd = open_ring(pid, &mapping);
	free(line);
	if (file)
		fclose(file);
	return fd;
}

int weft__runs_page_open(pid_t pid)
{
	return weft__runs_memory_open(pid, WEFT__RUNS_PAGE);
}

/* ---- The list ---- */

/* The name by which the process was started, as libweft finds it. */
static void read_program(pid_t pid, char ret_program[64])
{
	char command[4096];
	FILE *file = open_process(pid, "cmdline");
	size_t size = file ? fread(command, 1, sizeof(command) - 1, file) : 0;
	if (file)
		fclose(file);
	command[size] = '\0';
	const char *slash = strrchr(command, '/');
	snprintf(ret_program, 64, "%.63s", slash ? slash + 1 : command);
}

void weft__runs_linked_name(struct weft__runs_linked *ret, pid_t pid)
{
	*ret = (struct weft__runs_linked){
		.pid = pid, .started_unix_ns = (uint64_t)(weft__runs_process_start(pid) * 1e9)};
	weft__source_process_look(pid, &ret->started_ticks);
	read_program(pid, ret->program);
}

static bool add_linked(struct weft__runs_linked_list *linked, pid_t pid)
{
	struct weft__runs_linked *list = realloc(linked->list, (linked->count + 1) * sizeof(*list));
	if (!list) {
		weft__runs_report("%s", strerror(errno));
		return false;
	}
	linked->list = list;
	weft__runs_linked_name(&list[linked->count++], pid);
	return true;
}

static int by_pid(const void *left, const void *right)
{
	const struct weft__runs_linked *l = left, *r = right;
	return (l->pid > r->pid) - (l->pid < r->pid);
}

static bool find_all(bool counts, struct weft__runs_linked_list *ret_list)
{
	struct weft__runs_linked_list linked = {0};
	DIR *entries = opendir("/proc");
	bool good = true;
	for (struct dirent *entry; good && entries && (entry = readdir(entries));) {
		uint64_t pid;
		if (weft_parse_number(entry->d_name, strlen(entry->d_name), &pid) == WEFT_PARSE_OK &&
			has_one_of((pid_t)pid, WEFT__RUNS_PAGE, counts ? WEFT__RUNS_CHILDREN : 1))
			good = add_linked(&linked, (pid_t)pid);
	}
	if (entries)
		closedir(entries);
	if (!good) {
		weft__runs_linked_finish(&linked);
		return false;
	}
	if (linked.count)
		qsort(linked.list, linked.count, sizeof(*linked.list), by_pid);
	*ret_list = linked;
	return true;
}

bool weft__runs_linked_find(struct weft__runs_linked_list *ret_list)
{
	return find_all(false, ret_list);
}

bool weft__runs_counting_find(struct weft__runs_linked_list *ret_list)
{
	return find_all(true, ret_list);
}

void weft__runs_linked_finish(struct weft__runs_linked_list *linked)
{
	free(linked->list);
	*linked = (struct weft__runs_linked_list){0};
}

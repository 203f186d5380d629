/* SPDX-License-Identifier: ISC
 *
 * Finds the ring of a process by its mappings: with WEFT_OUT it may be anywhere, and those of other
 * users' processes are in their run directories.
 *
 * The kernel names a mapped file as the process sees it. If another file has that name here, the
 * process has a root directory or mount namespace of its own, which /proc/PID/root leads to. The
 * process may replace the file at any time, so it is opened with the checks for rings, and has to
 * be the mapped inode.
 */
#include "runs/directory/find.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/field.h"
#include "runs/directory/directory.h"
#include "source/process.h"

/* Parses "START-END RIGHTS OFFSET DEVICE INODE PATH" of a whole file that is shared and written.
 * The path is cut out of the line. */
static const char *parse_shared_file(char *line, uint64_t *ret_inode)
{
	size_t rights_size, start_size, path_size;
	uint64_t offset;
	const char *rights = weft__field(line, 1, &rights_size);
	const char *start = weft__field(line, 2, &start_size);
	const char *path = weft__field(line, 5, &path_size);
	if (rights_size != 4 || memcmp(rights, "rw-s", rights_size) != 0 || *path != '/' ||
		weft_parse_hexadecimal(start, start_size, &offset) != WEFT_PARSE_OK || offset ||
		!weft__field_number(line, 4, UINT64_MAX, ret_inode))
		return NULL;
	line[strcspn(line, "\n")] = '\0';
	return path;
}

static bool is_inode(const char *path, uint64_t inode)
{
	struct stat status;
	return stat(path, &status) == 0 && status.st_ino == inode;
}

/* The path by which we reach the file. */
static bool find_path(pid_t pid, const char *path, uint64_t inode, char *ret_path, size_t size)
{
	if (snprintf(ret_path, size, "%s", path) < (int)size && is_inode(ret_path, inode))
		return true;
	return snprintf(ret_path, size, "/proc/%d/root%s", (int)weft__source_process_thread(pid),
			   path) < (int)size &&
		   is_inode(ret_path, inode);
}

/* True if the ring will be saved: by the command that keeps the lock of its run directory, or by
 * the user that has set WEFT_OUT. */
static bool is_attended(const char *path)
{
	char directory[PATH_MAX];
	size_t size = (size_t)(strrchr(path, '/') - path), name = size;
	memcpy(directory, path, size);
	directory[size] = '\0';
	while (name && directory[name - 1] != '/')
		name--;
	return strncmp(directory + name, "record-", 7) != 0 ||
		   weft__runs_directory_is_attended(directory);
}

static void describe(pid_t pid, struct weft__runs_found *found)
{
	const char *name = strrchr(found->path, '/') + 1, *suffix = strrchr(name, '.');
	struct weft__runs_ring *ring = &found->ring;
	*ring = (struct weft__runs_ring){.pid = pid, .program = 1, .is_running = true};
	snprintf(ring->name, sizeof(ring->name), "%s", name);
	ring->stem_size = (int)(suffix && suffix > name ? suffix - name : (ptrdiff_t)strlen(name));
	found->is_alive = true;
	found->is_earlier = false;
	found->is_attended = is_attended(found->path);
}

/* True if the mapping is a ring into which the process records. */
static bool is_ring(pid_t pid, const char *path, uint64_t inode, struct weft__runs_found *ret_found)
{
	struct weft_buffer_summary summary;
	struct weft_ring_check check;
	size_t size;
	if (!find_path(pid, path, inode, ret_found->path, PATH_MAX) ||
		!weft__runs_ring_summarize(ret_found->path, pid, &summary, &size) || summary.is_stopped)
		return false;
	describe(pid, ret_found);
	weft_source_check_ring(ret_found->path, pid, &check);
	ret_found->ring.is_ours = check.is_ours;
	return true;
}

bool weft__runs_find_mapped(pid_t pid, struct weft__runs_found *ret_found)
{
	char maps[64], *line = NULL;
	size_t capacity = 0;
	bool found = false;
	snprintf(maps, sizeof(maps), "/proc/%d/maps", (int)weft__source_process_thread(pid));
	FILE *file = fopen(maps, "re");
	while (!found && file && getline(&line, &capacity, file) > 0) {
		uint64_t inode;
		const char *path = parse_shared_file(line, &inode);
		found = path && is_ring(pid, path, inode, ret_found);
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

bool weft__runs_has_left(pid_t pid, uint64_t inode)
{
	return !weft__source_process_has_mapped(pid, inode) && weft__source_process_has_memory(pid);
}

/* SPDX-License-Identifier: ISC
 *
 * See run_queue.h. /proc/PID/schedstat itself is that of the main thread alone.
 */
#include "runs/attach/run_queue.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/field.h"
#include "base/ns.h"

bool weft__runs_queue_parse(const char *line, uint64_t *ret_ns)
{
	return weft__field_number(line, 1, UINT64_MAX, ret_ns);
}

/* False: the thread has ended meanwhile. */
static bool read_thread(int tasks, const char *thread, uint64_t *ret_ns)
{
	char path[300], line[128];
	snprintf(path, sizeof(path), "%s/schedstat", thread);
	int fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd >= 0 ? read(fd, line, sizeof(line) - 1) : -1;
	if (fd >= 0)
		close(fd);
	line[size > 0 ? size : 0] = '\0';
	return size > 0 && weft__runs_queue_parse(line, ret_ns);
}

int weft__runs_queue_read(pid_t pid, struct weft__runs_counters *ret_counters)
{
	char path[64];
	uint64_t sum_ns = 0, ns;
	bool is_known = false;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *tasks = opendir(path);
	for (struct dirent *entry; tasks && (entry = readdir(tasks));)
		if (entry->d_name[0] != '.' && read_thread(dirfd(tasks), entry->d_name, &ns)) {
			sum_ns = weft__ns_add(sum_ns, ns);
			is_known = true;
		}
	if (tasks)
		closedir(tasks);
	struct weft__runs_counter *counter = is_known ? calloc(1, sizeof(*counter)) : NULL;
	if (!counter)
		return is_known ? ENOMEM : ENOENT;
	*counter = (struct weft__runs_counter){.name = "weft_run_queue_seconds",
		.help = "Time for which the threads that live now were ready to run and had no processor",
		.unit = "seconds",
		.scale = -9,
		.type = WEFT__RUNS_GAUGE,
		.integer = (int64_t)sum_ns,
		.real = (double)sum_ns};
	*ret_counters = (struct weft__runs_counters){.list = counter, .count = 1};
	return 0;
}

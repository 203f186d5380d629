/* SPDX-License-Identifier: ISC
 *
 * tracefs is where the system has mounted it: we mount nothing.
 */
#include "runs/processes/tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/parse.h>

#define PREFIX "weft-"

/* The second one is for kernels in which tracefs is a part of debugfs. */
static const char *const folders[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

/* Opens the folder of all instances. */
static int open_instances(struct weft__runs_tracefs *t)
{
	char path[sizeof(t->path) + 16];
	int fd = -1;
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders) && fd < 0; i++) {
		snprintf(t->path, sizeof(t->path), "%s", folders[i]);
		snprintf(path, sizeof(path), "%s/instances", folders[i]);
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0 && errno != ENOENT)
			break;
	}
	return fd;
}

/* True for an instance of a weft that was killed: the instance still records. */
static bool is_left(const char *name)
{
	uint64_t pid;
	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
		return false;
	name += strlen(PREFIX);
	if (weft_parse_number(name, strlen(name), &pid) != WEFT_PARSE_OK || !pid || pid > INT_MAX)
		return false;
	return (pid_t)pid == getpid() || (kill((pid_t)pid, 0) != 0 && errno == ESRCH);
}

static void remove_left(int instances)
{
	int fd = dup(instances);
	DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
	for (const struct dirent *entry; list && (entry = readdir(list));)
		if (is_left(entry->d_name))
			(void)unlinkat(instances, entry->d_name, AT_REMOVEDIR);
	if (list)
		closedir(list);
	else if (fd >= 0)
		close(fd);
}

bool weft__runs_tracefs_begin(struct weft__runs_tracefs *t, char reason[256])
{
	*t = (struct weft__runs_tracefs){.instance = -1};
	int instances = open_instances(t);
	if (instances < 0) {
		if (errno == ENOENT)
			snprintf(reason, 256, "the kernel's tracing is not there: mount -t tracefs tracefs %s",
				folders[0]);
		else
			snprintf(reason, 256, "%s: %s", t->path, strerror(errno));
		return false;
	}
	remove_left(instances);
	snprintf(t->name, sizeof(t->name), PREFIX "%d", (int)getpid());
	if (mkdirat(instances, t->name, 0700) == 0)
		t->instance = openat(instances, t->name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->instance < 0)
		snprintf(reason, 256, "%s/instances/%s: %s", t->path, t->name, strerror(errno));
	close(instances);
	return t->instance >= 0;
}

void weft__runs_tracefs_end(struct weft__runs_tracefs *t)
{
	char path[sizeof(t->path) + sizeof(t->name) + 16];
	if (t->instance < 0)
		return;
	close(t->instance);
	t->instance = -1;
	snprintf(path, sizeof(path), "%s/instances/%s", t->path, t->name);
	(void)rmdir(path);
}

int weft__runs_tracefs_open(const struct weft__runs_tracefs *t, const char *path, int flags)
{
	return openat(t->instance, path, flags | O_CLOEXEC);
}

ssize_t weft__runs_tracefs_load(
	const struct weft__runs_tracefs *t, const char *path, char *text, size_t size)
{
	char whole[sizeof(t->path) + 128];
	size_t got = 0;
	ssize_t more = -1;
	snprintf(whole, sizeof(whole), "%s/%s", t->path, path);
	int fd = open(whole, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	while (got < size && (more = read(fd, text + got, size - got)) > 0)
		got += (size_t)more;
	close(fd);
	return more < 0 ? -1 : (ssize_t)got;
}

bool weft__runs_tracefs_store(
	const struct weft__runs_tracefs *t, const char *path, const char *text)
{
	const ssize_t size = (ssize_t)strlen(text);
	int fd = weft__runs_tracefs_open(t, path, O_WRONLY);
	if (fd < 0)
		return false;
	bool good = write(fd, text, (size_t)size) == size;
	close(fd);
	return good;
}

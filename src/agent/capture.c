/* SPDX-License-Identifier: ISC
 *
 * See capture.h.
 */
#include "agent/capture.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <weft/error.h>
#include <weft/source.h>
#include <weft/watch.h>

#include "base/field.h"
#include "runs/attach/metrics.h"
#include "runs/attach/page.h"
#include "runs/directory/find.h"
#include "runs/message.h"
#include "runs/saving/save.h"
#include "source/process.h"

/* ---- Whose region it is ---- */

/* A process makes its file as its effective user, or before it gave up root's rights. So no user
 * can make a file that names the process of another user. */
static bool has_owner(pid_t pid, uid_t owner)
{
	uint64_t users[4];
	return owner == 0 || (weft__source_process_users(pid, users) && users[1] == owner);
}

/* True if the process has a file with this inode mapped. Other file systems have files of the same
 * number. */
static bool has_mapped(pid_t pid, ino_t wanted)
{
	char path[64], *line = NULL;
	size_t capacity = 0;
	bool found = false;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	FILE *file = fopen(path, "re");
	while (!found && file && getline(&line, &capacity, file) > 0) {
		uint64_t inode;
		found = weft__field_number(line, 4, UINT64_MAX, &inode) && inode == wanted;
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

/* A region without a name was found by its process, whose number another one may have by now. */
bool weft__agent_region_is_of(const struct weft__agent_region *region)
{
	struct stat status;
	if (region->started)
		return !weft__agent_regions_has_ended(region->pid, region->started);
	return region->pid > 0 && fstat(region->fd, &status) == 0 &&
		   has_owner(region->pid, status.st_uid) && has_mapped(region->pid, status.st_ino);
}

/* ---- The folder ---- */

struct kept {
	char name[NAME_MAX + 1];
	struct timespec time;
	uint64_t bytes;
};

struct kept_list {
	struct kept *list;
	size_t count;
	uint64_t bytes;
};

static bool is_snapshot(const char *name)
{
	const char *suffix = strrchr(name, '.');
	return strstr(name, ".alert-") && suffix && strcmp(suffix, ".weft") == 0;
}

static void list_kept(const char *folder, struct kept_list *ret)
{
	DIR *entries = opendir(folder);
	*ret = (struct kept_list){0};
	for (struct dirent *entry; entries && (entry = readdir(entries));) {
		struct stat status;
		struct kept *list;
		if (!is_snapshot(entry->d_name) ||
			fstatat(dirfd(entries), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
			!S_ISREG(status.st_mode) ||
			!(list = realloc(ret->list, (ret->count + 1) * sizeof(*list))))
			continue;
		ret->list = list;
		struct kept *it = &list[ret->count++];
		it->time = status.st_mtim;
		it->bytes = 512 * (uint64_t)status.st_blocks;
		snprintf(it->name, sizeof(it->name), "%s", entry->d_name);
		ret->bytes += it->bytes;
	}
	if (entries)
		closedir(entries);
}

static int by_time(const void *left, const void *right)
{
	const struct kept *l = left, *r = right;
	if (l->time.tv_sec != r->time.tv_sec)
		return l->time.tv_sec < r->time.tv_sec ? -1 : 1;
	return l->time.tv_nsec < r->time.tv_nsec ? -1 : l->time.tv_nsec > r->time.tv_nsec;
}

/* Removes the oldest snapshots until there is room for another one of that size. False: there never
 * is. */
static bool make_room(const struct weft__agent_capture_options *o, uint64_t bytes)
{
	struct kept_list kept;
	char path[PATH_MAX];
	if (bytes > o->most_bytes || !o->most)
		return false;
	list_kept(o->folder, &kept);
	if (kept.count)
		qsort(kept.list, kept.count, sizeof(*kept.list), by_time);
	for (size_t i = 0;
		 i < kept.count && (kept.count - i >= o->most || kept.bytes + bytes > o->most_bytes); i++) {
		kept.bytes -= kept.list[i].bytes;
		if (snprintf(path, sizeof(path), "%s/%s", o->folder, kept.list[i].name) <
				(int)sizeof(path) &&
			unlink(path) != 0)
			weft__runs_report("%s: %s", weft__runs_shown(path), strerror(errno));
	}
	free(kept.list);
	return true;
}

/* The program's name must not be trusted as a path. */
static void name_file(
	const char *folder, const char *program, pid_t pid, char *ret_path, size_t size)
{
	char name[48], date[32];
	time_t now = time(NULL);
	struct tm tm;
	size_t length = 0;
	for (; program[length] && length < sizeof(name) - 1; length++)
		name[length] = strchr("/.", program[length]) || (unsigned char)program[length] <= ' '
						   ? '_'
						   : program[length];
	name[length] = '\0';
	if (!gmtime_r(&now, &tm) || !strftime(date, sizeof(date), "%Y%m%dT%H%M%SZ", &tm))
		date[0] = '\0';
	snprintf(ret_path, size, "%s/%s-%d.alert-%s.weft", folder, name, (int)pid, date);
	for (unsigned number = 2; access(ret_path, F_OK) == 0 && number < 1000; number++)
		snprintf(ret_path, size, "%s/%s-%d.alert-%s-%u.weft", folder, name, (int)pid, date, number);
}

/* ---- Snapshots ---- */

/* True if the process is of another user, who may have chosen a path that lets its opener wait. */
static bool is_foreign(pid_t pid)
{
	uint64_t users[4];
	return !weft__source_process_users(pid, users) || users[0] != geteuid() ||
		   users[1] != geteuid();
}

int weft__agent_ring_find(pid_t pid)
{
	struct weft__runs_found found;
	struct weft_ring_check check;
	int fd = weft__runs_ring_open_mapped(pid);
	if (fd >= 0 || is_foreign(pid) || !weft__runs_find_mapped(pid, &found))
		return fd;
	return weft_source_open_ring(found.path, pid, WEFT_RING_WRITE, &check);
}

int weft__agent_ring_open(pid_t pid)
{
	struct weft__runs_found found;
	int fd = weft__runs_ring_open_mapped(pid);
	if (fd >= 0)
		return fd;
	if (is_foreign(pid)) {
		weft__runs_report(
			"process %d of another user records into no file that can be opened without its path",
			(int)pid);
		return -1;
	}
	if (!weft__runs_find_process(pid, &found))
		return -1;
	return weft__runs_open_operand(found.path, &found);
}

/* A copy of the ring, with the alert. 0 or an error. */
static int copy(int fd, const struct weft_trace_alert *alert, void **ret_bytes, size_t *ret_size)
{
	struct weft_watch *watch;
	int error = weft_watch_open_descriptor(fd, &watch);
	if (error)
		return error;
	error = weft_watch_copy(watch, ret_bytes, ret_size);
	weft_watch_close(watch);
	if (!error && weft_watch_add_alert(ret_bytes, ret_size, alert))
		weft__runs_report("the next snapshot does not say which rule fired");
	return error;
}

static void report(const char *file, const struct weft_trace_alert *alert)
{
	struct weft_text text = {0};
	const char *rule = alert->name[0] ? alert->name : alert->rule;
	weft_text_add_quoted(&text, rule, strlen(rule));
	weft__runs_report(
		"snapshot %s: %.*s", weft__runs_shown(file), (int)text.size, text.size ? text.bytes : "");
	weft_text_finish(&text);
}

bool weft__agent_capture(const struct weft__agent_capture_options *options, pid_t pid,
	const char *program, const struct weft_trace_alert *alert)
{
	char file[PATH_MAX];
	void *bytes;
	size_t size;
	int fd = options->folder ? weft__agent_ring_open(pid) : -1;
	if (fd < 0)
		return false;
	int error = copy(fd, alert, &bytes, &size);
	close(fd);
	if (error) {
		weft__runs_report("no snapshot of process %d: %s", (int)pid, weft_error_text(error));
		return false;
	}
	name_file(options->folder, program, pid, file, sizeof(file));
	bool is_saved = false;
	if (!make_room(options, size)) {
		weft__runs_report(
			"no snapshot of process %d: it is larger than all snapshots may be", (int)pid);
	} else {
		int values = weft__runs_metrics_open(pid);
		is_saved = weft__runs_save_copy(bytes, size, values, file);
		if (is_saved)
			report(file, alert);
		if (values >= 0)
			close(values);
	}
	weft_watch_free(bytes, size);
	return is_saved;
}

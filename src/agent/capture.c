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
#include <weft/watch.h>

#include "base/field.h"
#include "runs/attach/metrics.h"
#include "runs/directory/find.h"
#include "runs/message.h"
#include "runs/saving/save.h"

/* ---- Whose region it is ---- */

/* A process has its file mapped, with this inode. */
bool weft__agent_region_is_of(const struct weft__agent_region *region)
{
	char path[64], *line = NULL;
	size_t capacity = 0;
	struct stat status;
	bool found = false;
	if (region->started) /* it was found by the process */
		return true;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)region->pid);
	FILE *file = region->pid > 0 && fstat(region->fd, &status) == 0 ? fopen(path, "re") : NULL;
	while (!found && file && getline(&line, &capacity, file) > 0) {
		uint64_t inode;
		found = weft__field_number(line, 4, UINT64_MAX, &inode) && inode == status.st_ino;
	}
	free(line);
	if (file)
		fclose(file);
	return found;
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

/* Opens the ring of a process. -1 after a report. */
static int open_ring(pid_t pid)
{
	struct weft__runs_found found;
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

void weft__agent_capture(const struct weft__agent_capture_options *options, pid_t pid,
	const char *program, const struct weft_trace_alert *alert)
{
	char file[PATH_MAX];
	void *bytes;
	size_t size;
	int fd = options->folder ? open_ring(pid) : -1;
	if (fd < 0)
		return;
	int error = copy(fd, alert, &bytes, &size);
	close(fd);
	if (error) {
		weft__runs_report("no snapshot of process %d: %s", (int)pid, weft_error_text(error));
		return;
	}
	name_file(options->folder, program, pid, file, sizeof(file));
	if (!make_room(options, size)) {
		weft__runs_report(
			"no snapshot of process %d: it is larger than all snapshots may be", (int)pid);
	} else {
		int values = weft__runs_metrics_open(pid);
		if (weft__runs_save_copy(bytes, size, values, file))
			report(file, alert);
		if (values >= 0)
			close(values);
	}
	weft_watch_free(bytes, size);
}

/* ---- Levels ---- */

struct weft__agent_level {
	struct weft_control *control;
	char category[64];
	enum weft_level before, set;
};

static bool add_level(struct weft__agent_levels *levels, int fd, const char *category,
	enum weft_level before, enum weft_level set)
{
	struct weft__agent_level *list =
		realloc(levels->list, (levels->count + 1) * sizeof(*levels->list));
	if (!list)
		return false;
	levels->list = list;
	struct weft__agent_level *it = &list[levels->count];
	*it = (struct weft__agent_level){.before = before, .set = set};
	snprintf(it->category, sizeof(it->category), "%s", category);
	if (weft_control_open_descriptor(fd, &it->control))
		return false;
	levels->count++;
	return weft_control_set_level(it->control, category, set, NULL) == 0;
}

static bool fits(struct weft_slice category, const char *name)
{
	return (category.size == 1 && category.bytes[0] == '*') ||
		   (strlen(name) == category.size && memcmp(name, category.bytes, category.size) == 0);
}

void weft__agent_levels_set(
	struct weft__agent_levels *levels, pid_t pid, struct weft_slice category, enum weft_level level)
{
	struct weft_control *control;
	int fd = open_ring(pid);
	if (fd < 0)
		return;
	if (weft_control_open_descriptor(fd, &control) == 0) {
		const struct weft_trace_description *trace = weft_control_describe(control);
		for (uint32_t i = 0; i < trace->category_count; i++) {
			const struct weft_trace_category *it = &trace->categories[i];
			if (fits(category, it->name) && it->level != level &&
				!add_level(levels, fd, it->name, (enum weft_level)it->level, level))
				weft__runs_report("process %d: the level of %s is not set", (int)pid, it->name);
		}
		weft_control_close(control);
	}
	close(fd);
}

static bool is_still_set(struct weft__agent_level *it)
{
	const struct weft_trace_description *trace = weft_control_describe(it->control);
	for (uint32_t i = 0; i < trace->category_count; i++)
		if (strcmp(trace->categories[i].name, it->category) == 0)
			return trace->categories[i].level == it->set;
	return false;
}

void weft__agent_levels_restore(struct weft__agent_levels *levels)
{
	for (size_t i = levels->count; i-- > 0;) {
		struct weft__agent_level *it = &levels->list[i];
		if (is_still_set(it))
			weft_control_set_level(it->control, it->category, it->before, NULL);
		weft_control_close(it->control);
	}
	free(levels->list);
	*levels = (struct weft__agent_levels){0};
}

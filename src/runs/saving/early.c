/* SPDX-License-Identifier: ISC
 *
 * A ring that nothing will be written to any more is saved under the name that it would get at the
 * end of the run, where all files are waited for together: so processes may end faster than the
 * disk takes files one by one. Whatever is unusual about a ring waits for that end: links, rings of
 * other users, rings that list processes which could not record. So does everything once saving has
 * failed, because the failure is reported then.
 */
#include "runs/saving/early.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "abi/buffer_abi.h"
#include "runs/directory/directory.h"
#include "runs/file.h"
#include "runs/saving/left_out.h"
#include "runs/saving/name.h"

/* Signals are not passed on meanwhile. */
static const int64_t AT_ONCE_MS = 100;

struct weft__runs_early {
	const char *directory, *output;
	bool keep_all;
	char *made; /* the directory that stands for the output */
	struct entry {
		struct weft__runs_ring *ring;
		char *path, *file;
	} * list;
	size_t count, left_out;
	bool has_failed;
};

struct weft__runs_early *weft__runs_early_create(
	const char *directory, const char *output, bool keep_all)
{
	struct weft__runs_early *early = calloc(1, sizeof(*early));
	if (early)
		*early = (struct weft__runs_early){
			.directory = directory, .output = output, .keep_all = keep_all};
	return early;
}

static void finish_entry(struct entry *entry)
{
	free(entry->ring);
	free(entry->path);
	free(entry->file);
}

void weft__runs_early_destroy(struct weft__runs_early *early)
{
	if (!early)
		return;
	for (size_t i = 0; i < early->count; i++)
		finish_entry(&early->list[i]);
	free(early->list);
	free(early->made);
	free(early);
}

const char *weft__runs_early_directory(const struct weft__runs_early *early)
{
	return early->made;
}

static int64_t now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool is_ready(const struct weft__runs_ring *ring)
{
	return ring->is_ours && !ring->is_running && !ring->is_link && !ring->is_failure;
}

/* Another ring of the same process, which has the shorter name; NULL: there is none. */
static const struct weft__runs_ring *find_sibling(
	const struct weft__runs_early *early, const struct weft__runs_rings *rings, size_t index)
{
	pid_t pid = rings->list[index].pid;
	if (rings->list[index - 1].pid == pid && !rings->list[index - 1].is_failure)
		return &rings->list[index - 1];
	for (size_t i = 0; i < early->count; i++)
		if (early->list[i].ring->pid == pid)
			return early->list[i].ring;
	return NULL;
}

/* False if memory is short. */
static bool name_entry(const struct weft__runs_early *early, const struct weft__runs_rings *rings,
	size_t index, struct entry *ret_entry)
{
	const struct weft__runs_ring *ring = &rings->list[index];
	const struct weft__runs_ring *sibling = find_sibling(early, rings, index);
	struct entry entry = {.ring = malloc(sizeof(*ring)),
		.path = weft__runs_name_in(early->directory, ring->name),
		.file = weft__runs_name_trace(
			early->made ? early->made : early->output, ring, sibling ? sibling : &rings->list[0])};
	*ret_entry = entry;
	if (!entry.ring || !entry.path || !entry.file)
		return false;
	*entry.ring = *ring;
	return true;
}

/* True if the ring lists processes that could not record; the report at the end names them. */
static bool lists_others(const char *path, const struct weft__runs_ring *ring)
{
	struct weft_buffer_summary summary;
	size_t size;
	return !weft__runs_ring_summarize(path, ring->pid, &summary, &size) || summary.refused_count;
}

/* True if no process can write the ring. Its pid is not enough: it may be one of another pid
 * namespace, and processes may share memory. The kernel gives a read lease only if the file is open
 * for writing nowhere, and not mapped so. */
static bool has_no_writer(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	/* The signal for a process that opens it meanwhile: one that is ignored by default. */
	bool is_free = fd >= 0 && fcntl(fd, F_SETSIG, SIGURG) == 0 &&
				   fcntl(fd, F_SETLEASE, F_RDLCK) == 0 && fcntl(fd, F_SETLEASE, F_UNLCK) == 0;
	if (fd >= 0)
		close(fd);
	return is_free;
}

/* The size of the ring alone: metrics may have been added to its file. */
static uint64_t bytes_of(const char *path)
{
	struct weft_abi_buffer header = {.added_bytes = 0};
	struct stat status = {.st_size = 0};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool good = fd >= 0 && fstat(fd, &status) == 0 &&
				pread(fd, &header, sizeof(header), 0) == (ssize_t)sizeof(header);
	if (fd >= 0)
		close(fd);
	bool is_longer = good && header.added_bytes && header.added_offset < (uint64_t)status.st_size;
	return is_longer ? header.added_offset : (uint64_t)status.st_size;
}

static void remove_ring(
	const struct weft__runs_early *early, const struct weft__runs_ring *ring, const char *path)
{
	const uint64_t bytes = bytes_of(path);
	weft__runs_directory_remove_values(early->directory, ring);
	if (unlink(path) == 0)
		weft__runs_directory_release(early->directory, bytes);
}

static bool reserve(struct weft__runs_early *early)
{
	struct entry *list = realloc(early->list, (early->count + 1) * sizeof(*list));
	if (list)
		early->list = list;
	return list;
}

/* True if the ring was one of a short helper, and is gone. */
static bool leave_out(struct weft__runs_early *early, const struct weft__runs_ring *ring)
{
	char *path = weft__runs_name_in(early->directory, ring->name);
	const bool is_helper = !early->keep_all && path && has_no_writer(path) &&
						   weft__runs_is_helper(path, ring, false) && !lists_others(path, ring);
	if (is_helper) {
		remove_ring(early, ring, path);
		early->left_out++;
	}
	free(path);
	return is_helper;
}

/* Saves one ring; it stays if that fails. */
static void save(struct weft__runs_early *early, const struct weft__runs_rings *rings, size_t index)
{
	struct weft__runs_saving saving = weft__runs_saving_begin();
	struct entry entry;
	if (!early->output && !early->made)
		early->made = weft__runs_make_directory(rings);
	saving.is_unsynced = true; /* the ring is in memory: until the end of the run no more is lost */
	bool is_named = name_entry(early, rings, index, &entry) && reserve(early);
	if (is_named && (!has_no_writer(entry.path) || lists_others(entry.path, entry.ring))) {
		finish_entry(&entry);
		return;
	}
	if (is_named &&
		weft__runs_save(&saving, entry.path, entry.ring, entry.file) == WEFT__RUNS_SAVED) {
		remove_ring(early, entry.ring, entry.path);
		early->list[early->count++] = entry;
		return;
	}
	early->has_failed = true;
	finish_entry(&entry);
}

bool weft__runs_early_save(struct weft__runs_early *early, const struct weft__runs_rings *rings)
{
	int64_t end = now_ms() + AT_ONCE_MS;
	size_t first = 0, before = early->count + early->left_out;
	while (first < rings->count && rings->list[first].is_failure)
		first++;
	for (size_t i = first + 1; i < rings->count && !early->has_failed; i++) {
		if (now_ms() >= end)
			return true;
		const struct weft__runs_ring *ring = &rings->list[i];
		if (ring->pid != rings->list[first].pid && is_ready(ring) && !leave_out(early, ring))
			save(early, rings, i);
	}
	return early->count + early->left_out > before;
}

bool weft__runs_early_sync(const struct weft__runs_early *early)
{
	const char **paths = calloc(early->count + 1, sizeof(*paths));
	for (size_t i = 0; paths && i < early->count; i++)
		paths[i] = early->list[i].file;
	bool good = paths && weft__runs_sync_all(paths, early->count);
	free(paths);
	return good;
}

void weft__runs_early_report(struct weft__runs_early *early, struct weft__runs_saves *saves)
{
	struct weft__runs_saved *list =
		realloc(saves->list, (saves->count + early->count + 1) * sizeof(*list));
	if (!list)
		return;
	saves->list = list;
	saves->left_out += early->left_out;
	for (size_t i = 0; i < early->count; i++) {
		struct entry *entry = &early->list[i];
		list[saves->count++] = (struct weft__runs_saved){
			.file = entry->file, .path = entry->path, .ring = entry->ring};
		entry->file = entry->path = NULL; /* freed with `saves` */
	}
}

/* SPDX-License-Identifier: ISC
 *
 * A stream is written straight into its file, so that it can be read at any time. With rotation the
 * files are numbered, STEM.0001.weft, and the numbers continue those of existing files, so that a
 * restarted service keeps its history. If only the newest N are kept, older files of earlier runs
 * are removed too.
 */
#include "runs/stream/stream_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <weft/parse.h>

#include "runs/file.h"
#include "runs/stream/compress.h"

#define NUMBER_MAX 99999999

static bool is_stdout(const struct weft__stream_file *file)
{
	return strcmp(file->name, "-") == 0;
}

void weft__runs_stream_file_init(
	struct weft__stream_file *file, const struct weft__runs_stream_options *options, char *name)
{
	*file = (struct weft__stream_file){.options = options, .name = name, .fd = -1};
}

static void close_file(struct weft__stream_file *file)
{
	if (file->fd >= 0 && !is_stdout(file))
		close(file->fd);
	file->fd = -1;
}

void weft__runs_stream_file_close(struct weft__stream_file *file)
{
	close_file(file);
	weft__runs_compressor_destroy(file->compressor);
	file->compressor = NULL;
}

void weft__runs_stream_file_finish(struct weft__stream_file *file)
{
	weft__runs_stream_file_close(file);
	free(file->name);
	free(file->path);
	*file = (struct weft__stream_file){.fd = -1};
}

/* ---- Numbers ---- */

/* The offset of the number: before .weft, .weft.zst, or any other last suffix. */
static size_t stem_of(const char *name)
{
	static const char *const suffixes[] = {".weft.zst", ".weft"};
	const char *slash = strrchr(name, '/');
	const char *base = slash ? slash + 1 : name;
	size_t length = strlen(base);
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		size_t size = strlen(suffixes[i]);
		if (length > size && strcmp(base + length - size, suffixes[i]) == 0)
			return (size_t)(base - name) + length - size;
	}
	const char *dot = strrchr(base, '.');
	return dot && dot != base ? (size_t)(dot - name) : strlen(name);
}

static char *numbered(const char *name, uint64_t number)
{
	size_t stem = stem_of(name);
	char *path;
	int length = asprintf(&path, "%.*s.%04" PRIu64 "%s", (int)stem, name, number, name + stem);
	return length < 0 ? NULL : path;
}

/* The number in the name of a file of this series; 0: another file. */
static uint64_t number_of(const char *base, const char *entry)
{
	size_t stem = stem_of(base), size = strlen(entry), suffix = strlen(base + stem);
	if (strncmp(entry, base, stem) != 0 || entry[stem] != '.' || size < stem + 1 + 4 + suffix)
		return 0;
	uint64_t number;
	size_t digits = size - stem - 1 - suffix;
	bool good = strcmp(entry + size - suffix, base + stem) == 0 &&
				weft_parse_number(entry + stem + 1, digits, &number) == WEFT_PARSE_OK &&
				number <= NUMBER_MAX;
	return good ? number : 0;
}

static DIR *open_directory(const char *name, const char **ret_base)
{
	const char *slash = strrchr(name, '/');
	char directory[PATH_MAX];
	*ret_base = slash ? slash + 1 : name;
	snprintf(directory, sizeof(directory), "%.*s", slash ? (int)(slash - name) + 1 : 1,
		slash ? name : ".");
	return opendir(directory);
}

static uint64_t newest_number(const char *name)
{
	const char *base;
	uint64_t newest = 0;
	DIR *entries = open_directory(name, &base);
	for (struct dirent *entry; entries && (entry = readdir(entries));) {
		uint64_t number = number_of(base, entry->d_name);
		newest = number > newest ? number : newest;
	}
	if (entries)
		closedir(entries);
	return newest;
}

static void remove_old(const struct weft__stream_file *file)
{
	const char *base;
	uint64_t keep = file->options->keep;
	DIR *entries = keep ? open_directory(file->name, &base) : NULL;
	for (struct dirent *entry; entries && (entry = readdir(entries));) {
		uint64_t number = number_of(base, entry->d_name);
		if (number && number + keep <= file->number)
			unlinkat(dirfd(entries), entry->d_name, 0);
	}
	if (entries)
		closedir(entries);
}

/* ---- Files ---- */

/* The path of the next file. The caller frees it. */
static char *next_path(struct weft__stream_file *file)
{
	if (!file->options->rotate_bytes)
		return strdup(file->name);
	if (file->number == 0)
		file->number = newest_number(file->name);
	return numbered(file->name, file->number + 1);
}

/* A symbolic link stays, and a new file replaces the one to which it leads, so that a process that
 * has the old file open does not see it change. */
static int create(const char *path)
{
	char target[PATH_MAX];
	if (!realpath(path, target))
		snprintf(target, sizeof(target), "%s", path);
	unlink(target);
	int fd = open(target, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0) /* other recorders see that it is in use; best effort */
		(void)flock(fd, LOCK_EX | LOCK_NB);
	return fd;
}

static bool begin_compression(struct weft__stream_file *file)
{
	if (!file->options->compress || file->compressor)
		return true;
	file->compressor = weft__runs_compressor_create();
	file->error = ENOMEM;
	return file->compressor;
}

bool weft__runs_stream_file_begin(struct weft__stream_file *file)
{
	if (!begin_compression(file))
		return false;
	char *path = is_stdout(file) ? strdup("-") : next_path(file);
	int fd = !path ? -1 : is_stdout(file) ? STDOUT_FILENO : create(path);
	if (fd < 0) {
		file->error = errno;
		free(path);
		return false;
	}
	close_file(file);
	free(file->path);
	file->path = path;
	file->fd = fd;
	file->bytes = 0;
	file->number++;
	file->count++;
	remove_old(file);
	return true;
}

static bool put(struct weft__stream_file *file, const void *bytes, size_t size, bool last)
{
	file->pending = bytes;
	file->pending_bytes = size;
	if (!file->compressor)
		return true;
	bool good = weft__runs_compressor_add(
		file->compressor, bytes, size, last, &file->pending, &file->pending_bytes);
	if (!good) {
		file->error = ENOMEM;
		file->pending_bytes = 0;
	}
	return good;
}

bool weft__runs_stream_file_put(struct weft__stream_file *file, const void *bytes, size_t size)
{
	return put(file, bytes, size, false);
}

bool weft__runs_stream_file_end(struct weft__stream_file *file)
{
	return put(file, "", 0, true);
}

bool weft__runs_stream_file_flush(struct weft__stream_file *file)
{
	while (file->pending_bytes) {
		ssize_t written = write(file->fd, file->pending, file->pending_bytes);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0) {
			file->error = written < 0 ? errno : ENOSPC;
			return false;
		}
		file->pending += written;
		file->pending_bytes -= (size_t)written;
		file->bytes += (uint64_t)written;
		file->total += (uint64_t)written;
	}
	return true;
}

bool weft__runs_stream_file_sync(struct weft__stream_file *file)
{
	if (file->fd < 0 || is_stdout(file))
		return true;
	bool good = weft__runs_sync(file->fd) && weft__runs_sync_directory_of(file->path);
	if (!good)
		file->error = errno;
	return good;
}

bool weft__runs_stream_file_is_rewritable(const struct weft__stream_file *file)
{
	return file->fd >= 0 && !is_stdout(file) && !file->compressor;
}

uint64_t weft__runs_stream_file_disk_bytes(const struct weft__stream_file *file)
{
	const struct weft__runs_stream_options *options = file->options;
	if (is_stdout(file) && !options->has_max)
		return 0;
	uint64_t kept;
	if (!options->keep || __builtin_mul_overflow(options->keep, options->rotate_bytes, &kept))
		return file->total;
	return file->total < kept ? file->total : kept;
}

bool weft__runs_stream_file_is_full(const struct weft__stream_file *file, size_t bytes)
{
	uint64_t most = file->options->rotate_bytes;
	return most && !is_stdout(file) && file->bytes + bytes > most;
}

bool weft__runs_stream_file_is_broken(const struct weft__stream_file *file)
{
	return file->error == EPIPE || file->error == EBADF;
}

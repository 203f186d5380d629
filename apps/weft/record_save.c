/* SPDX-License-Identifier: ISC
 *
 * A ring's way into a file: a copy under a temporary name that takes the file's place when it is on
 * the disk, so that there is never half a trace, not even after a power failure; pages of zeros
 * become holes. What a process still records into is copied in memory first.
 */
#include "rings.h"

#include "cli.h"
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <weft/watch.h>

enum {
	BLOCK = 4096,
	BLOCKS_AT_ONCE = 64,
};

/* ---- May it be written? ---- */

static bool holds_a_trace(const char *file)
{
	struct weft_source *source = NULL;
	struct weft_decoder *decoder = NULL;
	bool good = weft_source_open(file, &source) == 0 && weft_decoder_create(&decoder) == 0;
	if (good) {
		size_t size;
		const void *bytes = weft_source_bytes(source, &size);
		good = weft_decoder_feed_borrowed(decoder, bytes, size) == 0 &&
			   weft_decoder_finish(decoder) == 0 &&
			   strcmp(weft_decoder_describe(decoder)->format, "weft") == 0;
	}
	weft_decoder_destroy(decoder);
	weft_source_close(source);
	return good;
}

/* The part of the path before the last slash, "." if there is none. */
static void directory_of(const char *file, char ret_directory[PATH_MAX])
{
	const char *slash = strrchr(file, '/');
	int length = slash == file ? 1 : slash ? (int)(slash - file) : 1;
	snprintf(ret_directory, PATH_MAX, "%.*s", length, slash ? file : ".");
}

/* A new file in the directory of `file`, under a name that nothing has. -1, errno saying why. */
static int create_beside(const char *file, char ret_path[PATH_MAX])
{
	char directory[PATH_MAX];
	directory_of(file, directory);
	int length = snprintf(ret_path, PATH_MAX, "%s/.weft-XXXXXX", directory);
	if (length >= PATH_MAX || strlen(file) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	return mkostemp(ret_path, O_CLOEXEC);
}

bool record_file_is_free(const char *file)
{
	struct stat status;
	char trial[PATH_MAX];
	if (stat(file, &status) == 0 &&
		!(S_ISREG(status.st_mode) && (status.st_size == 0 || holds_a_trace(file)))) {
		cli_error(
			"%s is there already, and is no trace of weft; it stays as it is", record_shown(file));
		return false;
	}
	/* Permissions alone would not tell. */
	int fd = create_beside(file, trial);
	if (fd < 0) {
		cli_error("%s cannot be written: %s", record_shown(file), strerror(errno));
		return false;
	}
	close(fd);
	unlink(trial);
	return true;
}

bool record_make_way(const char *file, char ret_path[PATH_MAX])
{
	char directory[PATH_MAX], full[PATH_MAX];
	struct stat status;
	const char *base = strrchr(file, '/');
	base = base ? base + 1 : file;
	/* A link stays, and what it leads to is replaced. */
	bool good = realpath(file, full) != NULL;
	if (!good) {
		directory_of(file, directory);
		good = realpath(directory, full) != NULL;
		size_t length = good ? strlen(full) : 0;
		good = good && snprintf(full + length, sizeof(full) - length, "/%s", base) <
						   (int)(sizeof(full) - length);
	} else if (stat(full, &status) == 0 && S_ISREG(status.st_mode)) {
		good = unlink(full) == 0;
	}
	if (good)
		snprintf(ret_path, PATH_MAX, "%s", full);
	else
		cli_error("%s cannot be written: %s", record_shown(file), strerror(errno));
	return good;
}

/* Short, if it is below the current directory. */
char *record_follow_link(const char *link)
{
	char target[PATH_MAX], here[PATH_MAX];
	ssize_t size = readlink(link, target, sizeof(target) - 1);
	if (size < 0)
		return NULL;
	target[size] = '\0';
	size_t length = getcwd(here, sizeof(here)) ? strlen(here) : 0;
	bool is_below = length > 1 && strncmp(target, here, length) == 0 && target[length] == '/';
	return strdup(target + (is_below ? length + 1 : 0));
}

/* ---- Copying ---- */

static bool is_zero(const char *bytes, size_t size)
{
	return size && bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0;
}

/* Leaves out whole blocks of zeros. */
static bool write_sparse(int fd, const char *bytes, size_t size)
{
	for (size_t at = 0, length; at < size; at += length) {
		length = size - at < BLOCK ? size - at : BLOCK;
		bool good = is_zero(bytes + at, length) ? lseek(fd, (off_t)length, SEEK_CUR) >= 0
												: cli_write_all(fd, bytes + at, length);
		if (!good)
			return false;
	}
	return true;
}

static struct timespec saving_since;

void record_saving_begins(void)
{
	clock_gettime(CLOCK_MONOTONIC, &saving_since);
}

/* Signals are blocked since before the program ran. One that comes now is heeded if saving takes
 * long: within the first second it may have been meant for the program. */
bool record_saving_is_interrupted(void)
{
	static const int wanted[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct timespec now;
	sigset_t pending;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec - saving_since.tv_sec < 2 || sigpending(&pending) != 0)
		return false;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (sigismember(&pending, wanted[i]))
			return true;
	return false;
}

/* The bytes from `at` to `end`, to the same place of a file, or to what else `to` is. */
static bool copy_range(int from, int to, off_t at, off_t end, bool to_is_file)
{
	static char bytes[BLOCKS_AT_ONCE * BLOCK];
	if (to_is_file && lseek(to, at, SEEK_SET) < 0)
		return false;
	while (at < end) {
		size_t wanted = end - at < (off_t)sizeof(bytes) ? (size_t)(end - at) : sizeof(bytes);
		ssize_t size = pread(from, bytes, wanted, at);
		if (size < 0)
			return false;
		if (size == 0 || record_saving_is_interrupted()) {
			errno = size == 0 ? EIO : EINTR; /* EIO: somebody shortened it */
			return false;
		}
		bool written = to_is_file ? write_sparse(to, bytes, (size_t)size)
								  : cli_write_all(to, bytes, (size_t)size);
		if (!written)
			return false;
		at += size;
	}
	return true;
}

/* All of `from`, which may still be written to; its length is as it was at the start. Holes stay
 * holes and are not read, so a file costs the blocks that it has. */
static bool copy(int from, int to, bool to_is_file)
{
	struct stat status;
	if (fstat(from, &status) != 0)
		return false;
	if (!to_is_file)
		return copy_range(from, to, 0, status.st_size, false);
	for (off_t at = 0, end; at < status.st_size; at = end) {
		off_t start = lseek(from, at, SEEK_DATA);
		if (start < 0 && errno == ENXIO) /* only a hole is left */
			break;
		/* A file system that knows no holes answers EINVAL. */
		at = start < 0 ? at : start;
		end = start < 0 ? -1 : lseek(from, at, SEEK_HOLE);
		end = end < 0 || end > status.st_size ? status.st_size : end;
		if (!copy_range(from, to, at, end, true))
			return false;
	}
	return ftruncate(to, status.st_size) == 0;
}

/* The same of a copy in memory: while it was made nobody had to wait for a disk. */
static bool write_copy(const void *bytes, size_t size, int to, bool to_is_file)
{
	for (size_t at = 0, length; at < size; at += length) {
		length = size - at < BLOCKS_AT_ONCE * BLOCK ? size - at : BLOCKS_AT_ONCE * BLOCK;
		const char *from = (const char *)bytes + at;
		if (record_saving_is_interrupted()) {
			errno = EINTR;
			return false;
		}
		if (!(to_is_file ? write_sparse(to, from, length) : cli_write_all(to, from, length)))
			return false;
	}
	return !to_is_file || ftruncate(to, (off_t)size) == 0;
}

/* What a trace is made of: a file that nobody writes any more, or a copy. */
struct content {
	int fd; /* -1: a copy */
	const void *bytes;
	size_t size;
};

static bool write_content(const struct content *content, int to, bool to_is_file)
{
	return content->fd >= 0 ? copy(content->fd, to, to_is_file)
							: write_copy(content->bytes, content->size, to, to_is_file);
}

static bool write_to_file(const struct content *content, const char *file)
{
	char place[PATH_MAX], temporary[PATH_MAX];
	/* A link stays, and what it leads to is replaced. */
	if (!realpath(file, place))
		snprintf(place, sizeof(place), "%s", file);
	int to = create_beside(place, temporary);
	if (to < 0)
		return false;
	bool good = write_content(content, to, true) && cli_sync(to);
	int reason = errno;
	if (close(to) != 0 && good) {
		good = false;
		reason = errno;
	}
	if (good && rename(temporary, place) == 0)
		return cli_sync_directory_of(place);
	if (good)
		reason = errno;
	unlink(temporary);
	errno = reason;
	return false;
}

static bool is_stdout(const char *file)
{
	return strcmp(file, "-") == 0;
}

static bool save(const struct content *content, const char *file)
{
	return is_stdout(file) ? write_content(content, STDOUT_FILENO, false)
						   : write_to_file(content, file);
}

bool record_save_copy(const void *bytes, size_t size, const char *file)
{
	const struct content content = {-1, bytes, size};
	record_saving_begins();
	if (!is_stdout(file) && !record_file_is_free(file))
		return false;
	if (save(&content, file))
		return true;
	cli_error("%s: %s", is_stdout(file) ? "standard output" : record_shown(file), strerror(errno));
	return false;
}

/* Of a process that goes on recording there. 0, or an error of the library. */
static int save_running(int ring, const char *file)
{
	struct weft_watch *watch;
	void *bytes;
	size_t size;
	int error = weft_watch_open_descriptor(ring, &watch);
	if (error)
		return error;
	error = weft_watch_copy(watch, &bytes, &size);
	weft_watch_close(watch);
	if (error)
		return error;
	const struct content content = {-1, bytes, size};
	error = save(&content, file) ? 0 : WEFT_ERROR_SYSTEM;
	int reason = errno;
	weft_watch_free(bytes, size);
	errno = reason;
	return error;
}

static int save_from(int ring, const char *file, bool is_running)
{
	const struct content content = {.fd = ring};
	if (is_running)
		return save_running(ring, file);
	return save(&content, file) ? 0 : WEFT_ERROR_SYSTEM;
}

/* Of an error, and of errno if it is the system's. */
static const char *explain(int error, int reason)
{
	if (error == WEFT_ERROR_DAMAGED)
		return "the ring is refused, because its header is damaged";
	return error == WEFT_ERROR_SYSTEM ? strerror(reason) : weft_error_text(error);
}

enum record_outcome record_save(const char *path, const struct record_ring *ring, const char *file)
{
	if (!is_stdout(file) && !record_file_is_free(file)) {
		cli_error("the trace stays in %s", record_shown(path));
		return RECORD_NOT_SAVED;
	}
	/* A ring that goes into a file by read(2) may have holes: they stay holes. */
	unsigned access = ring->is_running  ? WEFT_RING_WRITE
					  : is_stdout(file) ? WEFT_RING_READ
										: WEFT_RING_SPARSE;
	int fd = ring_open(path, ring->pid, access);
	if (fd < 0)
		return RECORD_SKIPPED;
	int error = save_from(fd, file, ring->is_running);
	int reason = errno;
	close(fd);
	if (!error)
		return RECORD_SAVED;
	cli_error("%s: %s; the trace stays in %s",
		is_stdout(file) ? "standard output" : record_shown(file), explain(error, reason),
		record_shown(path));
	if (error == WEFT_ERROR_FORMAT || error == WEFT_ERROR_EMPTY)
		return RECORD_SKIPPED;
	return error == WEFT_ERROR_SYSTEM && reason == EINTR ? RECORD_INTERRUPTED : RECORD_NOT_SAVED;
}

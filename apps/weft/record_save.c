/* SPDX-License-Identifier: ISC
 *
 * A ring's way into a file: a copy under a temporary name that then takes the file's place, so that
 * there is never half a trace; pages of zeros become holes.
 */
#include "record.h"

#include "cli.h"
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <weft/buffer.h>

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

/* Signals are blocked since before the program ran. One that comes now is heeded if saving takes
 * long: within the first second it may have been meant for the program. */
static bool is_interrupted(const struct timespec *start)
{
	static const int wanted[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct timespec now;
	sigset_t pending;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec - start->tv_sec < 2 || sigpending(&pending) != 0)
		return false;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (sigismember(&pending, wanted[i]))
			return true;
	return false;
}

/* All of `from`, which may still be written to; its length is as it was at the start. */
static bool copy(int from, int to, bool to_is_file)
{
	static char bytes[BLOCKS_AT_ONCE * BLOCK];
	struct timespec start;
	struct stat status;
	clock_gettime(CLOCK_MONOTONIC, &start);
	if (fstat(from, &status) != 0)
		return false;
	for (off_t left = status.st_size; left > 0;) {
		ssize_t size =
			read(from, bytes, left < (off_t)sizeof(bytes) ? (size_t)left : sizeof(bytes));
		if (size < 0)
			return false;
		if (size == 0 || is_interrupted(&start)) {
			errno = size == 0 ? EIO : EINTR; /* EIO: somebody shortened it */
			return false;
		}
		bool written = to_is_file ? write_sparse(to, bytes, (size_t)size)
								  : cli_write_all(to, bytes, (size_t)size);
		if (!written)
			return false;
		left -= size;
	}
	return !to_is_file || ftruncate(to, status.st_size) == 0;
}

/* A process that still runs may have written while its ring was copied. Without the mappings the
 * copy is what it is. */
static void mend(int from, int to)
{
	struct stat status;
	if (fstat(to, &status) != 0 || status.st_size <= 0)
		return;
	size_t size = (size_t)status.st_size;
	void *live = mmap(NULL, size, PROT_READ, MAP_SHARED, from, 0);
	void *copied = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, to, 0);
	if (live != MAP_FAILED && copied != MAP_FAILED)
		weft_buffer_mend_copy(copied, live, size);
	if (live != MAP_FAILED)
		munmap(live, size);
	if (copied != MAP_FAILED)
		munmap(copied, size);
}

static bool copy_to_file(int from, const char *file)
{
	char place[PATH_MAX], temporary[PATH_MAX];
	/* A link stays, and what it leads to is replaced. */
	if (!realpath(file, place))
		snprintf(place, sizeof(place), "%s", file);
	int to = create_beside(place, temporary);
	if (to < 0)
		return false;
	bool good = copy(from, to, true);
	int reason = errno;
	if (good)
		mend(from, to);
	if (close(to) != 0 && good) {
		good = false;
		reason = errno;
	}
	if (good && rename(temporary, place) == 0)
		return true;
	if (good)
		reason = errno;
	unlink(temporary);
	errno = reason;
	return false;
}

bool record_save(const char *ring, const char *file)
{
	bool to_stdout = strcmp(file, "-") == 0;
	if (!to_stdout && !record_file_is_free(file)) {
		cli_error("the trace stays in %s", record_shown(ring));
		return false;
	}
	int from = open(ring, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	bool good =
		from >= 0 && (to_stdout ? copy(from, STDOUT_FILENO, false) : copy_to_file(from, file));
	int reason = errno;
	if (from >= 0)
		close(from);
	if (!good)
		cli_error("%s: %s; the trace stays in %s",
			to_stdout ? "standard output" : record_shown(file), strerror(reason),
			record_shown(ring));
	return good;
}

/* SPDX-License-Identifier: ISC
 *
 * Saves one ring: a copy replaces the file once it is on the disk, so that there is never half a
 * trace, not even after a power failure. Pages of zeros become holes. A ring that a process still
 * records into is copied in memory first.
 */
#include "runs/saving/save.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <weft/follow.h>
#include <weft/input.h>
#include <weft/watch.h>

#include "abi/buffer_abi.h"
#include "runs/file.h"
#include "runs/message.h"
#include "runs/saving/name.h"
#include "runs/saving/values.h"
#include "runs/saving/wall_clock.h"

enum {
	BLOCK = 4096,
	BLOCKS_AT_ONCE = 64,
};

/* ---- May it be written? ---- */

static bool holds_a_trace(const char *file)
{
	struct weft_input *input;
	if (weft_input_open(file, NULL, &input))
		return false;
	const struct weft_decoder *decoder = weft_input_decoder(input);
	bool is_ours = strcmp(weft_decoder_describe(decoder)->format, "weft") == 0;
	weft_input_close(input);
	return is_ours;
}

/* True if a stream is being written there, or a program records there (--in-place). */
static bool is_in_use(const char *file)
{
	struct weft_control *control;
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	bool is_used = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	if (!is_used && weft_control_open_descriptor(fd, &control) == 0) {
		is_used = weft_control_is_live(control);
		weft_control_close(control);
	}
	close(fd);
	return is_used;
}

/* False after a report, if it exists and is something else than a finished trace. */
static bool may_be_replaced(const char *file)
{
	struct stat status;
	const char *reason = NULL;
	if (stat(file, &status) != 0)
		return true;
	if (!S_ISREG(status.st_mode) || (status.st_size && !holds_a_trace(file)))
		reason = "exists and is not a weft trace";
	else if (is_in_use(file))
		reason = "is being recorded by another process";
	if (reason)
		weft__runs_report("%s %s; refusing to replace it", weft__runs_shown(file), reason);
	return !reason;
}

bool weft__runs_file_is_free(const char *file)
{
	if (!may_be_replaced(file))
		return false;
	/* Permissions are not enough to know: a file system may be read-only or full. */
	if (!weft__runs_file_can_create(file)) {
		weft__runs_report("%s cannot be written: %s", weft__runs_shown(file), strerror(errno));
		return false;
	}
	return true;
}

bool weft__runs_make_way(const char *file, char ret_path[PATH_MAX])
{
	char directory[PATH_MAX], full[PATH_MAX];
	struct stat status;
	const char *slash = strrchr(file, '/');
	/* A link stays, and the file to which it leads is replaced. */
	bool good = realpath(file, full) != NULL;
	if (!good) {
		snprintf(
			directory, PATH_MAX, "%.*s", slash ? (int)(slash - file) + 1 : 1, slash ? file : ".");
		good = realpath(directory, full) != NULL;
		size_t length = good ? strlen(full) : 0;
		good = good && snprintf(full + length, sizeof(full) - length, "/%s",
						   slash ? slash + 1 : file) < (int)(sizeof(full) - length);
	} else if (stat(full, &status) == 0 && S_ISREG(status.st_mode)) {
		good = unlink(full) == 0;
	}
	if (good)
		snprintf(ret_path, PATH_MAX, "%s", full);
	else
		weft__runs_report("%s cannot be written: %s", weft__runs_shown(file), strerror(errno));
	return good;
}

/* Makes the directory of an output that ends in a slash, as `mkdir` does: not those above it. */
static void make_directory(const char *output)
{
	struct stat status;
	if (output && weft__runs_is_directory(output) && stat(output, &status) != 0 && errno == ENOENT)
		mkdir(output, 0777);
}

bool weft__runs_can_save(const char *output)
{
	char any[PATH_MAX];
	make_directory(output);
	if (weft__runs_is_stdout(output))
		return true;
	if (!weft__runs_is_directory(output))
		return weft__runs_file_is_free(output);
	if (access(output ? output : ".", W_OK | X_OK) != 0) {
		weft__runs_report("%s: %s",
			output ? weft__runs_shown(output) : "the current directory cannot be written",
			strerror(errno));
		return false;
	}
	/* A name that no file has. */
	snprintf(any, sizeof(any), "%s%s.weft-%d", output ? output : ".", "/", (int)getpid());
	return weft__runs_file_is_free(any);
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
												: weft__runs_write_all(fd, bytes + at, length);
		if (!good)
			return false;
	}
	return true;
}

struct weft__runs_saving weft__runs_saving_begin(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (struct weft__runs_saving){.since_s = now.tv_sec};
}

/* Signals have been blocked since before the program ran. A pending signal ends saving only after a
 * second of it, because it may have been sent earlier and meant for the program. */
bool weft__runs_saving_is_interrupted(const struct weft__runs_saving *saving)
{
	static const int wanted[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct timespec now;
	sigset_t pending;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec - saving->since_s < 2 || sigpending(&pending) != 0)
		return false;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (sigismember(&pending, wanted[i]))
			return true;
	return false;
}

/* The content to save: a file that is no longer written, or a copy in memory. */
struct content {
	const struct weft__runs_saving *saving;
	int fd; /* -1: the copy in `bytes`, which has space for the tables' place in its header */
	void *bytes;
	size_t size;
	const struct weft_text *tables; /* behind the copy; NULL: none */
};

/* Copies the bytes from `at` to `end`: to the same offset of a file, or to the end of a pipe. */
static bool copy_range(const struct content *content, int to, off_t at, off_t end, bool to_is_file)
{
	static char bytes[BLOCKS_AT_ONCE * BLOCK];
	if (to_is_file && lseek(to, at, SEEK_SET) < 0)
		return false;
	while (at < end) {
		size_t wanted = end - at < (off_t)sizeof(bytes) ? (size_t)(end - at) : sizeof(bytes);
		ssize_t size = pread(content->fd, bytes, wanted, at);
		if (size < 0)
			return false;
		if (size == 0 || weft__runs_saving_is_interrupted(content->saving)) {
			errno = size == 0 ? EIO : EINTR; /* EIO: the file was shortened */
			return false;
		}
		bool written = to_is_file ? write_sparse(to, bytes, (size_t)size)
								  : weft__runs_write_all(to, bytes, (size_t)size);
		if (!written)
			return false;
		at += size;
	}
	return true;
}

/* Copies the file, with the length that it has at the start: it may still be written to. Holes are
 * not read and stay holes, so the cost is that of the allocated blocks. */
static bool copy(const struct content *content, int to, bool to_is_file)
{
	int from = content->fd;
	struct stat status;
	if (fstat(from, &status) != 0)
		return false;
	if (!to_is_file)
		return copy_range(content, to, 0, status.st_size, false);
	for (off_t at = 0, end; at < status.st_size; at = end) {
		off_t start = lseek(from, at, SEEK_DATA);
		if (start < 0 && errno == ENXIO) /* the rest is a hole */
			break;
		/* EINVAL: the file system does not support holes. */
		at = start < 0 ? at : start;
		end = start < 0 ? -1 : lseek(from, at, SEEK_HOLE);
		end = end < 0 || end > status.st_size ? status.st_size : end;
		if (!copy_range(content, to, at, end, true))
			return false;
	}
	return ftruncate(to, status.st_size) == 0;
}

static bool write_tables(const struct content *content, int to, bool to_is_file)
{
	static const char zeros[64];
	const struct weft_text *tables = content->tables;
	const size_t gap = (64 - content->size % 64) % 64;
	return (!to_is_file || lseek(to, (off_t)content->size, SEEK_SET) >= 0) &&
		   weft__runs_write_all(to, zeros, gap) &&
		   weft__runs_write_all(to, tables->bytes, tables->size);
}

/* Writes a copy from memory: the recording process waited for memory only, not for a disk. */
static bool write_copy(const struct content *content, int to, bool to_is_file)
{
	size_t size = content->size;
	for (size_t at = 0, length; at < size; at += length) {
		length = size - at < BLOCKS_AT_ONCE * BLOCK ? size - at : BLOCKS_AT_ONCE * BLOCK;
		const char *from = (const char *)content->bytes + at;
		if (weft__runs_saving_is_interrupted(content->saving)) {
			errno = EINTR;
			return false;
		}
		if (!(to_is_file ? write_sparse(to, from, length) : weft__runs_write_all(to, from, length)))
			return false;
	}
	if (to_is_file && ftruncate(to, (off_t)size) != 0)
		return false;
	return !content->tables || write_tables(content, to, to_is_file);
}

static bool write_content(const struct content *content, int to, bool to_is_file)
{
	return content->fd >= 0 ? copy(content, to, to_is_file) : write_copy(content, to, to_is_file);
}

static bool write_to_file(const struct content *content, const char *path)
{
	struct weft__runs_file file;
	if (!weft__runs_file_create(path, &file))
		return false;
	if (write_content(content, file.fd, true))
		return content->saving->is_unsynced ? weft__runs_file_publish(&file)
											: weft__runs_file_commit(&file);
	weft__runs_file_abandon(&file);
	return false;
}

static bool save(const struct content *content, const char *file)
{
	return weft__runs_is_stdout(file) ? write_content(content, STDOUT_FILENO, false)
									  : write_to_file(content, file);
}

/* Makes the tables behind a copy: the metrics in a file, and what is known of the wall clock. */
static void make_tables(struct content *content, int metrics, struct weft_text *tables)
{
	if (content->size >= sizeof(struct weft_abi_buffer)) {
		if (!weft__runs_values_pack(metrics, tables))
			weft_text_finish(tables);
		weft__runs_wall_clock_pack(content->bytes, tables);
	}
	if (tables->size && !tables->error &&
		weft__runs_values_note(content->bytes, content->size, tables))
		content->tables = tables;
}

static bool save_with_tables(struct content *content, int metrics, const char *file)
{
	struct weft_text tables = {0};
	make_tables(content, metrics, &tables);
	bool good = save(content, file);
	int reason = errno;
	weft_text_finish(&tables);
	errno = reason;
	return good;
}

bool weft__runs_write_copy(void *bytes, size_t size, int metrics, int fd)
{
	const struct weft__runs_saving saving = weft__runs_saving_begin();
	struct content content = {&saving, -1, bytes, size, NULL};
	struct weft_text tables = {0};
	make_tables(&content, metrics, &tables);
	bool good = write_content(&content, fd, true);
	int reason = errno;
	weft_text_finish(&tables);
	errno = reason;
	return good;
}

bool weft__runs_save_copy(void *bytes, size_t size, int metrics, const char *file)
{
	const struct weft__runs_saving saving = weft__runs_saving_begin();
	struct content content = {&saving, -1, bytes, size, NULL};
	if (!weft__runs_is_stdout(file) && !weft__runs_file_is_free(file))
		return false;
	if (save_with_tables(&content, metrics, file))
		return true;
	weft__runs_report("%s: %s",
		weft__runs_is_stdout(file) ? "standard output" : weft__runs_shown(file), strerror(errno));
	return false;
}

int weft__runs_copy_running(int ring, void **ret_bytes, size_t *ret_size)
{
	struct weft_watch *watch;
	int error = weft_watch_open_descriptor(ring, &watch);
	if (error)
		return error;
	error = weft_watch_copy(watch, ret_bytes, ret_size);
	weft_watch_close(watch);
	return error;
}

/* Saves a ring that its process still records into. 0 or an error code. */
static int save_running(
	const struct weft__runs_saving *saving, int ring, int metrics, const char *file)
{
	void *bytes;
	size_t size;
	int error = weft__runs_copy_running(ring, &bytes, &size);
	if (error)
		return error;
	struct content content = {saving, -1, bytes, size, NULL};
	error = save_with_tables(&content, metrics, file) ? 0 : WEFT_ERROR_SYSTEM;
	int reason = errno;
	weft_watch_free(bytes, size);
	errno = reason;
	return error;
}

static int save_from(const struct weft__runs_saving *saving, int fd, const char *path,
	const struct weft__runs_ring *ring, const char *file)
{
	const struct content content = {.saving = saving, .fd = fd};
	struct weft__runs_values values = weft__runs_values_open(path, ring);
	int error, reason;
	if (ring->is_running) {
		error = save_running(saving, fd, values.metrics, file);
	} else {
		weft__runs_values_add(path, ring, &values);
		error = save(&content, file) ? 0 : WEFT_ERROR_SYSTEM;
	}
	reason = errno;
	weft__runs_values_close(&values);
	errno = reason;
	return error;
}

/* The text of an error code, or of `reason` (errno) if it is the system's. */
static const char *explain(int error, int reason)
{
	if (error == WEFT_ERROR_DAMAGED)
		return "the ring is refused, because its header is damaged";
	return error == WEFT_ERROR_SYSTEM ? strerror(reason) : weft_error_text(error);
}

/* The magic is stored last: until then nothing was recorded. */
static bool is_being_made(int ring)
{
	static const uint8_t nothing[sizeof(((struct weft_abi_buffer *)0)->magic)];
	uint8_t magic[sizeof(nothing)] = {0};
	return pread(ring, magic, sizeof(magic), 0) >= 0 &&
		   memcmp(magic, nothing, sizeof(nothing)) == 0;
}

enum weft__runs_outcome weft__runs_save(const struct weft__runs_saving *saving, const char *path,
	const struct weft__runs_ring *ring, const char *file)
{
	if (!weft__runs_is_stdout(file) && !may_be_replaced(file)) {
		weft__runs_report("the trace stays in %s", weft__runs_shown(path));
		return WEFT__RUNS_NOT_SAVED;
	}
	/* A ring that is copied by read(2) into a file may have holes: they stay holes. */
	unsigned access = ring->is_running             ? WEFT_RING_WRITE
					  : weft__runs_is_stdout(file) ? WEFT_RING_READ
												   : WEFT_RING_SPARSE;
	int fd = weft__runs_ring_open(path, ring->pid, access);
	if (fd < 0)
		return WEFT__RUNS_SKIPPED;
	/* The process was killed while it allocated the ring: there is nothing to save. */
	if (!ring->is_running && is_being_made(fd)) {
		close(fd);
		return WEFT__RUNS_NEW;
	}
	int error = save_from(saving, fd, path, ring, file);
	int reason = errno;
	bool is_new = error && ring->is_running && is_being_made(fd);
	close(fd);
	if (!error)
		return WEFT__RUNS_SAVED;
	if (is_new)
		return WEFT__RUNS_NEW;
	weft__runs_report("%s: %s; the trace stays in %s",
		weft__runs_is_stdout(file) ? "standard output" : weft__runs_shown(file),
		explain(error, reason), weft__runs_shown(path));
	if (error == WEFT_ERROR_FORMAT || error == WEFT_ERROR_EMPTY)
		return WEFT__RUNS_SKIPPED;
	return error == WEFT_ERROR_SYSTEM && reason == EINTR ? WEFT__RUNS_INTERRUPTED
														 : WEFT__RUNS_NOT_SAVED;
}

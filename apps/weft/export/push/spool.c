/* SPDX-License-Identifier: ISC
 *
 * A message's name is its number, its signal and how many spans or points it has:
 * 0000000000000007-traces-512.pb.gz.
 */
#include "spool.h"

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

#include "cli/cli.h"

#define NAME_BYTES        64
#define MESSAGE_MAX_BYTES (64 << 20)

static const char *const signals[] = {"traces", "metrics"};

static void format_name(
	char name[NAME_BYTES], const struct spool *spool, const struct spooled *message)
{
	snprintf(name, NAME_BYTES, "%016" PRIu64 "-%s-%" PRIu32 ".%s.gz", message->number,
		signals[message->signal], message->count, spool->is_json ? "json" : "pb");
}

static uint64_t read_number(const char **text)
{
	uint64_t number = 0;
	for (; **text >= '0' && **text <= '9' && number < UINT64_MAX / 100; ++*text)
		number = 10 * number + (uint64_t)(**text - '0');
	return number;
}

/* True if it is the name of a message in the spool's format: the one that its parts give again. */
static bool parse_name(const struct spool *spool, const char *name, struct spooled *ret_message)
{
	char again[NAME_BYTES];
	const char *at = name;
	*ret_message = (struct spooled){.number = read_number(&at)};
	for (unsigned i = 0; i < WEFT_OTLP_SIGNALS; i++) {
		const size_t size = strlen(signals[i]);
		if (*at != '-' || strncmp(at + 1, signals[i], size) != 0 || at[1 + size] != '-')
			continue;
		at += 1 + size + 1;
		ret_message->signal = i;
		ret_message->count = (uint32_t)read_number(&at);
		format_name(again, spool, ret_message);
		return strcmp(again, name) == 0;
	}
	return false;
}

static int compare(const void *left, const void *right)
{
	const struct spooled *l = left, *r = right;
	return (l->number > r->number) - (l->number < r->number);
}

static bool add_to_list(struct spool *spool, struct spooled message)
{
	if (spool->first && spool->first >= spool->count - spool->first) {
		spool->count -= spool->first;
		memmove(spool->list, spool->list + spool->first, spool->count * sizeof(*spool->list));
		spool->first = 0;
	}
	if (spool->count == spool->room) {
		const size_t room = spool->room ? 2 * spool->room : 1;
		struct spooled *longer = realloc(spool->list, room * sizeof(*longer));
		if (!longer)
			return false;
		spool->list = longer;
		spool->room = room;
	}
	spool->list[spool->count++] = message;
	spool->bytes += message.bytes;
	spool->waiting += message.count;
	spool->last = message.number > spool->last ? message.number : spool->last;
	return true;
}

static bool list(struct spool *spool)
{
	DIR *directory = fdopendir(dup(spool->directory));
	struct dirent *entry;
	struct spooled message;
	struct stat status;
	bool good = directory;
	while (good && (entry = readdir(directory))) {
		if (!parse_name(spool, entry->d_name, &message) ||
			fstatat(spool->directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		message.bytes = (uint64_t)status.st_size;
		good = add_to_list(spool, message);
	}
	if (directory)
		closedir(directory);
	if (spool->count)
		qsort(spool->list, spool->count, sizeof(*spool->list), compare);
	return good;
}

bool spool_open(const char *path, uint64_t most_bytes, bool is_json, struct spool *ret_spool)
{
	struct spool spool = {.path = path, .most_bytes = most_bytes, .is_json = is_json, .lock = -1};
	if (mkdir(path, 0700) != 0 && errno != EEXIST) {
		cli_error("--spool: %s: %s", path, strerror(errno));
		return false;
	}
	spool.directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (spool.directory >= 0)
		spool.lock =
			openat(spool.directory, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (spool.lock >= 0 && flock(spool.lock, LOCK_EX | LOCK_NB) == 0 && list(&spool)) {
		*ret_spool = spool;
		return true;
	}
	cli_error("--spool: %s: %s", path,
		errno == EWOULDBLOCK ? "another process uses it" : strerror(errno));
	spool_close(&spool);
	return false;
}

void spool_close(struct spool *spool)
{
	if (spool->directory >= 0)
		close(spool->directory);
	if (spool->lock >= 0)
		close(spool->lock);
	free(spool->list);
}

static bool write_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t written = write(fd, bytes, size);
		if (written < 0 && errno != EINTR)
			return false;
		bytes += written > 0 ? written : 0;
		size -= written > 0 ? (size_t)written : 0;
	}
	return true;
}

bool spool_add(struct spool *spool, enum weft_otlp_signal signal, uint32_t count, const void *bytes,
	size_t size)
{
	static const char unfinished[] = "new";
	const struct spooled message = {
		.number = spool->last + 1, .bytes = size, .signal = signal, .count = count};
	char name[NAME_BYTES];
	if (size > spool->most_bytes || spool->bytes > spool->most_bytes - size) {
		errno = EDQUOT;
		return false;
	}
	format_name(name, spool, &message);
	int fd = openat(
		spool->directory, unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	bool good = fd >= 0 && write_all(fd, bytes, size) && fsync(fd) == 0;
	if (fd >= 0 && close(fd) != 0)
		good = false;
	good = good && renameat(spool->directory, unfinished, spool->directory, name) == 0 &&
		   fsync(spool->directory) == 0;
	if (!good) {
		const int reason = errno;
		unlinkat(spool->directory, unfinished, 0);
		errno = reason;
		return false;
	}
	if (add_to_list(spool, message))
		return true;
	unlinkat(spool->directory, name, 0);
	errno = ENOMEM;
	return false;
}

static bool read_all(int fd, struct weft_text *ret_bytes)
{
	char piece[65536];
	ssize_t count;
	while ((count = read(fd, piece, sizeof(piece))) > 0) {
		weft_text_add(ret_bytes, piece, (size_t)count);
		if (ret_bytes->error || ret_bytes->size > MESSAGE_MAX_BYTES) {
			errno = EFBIG;
			return false;
		}
	}
	return count == 0;
}

bool spool_read(struct spool *spool, const struct spooled *message, struct weft_text *ret_bytes)
{
	char name[NAME_BYTES];
	ret_bytes->size = 0;
	format_name(name, spool, message);
	int fd = openat(spool->directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	bool good = fd >= 0 && read_all(fd, ret_bytes);
	const int reason = errno;
	if (fd >= 0)
		close(fd);
	errno = reason;
	return good;
}

void spool_remove(struct spool *spool, const struct spooled *message)
{
	char name[NAME_BYTES];
	format_name(name, spool, message);
	if (unlinkat(spool->directory, name, 0) != 0)
		return;
	spool->bytes -= message->bytes;
	spool->waiting -= message->count;
}

void spool_defer_first(struct spool *spool)
{
	struct spooled *first = &spool->list[spool->first];
	const struct spooled message = *first;
	const size_t others = spool->count - spool->first - 1;
	memmove(first, first + 1, others * sizeof(*first));
	first[others] = message;
}

/* SPDX-License-Identifier: ISC
 *
 * A file is written beside its place under a temporary name, and renamed: a full disk or an
 * interrupt leaves the old one.
 */
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

bool cli_write_all(int fd, const char *bytes, size_t size)
{
	while (size > 0) {
		ssize_t written = write(fd, bytes, size);
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		bytes += written;
		size -= (size_t)written;
	}
	return true;
}

/* What open(2) would have given: mkstemp is stricter than a picture needs. */
static mode_t usual_mode(void)
{
	mode_t mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

static bool fail(const char *path)
{
	cli_error("%s: %s", path, strerror(errno));
	return false;
}

static bool save_by_rename(const char *path, const char *bytes, size_t size)
{
	static const char suffix[] = ".XXXXXX";
	size_t length = strlen(path);
	char *temporary = malloc(length + sizeof(suffix));
	if (!temporary)
		return fail(path);
	memcpy(temporary, path, length);
	memcpy(temporary + length, suffix, sizeof(suffix));
	int fd = mkstemp(temporary);
	bool saved = fd >= 0;
	if (saved) {
		saved = cli_write_all(fd, bytes, size) && fchmod(fd, usual_mode()) == 0;
		saved = close(fd) == 0 && saved && rename(temporary, path) == 0;
		if (!saved) {
			int reason = errno;
			unlink(temporary);
			errno = reason;
		}
	}
	free(temporary);
	return saved || fail(path);
}

/* A device or a pipe must not be replaced by a file. */
static bool is_special(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

static bool save_in_place(const char *path, const char *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");
	if (!file)
		return fail(path);
	bool saved = fwrite(bytes, 1, size, file) == size;
	saved = fclose(file) == 0 && saved;
	return saved || fail(path);
}

bool cli_save(const char *path, const char *bytes, size_t size)
{
	if (strcmp(path, "-") == 0)
		return fwrite(bytes, 1, size, stdout) == size; /* cli_close_output says why not */
	return is_special(path) ? save_in_place(path, bytes, size) : save_by_rename(path, bytes, size);
}

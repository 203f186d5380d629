/* SPDX-License-Identifier: ISC
 *
 * A file is written beside its place under a temporary name, and renamed when it is on the disk: a
 * full disk, an interrupt or a power failure leaves the old one.
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

/* ---- Who may read it ---- */

static struct {
	bool is_known;
	mode_t mode; /* what all inputs allow */
	gid_t group;
	bool has_groups; /* several */
} inputs;

void cli_output_limit(const struct stat *input)
{
	mode_t mode = S_ISREG(input->st_mode) ? input->st_mode & 0777 : 0600;
	inputs.has_groups |= inputs.is_known && inputs.group != input->st_gid;
	inputs.mode = inputs.is_known ? inputs.mode & mode : mode;
	inputs.group = input->st_gid;
	inputs.is_known = true;
}

mode_t cli_output_mode(mode_t mode, gid_t group)
{
	if (!inputs.is_known)
		return mode;
	mode_t most = inputs.mode;
	/* Members of another group get what everybody gets. */
	if (inputs.has_groups || inputs.group != group)
		most &= (mode_t)~070 | (most & 07) << 3;
	return mode & (most | 0600);
}

/* That of the file that is replaced; else what open(2) would have given, where mkstemp is stricter
 * than a picture needs. In either case not more than the inputs allow. */
static bool set_mode(int fd, const char *path)
{
	struct stat replaced, own;
	mode_t mask = umask(0);
	umask(mask);
	mode_t mode = 0666 & ~mask;
	if (stat(path, &replaced) == 0)
		mode = replaced.st_mode & 0777;
	return fstat(fd, &own) == 0 && fchmod(fd, cli_output_mode(mode, own.st_gid)) == 0;
}

/* ---- Onto the disk ---- */

bool cli_sync(int fd)
{
	return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP || errno == EROFS;
}

bool cli_sync_directory_of(const char *path)
{
	char directory[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int length = slash == path ? 1 : slash ? (int)(slash - path) : 1;
	snprintf(directory, sizeof(directory), "%.*s", length, slash ? path : ".");
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == EACCES; /* one may write into a directory that one cannot read */
	bool good = cli_sync(fd);
	int reason = errno;
	close(fd);
	errno = reason;
	return good;
}

/* ---- Writing ---- */

static bool fail(const char *path)
{
	cli_error("%s: %s", path, strerror(errno));
	return false;
}

/* A device or a pipe must not be replaced by a file. */
static bool is_special(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

static bool open_temporary(const char *path, struct cli_output *output)
{
	static const char suffix[] = ".XXXXXX";
	size_t length = strlen(path);
	output->temporary = malloc(length + sizeof(suffix));
	if (!output->temporary)
		return false;
	memcpy(output->temporary, path, length);
	memcpy(output->temporary + length, suffix, sizeof(suffix));
	int fd = mkstemp(output->temporary);
	if (fd < 0)
		return false;
	output->file = fdopen(fd, "wb");
	if (output->file)
		return true;
	unlink(output->temporary);
	close(fd);
	return false;
}

bool cli_output_open(const char *path, struct cli_output *ret_output)
{
	struct cli_output output = {.path = path};
	bool good = true;
	if (strcmp(path, "-") == 0)
		output.file = stdout;
	else if (is_special(path))
		good = (output.file = fopen(path, "wb")) != NULL;
	else
		good = open_temporary(path, &output);
	if (!good) {
		fail(path);
		free(output.temporary);
		return false;
	}
	*ret_output = output;
	return true;
}

bool cli_output_append(struct cli_output *output, const void *bytes, size_t size)
{
	return fwrite(bytes, 1, size, output->file) == size;
}

bool cli_output_commit(struct cli_output *output)
{
	bool saved = !ferror(output->file);
	if (output->file == stdout)
		return saved; /* cli_close_output says why not */
	if (output->temporary)
		saved = fflush(output->file) == 0 && saved &&
				set_mode(fileno(output->file), output->path) && cli_sync(fileno(output->file));
	saved = fclose(output->file) == 0 && saved;
	if (output->temporary) {
		bool is_renamed = saved && rename(output->temporary, output->path) == 0;
		int reason = errno;
		if (!is_renamed)
			unlink(output->temporary);
		saved = is_renamed && cli_sync_directory_of(output->path);
		reason = is_renamed ? errno : reason;
		errno = reason;
	}
	free(output->temporary);
	return saved || fail(output->path);
}

void cli_output_abandon(struct cli_output *output)
{
	if (output->file != stdout)
		fclose(output->file);
	if (output->temporary)
		unlink(output->temporary);
	free(output->temporary);
}

bool cli_save(const char *path, const char *bytes, size_t size)
{
	struct cli_output output;
	if (!cli_output_open(path, &output))
		return false;
	cli_output_append(&output, bytes, size);
	return cli_output_commit(&output);
}

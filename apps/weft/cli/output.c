/* SPDX-License-Identifier: ISC
 *
 * Output files, see output.h. The temporary file is of the same folder, so that rename(2) replaces
 * the old file at once. A file made from a trace is readable for no one who cannot read that trace.
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
#include "runs/file.h"

/* ---- Permissions ---- */

static struct {
	bool is_known;
	mode_t mode; /* permissions that all inputs have */
	gid_t group;
	bool has_groups; /* inputs have different groups */
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
	/* Members of another group get the permissions of others. */
	if (inputs.has_groups || inputs.group != group)
		most &= (mode_t)~070 | (most & 07) << 3;
	return mode & (most | 0600);
}

/* Sets the mode of the replaced file; for a new file what open(2) would give, since mkstemp is
 * stricter than needed. In both cases limited to the inputs' permissions. */
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

/* ---- Inputs ---- */

static bool is_same_file(int directory, const char *name, const char *input)
{
	struct stat a, b;
	int missing = strcmp(input, "-") == 0 ? fstat(STDIN_FILENO, &b) : stat(input, &b);
	return !missing && !fstatat(directory, name, &a, 0) && a.st_dev == b.st_dev &&
		   a.st_ino == b.st_ino;
}

bool cli_output_is_input(int directory, const char *name, char **paths, int count)
{
	for (int i = 0; i < count; i++)
		if (is_same_file(directory, name, paths[i]))
			return true;
	return false;
}

/* ---- Writing ---- */

static bool fail(const char *path)
{
	cli_error("%s: %s", path, strerror(errno));
	return false;
}

/* True for a device or a pipe, which must not be replaced by a file. */
static bool is_special(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

static bool open_beside(const char *path, struct cli_output *output)
{
	struct weft__runs_file *file = malloc(sizeof(*file));
	if (!file || !weft__runs_file_create(path, file)) {
		free(file);
		return false;
	}
	int fd = dup(file->fd); /* the original descriptor is needed until the commit */
	output->file = fd >= 0 ? fdopen(fd, "wb") : NULL;
	if (!output->file) {
		if (fd >= 0)
			close(fd);
		weft__runs_file_abandon(file);
		free(file);
		return false;
	}
	output->replacement = file;
	return true;
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
		good = open_beside(path, &output);
	if (good)
		*ret_output = output;
	return good || fail(path);
}

bool cli_output_append(struct cli_output *output, const void *bytes, size_t size)
{
	return fwrite(bytes, 1, size, output->file) == size;
}

bool cli_output_commit(struct cli_output *output)
{
	bool saved = !ferror(output->file);
	struct weft__runs_file *file = output->replacement;
	if (output->file == stdout)
		return saved; /* cli_close_output reports the reason */
	saved = fclose(output->file) == 0 && saved;
	if (file && saved)
		saved = set_mode(file->fd, output->path) && weft__runs_file_commit(file);
	else if (file)
		weft__runs_file_abandon(file);
	free(file);
	return saved || fail(output->path);
}

void cli_output_abandon(struct cli_output *output)
{
	if (output->file != stdout)
		fclose(output->file);
	if (output->replacement)
		weft__runs_file_abandon(output->replacement);
	free(output->replacement);
}

bool cli_save(const char *path, const char *bytes, size_t size)
{
	struct cli_output output;
	if (!cli_output_open(path, &output))
		return false;
	cli_output_append(&output, bytes, size);
	return cli_output_commit(&output);
}

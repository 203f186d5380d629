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
		saved =
			fflush(output->file) == 0 && saved && fchmod(fileno(output->file), usual_mode()) == 0;
	saved = fclose(output->file) == 0 && saved;
	if (output->temporary) {
		saved = saved && rename(output->temporary, output->path) == 0;
		int reason = errno;
		if (!saved)
			unlink(output->temporary);
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

/* SPDX-License-Identifier: ISC
 *
 * The token: drawn for this start, or read from a file that only its owner can read. Its characters
 * have no special meaning in a URL, a cookie or a header.
 */
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._~";

bool serve_token_draw(char ret_token[SERVE_TOKEN_BYTES + 1])
{
	unsigned char random[16];
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
		cli_error("cannot make a token: %s", strerror(errno));
		return false;
	}
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(ret_token + 2 * i, 3, "%02x", random[i]);
	return true;
}

bool serve_token_is_valid(const char *token, size_t size)
{
	size_t used = 0;
	while (used < size && token[used] && strchr(letters, token[used]))
		used++;
	return used == size && size >= SERVE_TOKEN_LEAST && size <= SERVE_TOKEN_BYTES;
}

/* Reads at most `room` bytes; returns their number, or -1 with errno. */
static ssize_t read_all(int fd, char *bytes, size_t room)
{
	size_t used = 0;
	ssize_t size = 1;
	while (used < room && size > 0) {
		size = read(fd, bytes + used, room - used);
		if (size < 0 && errno == EINTR)
			size = 1;
		else if (size > 0)
			used += (size_t)size;
	}
	return size < 0 ? -1 : (ssize_t)used;
}

bool serve_token_is_private(int fd, const char *option, const char *file)
{
	struct stat status;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_mode & 077) {
		cli_error("%s: other users may read or change %s; `chmod 600` it", option, file);
		return false;
	}
	return true;
}

bool serve_token_read(const char *file, char ret_token[SERVE_TOKEN_BYTES + 1])
{
	char bytes[SERVE_TOKEN_BYTES + 2]; /* one byte more, to detect a token that is too long */
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t size = fd < 0 ? -1 : read_all(fd, bytes, sizeof(bytes));
	int reason = errno;
	bool is_good = size >= 0 && serve_token_is_private(fd, "--token-file", file);
	if (fd >= 0)
		close(fd);
	if (size < 0)
		cli_error("--token-file: %s: %s", file, strerror(reason));
	if (!is_good)
		return false;
	size_t used = (size_t)size;
	if (used && bytes[used - 1] == '\n')
		used--;
	if (!serve_token_is_valid(bytes, used)) {
		cli_error("--token-file: %s has to be one line of %d to %d letters, digits or -._~", file,
			SERVE_TOKEN_LEAST, SERVE_TOKEN_BYTES);
		return false;
	}
	memcpy(ret_token, bytes, used);
	ret_token[used] = '\0';
	return true;
}

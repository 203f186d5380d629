/* SPDX-License-Identifier: ISC
 *
 * Starts a browser with a page of one link: <XDG_RUNTIME_DIR>/weft-open-XXXXXX/weft.html. The
 * directory is private.
 */
#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

/* Prints text of an element or of a double-quoted attribute. */
static void print_escaped(FILE *file, const char *text)
{
	for (; *text; text++) {
		if (strchr("&<>\"'", *text))
			fprintf(file, "&#%d;", *text);
		else
			fputc(*text, file);
	}
}

static bool write_page(const char *path, const char *url)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>weft</title>\n"
		  "<meta name=\"referrer\" content=\"no-referrer\">\n"
		  "<meta http-equiv=\"refresh\" content=\"0; url=",
		file);
	print_escaped(file, url);
	fputs("\">\n<p><a href=\"", file);
	print_escaped(file, url);
	fputs("\">The traces that weft serves</a></p>\n</html>\n", file);
	return fclose(file) == 0;
}

static bool make_directory(const char *parent, char directory[PATH_MAX])
{
	if (parent && parent[0] == '/' &&
		snprintf(directory, PATH_MAX, "%s/weft-open-XXXXXX", parent) < PATH_MAX &&
		mkdtemp(directory))
		return true;
	directory[0] = '\0';
	return false;
}

/* Makes the page; false with errno, and nothing is left behind. */
static bool make_page(const char *url, struct serve_page_file *file)
{
	if (!make_directory(getenv("XDG_RUNTIME_DIR"), file->directory) &&
		!make_directory(getenv("TMPDIR"), file->directory) &&
		!make_directory("/tmp", file->directory))
		return false;
	snprintf(file->path, sizeof(file->path), "%s/weft.html", file->directory);
	if (write_page(file->path, url))
		return true;
	int reason = errno;
	serve_browser_forget(file);
	errno = reason;
	return false;
}

/* Writes "file://" and the path, with %XX for characters that a URL cannot contain. False if it is
 * too long. */
static bool write_file_url(const char *path, char *url, size_t room)
{
	size_t used = (size_t)snprintf(url, room, "file://");
	for (; *path; path++) {
		bool is_plain = strchr("-._~/", *path) || (*path >= '0' && *path <= '9') ||
						(*path >= 'a' && *path <= 'z') || (*path >= 'A' && *path <= 'Z');
		if (used + 4 > room)
			return false;
		used += (size_t)snprintf(
			url + used, room - used, is_plain ? "%c" : "%%%02X", (unsigned char)*path);
	}
	return true;
}

/* Executes the browser; does not return. $BROWSER has names or paths of programs with ':' in
 * between. */
static void become_browser(char *url)
{
	const char *browsers = getenv("BROWSER");
	char name[PATH_MAX];
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGCHLD, SIG_DFL);
	setsid(); /* detach from the terminal: Ctrl-C is for weft */
	dup2(STDERR_FILENO, STDOUT_FILENO);
	while (browsers && *browsers) {
		size_t length = strcspn(browsers, ":");
		snprintf(name, sizeof(name), "%.*s", (int)length, browsers);
		if (name[0])
			execlp(name, name, url, (char *)NULL);
		browsers += length + (browsers[length] == ':');
	}
	execlp("xdg-open", "xdg-open", url, (char *)NULL);
	cli_error("cannot open a browser: xdg-open: %s", strerror(errno));
	_exit(127);
}

void serve_browser_open(const char *url, struct serve_page_file *ret_file)
{
	char file_url[3 * PATH_MAX + 64];
	*ret_file = (struct serve_page_file){0};
	if (!make_page(url, ret_file)) {
		cli_error("cannot open a browser: no file for it: %s", strerror(errno));
		return;
	}
	if (!write_file_url(ret_file->path, file_url, sizeof(file_url)))
		return;
	if (fork() == 0)
		become_browser(file_url);
	/* We do not wait for the browser to start or end. */
}

void serve_browser_forget(struct serve_page_file *file)
{
	if (file->path[0])
		unlink(file->path);
	if (file->directory[0])
		rmdir(file->directory);
	file->path[0] = file->directory[0] = '\0';
}

/* SPDX-License-Identifier: ISC
 *
 * Reads files below /proc/PID. The process goes on meanwhile, and its memory may hold anything.
 */
#include "runs/attach/kernel.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/field.h"

enum {
	POLLED_MAX = 64,
	TCP_LISTENS = 10, /* the kernel's TCP_LISTEN */
};

/* The first bytes of a file of a thread or process; false if there is none. */
static bool read_file(const char *path, char *ret_text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, ret_text, size - 1) : -1;
	if (fd >= 0)
		close(fd);
	ret_text[got > 0 ? got : 0] = '\0';
	return got > 0;
}

/* ---- A thread ---- */

size_t weft__runs_kernel_threads(pid_t pid, uint64_t *ret_threads, size_t most)
{
	char path[64];
	size_t count = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	DIR *threads = opendir(path);
	for (struct dirent *entry; threads && count < most && (entry = readdir(threads));)
		if (weft_parse_number(entry->d_name, strlen(entry->d_name), &ret_threads[count]) ==
			WEFT_PARSE_OK)
			count++;
	if (threads)
		closedir(threads);
	return count;
}

/* True if the calls of the process have the numbers of our own: a 32-bit program has others. */
static bool has_our_calls(pid_t pid)
{
	char path[64], own[EI_NIDENT + 5], other[EI_NIDENT + 5]; /* up to e_machine */
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return read_file("/proc/self/exe", own, sizeof(own)) && read_file(path, other, sizeof(other)) &&
		   own[EI_CLASS] == other[EI_CLASS] &&
		   memcmp(own + EI_NIDENT + 2, other + EI_NIDENT + 2, 2) == 0;
}

/* A number in hexadecimal with "0x", as in /proc/PID/syscall. */
static bool read_argument(const char *line, unsigned index, uint64_t *ret_number)
{
	size_t size;
	const char *field = weft__field(line, index, &size);
	return size > 2 && weft_parse_hexadecimal(field + 2, size - 2, ret_number) == WEFT_PARSE_OK;
}

/* "NUMBER ARGUMENT… STACK CODE": the thread is in a call. "-1 STACK CODE": it is blocked by a page
 * fault, or stopped. "running": nothing is known. */
static bool read_call(const char *line, struct weft__runs_kernel *kernel)
{
	const unsigned at = line[0] == '-' ? 1 : 7;
	if (!read_argument(line, at, &kernel->stack) || !read_argument(line, at + 1, &kernel->code))
		kernel->stack = kernel->code = 0;
	if (!weft__field_number(line, 0, UINT32_MAX, &kernel->number))
		return false;
	for (unsigned i = 0; i < 6; i++)
		if (!read_argument(line, i + 1, &kernel->arguments[i]))
			return false;
	return true;
}

bool weft__runs_kernel_look(pid_t pid, uint64_t thread, struct weft__runs_kernel *ret_kernel)
{
	struct weft__runs_kernel kernel = {0};
	char path[80], text[1024];
	snprintf(path, sizeof(path), "/proc/%d/task/%llu/stat", (int)pid, (unsigned long long)thread);
	if (!read_file(path, text, sizeof(text)))
		return false;
	const char *name_end = strrchr(text, ')');
	if (!name_end || name_end[1] != ' ')
		return false;
	kernel.state = name_end[2];
	const char *name = strchr(text, '(');
	if (name && name < name_end)
		snprintf(kernel.name, sizeof(kernel.name), "%.*s", (int)(name_end - name - 1), name + 1);
	snprintf(path, sizeof(path), "/proc/%d/task/%llu/wchan", (int)pid, (unsigned long long)thread);
	if (!read_file(path, kernel.function, sizeof(kernel.function)) ||
		strcmp(kernel.function, "0") == 0)
		kernel.function[0] = '\0';
	snprintf(
		path, sizeof(path), "/proc/%d/task/%llu/syscall", (int)pid, (unsigned long long)thread);
	kernel.has_call =
		read_file(path, text, sizeof(text)) && read_call(text, &kernel) && has_our_calls(pid);
	if (!has_our_calls(pid))
		kernel.stack = kernel.code = 0;
	*ret_kernel = kernel;
	return true;
}

bool weft__runs_kernel_is_readable(pid_t pid, uint64_t thread)
{
	char path[80], text[256];
	snprintf(
		path, sizeof(path), "/proc/%d/task/%llu/syscall", (int)pid, (unsigned long long)thread);
	return read_file(path, text, sizeof(text));
}

/* ---- Its sockets ---- */

bool weft__runs_kernel_parse_address(
	const char *line, unsigned index, struct in6_addr *ret_address, uint16_t *ret_port)
{
	size_t size;
	uint64_t port, word;
	const char *field = weft__field(line, index, &size);
	const char *colon = memchr(field, ':', size);
	const size_t digits = colon ? (size_t)(colon - field) : 0;
	uint32_t parts[4] = {0, 0, htonl(0xffff), 0};
	if ((digits != 8 && digits != 32) ||
		weft_parse_hexadecimal(colon + 1, size - digits - 1, &port) != WEFT_PARSE_OK)
		return false;
	for (size_t i = 0; i < digits / 8; i++) {
		if (weft_parse_hexadecimal(field + 8 * i, 8, &word) != WEFT_PARSE_OK)
			return false;
		parts[digits == 8 ? 3 : i] = (uint32_t)word;
	}
	memcpy(ret_address, parts, sizeof(parts));
	*ret_port = (uint16_t)port;
	return true;
}

void weft__runs_kernel_format_address(
	const struct in6_addr *address, uint16_t port, char text[static WEFT__RUNS_ADDRESS_BYTES])
{
	char shown[INET6_ADDRSTRLEN] = "?";
	const bool is_mapped = IN6_IS_ADDR_V4MAPPED(address);
	(void)inet_ntop(is_mapped ? AF_INET : AF_INET6,
		is_mapped ? (const void *)&address->s6_addr[12] : address, shown, sizeof(shown));
	snprintf(
		text, WEFT__RUNS_ADDRESS_BYTES, is_mapped ? "%s:%u" : "[%s]:%u", shown, (unsigned)port);
}

/* Writes "tcp 127.0.0.1:80 ← 127.0.0.1:4711" from a line of that file. */
static bool format_socket(const char *protocol, const char *line, char *text, size_t bytes)
{
	char own[WEFT__RUNS_ADDRESS_BYTES], peer[WEFT__RUNS_ADDRESS_BYTES];
	struct in6_addr own_address, peer_address;
	uint16_t own_port, peer_port;
	uint64_t state;
	size_t size;
	if (!weft__runs_kernel_parse_address(line, 1, &own_address, &own_port) ||
		!weft__runs_kernel_parse_address(line, 2, &peer_address, &peer_port))
		return false;
	weft__runs_kernel_format_address(&own_address, own_port, own);
	weft__runs_kernel_format_address(&peer_address, peer_port, peer);
	const char *field = weft__field(line, 3, &size);
	const bool listens = weft_parse_hexadecimal(field, size, &state) == WEFT_PARSE_OK &&
						 state == TCP_LISTENS && strncmp(protocol, "tcp", 3) == 0;
	if (listens)
		snprintf(text, bytes, "%.3s %s, listening", protocol, own);
	else if (peer_port)
		snprintf(text, bytes, "%.3s %s - %s", protocol, own, peer);
	else
		snprintf(text, bytes, "%.3s %s", protocol, own);
	return true;
}

/* Looks for the socket's inode in a file of /proc/PID/net. */
static bool find_socket(
	pid_t pid, const char *protocol, unsigned column, uint64_t inode, char *text, size_t bytes)
{
	char path[64], *line = NULL;
	size_t room = 0;
	uint64_t number;
	bool is_found = false;
	snprintf(path, sizeof(path), "/proc/%d/net/%s", (int)pid, protocol);
	FILE *file = fopen(path, "re");
	while (file && !is_found && getline(&line, &room, file) >= 0) {
		if (!weft__field_number(line, column, UINT64_MAX, &number) || number != inode)
			continue;
		if (strcmp(protocol, "unix") != 0) {
			is_found = format_socket(protocol, line, text, bytes);
			continue;
		}
		/* A path may have spaces. */
		size_t size;
		const char *name = weft__field(line, column + 1, &size);
		snprintf(text, bytes, size ? "unix %.*s" : "unix", (int)strcspn(name, "\n"), name);
		is_found = true;
	}
	free(line);
	if (file)
		fclose(file);
	return is_found;
}

static void name_socket(pid_t pid, uint64_t inode, char *text, size_t bytes)
{
	static const struct {
		const char *protocol;
		unsigned column; /* of the inode */
	} files[] = {{"tcp", 9}, {"tcp6", 9}, {"unix", 6}, {"udp", 9}, {"udp6", 9}};
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		if (find_socket(pid, files[i].protocol, files[i].column, inode, text, bytes))
			return;
	snprintf(text, bytes, "socket");
}

void weft__runs_kernel_descriptor(pid_t pid, int fd, char text[static WEFT__RUNS_DESCRIPTOR_BYTES])
{
	static const char anonymous[] = "anon_inode:", socket[] = "socket:[", pipe[] = "pipe:[";
	char path[64], link[WEFT__RUNS_DESCRIPTOR_BYTES];
	uint64_t inode;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	ssize_t size = readlink(path, link, sizeof(link) - 1);
	link[size > 0 ? size : 0] = '\0';
	if (strncmp(link, anonymous, strlen(anonymous)) == 0) {
		const char *name = link + strlen(anonymous) + (link[strlen(anonymous)] == '[');
		snprintf(text, WEFT__RUNS_DESCRIPTOR_BYTES, "%.*s", (int)strcspn(name, "]"), name);
	} else if (strncmp(link, socket, strlen(socket)) == 0 &&
			   weft_parse_number(link + strlen(socket), strcspn(link + strlen(socket), "]"),
				   &inode) == WEFT_PARSE_OK) {
		name_socket(pid, inode, text, WEFT__RUNS_DESCRIPTOR_BYTES);
	} else {
		snprintf(text, WEFT__RUNS_DESCRIPTOR_BYTES, "%s",
			strncmp(link, pipe, strlen(pipe)) == 0 ? "pipe" : link);
	}
}

/* ---- Descriptors of a loop ---- */

size_t weft__runs_kernel_polled(
	pid_t pid, const struct weft__runs_kernel *kernel, int *ret_fds, size_t most)
{
	struct pollfd list[POLLED_MAX];
	size_t count = kernel->arguments[1] < POLLED_MAX ? (size_t)kernel->arguments[1] : POLLED_MAX;
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size =
		fd >= 0 ? pread(fd, list, count * sizeof(*list), (off_t)kernel->arguments[0]) : -1;
	if (fd >= 0)
		close(fd);
	count = size > 0 ? (size_t)size / sizeof(*list) : 0;
	for (size_t i = 0; i < count && i < most; i++)
		ret_fds[i] = list[i].fd;
	return count < most ? count : most;
}

/* Lines "tfd: FD events: …". */
size_t weft__runs_kernel_watched(pid_t pid, int epoll, int *ret_fds, size_t most)
{
	char path[64], *line = NULL;
	size_t room = 0, count = 0;
	uint64_t number;
	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", (int)pid, epoll);
	FILE *file = fopen(path, "re");
	while (file && count < most && getline(&line, &room, file) >= 0)
		if (strncmp(line, "tfd:", 4) == 0 && weft__field_number(line, 1, INT32_MAX, &number))
			ret_fds[count++] = (int)number;
	free(line);
	if (file)
		fclose(file);
	return count;
}

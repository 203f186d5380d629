/* SPDX-License-Identifier: ISC
 *
 * The processes at the other end of a pipe or connection. The kernel shows which descriptors have
 * the same inode.
 */
#include "files.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <weft/parse.h>

#include "base/array.h"
#include "base/field.h"
#include "parts.h"

enum {
	SHOWN = 3,
	FILES_MAX = 4 << 20, /* descriptors that are read, in all */
};

/* ---- All descriptors ---- */

/* "pipe:[4711]" or "socket:[4711]" */
static bool parse_link(const char *link, const char *kind, uint64_t *ret_inode)
{
	const size_t size = strlen(kind);
	return strncmp(link, kind, size) == 0 && link[size] == ':' && link[size + 1] == '[' &&
		   weft_parse_number(link + size + 2, strcspn(link + size + 2, "]"), ret_inode) ==
			   WEFT_PARSE_OK;
}

static void add_file(struct weft__outside_files *files, struct weft__outside_file file)
{
	if (files->count == files->capacity) {
		const size_t more = weft__array_next_capacity(files->capacity, files->count + 1);
		if (files->count >= FILES_MAX ||
			weft__array_resize(&files->files, more, sizeof(*files->files)))
			return;
		files->capacity = more;
	}
	files->files[files->count++] = file;
}

static void read_process(struct weft__outside_files *files, pid_t pid)
{
	char path[64], link[64];
	uint64_t fd, inode;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)weft__outside_alive(pid));
	DIR *folder = opendir(path);
	if (!folder) {
		files->denied += access(path, F_OK) == 0;
		return;
	}
	for (struct dirent *entry; (entry = readdir(folder));) {
		ssize_t size = readlinkat(dirfd(folder), entry->d_name, link, sizeof(link) - 1);
		link[size > 0 ? size : 0] = '\0';
		if ((parse_link(link, "pipe", &inode) || parse_link(link, "socket", &inode)) &&
			weft_parse_number(entry->d_name, strlen(entry->d_name), &fd) == WEFT_PARSE_OK)
			add_file(files, (struct weft__outside_file){inode, pid, (int)fd});
	}
	closedir(folder);
}

static int compare_files(const void *a, const void *b)
{
	const struct weft__outside_file *x = a, *y = b;
	if (x->inode != y->inode)
		return x->inode < y->inode ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->fd > y->fd) - (x->fd < y->fd);
}

struct weft__outside_files *weft__outside_files_of(struct weft__outside_host *outside)
{
	uint64_t pid;
	if (outside->files)
		return outside->files;
	struct weft__outside_files *files = outside->files = calloc(1, sizeof(*files));
	DIR *folder = files ? opendir("/proc") : NULL;
	for (struct dirent *entry; folder && (entry = readdir(folder));)
		if (weft_parse_number(entry->d_name, strlen(entry->d_name), &pid) == WEFT_PARSE_OK)
			read_process(files, (pid_t)pid);
	if (folder)
		closedir(folder);
	if (files && files->count)
		qsort(files->files, files->count, sizeof(*files->files), compare_files);
	return files;
}

void weft__outside_files_destroy(struct weft__outside_files *files)
{
	if (!files)
		return;
	free(files->files);
	free(files->locals);
	free(files->inets);
	free(files);
}

uint32_t weft__outside_hidden(const struct weft__outside_host *outside)
{
	return outside->files ? outside->files->denied : 0;
}

const struct weft__outside_file *weft__outside_file_find(
	const struct weft__outside_files *files, uint64_t inode)
{
	size_t low = 0, high = files->count;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (files->files[middle].inode < inode)
			low = middle + 1;
		else
			high = middle;
	}
	return low < files->count && files->files[low].inode == inode ? &files->files[low] : NULL;
}

/* ---- The other end ---- */

/* The access mode of a descriptor: O_RDONLY, O_WRONLY or O_RDWR; -1: unknown. */
static int mode_of(pid_t pid, int fd)
{
	char name[32], line[64];
	size_t size;
	int mode = -1;
	snprintf(name, sizeof(name), "fdinfo/%d", fd);
	FILE *file = weft__outside_open(weft__outside_alive(pid), 0, name);
	while (file && mode < 0 && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "flags:", 6) != 0)
			continue;
		const char *field = weft__field(line, 1, &size); /* octal */
		if (size)
			mode = (field[size - 1] - '0') & O_ACCMODE;
	}
	if (file)
		fclose(file);
	return mode;
}

/* Adds each process that has the inode open, and says its name. `without`: a mode that does not
 * count, or -1. Returns how many there are. */
static uint32_t add_owners(struct weft__outside_host *outside, struct weft__outside_thread *thread,
	uint64_t inode, int without, const char *verb)
{
	const struct weft__outside_files *files = outside->files;
	const struct weft__outside_file *file = weft__outside_file_find(files, inode);
	uint32_t count = 0;
	pid_t last = 0;
	char name[32];
	for (; file && file < files->files + files->count && file->inode == inode; file++) {
		if (file->pid == last || (without >= 0 && mode_of(file->pid, file->fd) == without))
			continue;
		last = file->pid;
		weft__outside_name(file->pid, name);
		if (count < SHOWN)
			weft__outside_add(thread, "%s%s %d", count ? ", " : verb, name, (int)file->pid);
		weft__outside_add_other(thread, file->pid, 0);
		count++;
	}
	if (count > SHOWN)
		weft__outside_add(thread, " and %u more", (unsigned)(count - SHOWN));
	return count;
}

static void resolve_pipe(struct weft__outside_host *outside, struct weft__outside_thread *thread,
	uint64_t inode, bool is_reader)
{
	weft__outside_add(thread, " (pipe");
	if (!add_owners(outside, thread, inode, is_reader ? O_RDONLY : O_WRONLY,
			is_reader ? ", written by " : ", read by ") &&
		outside->files->denied)
		weft__outside_add(thread, ", whose other end is hidden from us");
	thread->kind = WEFT__OUTSIDE_PEER;
	weft__outside_add(thread, ")");
}

static bool resolve_unix(
	struct weft__outside_host *outside, struct weft__outside_thread *thread, uint64_t inode)
{
	const struct weft__outside_unix *local = weft__outside_unix_find(outside->files, inode);
	if (!local)
		return false;
	weft__outside_add(thread, local->name[0] ? " (unix %s" : " (unix", local->name);
	if (local->listens)
		weft__outside_add(thread, ", listening");
	else if (local->peer && add_owners(outside, thread, local->peer, -1, ", to "))
		thread->kind = WEFT__OUTSIDE_PEER;
	weft__outside_add(thread, ")");
	return true;
}

/* A connection that is not answered: the process that listens does not accept it. */
static void resolve_connecting(struct weft__outside_host *outside,
	struct weft__outside_thread *thread, const struct weft__outside_inet *socket)
{
	const struct weft__outside_inet *listener = weft__outside_inet_listener(outside->files, socket);
	thread->kind = WEFT__OUTSIDE_CONNECT;
	weft__outside_add(thread, ", not answered");
	if (!listener)
		return;
	add_owners(outside, thread, listener->inode, -1, " by ");
	if (listener->unread)
		snprintf(thread->outcome, sizeof(thread->outcome),
			"%llu of its connections not accepted yet", (unsigned long long)listener->unread);
}

static bool resolve_inet(struct weft__outside_host *outside, struct weft__outside_thread *thread,
	pid_t pid, uint64_t inode)
{
	weft__outside_read_inets(outside->files, pid);
	const struct weft__outside_inet *socket = weft__outside_inet_find(outside->files, inode);
	char own[WEFT__RUNS_ADDRESS_BYTES], peer[WEFT__RUNS_ADDRESS_BYTES];
	if (!socket)
		return false;
	weft__runs_kernel_format_address(&socket->own, socket->own_port, own);
	weft__runs_kernel_format_address(&socket->peer, socket->peer_port, peer);
	weft__outside_add(thread, " (%s %s", socket->is_tcp ? "tcp" : "udp", own);
	if (socket->is_tcp && socket->state == WEFT__OUTSIDE_TCP_LISTENS)
		weft__outside_add(thread, ", listening");
	else if (socket->peer_port)
		weft__outside_add(thread, " - %s", peer);
	if (socket->is_tcp && socket->state == WEFT__OUTSIDE_TCP_CONNECTING) {
		resolve_connecting(outside, thread, socket);
	} else {
		const struct weft__outside_inet *other = weft__outside_inet_peer(outside->files, socket);
		if (other && add_owners(outside, thread, other->inode, -1, ", to "))
			thread->kind = WEFT__OUTSIDE_PEER;
	}
	enum {
		DOMAIN_PORT = 53
	};
	if (socket->peer_port == DOMAIN_PORT && weft__outside_is_in(thread, "getaddrinfo"))
		snprintf(thread->outcome, sizeof(thread->outcome),
			"getaddrinfo: the name server %s has not answered", peer);
	weft__outside_add(thread, ")");
	return true;
}

void weft__outside_resolve_descriptor(struct weft__outside_host *outside,
	const struct weft__outside_process *process, struct weft__outside_thread *thread, int fd,
	bool is_reader)
{
	char path[64], link[64], name[WEFT__RUNS_DESCRIPTOR_BYTES];
	uint64_t inode;
	weft__outside_add(thread, "%d", fd);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)process->alive, fd);
	ssize_t size = readlink(path, link, sizeof(link) - 1);
	link[size > 0 ? size : 0] = '\0';
	const bool is_pipe = parse_link(link, "pipe", &inode);
	if ((is_pipe || parse_link(link, "socket", &inode)) && weft__outside_files_of(outside)) {
		if (is_pipe)
			resolve_pipe(outside, thread, inode, is_reader);
		if (is_pipe || resolve_unix(outside, thread, inode) ||
			resolve_inet(outside, thread, process->alive, inode))
			return;
	}
	if (weft__outside_resolve_special(process, thread, fd))
		return;
	weft__runs_kernel_descriptor(process->alive, fd, name);
	if (name[0])
		weft__outside_add(thread, " (%s)", name);
}

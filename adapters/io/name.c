/* SPDX-License-Identifier: ISC
 *
 * Names of descriptors: "tcp :6379 ← 127.0.0.1:51234", "accept :80", "pipe", "timerfd 20 ms",
 * "unix /run/x". The kernel knows the addresses, and is asked once for each descriptor that becomes
 * a task.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/descriptors.h"
#include "kernel/call.h"

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
	struct sockaddr_un un;
	struct sockaddr_storage storage;
};

/* ---- Addresses ---- */

static void append_v4(struct weft__hooks_text *text, const uint8_t *bytes)
{
	for (int i = 0; i < 4; i++) {
		if (i)
			weft__hooks_append(text, ".");
		weft__hooks_append_number(text, bytes[i]);
	}
}

static void append_hex(struct weft__hooks_text *text, unsigned number)
{
	char digits[5] = {0};
	int size = number > 0xfff ? 4 : number > 0xff ? 3 : number > 0xf ? 2 : 1;
	for (int i = size; i-- > 0; number >>= 4)
		digits[i] = "0123456789abcdef"[number & 15];
	weft__hooks_append(text, digits);
}

/* The longest run of zeros is left out. */
static void append_v6(struct weft__hooks_text *text, const uint8_t *bytes)
{
	int start = -1, size = 1;
	for (int i = 0; i < 8; i++) {
		int end = i;
		while (end < 8 && !bytes[2 * end] && !bytes[2 * end + 1])
			end++;
		if (end - i > size) {
			start = i;
			size = end - i;
		}
	}
	weft__hooks_append(text, "[");
	for (int i = 0; i < 8; i++) {
		if (i == start) {
			weft__hooks_append(text, "::");
			i += size - 1;
			continue;
		}
		if (i && i != start + size)
			weft__hooks_append(text, ":");
		append_hex(text, (unsigned)bytes[2 * i] << 8 | bytes[2 * i + 1]);
	}
	weft__hooks_append(text, "]");
}

static void append_port(struct weft__hooks_text *text, const union address *address)
{
	in_port_t port =
		address->any.sa_family == AF_INET6 ? address->v6.sin6_port : address->v4.sin_port;
	weft__hooks_append(text, ":");
	weft__hooks_append_number(text, ntohs(port));
}

static void append_path(struct weft__hooks_text *text, const union address *address, socklen_t size)
{
	char path[sizeof(address->un.sun_path) + 1] = {0};
	size_t length = size > offsetof(struct sockaddr_un, sun_path)
						? size - offsetof(struct sockaddr_un, sun_path)
						: 0;
	memcpy(path, address->un.sun_path, length < sizeof(path) ? length : sizeof(path) - 1);
	if (length && !path[0]) /* an abstract name */
		path[0] = '@';
	weft__hooks_append(text, path);
}

static bool is_v4_in_v6(const union address *address)
{
	return address->any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&address->v6.sin6_addr);
}

static void append_address(struct weft__hooks_text *text, const union address *address)
{
	if (address->any.sa_family == AF_INET)
		append_v4(text, (const uint8_t *)&address->v4.sin_addr);
	else if (is_v4_in_v6(address))
		append_v4(text, address->v6.sin6_addr.s6_addr + 12);
	else
		append_v6(text, address->v6.sin6_addr.s6_addr);
	append_port(text, address);
}

static bool is_inet(const union address *address)
{
	return address->any.sa_family == AF_INET || address->any.sa_family == AF_INET6;
}

/* System calls, not functions of libc: these may be hooked. */
static socklen_t ask(long call, int fd, union address *address)
{
	socklen_t size = sizeof(*address);
	memset(address, 0, sizeof(*address));
	return syscall(call, fd, address, &size) == 0 ? size : 0;
}

/* ---- Sockets ---- */

static void append_listener(struct weft__hooks_text *text, const union address *own)
{
	bool is_any = own->any.sa_family == AF_INET && own->v4.sin_addr.s_addr == htonl(INADDR_ANY);
	weft__hooks_append(text, " ");
	if (is_any)
		append_port(text, own);
	else
		append_address(text, own);
}

/* "tcp :80 ← 10.0.0.1:51234" is served, "tcp 10.0.0.1:80" was connected. */
static void append_inet(struct weft__hooks_text *text, int fd, const struct weft__io_object *object,
	const union address *other)
{
	bool listens = object->flags & WEFT__IO_LISTENS, is_served = object->flags & WEFT__IO_SERVED;
	union address own;
	bool has_own = ask(SYS_getsockname, fd, &own) && is_inet(&own);
	weft__hooks_append(text, listens ? "accept" : object->type == WEFT__IO_TCP ? "tcp" : "udp");
	if (listens && has_own)
		append_listener(text, &own);
	else if (has_own && (!other || is_served)) {
		weft__hooks_append(text, " ");
		append_port(text, &own);
	}
	if (other) {
		weft__hooks_append(text, is_served ? " ← " : " ");
		append_address(text, other);
	}
}

/* "unix fd 5" is one of a pair, which has no address. */
static void append_unix(struct weft__hooks_text *text, int fd, const struct weft__io_object *object,
	const union address *other, socklen_t other_size)
{
	union address own;
	bool listens = object->flags & WEFT__IO_LISTENS, is_served = object->flags & WEFT__IO_SERVED;
	const size_t unnamed = offsetof(struct sockaddr_un, sun_path);
	weft__hooks_append(text, listens ? "accept unix" : "unix");
	if (listens || is_served || other_size <= unnamed) {
		other_size = ask(SYS_getsockname, fd, &own);
		other = &own;
	}
	weft__hooks_append(text, other_size <= unnamed ? " fd " : " ");
	if (other_size <= unnamed)
		weft__hooks_append_number(text, fd);
	else
		append_path(text, other, other_size);
}

static void append_socket(struct weft__hooks_text *text, int fd,
	const struct weft__io_object *object, const struct sockaddr *to, socklen_t size)
{
	union address other;
	if (to && size <= sizeof(other)) {
		memset(&other, 0, sizeof(other));
		memcpy(&other, to, size);
	} else {
		size = object->flags & WEFT__IO_LISTENS ? 0 : ask(SYS_getpeername, fd, &other);
	}
	if (object->type == WEFT__IO_UNIX)
		append_unix(text, fd, object, &other, size);
	else
		append_inet(text, fd, object, size && is_inet(&other) ? &other : NULL);
}

static void append_other_socket(struct weft__hooks_text *text, int fd)
{
	union address own;
	int family = ask(SYS_getsockname, fd, &own) ? own.any.sa_family : AF_UNSPEC;
	weft__hooks_append(text, family == AF_NETLINK  ? "netlink"
							 : family == AF_PACKET ? "packet"
							 : family == AF_VSOCK  ? "vsock"
												   : "socket");
}

/* ---- Files ---- */

void weft__io_find_path(int fd, char *ret_path, size_t room)
{
	struct weft__hooks_text link = {0};
	weft__hooks_append(&link, "/proc/self/fd/");
	weft__hooks_append_number(&link, fd);
	link.bytes[link.size] = '\0';
	long size = syscall(SYS_readlinkat, AT_FDCWD, link.bytes, ret_path, room);
	ret_path[size > 0 && (size_t)size < room ? size : 0] = '\0';
}

/* Appends the path, or what is behind its last slash. */
static void append_path_of(
	struct weft__hooks_text *text, int fd, bool is_whole, char *path, size_t room)
{
	weft__io_find_path(fd, path, room);
	const char *slash = strrchr(path, '/');
	weft__hooks_append(text, !path[0] ? "file" : !is_whole && slash && slash[1] ? slash + 1 : path);
}

/* Paths may be longer than what a hook may take of the stack. One thread at a time uses a buffer
 * for these; others, and a signal handler, do without it. */
static void append_file(struct weft__hooks_text *text, int fd, bool is_whole)
{
	static char shared[PATH_MAX];
	static bool is_used;
	char own[128];
	if (__atomic_exchange_n(&is_used, true, __ATOMIC_ACQUIRE)) {
		append_path_of(text, fd, is_whole, own, sizeof(own));
		return;
	}
	append_path_of(text, fd, is_whole, shared, sizeof(shared));
	__atomic_store_n(&is_used, false, __ATOMIC_RELEASE);
}

static void append_timer(struct weft__hooks_text *text, const struct weft__io_object *object)
{
	weft__hooks_append(text, "timerfd");
	if (!object->interval_ns)
		return;
	weft__hooks_append(text, " ");
	weft__hooks_append_duration(text, object->interval_ns);
}

/* A name that is wanted. The kernel's answers have addresses and paths, so it is asked aside. */
struct wanted {
	struct weft__hooks_text *text;
	const struct weft__io_object *object;
	const struct sockaddr *to;
	socklen_t size;
	int fd;
};

/* "exit of process 17" */
static void append_process(struct weft__hooks_text *text, int fd)
{
	pid_t process = weft__hooks_read_process(fd);
	weft__hooks_append(text, process > 0 ? "exit of process " : "pidfd");
	if (process > 0)
		weft__hooks_append_number(text, process);
}

static void ask_for_name(void *of)
{
	const struct wanted *it = of;
	switch (it->object->type) {
	case WEFT__IO_TCP:
	case WEFT__IO_UDP:
	case WEFT__IO_UNIX:
		append_socket(it->text, it->fd, it->object, it->to, it->size);
		break;
	case WEFT__IO_SOCKET:
		append_other_socket(it->text, it->fd);
		break;
	case WEFT__IO_PROCESS:
		append_process(it->text, it->fd);
		break;
	default:
		append_file(it->text, it->fd, false);
	}
}

static void ask_for_path(void *of)
{
	const struct wanted *it = of;
	append_file(it->text, it->fd, true);
}

static void ask_aside(void (*work)(void *of), struct wanted wanted)
{
	int saved = errno;
	if (weft__hooks_system_begin()) {
		weft__hooks_aside(work, &wanted);
		weft__hooks_system_end();
	}
	errno = saved;
}

void weft__io_append_path(struct weft__hooks_text *text, int fd)
{
	ask_aside(ask_for_path, (struct wanted){.text = text, .fd = fd});
}

void weft__io_append_name(struct weft__hooks_text *text, int fd,
	const struct weft__io_object *object, const struct sockaddr *to, socklen_t size)
{
	static const char *const names[] = {
		[WEFT__IO_TERMINAL] = "terminal",
		[WEFT__IO_PIPE] = "pipe",
		[WEFT__IO_EVENT] = "eventfd",
		[WEFT__IO_SIGNAL] = "signalfd",
		[WEFT__IO_INOTIFY] = "inotify",
		[WEFT__IO_EPOLL] = "epoll",
		[WEFT__IO_RING] = "io_uring",
	};
	const size_t count = sizeof(names) / sizeof(names[0]);
	const char *name = object->type < count ? names[object->type] : NULL;
	if (name)
		weft__hooks_append(text, name);
	else if (object->type == WEFT__IO_TIMER)
		append_timer(text, object);
	else
		ask_aside(ask_for_name, (struct wanted){text, object, to, size, fd});
}

/* ---- Types ---- */

static enum weft__io_type socket_type(int fd)
{
	union address own;
	int type = 0;
	socklen_t size = sizeof(type);
	if (!ask(SYS_getsockname, fd, &own) ||
		syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0)
		return WEFT__IO_SOCKET;
	if (own.any.sa_family == AF_UNIX)
		return WEFT__IO_UNIX;
	if (!is_inet(&own))
		return WEFT__IO_SOCKET;
	return type == SOCK_STREAM ? WEFT__IO_TCP : type == SOCK_DGRAM ? WEFT__IO_UDP : WEFT__IO_SOCKET;
}

/* A descriptor without a file in a file system. */
static enum weft__io_type anonymous_type(int fd)
{
	static const struct {
		const char *path;
		enum weft__io_type type;
	} types[] = {
		{"anon_inode:[eventfd]", WEFT__IO_EVENT},
		{"anon_inode:[timerfd]", WEFT__IO_TIMER},
		{"anon_inode:[signalfd]", WEFT__IO_SIGNAL},
		{"anon_inode:inotify", WEFT__IO_INOTIFY},
		{"anon_inode:[eventpoll]", WEFT__IO_EPOLL},
		{"anon_inode:[io_uring]", WEFT__IO_RING},
		{"anon_inode:[pidfd]", WEFT__IO_PROCESS},
	};
	char path[32];
	weft__io_find_path(fd, path, sizeof(path));
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(path, types[i].path) == 0)
			return types[i].type;
	return WEFT__IO_UNKNOWN;
}

/* By the kernel's list of devices: virtual terminals, serial lines, and pseudo-terminals. */
static bool is_terminal(dev_t device)
{
	return major(device) == 4 || major(device) == 5 ||
		   (major(device) >= 136 && major(device) <= 143);
}

enum weft__io_type weft__io_find_type(int fd)
{
	struct stat status;
	if (weft__kernel_stat(fd, &status) != 0)
		return WEFT__IO_UNKNOWN;
	if (S_ISSOCK(status.st_mode))
		return socket_type(fd);
	if (S_ISFIFO(status.st_mode))
		return WEFT__IO_PIPE;
	if (S_ISCHR(status.st_mode) && is_terminal(status.st_rdev))
		return WEFT__IO_TERMINAL;
	return status.st_mode & S_IFMT ? WEFT__IO_FILE : anonymous_type(fd);
}

/* Linux chooses ports from 32768 on for the side that connects, unless it is configured otherwise.
 */
static bool is_temporary(const union address *address)
{
	in_port_t port =
		address->any.sa_family == AF_INET6 ? address->v6.sin6_port : address->v4.sin_port;
	return ntohs(port) >= 32768;
}

/* The side that listens has a port that was agreed upon, or a path. */
bool weft__io_was_accepted(int fd, const struct weft__io_object *object)
{
	const socklen_t unnamed = offsetof(struct sockaddr_un, sun_path);
	union address own, other;
	if (object->type != WEFT__IO_TCP && object->type != WEFT__IO_UNIX)
		return false;
	socklen_t own_size = ask(SYS_getsockname, fd, &own);
	socklen_t other_size = ask(SYS_getpeername, fd, &other);
	if (!own_size || !other_size)
		return false;
	if (object->type == WEFT__IO_UNIX)
		return own_size > unnamed && other_size <= unnamed;
	return !is_temporary(&own) && is_temporary(&other);
}

/* SPDX-License-Identifier: ISC
 *
 * Sockets and their other ends: those of Unix by netlink (sock_diag), which has both inodes of a
 * connection, those of the internet by the files in /proc/PID/net, where the two ends have the same
 * addresses.
 */
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <weft/parse.h>

#include "base/array.h"
#include "base/field.h"
#include "files.h"
#include "parts.h"

enum {
	UNIX_LISTENS = 10, /* the kernel's TCP_LISTEN, for this family, too */
	ANSWER_BYTES = 32 << 10,
	SECONDS_MAX = 1, /* for an answer of the kernel, which gives it at once */
};

/* ---- Unix ---- */

static struct weft__outside_unix *add_local(struct weft__outside_files *files)
{
	if (files->local_count == files->local_capacity) {
		const size_t more =
			weft__array_next_capacity(files->local_capacity, files->local_count + 1);
		if (weft__array_resize(&files->locals, more, sizeof(*files->locals)))
			return NULL;
		files->local_capacity = more;
	}
	struct weft__outside_unix *local = &files->locals[files->local_count++];
	memset(local, 0, sizeof(*local));
	return local;
}

/* The name is a path, or of the abstract namespace: then it begins with NUL, shown as "@". */
static void take_name(struct weft__outside_unix *local, const char *name, size_t size)
{
	size = size < sizeof(local->name) ? size : sizeof(local->name) - 1;
	memcpy(local->name, name, size);
	local->name[size] = '\0';
	if (size && !name[0])
		local->name[0] = '@';
}

static void take_socket(struct weft__outside_files *files, const struct nlmsghdr *head)
{
	const struct unix_diag_msg *message = NLMSG_DATA(head);
	struct weft__outside_unix *local = add_local(files);
	if (!local)
		return;
	local->inode = message->udiag_ino;
	local->listens = message->udiag_state == UNIX_LISTENS;
	int left = (int)(head->nlmsg_len - NLMSG_LENGTH(sizeof(*message)));
	const struct rtattr *attribute = (const struct rtattr *)(message + 1);
	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
		uint32_t words[2] = {0};
		const size_t size = RTA_PAYLOAD(attribute);
		memcpy(words, RTA_DATA(attribute), size < sizeof(words) ? size : sizeof(words));
		if (attribute->rta_type == UNIX_DIAG_NAME)
			take_name(local, RTA_DATA(attribute), size);
		else if (attribute->rta_type == UNIX_DIAG_PEER)
			local->peer = words[0];
		else if (attribute->rta_type == UNIX_DIAG_RQLEN) {
			local->waiting = words[0];
			local->backlog = words[1];
		}
	}
}

/* False after the last message. */
static bool take_answer(struct weft__outside_files *files, const char *bytes, size_t size)
{
	const struct nlmsghdr *head = (const struct nlmsghdr *)(const void *)bytes;
	for (; NLMSG_OK(head, size); head = NLMSG_NEXT(head, size)) {
		if (head->nlmsg_type == NLMSG_DONE || head->nlmsg_type == NLMSG_ERROR)
			return false;
		if (head->nlmsg_type == SOCK_DIAG_BY_FAMILY &&
			head->nlmsg_len >= NLMSG_LENGTH(sizeof(struct unix_diag_msg)))
			take_socket(files, head);
	}
	return true;
}

static void read_locals(struct weft__outside_files *files)
{
	struct {
		struct nlmsghdr head;
		struct unix_diag_req request;
	} question = {
		.head = {.nlmsg_len = sizeof(question),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.request = {.sdiag_family = AF_UNIX,
			.udiag_states = UINT32_MAX,
			.udiag_show = UDIAG_SHOW_NAME | UDIAG_SHOW_PEER | UDIAG_SHOW_RQLEN},
	};
	const struct timeval most = {.tv_sec = SECONDS_MAX};
	const int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	char *bytes = malloc(ANSWER_BYTES);
	files->has_locals = true;
	if (fd >= 0 && bytes && send(fd, &question, sizeof(question), 0) == (ssize_t)sizeof(question)) {
		ssize_t size;
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
		do
			size = recv(fd, bytes, ANSWER_BYTES, 0);
		while (size > 0 && take_answer(files, bytes, (size_t)size));
	}
	free(bytes);
	if (fd >= 0)
		close(fd);
}

const struct weft__outside_unix *weft__outside_unix_find(
	struct weft__outside_files *files, uint64_t inode)
{
	if (!files->has_locals)
		read_locals(files);
	for (size_t i = 0; i < files->local_count; i++)
		if (files->locals[i].inode == inode)
			return &files->locals[i];
	return NULL;
}

/* ---- The internet ---- */

static bool parse_inet(const char *line, struct weft__outside_inet *ret)
{
	size_t size;
	uint64_t number;
	if (!weft__runs_kernel_parse_address(line, 1, &ret->own, &ret->own_port) ||
		!weft__runs_kernel_parse_address(line, 2, &ret->peer, &ret->peer_port) ||
		!weft__field_number(line, 9, UINT64_MAX, &ret->inode))
		return false;
	const char *field = weft__field(line, 3, &size);
	if (weft_parse_hexadecimal(field, size, &number) != WEFT_PARSE_OK)
		return false;
	ret->state = (uint8_t)number;
	field = weft__field(line, 4, &size); /* SENT:RECEIVED */
	const char *colon = memchr(field, ':', size);
	if (!colon || weft_parse_hexadecimal(
					  colon + 1, size - (size_t)(colon + 1 - field), &ret->unread) != WEFT_PARSE_OK)
		ret->unread = 0;
	return true;
}

static void read_table(struct weft__outside_files *files, pid_t pid, const char *name, bool is_tcp)
{
	FILE *file = weft__outside_open(pid, 0, name);
	char line[512];
	while (file && fgets(line, sizeof(line), file)) {
		struct weft__outside_inet inet = {.is_tcp = is_tcp};
		if (!parse_inet(line, &inet))
			continue;
		if (files->inet_count == files->inet_capacity) {
			const size_t more =
				weft__array_next_capacity(files->inet_capacity, files->inet_count + 1);
			if (weft__array_resize(&files->inets, more, sizeof(*files->inets)))
				break;
			files->inet_capacity = more;
		}
		files->inets[files->inet_count++] = inet;
	}
	if (file)
		fclose(file);
}

void weft__outside_read_inets(struct weft__outside_files *files, pid_t pid)
{
	if (files->inets_of == pid)
		return;
	files->inets_of = pid;
	files->inet_count = 0;
	read_table(files, pid, "net/tcp", true);
	read_table(files, pid, "net/tcp6", true);
	read_table(files, pid, "net/udp", false);
	read_table(files, pid, "net/udp6", false);
}

const struct weft__outside_inet *weft__outside_inet_find(
	const struct weft__outside_files *files, uint64_t inode)
{
	for (size_t i = 0; inode && i < files->inet_count; i++)
		if (files->inets[i].inode == inode)
			return &files->inets[i];
	return NULL;
}

static bool is_same(const struct in6_addr *a, const struct in6_addr *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

const struct weft__outside_inet *weft__outside_inet_peer(
	const struct weft__outside_files *files, const struct weft__outside_inet *socket)
{
	for (size_t i = 0; socket->peer_port && i < files->inet_count; i++) {
		const struct weft__outside_inet *other = &files->inets[i];
		if (other != socket && other->inode && other->is_tcp == socket->is_tcp &&
			other->own_port == socket->peer_port && other->peer_port == socket->own_port &&
			is_same(&other->own, &socket->peer) && is_same(&other->peer, &socket->own))
			return other;
	}
	return NULL;
}

static bool is_any(const struct in6_addr *address)
{
	static const struct in6_addr none = IN6ADDR_ANY_INIT;
	struct in6_addr mapped = none;
	mapped.s6_addr[10] = mapped.s6_addr[11] = 0xff;
	return is_same(address, &none) || is_same(address, &mapped);
}

const struct weft__outside_inet *weft__outside_inet_listener(
	const struct weft__outside_files *files, const struct weft__outside_inet *socket)
{
	for (size_t i = 0; i < files->inet_count; i++) {
		const struct weft__outside_inet *other = &files->inets[i];
		if (other->is_tcp && other->state == WEFT__OUTSIDE_TCP_LISTENS &&
			other->own_port == socket->peer_port &&
			(is_same(&other->own, &socket->peer) || is_any(&other->own)))
			return other;
	}
	return NULL;
}

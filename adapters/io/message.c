/* SPDX-License-Identifier: ISC
 *
 * Keys of descriptors:
 *
 *     pipe    the inode of the pipe
 *     unix    the inode of the sender's socket; the receiver asks the kernel for that of its peer,
 *             or knows it since the pair was made
 *     tcp     both addresses, the sender's first; of another host, remote.h
 *     pidfd   the process, which sends when it ends
 *     udp     the port, if it is one of this host; only in tags of ends
 *
 * An eventfd has none. Threads of one process wake each other by it, so a write signals its task.
 *
 * The end of a process and the last close of a descriptor send, too: they let the other side read
 * the end of file.
 */
#include "io/message.h"

#include "io/remote.h"
#include "io/rest.h"

#include <weft/ends.h>

#include "kernel/call.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A write that follows another one so soon, about 50 us, without an answer in between, is not
 * recorded: such streams would fill the buffer, and the other side has waited for no longer. */
#define SOON_TICKS (UINT64_C(1) << 17)

enum direction {
	SENDS,
	RECEIVES,
};

static uint64_t inode_of(int fd, uint64_t *ret_device)
{
	struct stat status;
	if (weft__kernel_stat(fd, &status) != 0)
		return 0;
	*ret_device = status.st_dev;
	return status.st_ino;
}

static uint64_t pipe_key(int fd)
{
	uint64_t device = 0, inode = inode_of(fd, &device);
	return inode ? weft__hooks_key(WEFT__HOOKS_PIPE, inode ^ weft__hooks_mix(device))
				 : WEFT__IO_NO_KEY;
}

/* ---- Unix sockets ---- */

struct question {
	struct nlmsghdr head;
	struct unix_diag_req body;
};

/* The attribute of the answer that has the inode of the peer; 0 if there is none. */
static uint64_t peer_in(const char *answer, size_t size)
{
	struct nlmsghdr head;
	struct nlattr attribute;
	size_t at = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(struct unix_diag_msg));
	uint32_t inode = 0;
	if (size < sizeof(head))
		return 0;
	memcpy(&head, answer, sizeof(head));
	if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return 0;
	while (at + sizeof(attribute) + sizeof(inode) <= size) {
		memcpy(&attribute, answer + at, sizeof(attribute));
		if (attribute.nla_type == UNIX_DIAG_PEER)
			memcpy(&inode, answer + at + sizeof(attribute), sizeof(inode));
		if (attribute.nla_len < sizeof(attribute))
			break;
		at += NLA_ALIGN(attribute.nla_len);
	}
	return inode;
}

/* System calls, not functions of libc: these have hooks. */
static uint64_t ask_for_peer(uint32_t inode)
{
	char answer[512];
	struct question question = {
		.head = {.nlmsg_len = sizeof(question),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST},
		.body = {.sdiag_family = AF_UNIX,
			.udiag_states = UINT32_MAX,
			.udiag_ino = inode,
			.udiag_show = UDIAG_SHOW_PEER,
			.udiag_cookie = {UINT32_MAX, UINT32_MAX}},
	};
	int fd = (int)syscall(
		SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
	if (fd < 0)
		return 0;
	/* The kernel has answered when sendto returns. */
	long size = syscall(SYS_sendto, fd, &question, sizeof(question), 0, NULL, 0);
	if (size > 0)
		size = syscall(SYS_recvfrom, fd, answer, sizeof(answer), 0, NULL, NULL);
	syscall(SYS_close, fd);
	return size > 0 ? peer_in(answer, (size_t)size) : 0;
}

static uint64_t unix_key(int fd, enum direction direction)
{
	uint64_t device, inode = inode_of(fd, &device);
	if (direction == RECEIVES && inode)
		inode = ask_for_peer((uint32_t)inode);
	return inode ? weft__hooks_key(WEFT__HOOKS_UNIX, inode) : WEFT__IO_NO_KEY;
}

/* ---- TCP ---- */

struct end {
	uint8_t address[16];
	uint16_t port;
};

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static bool end_of(const union address *address, struct end *ret_end)
{
	*ret_end = (struct end){.port = address->v6.sin6_port};
	if (address->any.sa_family == AF_INET6) {
		memcpy(ret_end->address, &address->v6.sin6_addr, 16);
		return true;
	}
	ret_end->address[10] = ret_end->address[11] = 0xff; /* as an address of IPv6 */
	memcpy(ret_end->address + 12, &address->v4.sin_addr, 4);
	ret_end->port = address->v4.sin_port;
	return address->any.sa_family == AF_INET;
}

static bool read_end(long call, int fd, struct end *ret_end)
{
	union address address;
	socklen_t size = sizeof(address);
	memset(&address, 0, sizeof(address));
	return syscall(call, fd, &address, &size) == 0 && end_of(&address, ret_end);
}

static uint64_t add_end(uint64_t hash, const struct end *end)
{
	uint64_t words[2];
	memcpy(words, end->address, sizeof(words));
	hash = weft__hooks_mix(hash ^ words[0]);
	hash = weft__hooks_mix(hash ^ words[1]);
	return weft__hooks_mix(hash ^ end->port);
}

static bool is_loopback(const struct end *end)
{
	static const uint8_t before_v4[12] = {[10] = 0xff, [11] = 0xff};
	return memcmp(end->address, before_v4, sizeof(before_v4)) == 0 && end->address[12] == 127;
}

static uint64_t tcp_key(int fd, enum direction direction)
{
	struct end own, other;
	if (!read_end(SYS_getsockname, fd, &own) || !read_end(SYS_getpeername, fd, &other))
		return WEFT__IO_NO_KEY;
	bool is_here = memcmp(own.address, other.address, sizeof(own.address)) == 0 ||
				   (is_loopback(&own) && is_loopback(&other));
	const struct end *from = direction == SENDS ? &own : &other;
	const struct end *to = direction == SENDS ? &other : &own;
	uint64_t both = add_end(add_end(0, from), to);
	return is_here ? weft__hooks_key(WEFT__HOOKS_TCP, both) : weft__io_remote_direction(both);
}

/* ---- UDP ---- */

/* The port, in this network namespace; no key for one of another host, or of a single address of
 * this one. */
static uint64_t port_key(const struct end *end)
{
	static const uint8_t any[16], loopback_v6[16] = {[15] = 1}, any_v4[16] = {[10] = 0xff, 0xff};
	const bool is_here = is_loopback(end) || memcmp(end->address, any, 16) == 0 ||
						 memcmp(end->address, any_v4, 16) == 0 ||
						 memcmp(end->address, loopback_v6, 16) == 0;
	struct stat space;
	if (!is_here || !end->port || weft__kernel_stat_at(AT_FDCWD, "/proc/self/ns/net", &space) != 0)
		return WEFT__IO_NO_KEY;
	return weft__hooks_key(WEFT__HOOKS_DATAGRAMS, weft__hooks_mix(space.st_ino) ^ end->port);
}

static uint64_t udp_key(int fd, enum direction direction)
{
	struct end end;
	return read_end(direction == SENDS ? SYS_getsockname : SYS_getpeername, fd, &end)
			   ? port_key(&end)
			   : WEFT__IO_NO_KEY;
}

/* Its address, as a number that is not 0; 0: it cannot be read. */
static uint64_t read_address(const struct sockaddr *to, socklen_t size, struct end *ret_end)
{
	union address address;
	memset(&address, 0, sizeof(address));
	return size <= sizeof(address) && weft__hooks_copy(&address, to, size) &&
				   end_of(&address, ret_end)
			   ? add_end(0, ret_end) | 1
			   : 0;
}

/* With several servers, it is not known whose answer it waits for. */
static void forget_server(struct weft__io_object *object)
{
	const uint64_t task = weft__io_known_task(object);
	object->channel = WEFT__IO_NO_KEY;
	if (!(object->flags & WEFT__IO_MARKED) || task == WEFT_TASK_NONE)
		return;
	const int saved = weft__hooks_begin();
	weft_tag_value_as(task, WEFT_TAG_READS, WEFT__IO_NO_KEY);
	weft__hooks_end(saved);
}

/* The port of the first server is the channel. False if it is another server. Its address has a
 * frame of its own, which is gone when the other server is recorded. */
static WEFT__OWN_FRAME bool is_its_server(
	struct weft__io_object *object, const struct sockaddr *to, socklen_t size)
{
	struct end end;
	const uint64_t server = read_address(to, size, &end);
	if (object->channel || !server || !weft__hooks_system_begin())
		return server && server == object->server;
	object->server = server;
	object->channel = port_key(&end);
	weft__hooks_system_end();
	return true;
}

void weft__io_send_to(int fd, const struct sockaddr *to, socklen_t size)
{
	struct weft__io_object *object = weft__io_known(fd);
	if (likely(!object || object->type != WEFT__IO_UDP) || object->channel == WEFT__IO_NO_KEY ||
		!to)
		return;
	const int saved = errno;
	if (!is_its_server(object, to, size))
		forget_server(object);
	errno = saved;
}

/* ---- All ---- */

/* The process sends when it ends. */
static uint64_t process_key(int fd)
{
	pid_t process = weft__hooks_read_process(fd);
	return process > 0 ? weft__hooks_key(WEFT__HOOKS_EXITS, (uint64_t)process) : WEFT__IO_NO_KEY;
}

struct wanted {
	int fd;
	uint8_t type;
	enum direction direction;
	bool is_tag; /* not for messages */
	uint64_t key;
};

static void ask_for_key(void *of)
{
	struct wanted *it = of;
	int saved = errno;
	if (it->type == WEFT__IO_PIPE)
		it->key = pipe_key(it->fd);
	else if (it->type == WEFT__IO_UNIX)
		it->key = unix_key(it->fd, it->direction);
	else if (it->type == WEFT__IO_TCP)
		it->key = tcp_key(it->fd, it->direction);
	else if (it->type == WEFT__IO_PROCESS)
		it->key = process_key(it->fd);
	else if (it->type == WEFT__IO_UDP && it->is_tag)
		it->key = udp_key(it->fd, it->direction);
	errno = saved;
}

static WEFT__OWN_FRAME uint64_t ask(
	int fd, const struct weft__io_object *object, enum direction direction, bool is_tag)
{
	struct wanted wanted = {fd, object->type, direction, is_tag, WEFT__IO_NO_KEY};
	if (object->flags & WEFT__IO_LISTENS || !weft__hooks_system_begin())
		return WEFT__IO_NO_KEY;
	if (object->type == WEFT__IO_EVENT)
		wanted.key = WEFT__IO_OWN_TASK;
	else
		weft__hooks_aside(ask_for_key, &wanted);
	weft__hooks_system_end();
	return wanted.key;
}

/* Asks the kernel once for each descriptor and direction. */
static uint64_t find_key(int fd, const struct weft__io_object *object, enum direction direction)
{
	return ask(fd, object, direction, false);
}

/* The current task writes; nothing is recorded if the kernel does not count the bytes. */
static void send_key(int fd, uint64_t key)
{
	uint64_t offset;
	if (!weft__io_is_remote(key))
		weft_send(key);
	else if (weft__io_remote_written(fd, &offset))
		weft_send(weft__io_remote_key(key, offset));
}

void weft__io_record_send(int fd, struct weft__io_object *object)
{
	if (unlikely(!object->sends))
		object->sends = find_key(fd, object, SENDS);
	if (object->sends == WEFT__IO_NO_KEY)
		return;
	uint64_t now = weft_now();
	if (object->sent && now - object->sent < SOON_TICKS)
		return;
	int saved = weft__hooks_begin();
	weft__hooks_thread_task();
	uint64_t task = weft__io_known_task(object);
	weft__io_mark_ends(fd, object);
	if (object->sends != WEFT__IO_OWN_TASK)
		send_key(fd, object->sends);
	else if (task != WEFT_TASK_NONE)
		weft_signal_only(task);
	object->sent = now;
	weft__hooks_end(saved);
}

void weft__io_find_sender(int fd, struct weft__io_object *object)
{
	if (!object->receives)
		object->receives = find_key(fd, object, RECEIVES);
}

void weft__io_find_pair(const int ends[2], struct weft__io_object *const objects[2])
{
	for (int i = 0; objects[0] && objects[1] && i < 2; i++) {
		objects[1 - i]->receives = find_key(ends[i], objects[i], SENDS);
		objects[i]->pair = weft__io_descriptor(ends[1 - i])->object;
	}
}

/* ---- Ends ---- */

_Static_assert(WEFT__HOOKS_PIPE == WEFT_KEY_STREAM_FIRST && WEFT__HOOKS_UNIX < WEFT__HOOKS_TCP &&
				   WEFT__HOOKS_TCP == WEFT_KEY_STREAM_LAST,
	"keys of streams");

/* A send of no task takes back the earlier ones. */
void weft__io_mark_empty(const struct weft__io_object *object)
{
	if (object->receives > WEFT__IO_OWN_TASK && !weft__io_is_remote(object->receives))
		weft_send_as(WEFT_TASK_NONE, object->receives);
}

void weft__io_join_pipe(const int ends[2], struct weft__io_object *const objects[2])
{
	if (!objects[0] || !objects[1])
		return;
	uint64_t key = find_key(ends[0], objects[0], RECEIVES);
	for (int i = 0; i < 2 && key > WEFT__IO_OWN_TASK; i++) {
		objects[i]->channel = key;
		objects[i]->pair = weft__io_descriptor(ends[1 - i])->object;
	}
	objects[1]->flags |= WEFT__IO_WRITES;
}

static bool has_end(const struct weft__io_object *object, enum direction direction)
{
	if (object->type == WEFT__IO_PROCESS)
		return direction == RECEIVES;
	if (object->type == WEFT__IO_PIPE)
		return !(object->flags & WEFT__IO_WRITES) == (direction == RECEIVES);
	return object->type == WEFT__IO_TCP || object->type == WEFT__IO_UNIX ||
		   object->type == WEFT__IO_UDP;
}

/* The key of the end, if the process knows it already; else 0. */
static uint64_t known_key(const struct weft__io_object *object, enum direction direction)
{
	uint64_t key = direction == SENDS ? object->sends : object->receives;
	if (object->type == WEFT__IO_UDP)
		return direction == SENDS ? 0 : object->channel;
	return key ? key : object->channel;
}

static void mark_end(uint64_t task, enum direction direction, uint64_t key)
{
	if (key <= WEFT__IO_OWN_TASK)
		return;
	if (direction == SENDS)
		weft_tag_value_as(task, WEFT_TAG_WRITES, (int64_t)key);
	else
		weft_tag_value_as(task, WEFT_TAG_READS, (int64_t)key);
}

void weft__io_mark_ends(int fd, struct weft__io_object *object)
{
	uint64_t task = weft__io_known_task(object);
	if (likely(object->flags & WEFT__IO_MARKED) || task == WEFT_TASK_NONE)
		return;
	object->flags |= WEFT__IO_MARKED;
	object->marked_writes = false;
	for (enum direction direction = SENDS; direction <= RECEIVES; direction++) {
		if (!has_end(object, direction))
			continue;
		uint64_t key = known_key(object, direction);
		mark_end(task, direction, key ? key : ask(fd, object, direction, true));
	}
}

/* The tag that was written last says it. */
void weft__io_mark_direction(struct weft__io_object *object, bool writes)
{
	if (object->type == WEFT__IO_PIPE || object->type == WEFT__IO_UDP ||
		likely(object->marked_writes == writes))
		return;
	object->marked_writes = writes;
	mark_end(weft__io_known_task(object), writes ? SENDS : RECEIVES,
		known_key(object, writes ? SENDS : RECEIVES));
}

/* The first thread has the tag: a task would stand in each trace for standard output. */
void weft__io_hold(int fd, struct weft__io_object *object)
{
	const uint64_t task = weft__hooks_main_task();
	if (object->type != WEFT__IO_PIPE || !has_end(object, SENDS) || task == WEFT_TASK_NONE ||
		weft__io_known_task(object) != WEFT_TASK_NONE || object->held == weft__hooks_epoch())
		return;
	/* `sends` stays empty where the channel is known: closing an end that was never written to, as
	 * in a child, sends nothing. */
	uint64_t key = known_key(object, SENDS);
	if (!key)
		key = object->sends = find_key(fd, object, SENDS);
	if (key <= WEFT__IO_OWN_TASK)
		return;
	mark_end(task, SENDS, key);
	object->held = weft__hooks_epoch();
}

void weft__io_let_go(struct weft__io_object *object)
{
	if (object->held == weft__hooks_epoch() && weft__hooks_main_task() != WEFT_TASK_NONE)
		weft_tag_value_as(
			weft__hooks_main_task(), WEFT_TAG_LEAVES, (int64_t)known_key(object, SENDS));
	object->held = 0;
}

void weft__io_repeat_ends(const struct weft__io_object *object)
{
	for (enum direction direction = SENDS; direction <= RECEIVES; direction++)
		if (object->flags & WEFT__IO_MARKED && has_end(object, direction))
			mark_end(object->alive.task, direction, known_key(object, direction));
}

/* ---- Messages ---- */

static uint64_t read_so_far(int fd, const struct weft__io_object *object)
{
	uint64_t offset;
	bool has_more;
	return weft__io_is_remote(object->receives) && weft__io_remote_read(fd, &offset, &has_more)
			   ? offset
			   : WEFT__IO_NO_OFFSET;
}

void weft__io_find_sender_of_read(int fd, struct weft__io_object *object)
{
	weft__io_find_sender(fd, object);
	object->read = read_so_far(fd, object);
}

/* Records only what has arrived: neither a wait that ended for another reason, nor the end. */
static WEFT__OWN_FRAME void receive_remote(
	int fd, const struct weft__io_object *object, uint64_t task, uint64_t offset)
{
	uint64_t now;
	bool has_more;
	if (!weft__io_remote_read(fd, &now, &has_more))
		return;
	if (offset == WEFT__IO_NO_OFFSET)
		offset = now;
	if (offset < now || has_more)
		weft_receive_as(task, weft__io_remote_key(object->receives, offset));
}

void weft__io_record_receive(int fd, struct weft__io_object *object, uint64_t task, uint64_t offset)
{
	weft__io_find_sender(fd, object);
	if (object->receives == WEFT__IO_NO_KEY)
		return;
	weft__io_mark_ends(fd, object);
	if (weft__io_is_remote(object->receives))
		receive_remote(fd, object, task, offset);
	else if (object->receives != WEFT__IO_OWN_TASK && weft__io_rest_begin(object))
		weft_receive_as(task, object->receives);
	object->sent = 0;
}

static void receive_for(int fd, uint64_t task)
{
	struct weft__io_object *object = weft_enabled(WEFT_LEVEL_INFO) ? weft__io_object(fd) : NULL;
	if (!object || object->receives == WEFT__IO_NO_KEY)
		return;
	weft__io_record_receive(fd, object, task, object->read);
	object->read = read_so_far(fd, object);
}

/* ---- The end ---- */

/* libc writes the rest of standard output after this, when the first task has ended. */
static void send_last(void)
{
	if (!weft_enabled(WEFT_LEVEL_INFO))
		return;
	int fd = __fpending(stdout) > 0 ? fileno(stdout) : -1;
	if (fd >= 0 && weft__io_object(fd))
		weft__io_send(fd);
	weft__io_send_ends();
}

__attribute__((constructor(106))) static void begin(void)
{
	weft__hooks_at_end(send_last);
	weft__hooks_offer_received(receive_for);
}

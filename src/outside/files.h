/* SPDX-License-Identifier: ISC
 *
 * All pipes and sockets that processes of this host have open, and the sockets that are connected
 * to each other. Read once, when it is first needed.
 */
#ifndef WEFT_OUTSIDE_FILES_H
#define WEFT_OUTSIDE_FILES_H

#include <netinet/in.h>

#include "outside/outside.h"

struct weft__outside_file {
	uint64_t inode;
	pid_t pid;
	int fd;
};

struct weft__outside_unix {
	uint64_t inode, peer; /* 0: none */
	bool listens;
	uint32_t waiting, backlog; /* of one that listens */
	char name[108];
};

struct weft__outside_inet {
	uint64_t inode;
	struct in6_addr own, peer;
	uint16_t own_port, peer_port;
	uint8_t state;
	uint64_t unread;
	bool is_tcp;
};

struct weft__outside_files {
	struct weft__outside_file *files; /* by inode */
	size_t count, capacity;
	uint32_t denied; /* processes */
	struct weft__outside_unix *locals;
	size_t local_count, local_capacity;
	struct weft__outside_inet *inets;
	size_t inet_count, inet_capacity;
	pid_t inets_of; /* the process in whose network they are */
	bool has_locals;
};

/* Reads all descriptors; NULL: memory is short. */
struct weft__outside_files *weft__outside_files_of(struct weft__outside_host *outside);

/* The first descriptor of an inode; they lie one after the other. */
const struct weft__outside_file *weft__outside_file_find(
	const struct weft__outside_files *files, uint64_t inode);

/* ---- Sockets (sockets.c) ---- */

const struct weft__outside_unix *weft__outside_unix_find(
	struct weft__outside_files *files, uint64_t inode);

/* Reads the internet sockets in the network of a process. */
void weft__outside_read_inets(struct weft__outside_files *files, pid_t pid);

const struct weft__outside_inet *weft__outside_inet_find(
	const struct weft__outside_files *files, uint64_t inode);

/* The socket at the other end of a connection; NULL: it is not on this host. */
const struct weft__outside_inet *weft__outside_inet_peer(
	const struct weft__outside_files *files, const struct weft__outside_inet *socket);

/* The socket that listens at an address. */
const struct weft__outside_inet *weft__outside_inet_listener(
	const struct weft__outside_files *files, const struct weft__outside_inet *socket);

enum weft__outside_tcp_state {
	WEFT__OUTSIDE_TCP_CONNECTED = 1,
	WEFT__OUTSIDE_TCP_CONNECTING = 2,
	WEFT__OUTSIDE_TCP_LISTENS = 10,
};

#endif

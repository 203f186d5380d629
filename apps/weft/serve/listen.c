/* SPDX-License-Identifier: ISC
 *
 * The listening socket, and a URL that leads to it.
 */
#include "serve.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <weft/parse.h>

#include "cli/cli.h"

static bool is_loopback(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET)
		return ((const unsigned char *)&((const struct sockaddr_in *)(const void *)address)
					   ->sin_addr)[0] == 127;
	if (address->sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(
			&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
	return false;
}

static int listen_at(const struct addrinfo *address)
{
	const int yes = 1;
	int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0)
		return fd;
	int reason = errno;
	close(fd);
	errno = reason;
	return -1;
}

/* Opens a listening socket; -1 after a message. */
static int open_socket(
	const char *address, const char *port, bool is_port_given, bool *ret_is_loopback)
{
	const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found;
	int fd = -1;
	if (getaddrinfo(address, port, &hints, &found) != 0) {
		cli_error("cannot listen at %s, port %s", address, port);
		return -1;
	}
	*ret_is_loopback = is_loopback(found->ai_addr);
	fd = listen_at(found);
	int reason = errno;
	freeaddrinfo(found);
	/* The default port is in use, perhaps by another weft: use any free port. */
	if (fd < 0 && reason == EADDRINUSE && !is_port_given)
		return open_socket(address, "0", true, ret_is_loopback);
	if (fd < 0)
		cli_error("cannot listen at %s, port %s: %s", address, port, strerror(reason));
	return fd;
}

/* Finds the address from which this machine would send to another one. Connecting a datagram socket
 * asks the routing table and sends nothing. False if there is no route. */
static bool find_own_address(const char *other, char *ret_host, socklen_t room)
{
	const struct addrinfo hints = {
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_DGRAM};
	struct sockaddr_storage own;
	socklen_t size = sizeof(own);
	struct addrinfo *found;
	if (getaddrinfo(other, "9", &hints, &found) != 0)
		return false;
	int fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool is_found =
		fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) == 0 &&
		getsockname(fd, (struct sockaddr *)&own, &size) == 0 &&
		getnameinfo((struct sockaddr *)&own, size, ret_host, room, NULL, 0, NI_NUMERICHOST) == 0;
	if (fd >= 0)
		close(fd);
	freeaddrinfo(found);
	return is_found;
}

/* If we listen on all addresses, chooses one that other machines can reach, or the loopback. The
 * targets are addresses that are reserved for documentation. */
static void choose_address(char *host, socklen_t room)
{
	if (strcmp(host, "0.0.0.0") == 0 && !find_own_address("192.0.2.1", host, room))
		snprintf(host, room, "127.0.0.1");
	else if (strcmp(host, "::") == 0 && !find_own_address("2001:db8::1", host, room))
		snprintf(host, room, "::1");
}

int serve_listen(const struct serve_address *address, struct serve_guard *guard)
{
	struct sockaddr_storage bound;
	socklen_t size = sizeof(bound);
	char host[SERVE_HOST_BYTES - 2] = "", port[8] = "";
	uint64_t number = 0;
	int fd =
		open_socket(address->address, address->port, address->is_port_given, &guard->is_loopback);
	if (fd < 0)
		return -1;
	if (getsockname(fd, (struct sockaddr *)&bound, &size) == 0)
		getnameinfo((struct sockaddr *)&bound, size, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV);
	choose_address(host, sizeof(host));
	(void)weft_parse_number(port, strlen(port), &number);
	guard->port = (uint16_t)number;
	snprintf(guard->host, sizeof(guard->host), strchr(host, ':') ? "[%s]" : "%s", host);
	return fd;
}
